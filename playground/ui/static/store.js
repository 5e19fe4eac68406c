// State that scripts share, in one place: `cursor` is where the page looks, `page` is everything else. Only `move` and `change`
// change them, and they call the subscribers of a field.
// @ts-check

import { lastUpload } from "./storage.js";

const known = JSON.parse(document.getElementById("pg-known").textContent);
const { defaults, resets, former_values: formerValues } = known.cursor; // see playground/cursor.py
export const { carried, followed, personal, max_text: maxText } = known.cursor;
const pushed = new Set(known.cursor.entries); // fields whose change makes an entry of the browser's history
/** The page's places: {place: its tabs}. */
export const PLACES = known.places;

/** The page's languages, English first: {code: {name, html, direction, translated: percent, browser: the tags by which browsers ask for it}}. */
export const LANGUAGES = known.languages;

const start = renamed(new URLSearchParams(location.search));

/** The fields of the cursor, each a text; "" is: not chosen. They stand in the address bar, always. */
export const cursor = read(start);
if (!cursor.lang) cursor.lang = browserLanguage();

/**
 * State of the page beside the cursor. Every value is replaced whole.
 * @type {import("./page").Page}
 */
export const page = {
  boot: null,
  knobs: null,
  wanted: {},
  card: null,
  following: "",
  taking: "",
  unread: "",
  held: { run: "", head: "", early: false },
  live: nothing(""),
  frame: { run: "", step: 0, isLast: false },
  sentence: null,
  panels: {},
  away: false,
  pointed: null,
  reply: null,
  playing: 0,
  own: "",
  uploaded: lastUpload(),
  guessed: {},
  readOff: "",
  checked: {},
  progress: null,
  room: null,
  exploring: false,
  isPlaced: false, // whether the page around a frame has said what is in sight
};

/**
 * A run before the first update of its stream.
 * @returns {import("./page").Run}
 */
export function nothing(id) {
  const known = { rows: {}, validations: {}, replay: [], parameter_steps: [] };
  return { id, version: 0, status: "", step: 0, steps: 0, seconds: 0, eta: null, place: 0, message: null, trouble: false, ...known };
}

const listeners = []; // [fields, listener]

/** Has `listener` called with the set of all names that a change is of, when one of `fields` is among them. */
export const subscribe = (fields, listener) => void listeners.push([fields, listener]);
/** Every field of the cursor, for those who want to hear of each. */
export const FIELDS = Object.keys(defaults);

function tell(names) {
  for (const [fields, listener] of listeners) if (fields.some((name) => names.has(name))) listener(names);
}

/** Changes what the page knows. */
export function change(values) {
  const names = new Set(Object.keys(values).filter((name) => isIn(page, name) && page[name] !== values[name]));
  for (const name of names) page[name] = values[name];
  if (["knobs", "boot", "card"].some((name) => names.has(name))) writeAddress();
  tell(names);
}

/** The fields that would change. */
const differing = (fields) => Object.keys(fields).filter((name) => isIn(cursor, name) && cursor[name] !== String(fields[name] ?? ""));

/** Changes where the page looks. What belonged to the old run, sentence, stage … is let go of. Back returns from a new place, unless this
 * one takes the old one's: `instead`. */
export function move(fields, { instead = false } = {}) {
  set({ ...Object.assign({}, ...differing(fields).map(letGo)), ...fields }, (names) => !instead && [...names].some((name) => pushed.has(name)));
}

function set(fields, isEntry) {
  const names = new Set(differing(fields));
  if (!names.size) return;
  for (const name of names) cursor[name] = String(fields[name] ?? "");
  writeAddress(isEntry(names));
  tell(names);
}

/** Back and Forward: the page looks where it looked then, in the language of now. */
addEventListener("popstate", () => {
  const { lang, ...then } = read(renamed(new URLSearchParams(location.search)));
  set({ ...then, run: then.run || cursor.run }, () => false);
});

function isIn(where, name) {
  if (!(name in where)) throw new Error(`there is no field ${name}`);
  return true;
}

/** Every field that a change of `cause` lets go of, as it is then. */
export const letGo = (cause) => Object.fromEntries((resets[cause] ?? []).map((name) => [name, defaults[name]]));

/** Before anything is drawn: drops what the link says and can't be used, and chooses a run, and a sentence of it. */
export function settle(ignored, run, text) {
  for (const name of ignored) if (name in defaults) cursor[name] = name === "lang" ? browserLanguage() : defaults[name];
  if (!cursor.run) Object.assign(cursor, { run, text: cursor.text || text });
  writeAddress();
}

/** The sentence on screen: the typed one, or the run's first example. */
export const sentenceText = () => cursor.text || page.card?.examples[0]?.[0] || "";

// ---- the address ---------------------------------------------------------------------------------------------------------------------

/** A table whose keys are values of a field, as they are called today. */
export const presentNames = (field, table) =>
  Object.fromEntries(Object.entries(table).map(([name, value]) => [formerValues[field]?.[name] ?? name, value]));

/** Every field as a query has it. */
function read(query) {
  return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, query.get(name) || value]));
}

/** A query with values as they are called today. */
function renamed(query) {
  return new URLSearchParams(Object.fromEntries([...query].map(([name, value]) => [name, formerValues[name]?.[value] ?? value])));
}

function browserLanguage() {
  const asks = (tag) => (code) => LANGUAGES[code].browser.some((known) => `${tag.toLowerCase()}-`.startsWith(`${known}-`));
  const spoken = (tag) => Object.keys(LANGUAGES).find(asks(tag));
  return navigator.languages.map(spoken).find(Boolean) ?? "en";
}
export const languageTag = () => LANGUAGES[cursor.lang]?.html ?? "en";

/** A knob's value as it stands in an address. */
export function asText(value) {
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "number" ? String(+value.toPrecision(10)) : String(value ?? "");
}

/** Settings of the controls in the link that opened the page. */
export const linkSettings = [...start].filter(([name]) => !(name in defaults) && !name.startsWith("__"));

/** The settings at the left that differ from their defaults; until those are known, what the link says of them. A link without any means
 * those of its run: where the run on screen has others, the defaults are told by the task. */
function settings() {
  const { boot, knobs, card } = page;
  if (!boot || !knobs) return linkSettings;
  const differing = (name) => knobs[name] !== null && asText(knobs[name]) !== asText(boot.defaults[name]);
  const changed = boot.knobs.filter(differing), own = card?.id === cursor.run ? card.settings : boot.defaults;
  if (boot.knobs.every((name) => asText(knobs[name]) === asText(own[name]))) return [];
  const named = !changed.length && boot.knobs.some((name) => asText(own[name]) !== asText(boot.defaults[name])) ? ["task"] : changed;
  return named.map((name) => [name, asText(knobs[name])]);
}

/** The query of a link to this view: settings that differ from their defaults, then the cursor where it differs from its own. */
export function address() {
  const query = new URLSearchParams(settings());
  for (const name of FIELDS) if (cursor[name] !== defaults[name] && !(name === "lang" && cursor.lang === "en")) query.set(name, cursor[name]);
  if (cursor.lang === "en" && start.get("lang") === "en") query.set("lang", "en");
  return query;
}

function writeAddress(isEntry = false) {
  const query = address();
  for (const [name, value] of start) if (name.startsWith("__")) query.set(name, value); // Gradio's own, such as __theme
  const now = location.pathname + (String(query) && `?${query}`);
  if (isEntry) history.pushState(history.state, "", now);
  else history.replaceState(history.state, "", now);
}
