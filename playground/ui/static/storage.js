// Storage of this browser: an object under each name. Where storage is closed to us (a frame with strict settings) it lasts as long as
// the page.
// @ts-check

const memory = new Map();

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return memory.get(name) ?? {};
  }
}

export function keep(name, changes) {
  const all = { ...recall(name), ...changes };
  memory.set(name, all);
  try {
    localStorage.setItem(name, JSON.stringify(all));
  } catch {
    // the page remembers
  }
}

export function forget(name) {
  memory.delete(name);
  try {
    localStorage.removeItem(name);
  } catch {
    // nothing was kept
  }
}

const RUNS = "playground-runs";

/** Tells the other tabs of this browser that one's runs have changed. */
export const tellTabs = () => keep(RUNS, { changed: Date.now() });
/** Calls `act` when another tab says so. */
export const hearTabs = (act) => addEventListener("storage", (event) => event.key === RUNS && act());

const TOKEN = "playground-token";

/** Whether this browser keeps anything for the page; in a frame it may not. */
export const isStorageOpen = (() => {
  try {
    localStorage.setItem(TOKEN, localStorage.getItem(TOKEN) ?? "");
    return true;
  } catch {
    return false;
  }
})();

const OWN = "playground-own-run";

/** Whether this visitor has a run of their own, to which they come back (see first.js). */
export const rememberOwn = (has) => (has ? keep(OWN, { has }) : forget(OWN));

const SENTENCE = "playground-sentence"; // {run: what was typed}, of the run that was looked at last

/** Keeps the sentence that was typed for a run, instead of the one before. */
export function rememberSentence(run, text) {
  forget(SENTENCE);
  if (text) keep(SENTENCE, { [run]: text });
}
export const rememberedSentence = (run) => recall(SENTENCE)[run] ?? "";

// The visitor's secret: it says which runs may be changed from this browser. The server keeps only its hash.
let visitor = (isStorageOpen && localStorage.getItem(TOKEN))
  || Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** From now on this is the visitor's secret. */
export function useToken(secret) {
  visitor = secret;
  if (isStorageOpen) localStorage.setItem(TOKEN, secret);
}
useToken(visitor);
export const token = () => visitor;

/** The id of the sentences that were uploaded last and what opens them, as long as this browser tab lives: a reload keeps them. */
export const lastUpload = () => inTab("playground-own");
export const lastTicket = () => inTab("playground-own-ticket");

function inTab(name) {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

export function keepUpload(id, ticket) {
  try {
    sessionStorage.setItem("playground-own", id);
    sessionStorage.setItem("playground-own-ticket", ticket);
  } catch {
    // a reload forgets
  }
}
