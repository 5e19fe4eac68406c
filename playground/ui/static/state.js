// The cursor: which run, step, sentence, layer, head and token the whole page is looking at. It stands in the address bar, always.
// @ts-check

const DEFAULTS = {
  run: "", step: "", text: "", tab: "learn", part: "cross", layer: "", head: "", q: "", k: "", lang: "",
  method: "greedy", beam: "4", penalty: "0.6", temperature: "1", draw: "1", top_k: "0", top_p: "1", prefix: "", cache: "on", target: "output", view: "matrix", measure: "aligned",
  fix: "", force: "", change: "heads", off: "", squeeze: "", cells: "",
  stage: "", row: "", col: "", hide: "", window: "", digits: "",
  masks: "", mask: "memory", pos: "heatmap", shift: "3", split: "heldout", teacher: "",
  lab: "", guess: "", sure: "", set: "", toss: "1", arms: "", lesson: "", notes: "", predicted: "", certain: "", glossary: "",
  compare: "", mapped: "", gauge: "gradient", route: "", what: "src", token: "", by: "token",
};
const listeners = new Set();
const start = new URLSearchParams(location.search);

export const cursor = Object.fromEntries(Object.entries(DEFAULTS).map(([name, value]) => [name, start.get(name) ?? value]));
const browserLanguage = () => ((navigator.language || "").toLowerCase().startsWith("zh") ? "zh" : "en");
if (!cursor.lang) cursor.lang = browserLanguage();

/** Lets go of what a link says and can't be used. */
export function dropFromCursor(names) {
  for (const name of names) if (name in DEFAULTS) cursor[name] = name === "lang" ? browserLanguage() : DEFAULTS[name];
}

const ABOUT_A_RUN = ["off", "squeeze"];
const ABOUT_A_SENTENCE = ["q", "k", "prefix", "fix", "force", "row", "col", "cells", "token"];
const ABOUT_A_LAB = ["guess", "sure", "set", "toss", "arms"];
const ABOUT_A_LESSON = ["predicted", "certain"];
const ABOUT_A_STAGE = ["row", "col", "window"];
let knobs = null; // the settings at the left as text, only those that differ from the defaults; null until Gradio has said them

/** Changes some fields, writes the address and tells everyone what changed. A new sentence or run lets go of the pinned token, another
 * stage of the chosen cell. */
export function move(changes) {
  const changed = Object.entries(changes).filter(([name, value]) => cursor[name] !== String(value ?? ""));
  if (!changed.length) return;
  const moved = (...names) => changed.some(([name]) => names.includes(name));
  const lost = new Set([...(moved("run") ? ABOUT_A_RUN : []), ...(moved("run", "text") ? ABOUT_A_SENTENCE : []), ...(moved("stage") ? ABOUT_A_STAGE : []), ...(moved("lab") ? ABOUT_A_LAB : []), ...(moved("lesson") ? ABOUT_A_LESSON : [])]);
  for (const name of lost) if (!(name in changes) && cursor[name] !== DEFAULTS[name]) changed.push([name, DEFAULTS[name]]);
  for (const [name, value] of changed) cursor[name] = String(value ?? "");
  writeAddress();
  const names = new Set(changed.map(([name]) => name));
  for (const listener of listeners) listener(names);
}

export const onMove = (listener) => listeners.add(listener);

/** What a link to this view carries: knobs that differ from their defaults, then the cursor where it differs from its own. */
export function address() {
  const query = new URLSearchParams();
  const known = new Set(Object.keys(DEFAULTS));
  for (const [name, value] of knobs ?? [...start].filter(([name]) => !known.has(name) && !name.startsWith("__"))) query.set(name, value);
  for (const [name, value] of Object.entries(cursor)) if (value !== DEFAULTS[name] && !(name === "lang" && value === "en")) query.set(name, value);
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

/** The id of the sentences that were uploaded last, as long as this browser tab lives: a reload keeps them. */
export let own = "";
export function setOwn(id) {
  own = id;
  try {
    sessionStorage.setItem("playground-own", id);
  } catch {
    // storage is closed to us: a reload forgets
  }
}
export function keptOwn() {
  try {
    return own || sessionStorage.getItem("playground-own") || "";
  } catch {
    return own;
  }
}

export const isDark = () => document.body.classList.contains("dark");
