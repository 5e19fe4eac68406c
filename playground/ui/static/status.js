// The state of the run on screen, in one line at the top and for screen readers.
// @ts-check

import { change, cursor, page, subscribe } from "./store.js";
import { count, h, percent, say, timeLeft, update } from "./dom.js";
import { isActive, isBehind, isGrowing, shownStep, statusKey, toldStep } from "./live.js";

/**
 * A number of the last validation up to a step, as text, marked as approximate where only a sample was measured; and a
 * note of what it is of, where that is not all of them or not the step that was asked for.
 * @param {import("./page").Run} run
 * @param {string} column of the validations
 * @param {(value: number) => string} shape
 * @param {number} upTo
 * @param {boolean} isNow whether that step is simply the newest
 */
export function measured(run, column, shape, upTo = Infinity, isNow = false) {
  const { step = [], pairs = [], all_pairs: all = [], [column]: values = [] } = run.validations;
  const at = step.findLastIndex((number) => number <= upTo), value = values[at];
  if (value === undefined || value === null) return { text: "–", note: "" };
  const sample = pairs[at] !== all[at] && say("sample_of", { pairs: count(pairs[at]), all: count(all[at]) });
  const other = !isNow && upTo !== Infinity && step[at] !== upTo && say("measured_at", { step: count(step[at]) });
  return { text: sample ? `≈ ${shape(value)}` : shape(value), note: [sample, other].filter(Boolean).join(" · ") };
}

/**
 * How far a run is, in one line, with what was measured up to a step.
 * @param {number} upTo
 * @param {string} status
 * @param {boolean} isShort without saying of how many sentences what was measured is: “≈” says that it isn't all
 */
function statusLine(upTo = Infinity, status = page.live.status, isShort = false) {
  const run = page.live, { text, note } = measured(run, "exact_match", percent, upTo, cursor.step === "");
  const right = note && !isShort ? say("noted", { value: text, note }) : text, step = count(toldStep(upTo));
  return status ? say(statusKey(status), { step, steps: count(run.steps), left: timeLeft(run.eta), place: run.place, percent: right }) : "";
}

/** A line in its parts: of those that have no room none is cut, the last ones are left out (see strips.js), and the pointer tells all. */
function drawParts(place, line, title) {
  const parts = line.split(/(?= · )/);
  if (place.children.length !== parts.length) place.replaceChildren(...parts.map(() => h("span")));
  update(place, { title });
  parts.forEach((part, at) => update(place.children[at], { textContent: part }));
}

/** Also for scripts and styles: which run, in which state, at which step. */
export function drawStatusLine(place) {
  const run = page.live, isLate = isBehind(), isReplay = cursor.step !== ""; // the end is told with the last picture
  update(place.dataset, { run: run.id, status: run.status, step: String(run.step) });
  const upTo = isActive() || isLate || isReplay ? shownStep() : Infinity, status = isLate ? "training" : isReplay && !isActive() ? "shown" : run.status;
  place.toggleAttribute("data-away", page.away);
  if (page.away) return drawParts(place, say("reconnecting"), "");
  const line = (isShort) => statusLine(upTo, run.status && status, isShort);
  drawParts(place, line(true), line(false));
}

// ---- for screen readers -----------------------------------------------------------------------------------------------------------------

const QUARTERS = 4;
let place = null; // there before anything is said: what is new with its words in it is read by few screen readers
let was = { id: "", isWorking: false };
let quarter = 0; // how many of them were told

subscribe(["boot"], () => {
  if (!place) document.body.append((place = h("div", { id: "pg-announced", class: "pg-unseen", role: "status" })));
});

/** Says one sentence aloud. */
export const announce = (text) => place && (place.textContent = text);

document.addEventListener("pg-server", (event) => {
  change({ away: /** @type {CustomEvent} */ (event).detail });
  announce(page.away ? say("reconnecting") : "");
});

/** The quarters of its steps that a run has behind it. */
const quartersDone = ({ step, steps }) => (steps ? Math.floor((QUARTERS * step) / steps) : 0);

function begin() {
  quarter = quartersDone(page.live);
  announce(say("started", { name: page.card.title }));
}

subscribe(["live", "card", "frame"], () => {
  const { boot, card, live: run } = page;
  if (!boot || !place || card?.id !== run.id) return;
  const isWorking = boot.statuses.working.includes(run.status), isTold = was.id === run.id && was.isWorking;
  if (isTold && !isWorking && isGrowing()) return; // its last picture is on its way
  if (isTold && boot.statuses.over.includes(run.status)) announce(say("training_over", { status: statusLine() }));
  else if (isWorking && !isTold) begin();
  else if (isWorking && quartersDone(run) > quarter && quartersDone(run) < QUARTERS) {
    quarter = quartersDone(run);
    announce(say("training_part", { percent: String((100 * quarter) / QUARTERS) }));
  }
  was = { id: run.id, isWorking };
});
