// The server as the page sees it, and whether it is there. A frozen page has frozen_server.js in its place, which has the same functions and
// answers from files.
// @ts-check

export const isFrozen = false;
const QUIET = 7_000, AWAY = 2_000; // milliseconds after which a page in sight asks, where no stream tells; while the server is away
const HEALTH = new URL("../../../../health", import.meta.url);
/** @type {Set<EventSource>} */
const streams = new Set();
let heard = Date.now(), isAway = false;

function tell(away) {
  heard = Date.now();
  if (away !== isAway) document.dispatchEvent(new CustomEvent("pg-server", { detail: (isAway = away) }));
}

/** Asks one of our routes: as `fetch` does. */
export async function ask(address, options = {}) {
  try {
    const answer = await fetch(address, options);
    tell(false);
    return answer;
  } catch (reason) {
    if (!options.signal?.aborted) tell(true);
    throw reason;
  }
}

/** The events of a run. */
export function listen(address) {
  const stream = new EventSource(address);
  streams.add(stream);
  stream.addEventListener("open", () => tell(false));
  stream.addEventListener("error", () => stream.readyState === EventSource.CONNECTING && checkServer(0));
  return stream;
}

/** Asks whether the server is there, if nothing else has told for a while. */
export function checkServer(quiet = isAway ? AWAY : QUIET) {
  for (const stream of streams) if (stream.readyState === EventSource.CLOSED) streams.delete(stream);
  const isTold = [...streams].some(({ readyState }) => readyState === EventSource.OPEN);
  if (document.hidden || isTold || Date.now() - heard < quiet) return;
  heard = Date.now(); // one question at a time
  ask(HEALTH, { cache: "no-store" }).catch(() => {});
}
