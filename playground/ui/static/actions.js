// Commands of a visitor to a run. Every command carries the token that says whose runs may be changed.
// @ts-check

import { asText, change, cursor, move, page, sentenceText, subscribe } from "./store.js";
import { button, forgive, h, icon, notice, say, send, update } from "./dom.js";
import { follow, isActive, isResumable } from "./live.js";
import { pointAt, setAll, showKnobs } from "./knobs.js";
import { grey } from "./picture.js";
import { stayFollowing } from "./room.js";
import { tellTabs } from "./storage.js";

const OPENING = new Set(["train", "fork", "tune"]); // they lead to another run
const busy = new Set(); // actions that are on their way: a second press of the same button means nothing

/** Asks the server to do something: train, or to the run on screen pause, resume, step, stop, live, fork, copy, rename, delete. */
export async function command(action, values = {}) {
  if (busy.has(action)) return;
  busy.add(action);
  if (OPENING.has(action)) grey();
  const answer = await send({ action, run: cursor.run, ...values });
  busy.delete(action);
  if (!answer.run) grey(false);
  if (OPENING.has(action)) stayFollowing();
  reply(answer);
}

/** Trains with these settings. */
export const train = (knobs) => void command("train", { knobs: { ...knobs, own: knobs.task === "own" ? page.own : "" } });

let moved = null; // the newest live knobs, and what they were moved to, that are not on their way yet

/** A live knob at the left was moved: while one change is on its way, of the next ones only the newest counts. */
export async function control({ knob, value }) {
  if (!page.card?.mine) return;
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
  else forgive();
  if (answer.knob) pointAt(answer.knob);
  if (answer.run) {
    open(answer);
    showKnobs(false);
  } else if (answer.again) follow(cursor.run);
  if (answer.ticked) move({ runs: answer.ticked.join(",") });
  change({ reply: answer });
  if (answer.run || answer.again || answer.arms) tellTabs();
}

/** Shows another run, with the sentence that the visitor typed, if that run can read it (see readCard); else the sentence waits for one
 * that can. */
export function chooseRun(run) {
  const text = cursor.text || page.unread;
  change({ following: text ? run : "", taking: run });
  move({ run, text });
}

/** The controls take over the settings of a run that was chosen or come back to: what Train makes differs from it by what is moved then. */
function takeSettings() {
  const { taking, card, knobs } = page;
  if (!taking || card?.id !== taking || !knobs) return;
  const { own } = card.settings;
  change({ taking: "", ...(own ? { own: String(own) } : {}) });
  setAll(Object.fromEntries(page.boot.knobs.map((name) => [name, card.settings[name]])));
}
subscribe(["taking", "card", "knobs"], takeSettings);

/** A link to a run of own sentences brings these sentences: Train goes on with them. */
subscribe(["card", "own"], () => {
  const own = page.own || page.card?.settings.own;
  if (own && own !== page.own) change({ own: String(own) });
});

const WITHOUT_RUN = ["data", "labs", "course"]; // tabs in which a new run would not be seen

/** Opens a run. What is carried there stays as it is: the sentence, also an example, the head, the pinned cell; of what is
 * carried to an `other` model, that which it can read (see readCard). */
function open({ run, carry = [], tab, other = false, gone: isGone }) {
  change({ following: other ? run : "", held: carry.includes("head") ? { ...page.held, run, early: page.held.early || other } : page.held });
  const carried = Object.fromEntries(carry.map((name) => [name, name === "text" ? sentenceText() : cursor[name]]));
  move({ run, ...carried, ...(tab && WITHOUT_RUN.includes(cursor.tab) ? { tab } : {}) }, { instead: isGone });
}

// ---- under Train: what it would change, and pause, resume, step, stop ------------------------------------------------------------------

export function drawRunButtons(host) {
  const control = (action, act) => button({ id: `pg-${action}`, "aria-label": say(action), title: say(action), onclick: act }, icon(action));
  const pauseOrResume = () => command(isResumable() ? "resume" : "pause");
  const buttons = [control("pause", pauseOrResume), control("step", () => command("step")), control("stop", () => command("stop"))];
  host.replaceChildren(h("div", { class: "pg-buttons" }, buttons), h("p", { id: "pg-difference" }));
  fillRunButtons();
  drawDifference();
}

function fillRunButtons() {
  const pause = document.getElementById("pg-pause");
  if (!pause) return;
  const isOwn = Boolean(page.card?.mine), resumable = isResumable(), paused = page.live.status === "paused";
  const key = resumable ? "resume" : "pause";
  if (pause.dataset.key !== key) {
    pause.dataset.key = key;
    pause.replaceChildren(icon(resumable ? "play" : "pause"));
    pause.title = say(key);
    pause.setAttribute("aria-label", say(key));
  }
  update(pause, { disabled: !isOwn || !(resumable || isActive()) });
  update(document.getElementById("pg-step"), { disabled: !isOwn || !paused });
  update(document.getElementById("pg-stop"), { disabled: !isOwn || !(isActive() || paused) });
}
subscribe(["live", "card"], fillRunButtons);

/** Draws the differences from the run on screen. Changing a control never opens a dialog; its meaning stands here. */
function drawDifference() {
  const place = document.getElementById("pg-difference"), { boot, card, knobs, own } = page;
  if (!place || !boot || !card || !knobs) return;
  const had = card.settings;
  const changed = boot.knobs.filter((name) => knobs[name] !== null && !boot.live.includes(name) && asText(knobs[name]) !== asText(had[name]));
  const show = (name, value) => boot.choices[name]?.[asText(value)] ?? asText(value);
  const difference = (name) => `${boot.labels[name]} ${show(name, had[name])} → ${show(name, knobs[name])}`;
  changed.sort((first, other) => Number(other === "task") - Number(first === "task")); // another task is the largest change of all
  const first = changed.slice(0, 2).map(difference).join(", "), more = changed.length - 2; // two lines
  const text = more > 0 ? say("difference_more", { changes: first, more }) : first;
  const sentences = knobs.task === "own" && had.task === "own" && own && own !== had.own ? say("other_sentences") : "";
  const changes = [sentences, text].filter(Boolean).join(", ");
  place.textContent = place.title = changes && say("difference", { changes });
}
subscribe(["boot", "knobs", "card", "own"], drawDifference);
