// The server as the page sees it. A frozen page has frozen_server.js in its place, which has the same functions and answers from files.
// @ts-check

export const isFrozen = false;

/** Asks one of our routes: as `fetch` does. */
export const ask = (address, options = {}) => fetch(address, options);

/** The events of a run. */
export const listen = (address) => new EventSource(address);
