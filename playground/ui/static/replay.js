// The training replay, which is always there: its slider, its buttons, and the way to fork from the step it shows.
// @ts-check

import { change, cursor, move, page, subscribe } from "./store.js";
import { button, count, h, icon, say, update, updateAttributes } from "./dom.js";
import { command } from "./actions.js";
import { isActive, toldStep } from "./live.js";
import { isReadingAhead } from "./answers.js";

export function drawReplay(host) {
  const control = (name, act) => button({ id: `pg-replay-${name}`, "aria-label": say(`replay_${name}`), onclick: act }, icon(name));
  const slide = (event) => seek(Number(event.target.value));
  const slider = h("input", { type: "range", id: "pg-replay", min: "0", max: "0", value: "0", step: "1", "aria-label": say("replay"), oninput: slide });
  const fork = () => command("fork", { step: cursor.step === "" ? page.live.step : Number(cursor.step) });
  host.replaceChildren(
    control("back", () => turn(-1)), control("play", play), control("forward", () => turn(1)), slider,
    h("output", { id: "pg-replay-step", for: "pg-replay", "aria-live": "off" }),
    button({ id: "pg-replay-now", onclick: () => move({ step: "" }) }, say("replay_now")),
    button({ id: "pg-fork", title: say("fork_help"), onclick: fork }, icon("fork"), h("span", {}, say("fork"))),
  );
  fillReplay();
  drawPlay();
}

/** The stops of the scrubber: every step of which the replay has a picture, then "now". Of a run that rests the last picture is now's. */
function stops() {
  const { replay, step } = page.live;
  return !isActive() && replay.at(-1) === step ? replay.slice(0, -1) : replay;
}

function at() {
  const steps = stops();
  if (cursor.step === "" || Number(cursor.step) > (steps.at(-1) ?? Infinity)) return steps.length;
  const far = (step) => Math.abs(step - Number(cursor.step));
  return steps.reduce((best, step, place) => (far(step) < far(steps[best]) ? place : best), 0);
}

const seek = (index) => move({ step: index >= stops().length ? "" : stops()[index] });
export const turn = (by) => seek(Math.max(0, Math.min(stops().length, at() + by)));

let isRewound = false, shownAt = 0; // the first frame comes next; when the newest came

/** The step that comes next in the replay. */
export const nextStop = () => stops()[isRewound ? 0 : at() + 1] ?? "";

const BEAT = 450, TICK = 50; // milliseconds that a frame is shown at least, and between looks whether the next one is there
const isDrawing = () => document.getElementById(`pg-panel-${cursor.tab}`)?.ariaBusy === "true";

/** Shows the next frame once all of it is there, so that no caption is of another step than the slider. */
function beat() {
  if (isDrawing()) return;
  if (!isRewound && at() >= stops().length) return pause();
  if (performance.now() - shownAt < BEAT || isReadingAhead()) return;
  const step = nextStop();
  isRewound = false;
  shownAt = performance.now();
  move({ step });
}

function pause() {
  clearInterval(page.playing);
  change({ playing: 0 });
}

function start(isFromStart) {
  isRewound = isFromStart;
  change({ playing: setInterval(beat, TICK) });
}

export function play() {
  if (page.playing) pause();
  else start(at() >= stops().length);
}

export function playFromStart() {
  pause();
  start(true);
}

function drawPlay() {
  const button = document.getElementById("pg-replay-play"), { playing } = page;
  button?.replaceChildren(icon(playing ? "pause" : "play"));
  button?.setAttribute("aria-label", say(playing ? "replay_pause" : "replay_play"));
}

function fillReplay() {
  const bar = document.getElementById("pg-replay"), run = page.live;
  if (!bar) return;
  const frames = String(stops().length);
  update(bar, { max: frames, value: String(at()), disabled: !stops().length });
  update(bar.dataset, { frames });
  const step = stops()[at()] ?? toldStep();
  const text = say("replay_step", { step: count(step), steps: count(run.steps || run.step) });
  update(document.getElementById("pg-replay-step"), { textContent: text });
  updateAttributes(bar, { "aria-valuetext": text });
  update(document.getElementById("pg-replay-now"), { disabled: cursor.step === "" });
}

subscribe(["live", "frame", "step"], fillReplay);
subscribe(["playing"], drawPlay);
