// Storage of this browser: an object under each name. Where storage is closed to us (a frame with strict settings) it lasts as long as
// the page.
// @ts-check

const TOKEN = "playground-token";
const memory = new Map(), ofThePage = {
  getItem: (name) => memory.get(name) ?? null, setItem: (name, text) => void memory.set(name, text), removeItem: (name) => void memory.delete(name),
};

/** Writes a text, unless the storage has become full: the page goes on without it. */
function write(storage, name, text) {
  try {
    storage.setItem(name, text);
  } catch {
    // as if it had not been kept
  }
}

/** A storage of this browser, unless it is closed to us or full. */
function storageOf(kind) {
  try {
    const storage = globalThis[kind];
    storage.setItem(TOKEN, storage.getItem(TOKEN) ?? "");
    return storage;
  } catch {
    return ofThePage;
  }
}
const local = storageOf("localStorage"), ofTab = storageOf("sessionStorage");
/** Whether this browser keeps anything for the page; in a frame it may not. */
export const isStorageOpen = local !== ofThePage;

export function recall(name) {
  try {
    return JSON.parse(local.getItem(name)) ?? {};
  } catch {
    return {}; // another program's
  }
}

export const keep = (name, changes) => write(local, name, JSON.stringify({ ...recall(name), ...changes }));
export const forget = (name) => local.removeItem(name);

const RUNS = "playground-runs";

/** Tells the other tabs of this browser that one's runs have changed. */
export const tellTabs = () => keep(RUNS, { changed: Date.now() });
/** Calls `act` when another tab says so. */
export const hearTabs = (act) => addEventListener("storage", (event) => event.key === RUNS && act());

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
let visitor = local.getItem(TOKEN)
  || Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** From now on this is the visitor's secret. */
export function useToken(secret) {
  visitor = secret;
  write(local, TOKEN, secret);
}
useToken(visitor);
export const token = () => visitor;

/** The id of the sentences that were uploaded last and what opens them, as long as this browser tab lives: a reload keeps them. */
export const lastUpload = () => ofTab.getItem("playground-own") ?? "";
export const lastTicket = () => ofTab.getItem("playground-own-ticket") ?? "";

export function keepUpload(id, ticket) {
  write(ofTab, "playground-own", id);
  write(ofTab, "playground-own-ticket", ticket);
}
