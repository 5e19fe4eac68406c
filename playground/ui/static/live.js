// The stream of one run: its history grows here as it trains, and everyone who asked is told.
// @ts-check

import { cursor, onMove } from "./state.js";
import { routeUrl } from "./dom.js";

const OVER = new Set(["done", "stopped", "failed", "diverged", "interrupted"]);
const listeners = new Set();
let source = null;

/**
 * What is known of the run that is being looked at: the newest values and the whole history so far.
 * @type {import("./page").Run}
 */
export const run = { id: "", ...nothing() };

function nothing() {
  return { version: 0, status: "", step: 0, steps: 0, seconds: 0, eta: null, place: 0, message: null, rows: {}, validations: {}, probes: [], replay: [], parameter_steps: [] };
}

export const onUpdate = (listener) => listeners.add(listener);
export const isActive = () => ["queued", "preparing", "training"].includes(run.status);

export function follow(id) {
  if (run.id !== id) Object.assign(run, nothing(), { id });
  connect();
}

function connect() {
  source?.close();
  source = null;
  if (!run.id || document.hidden) return;
  const mine = (source = new EventSource(routeUrl(`live/${encodeURIComponent(run.id)}`, { since: run.version })));
  mine.onmessage = (event) => {
    if (mine !== source) return;
    take(JSON.parse(event.data));
    if (OVER.has(run.status)) mine.close(); // nothing more comes unless it is resumed, which connects again
  };
  mine.addEventListener("gone", () => {
    mine.close();
    run.status = "gone";
    tell();
  });
}

function take(update) {
  if (update.from === 0) run.rows = {};
  for (const [name, values] of Object.entries(update.rows ?? {})) run.rows[name] = (run.rows[name] ?? []).concat(values);
  const { rows, from, id, ...rest } = update;
  Object.assign(run, rest);
  tell();
}

function tell() {
  for (const listener of listeners) listener(run);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (run.id && !OVER.has(run.status)) connect();
});
onMove((changed) => changed.has("run") && cursor.run && follow(cursor.run));
