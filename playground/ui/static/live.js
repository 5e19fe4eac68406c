// The stream of one run: each update is added to what is known, and subscribers hear of it.
// @ts-check

import { change, cursor, nothing, page } from "./store.js";
import { count, routeUrl, say } from "./dom.js";
import { listen } from "./server.js";

/**
 * Adds an update to a run. Rows that are there already are skipped: after a cut connection some may come again.
 * @param {import("./page").Run} run
 * @param {Record<string, any>} update
 * @returns {import("./page").Run}
 */
export function mergeUpdate(run, { from, rows = {}, ...rest }) {
  if (from === 0) return { ...run, ...rest, rows };
  const last = run.rows.step?.at(-1) ?? -Infinity;
  const first = (rows.step ?? []).findIndex((step) => step > last);
  const grown = Object.entries(rows).map(([name, values]) => [name, [...(run.rows[name] ?? []), ...(first < 0 ? [] : values.slice(first))]]);
  return { ...run, ...rest, rows: { ...run.rows, ...Object.fromEntries(grown) } };
}

const is = (kind, status = page.live.status) => page.boot?.statuses[kind].includes(status) ?? false;
export const isActive = () => is("working");
export const isResumable = () => is("resumable");

/** The run that the one on screen goes on from. */
export const parentOfRun = () => (page.card?.id === page.live.id ? page.card.parent : null);
export const nameParent = (parent) => say(parent.name ? "parent" : "parent_gone", { ...parent, step: count(parent.step) });

/** The step that is looked at: the replay's, or that of the pictures on screen, so that no number is ahead of them. */
export function shownStep() {
  const { live: run, frame } = page;
  return cursor.step === "" ? (frame.run === run.id ? frame.step : Infinity) : Number(cursor.step);
}

/** The key of a status' words: only who waits for memory has a place in the queue, all others are begun with at once.
 * @param {string} status */
export const statusKey = (status) => `status_${status === "queued" && !page.live.place ? "preparing" : status}`;

/** Whether what is on screen is of an earlier step than the run has come to: the newest is on its way. */
export function isBehind() {
  const { live: run, frame } = page;
  return cursor.step === "" && frame.run === run.id && frame.step < run.step && (isActive() || !frame.isLast);
}

/** Whether the page still shows a training: to the end of one belongs its last picture. */
export const isGrowing = () => isActive() || isBehind();

/** How far the run is known to be: a picture may be here before the stream has told of its step. */
const knownStep = () => Math.max(page.live.step, page.frame.run === page.live.id ? page.frame.step : 0);

/**
 * The step that every text names: that of the pictures on screen; the newest while there are none.
 * @param {number} upTo
 */
export const toldStep = (upTo = shownStep()) => Math.min(upTo, knownStep());

/**
 * The last value of a column of the run's history at the step on screen. Undefined where there is none yet.
 * @param {string} column
 */
export function newest(column) {
  const { rows } = page.live, upTo = shownStep();
  return rows[column]?.[rows.step.findLastIndex((step) => step <= upTo)];
}

/** Whether an answer is the refusal of a run that has just been made and has nothing to show yet. */
export const isTooEarly = ({ key }) => (key === "runs.nothing_yet" || key === "page.not_ready") && (isActive() || !page.live.status);

/** The head that the run on screen is shown with until the visitor chooses one. An early one, of before any had settled, says little of what the
 * run has learnt: at its end, and where heads are watched as they settle, it doesn't count. */
export const heldHead = () => (page.held.run === cursor.run && !(page.held.early && (!isActive() || cursor.tab === "training")) ? page.held.head : "");

const AGAIN = 10_000; // milliseconds until a stream that was refused is asked for once more
let source = null;
let merged = null; // the run with the updates that have come since the last frame

/** Tells the page of the updates that have come: once a frame, since a browser that is slow to draw would do nothing else. */
function tellUpdates() {
  if (merged && merged.id === page.live.id) change({ live: merged });
  merged = null;
}

/** Listens to a run, if it isn't being listened to: of one that has ended nothing more came, until it was resumed. */
export function follow(id) {
  if (page.live.id === id && source && source.readyState !== EventSource.CLOSED) return;
  if (page.live.id !== id) change({ live: nothing(id) });
  connect();
}

function connect() {
  tellUpdates();
  source?.close();
  source = null;
  const { id, version } = page.live;
  if (!id || document.hidden) return;
  const stream = (source = listen(routeUrl(`live/${encodeURIComponent(id)}`, { since: version, by: page.boot?.by ?? "" })));
  stream.onmessage = (event) => {
    if (stream !== source) return;
    if (!merged) requestAnimationFrame(tellUpdates);
    merged = mergeUpdate(merged ?? page.live, JSON.parse(event.data));
    if (is("over", merged.status)) stream.close();
  };
  // a browser gives up by itself where the answer is no stream, such as when too many windows are open
  stream.onerror = () => stream === source && stream.readyState === EventSource.CLOSED && setTimeout(() => stream === source && connect(), AGAIN);
  stream.addEventListener("gone", () => {
    stream.close();
    merged = null;
    change({ live: { ...page.live, status: "gone" } });
  });
}

function again() {
  tellUpdates();
  if (page.live.id && !is("over")) connect();
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else again();
});
document.addEventListener("pg-waking", again);
