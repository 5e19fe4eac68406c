// What a visitor does to a run, and the controls at the left, which are Gradio's. Every command carries the token that says whose runs may
// be changed.
// @ts-check

import { cursor, move, own, setKnobs, setOwn } from "./state.js";
import { h, icon, notice, say, send } from "./dom.js";
import { follow, isActive, onUpdate, run } from "./live.js";

let boot = null;
let knobs = null; // the values at the left by their names, as Gradio last said them
let hasArrived = false; // until the page has taken over the link's settings, what the controls say is not yet the visitor's choice

export function setBoot(answer) {
  boot = answer;
  if (knobs) knobsChanged(knobs);
}

const busy = new Set(); // actions that are on their way: a second press of the same button means nothing

/** Asks the server to do something: train, or to the run on screen pause, resume, step, stop, live, fork, remake, rename, delete. */
export async function command(action, values = {}) {
  if (busy.has(action)) return;
  busy.add(action);
  const answer = await send({ action, run: cursor.run, ...values });
  busy.delete(action);
  reply(answer);
}

/** Trains with these settings. */
export const train = (knobs) => void command("train", { knobs: { ...knobs, own: knobs.task === "own" ? own : "" } });

let moved = null; // the newest live knobs, and what they were moved to, that are not on their way yet

/** A live knob at the left was moved: while one change is on its way, of the next ones only the newest counts. */
export async function control({ knob, value }) {
  if (!mine) return;
  if (moved) return void moved.set(knob, value);
  moved = new Map([[knob, value]]);
  while (moved.size) {
    const [[name, newest]] = moved;
    moved.delete(name);
    reply(await send({ action: "control", run: cursor.run, knob: name, value: newest }));
  }
  moved = null;
}

/** Every answer comes here: what to open, what to say, which control was at fault. */
export function reply(answer) {
  if (answer.notice) notice(answer.notice);
  if (answer.error) notice(answer.error, "error");
  if (answer.knob) pointAt(answer.knob);
  if (answer.run) {
    const tab = answer.tab && document.getElementById(`pg-tab-${answer.tab}-button`);
    if (tab && answer.tab !== cursor.tab) tab.click();
    move({ run: answer.run, ...(answer.tab ? { tab: answer.tab } : {}) });
    foldSidebar();
  } else if (answer.again) follow(cursor.run);
  document.dispatchEvent(new CustomEvent("pg-reply", { detail: answer }));
  drawDifference();
}

/** Scrolls to a control and flashes it: the one that a sentence is about. */
export function pointAt(name) {
  const control = document.getElementById(`knob-${name}`);
  if (!control) return;
  for (let fold = control.closest(".pg-more"); fold; fold = fold.parentElement?.closest(".pg-more")) if (!fold.querySelector(".label-wrap")?.classList.contains("open")) fold.querySelector(".label-wrap")?.click();
  control.scrollIntoView({ block: "center", behavior: "smooth" });
  flash(control);
}

let gradio = null; // what Gradio can be asked for: relabel, settings
export const meet = (asks) => void (gradio = asks);
export const relabel = () => gradio?.relabel();

let wanted = {}; // what the controls are to hold; all others hold their defaults

/** Sets the controls, shows what was set, and points at Train. */
export function setControls(values) {
  wanted = values;
  gradio?.settings();
  unfold();
  for (const name of Object.keys(values)) pointAt(name);
  flash(document.getElementById("pg-train"));
}

export const settings = () => ({ ...boot.defaults, ...wanted });

/** What the listener is told who asks, and about which sentences. */
export const asked = (values, more = {}) => ({ ...values, asked: { language: cursor.lang, own, ...more } });

function flash(element) {
  element?.classList.add("pg-flash");
  setTimeout(() => element?.classList.remove("pg-flash"), 2400);
}

/** On a narrow screen the controls lie over the page: fold them away so that the picture can be seen. */
export function foldSidebar() {
  const bar = document.querySelector(".sidebar.open, .sidebar-open, #pg-sidebar.open");
  if (innerWidth < 800 && bar) bar.querySelector("button.toggle-button, .toggle-button")?.click();
}

/** Gradio opens the controls by itself, at times long after everything else is there. On a narrow screen they stay folded until asked for. */
export function keepFolded(bar) {
  folding.observe(bar, { attributes: true, attributeFilter: ["class"] });
  bar.addEventListener("click", (event) => event.isTrusted && folding.disconnect(), true);
  foldSidebar();
}
const folding = new MutationObserver(foldSidebar);

