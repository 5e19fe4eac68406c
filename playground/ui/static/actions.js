// From the page to Gradio's listeners: what a visitor does to a run. Every call carries the token that says whose runs may be changed.
// @ts-check

import { cursor, move, own, setKnobs, token } from "./state.js";
import { h, icon, notice, say } from "./dom.js";
import { follow, isActive, onUpdate, run } from "./live.js";

let waiting = null; // what the next press of the hidden button means
let boot = null;
let knobs = null; // the values at the left, as Gradio last said them
let arrived = false; // until the page has taken over the link's settings, what the controls say is not yet the visitor's choice

export function setBoot(answer) {
  boot = answer;
  if (knobs) takeKnobs(knobs);
}

/** Asks the server to do something to a run: pause, resume, step, stop, live, fork, remake, rename, delete. */
export function command(action, values = {}) {
  waiting = { action, run: cursor.run, ...values };
  document.querySelector("#pg-command")?.click();
}

/** What the listener behind the hidden button is given. */
export const commandInputs = () => [token, cursor.lang, JSON.stringify(waiting)];

/** What the listener behind Train is given: token, language, then every knob as it stands. */
export const trainInputs = (...values) => [token, cursor.lang, ...values.slice(2)];
export const withToken = (...values) => [token, cursor.lang, ...values.slice(2)];

/** Every answer of a listener comes here: what to open, what to say, which control was at fault. */
export function reply(answer) {
  if (!answer) return;
  if (answer.notice) notice(answer.notice);
  if (answer.error) notice(answer.error, "error");
  if (answer.knob) pointAt(answer.knob);
  if (answer.run) {
    const tab = answer.tab && document.getElementById(`pg-tab-${answer.tab}-button`);
    if (tab && answer.tab !== cursor.tab) tab.click();
    move({ run: answer.run, step: "", text: "", layer: "", head: "", q: "", k: "", target: "output", masks: "", ...(answer.tab ? { tab: answer.tab } : {}) });
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

let wanted = {}; // what the controls are to hold; all others hold their defaults

/** Sets the controls, shows what was set, and points at Train. */
export function setControls(values) {
  wanted = values;
  document.querySelector("#pg-settings")?.click();
  unfold();
  for (const name of Object.keys(values)) pointAt(name);
  flash(document.getElementById("pg-train"));
}

export const settingsWanted = () => boot.knobs.map((name) => wanted[name] ?? boot.defaults[name]);

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
export function takeKnobs(values, final = false) {
  if (final) {
    arrived = true;
    document.body.dataset.knobs = "ready";
  }
  if (!arrived || !boot) return void (knobs = values);
  knobs = values;
  const pairs = [];
  boot.knobs.forEach((name, at) => {
    if (values[at] !== null && asText(values[at]) !== asText(boot.defaults[name])) pairs.push([name, asText(values[at])]);
  });
  setKnobs(pairs);
  drawDifference();
}

/** Gradio tells which tab is open. The first one opens by itself while the page is being set up; then the link knows better. */
export const tabOpened = (name) => (arrived || name !== "learn") && move({ tab: name });
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

let settings = null; // of the run on screen
export function setRunSettings(flat) {
  settings = flat;
  drawDifference();
}

/** Under Train: what would be different from the run on screen. Changing a control never opens a dialogue; it says here what it means. */
function drawDifference() {
  const place = document.getElementById("pg-difference");
  if (!place || !boot || !settings || !knobs) return;
  const value = (name) => knobs[boot.knobs.indexOf(name)];
  const changed = boot.knobs.filter((name, at) => knobs[at] !== null && !boot.live.includes(name) && asText(knobs[at]) !== asText(settings[name]));
  const text = changed.slice(0, 3).map((name) => `${boot.labels[name]} ${show(name, settings[name])} → ${show(name, value(name))}`).join(", ");
  const more = changed.length > 3 ? ` +${changed.length - 3}` : "";
  const others = value("task") === "own" && settings.task === "own" && own && own !== settings.own ? say("other_sentences") : "";
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
