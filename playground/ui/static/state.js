// The cursor: which run, step, sentence, layer, head and token the whole page is looking at. It stands in the address bar, always.
// @ts-check

const declared = JSON.parse(document.getElementById("pg-cursor").textContent); // see playground/cursor.py
const defaults = declared.defaults;
export const { personal, max_text: maxText } = declared;
const listeners = new Set();
const start = renamed(new URLSearchParams(location.search));

export const cursor = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, start.get(name) || value]));

/** The page's languages as the head names them, English first: {code: {name, html, browser: the tags by which browsers ask for it}}. */
export const LANGUAGES = JSON.parse(document.querySelector("meta[name=pg-languages]").content);
const spoken = (tag) => Object.keys(LANGUAGES).find((code) => LANGUAGES[code].browser.some((known) => `${tag.toLowerCase()}-`.startsWith(`${known}-`)));
const browserLanguage = () => navigator.languages.map(spoken).find(Boolean) ?? "en";
export const languageTag = () => LANGUAGES[cursor.lang]?.html ?? "en";
if (!cursor.lang) cursor.lang = browserLanguage();

/** A query with fields and values as they are called today. */
function renamed(query) {
  const now = new URLSearchParams();
  for (const [said, value] of query) {
    const name = declared.former_names[said] ?? said;
    if (name === said || !query.has(name)) now.set(name, declared.former_values[name]?.[value] ?? value);
  }
  return now;
}

/** Lets go of what a link says and can't be used. */
export function dropFromCursor(names) {
  for (const name of names) if (name in defaults) cursor[name] = name === "lang" ? browserLanguage() : defaults[name];
}

/** Every field that a change of `cause` lets go of, as it is then. */
export const letGo = (cause) => Object.fromEntries((declared.resets[cause] ?? []).map((name) => [name, defaults[name]]));

let knobs = null; // the settings at the left as text, only those that differ from the defaults; null until Gradio has said them

const differing = (changes) => Object.entries(changes).filter(([name, value]) => cursor[name] !== String(value ?? ""));

/** Changes some fields, writes the address and tells everyone what changed. What belonged to the old run, sentence, stage … is let go of. */
export function move(changes) {
  const asked = differing(changes);
  if (!asked.length) return;
  const changed = differing({ ...Object.assign({}, ...asked.map(([name]) => letGo(name))), ...changes });
  for (const [name, value] of changed) cursor[name] = String(value ?? "");
  writeAddress();
  const names = new Set(changed.map(([name]) => name));
  for (const listener of listeners) listener(names);
}

export const onMove = (listener) => listeners.add(listener);

/** What a link to this view carries: knobs that differ from their defaults, then the cursor where it differs from its own. */
export function address() {
  const query = new URLSearchParams();
  const known = new Set(Object.keys(defaults));
  for (const [name, value] of knobs ?? [...start].filter(([name]) => !known.has(name) && !name.startsWith("__"))) query.set(name, value);
  for (const [name, value] of Object.entries(cursor)) if (value !== defaults[name] && !(name === "lang" && value === "en")) query.set(name, value);
  if (cursor.lang === "en" && start.get("lang") === "en") query.set("lang", "en");
  return query;
}

export function setKnobs(pairs) {
  knobs = pairs;
  writeAddress();
}

function writeAddress() {
  const query = address();
  for (const [name, value] of start) if (name.startsWith("__")) query.set(name, value); // Gradio's own, such as __theme
  const text = query.toString();
  history.replaceState(history.state, "", location.pathname + (text ? `?${text}` : ""));
}

/** The visitor's secret: it says which runs may be changed from this browser. The server keeps only its hash. */
export const token = (() => {
  const made = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const kept = localStorage.getItem("playground-token") || made();
    localStorage.setItem("playground-token", kept);
    return kept;
  } catch {
    return made(); // storage is closed to us (a frame with strict settings): the token lives as long as the page
  }
})();

/** The id of the sentences that task "own" means: of those that were uploaded last, or of those that the link is about. */
export let own = "";
export const setOwn = (id) => void (own = id);

/** The id of the sentences that were uploaded last, as long as this browser tab lives: a reload keeps them. */
let uploaded = "";
export function setUploaded(id) {
  uploaded = own = id;
  try {
    sessionStorage.setItem("playground-own", id);
  } catch {
    // storage is closed to us: a reload forgets
  }
}
export function lastUploaded() {
  try {
    return uploaded || sessionStorage.getItem("playground-own") || "";
  } catch {
    return uploaded;
  }
}

export const isDark = () => document.body.classList.contains("dark");