function unfold() {
  folding.disconnect();
  document.querySelector("#pg-sidebar:not(.open) .toggle-button")?.click();
}

// ---- the knobs ----------------------------------------------------------------------------------------------------------------

const asText = (value) => (value === true ? "on" : value === false ? "off" : typeof value === "number" ? String(+value.toPrecision(10)) : String(value ?? ""));

/** Gradio says what the controls hold; the address takes those that differ from their defaults. */
export function knobsChanged(values) {
  knobs = values;
  if (!hasArrived || !boot) return;
  const chosen = boot.knobs.filter((name) => knobs[name] !== null && asText(knobs[name]) !== asText(boot.defaults[name]));
  setKnobs(chosen.map((name) => [name, asText(knobs[name])]));
  drawDifference();
}

/** The link's settings are in the controls, and so are the sentences that it is about. */
export function arrived({ asked, ...values }) {
  hasArrived = true;
  document.body.dataset.knobs = "ready";
  setOwn(asked.own);
  knobsChanged(values);
}

/** Gradio tells which tab is open. The first one opens by itself while the page is being set up; then the link knows better. */
export const tabOpened = ({ tab }) => void ((hasArrived || tab !== "learn") && move({ tab }));
/** Brings the tab of the cursor to the front when it was something else than a click on it that chose it. */
export function openTab() {
  const button = document.getElementById(`pg-tab-${cursor.tab}-button`);
  if (!button || button.getAttribute("aria-selected") === "true") return;
  button.click();
  button.scrollIntoView({ block: "nearest", inline: "nearest" }); // in a narrow window the tabs scroll sideways
  scrollTo({ top: 0 });
}
/** Another page within a tab begins at its beginning, wherever the one before was left. */
export function fromTheTop() {
  const tabs = document.getElementById("pg-tabs"), stage = document.querySelector(".pg-stage");
  const top = tabs.getBoundingClientRect().top + scrollY - (getComputedStyle(stage).position === "sticky" ? stage.offsetHeight : 0);
  if (scrollY > top) scrollTo({ top });
}

let had = null; // the settings of the run on screen
export function setRunSettings(flat) {
  had = flat;
  drawDifference();
}

/** Under Train: what would be different from the run on screen. Changing a control never opens a dialogue; it says here what it means. */
function drawDifference() {
  const place = document.getElementById("pg-difference");
  if (!place || !boot || !had || !knobs) return;
  const changed = boot.knobs.filter((name) => knobs[name] !== null && !boot.live.includes(name) && asText(knobs[name]) !== asText(had[name]));
  const text = changed.slice(0, 3).map((name) => `${boot.labels[name]} ${show(name, had[name])} → ${show(name, knobs[name])}`).join(", ");
  const more = changed.length > 3 ? ` +${changed.length - 3}` : "";
  const others = knobs.task === "own" && had.task === "own" && own && own !== had.own ? say("other_sentences") : "";
  place.textContent = changed.length || others ? say("difference", { changes: [others, text + more].filter(Boolean).join(", ") }) : say("difference_none");
}

const show = (name, value) => boot.choices[name]?.[asText(value)] ?? asText(value);

// ---- pause, resume, step, stop -----------------------------------------------------------------------------------------------------

export function drawRunButtons(host) {
  const button = (action, picture, act) => h("button", { type: "button", id: `pg-${action}`, onclick: act }, icon(picture), h("span", {}, say(action)));
  const pauseOrResume = () => command(["paused", "stopped", "interrupted"].includes(run.status) ? "resume" : "pause");
  host.replaceChildren(h("div", { class: "pg-buttons" }, button("pause", "pause", pauseOrResume), button("step", "step", () => command("step")), button("stop", "stop", () => command("stop"))), h("p", { id: "pg-difference" }));
  fillRunButtons();
  drawDifference();
}

export let mine = false;
export const setMine = (value) => {
  mine = value;
  fillRunButtons();
};

function fillRunButtons() {
  const pause = document.getElementById("pg-pause");
  if (!pause) return;
  const resumable = ["paused", "stopped", "interrupted"].includes(run.status);
  const key = resumable ? "resume" : "pause";
  if (pause.dataset.key !== key) {
    pause.dataset.key = key;
    pause.replaceChildren(icon(resumable ? "play" : "pause"), h("span", {}, say(key)));
  }
  pause.disabled = !mine || !(resumable || isActive());
  document.getElementById("pg-step").disabled = !mine || run.status !== "paused";
  document.getElementById("pg-stop").disabled = !mine || !(isActive() || run.status === "paused");
}
onUpdate(fillRunButtons);
