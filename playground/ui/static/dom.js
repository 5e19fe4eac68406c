// Small helpers: elements made from text (never from markup), words in the page's language, and reading from the server.
// @ts-check

import { cursor, languageTag, page } from "./store.js";
import { token } from "./storage.js";
import { ask } from "./server.js";

const BASE = new URL("../../../..", import.meta.url).href; // …/gradio_api/playground/, where this file is asset/<version>/ui/static/dom.js

/** The sentence `page.<key>` in the page's language, its {placeholders} filled in; {count:step|steps} is the one word for 1, else the other. */
export function say(key, values = {}) {
  const text = page.boot?.words[key];
  if (text === undefined) return key;
  const fill = (whole, name, single, many) => {
    if (!(name in values)) return whole;
    if (many === undefined) return values[name];
    return String(values[name]) === "1" ? single : many;
  };
  return text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, fill);
}

/** Sentences one after the other, without the empty ones: as `paragraph` of words/ has it, no space follows a full-width stop. */
export const paragraph = (sentences) => sentences.filter(Boolean).join(" ").replace(/([。！？]) /g, "$1");

/**
 * An element. Properties that start with "on" are listeners; children are elements or text, and text stays text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} props
 * @param {any[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "style") element.style.cssText = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  if (tag === "code" || tag === "pre") element.translate = false;
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Attributes of an element whose text the model reads or writes: no translator of a browser changes it, it runs as its letters do, and is in the
 * language of its side, where that is known.
 * @param {"" | "src" | "tgt"} [side]
 */
export const modelText = (side = "") => ({ translate: "no", lang: page.card?.languages?.[side] || "und", dir: "auto" });

/** Calls `act` when a field's text was changed by its user. Of a word that an input method composes it is the whole word that counts. */
export function onTyped(field, act) {
  field.addEventListener("input", (event) => event.isComposing || act());
  field.addEventListener("compositionend", () => act());
}

/** Whether a key is Enter, and no end of a word that is being composed. */
export const isEnter = (event) => event.key === "Enter" && !event.isComposing;

/** The element of this id, as soon as it is there. */
export const ready = (id) => new Promise((resolve) => {
  const there = () => document.getElementById(id);
  if (there()) return resolve(there());
  const watch = new MutationObserver(() => there() && (watch.disconnect(), resolve(there())));
  watch.observe(document.documentElement, { childList: true, subtree: true });
});

const OPENING = 1000, SOON = 16; // milliseconds: for which an element that is opened is waited for, and until it is looked at again

/** The element of this id, as soon as it has room: a tab that was closed is there, and as wide as nothing until Gradio opens it. */
export async function open(id) {
  const element = await ready(id);
  for (const end = performance.now() + OPENING; !element.clientWidth && performance.now() < end;) await new Promise((resume) => setTimeout(resume, SOON));
  return element;
}

/** @type {(element: Element) => any[]} the elements in another, whatever they are */
export const childrenOf = (element) => [...element.children];

const CONTROLS = ["button", "input", "select", "textarea", "summary", "a[href]", "[tabindex]"].join();

/** Gives an element other children. The focus stays on the control with the same id and data, else on the one in the same place. */
export function replaceChildren(host, ...children) {
  const controls = () => /** @type {HTMLElement[]} */ ([...host.querySelectorAll(CONTROLS)]), nameOf = ({ id, dataset }) => id + JSON.stringify(dataset);
  const at = controls().indexOf(/** @type {HTMLElement} */ (document.activeElement)), name = at >= 0 && nameOf(controls()[at]);
  host.replaceChildren(...children.filter((child) => child !== ""));
  if (at >= 0) (controls().find((control) => nameOf(control) === name) ?? controls()[at])?.focus({ preventScroll: true });
}

/** A button that does nothing but what its listener does. */
export const button = (props, ...children) => h("button", { type: "button", ...props }, ...children);

/** Does something before the next frame, however often it is asked for until then. */
export function inFrame(act) {
  let request = 0;
  return () => {
    cancelAnimationFrame(request);
    request = requestAnimationFrame(act);
  };
}

/** A field under its name. */
export const labelled = (key, field) => h("label", {}, h("span", {}, say(key)), field);

/**
 * An element of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} properties
 * @param {(Node | string)[]} children
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Whether an element shows this value already, in this language; else it is about to. */
export function same(element, value) {
  const text = JSON.stringify(value) + cursor.lang;
  if (element.pgText === text) return true;
  element.pgText = text;
  return false;
}

/** Gives an element, or its dataset, these properties. One that it has isn't written again: that would cost a new style all the same. */
export function update(element, properties) {
  for (const [name, value] of Object.entries(properties)) if (element[name] !== value) element[name] = value;
}

/** The same for attributes. */
export function updateAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** One of a few line icons, drawn here so that nothing is fetched. */
export function icon(name) {
  const paths = {
    play: "M6 4l10 6-10 6z", pause: "M6 4h3v12H6zM11 4h3v12h-3z", stop: "M5 5h10v10H5z", step: "M4 4l8 6-8 6zM13 4h3v12h-3z",
    back: "M15 4l-8 6 8 6zM4 4h2v12H4z", forward: "M5 4l8 6-8 6zM14 4h2v12h-2z",
    fork: "M6 3v14M6 10c0-4 8-2 8-7", link: "M8 12l4-4M7 9l-2 2a3 3 0 004 4l2-2M13 11l2-2a3 3 0 00-4-4L9 7",
    save: "M10 3v9M6 9l4 4 4-4M4 16h12",
    pin: "M7 3h6M8 3v5l-3 4h10l-3-4V3M10 12v5", pen: "M4 16l1-4 8-8 3 3-8 8zM11 6l3 3",
    trash: "M5 6h10M8 6V4h4v2M6 6l1 10h6l1-10",
  };
  const filled = ["play", "pause", "stop", "step", "back", "forward"].includes(name);
  const [fill, stroke] = filled ? ["currentColor", "none"] : ["none", "currentColor"];
  const pen = { fill, stroke, "stroke-width": "1.6", "stroke-linecap": "round" };
  return svg("svg", { viewBox: "0 0 20 20", width: "16", height: "16", "aria-hidden": "true", ...pen }, svg("path", { d: paths[name] }));
}

export const plotlyUrl = new URL("../../plotly.js", import.meta.url).href;
export const routeUrl = (path, params = {}) => `${BASE}${path}?${new URLSearchParams(params)}`;

export const AGAIN = 3000; // milliseconds until a server that could not be reached is asked again
const running = new Map();
const headers = () => ({ "X-Playground-Token": token() });
/** Parses a response; one that is no JSON becomes a sentence. A server that answers is not away any more. A response that is given up, or cut
 * off, while it comes in is no answer. */
async function parseAnswer(answer) {
  withdraw(say("server_away"));
  try {
    return await answer.json();
  } catch (reason) {
    if (!(reason instanceof SyntaxError)) throw reason;
    return { error: say("server_error", { status: answer.status }) };
  }
}

/**
 * Reads JSON from one of our routes. A newer call on the same channel gives up the older one (it then returns null).
 * @returns {Promise<any>}
 */
export async function read(path, params = {}, channel = path) {
  running.get(channel)?.abort();
  const control = new AbortController();
  running.set(channel, control);
  try {
    return await parseAnswer(await ask(routeUrl(path, { lang: cursor.lang, ...params }), { signal: control.signal, headers: headers() }));
  } catch {
    return control.signal.aborted ? null : { error: say("server_away"), away: true };
  } finally {
    if (running.get(channel) === control) running.delete(channel);
  }
}

/** Sends JSON, or a file, to a route that changes something, of runs unless another is named, and resolves with its answer. */
export async function send(message, path = "command", params = {}) {
  try {
    const [type, body] = message instanceof Blob ? ["application/zip", message] : ["application/json", JSON.stringify(message)];
    const post = { method: "POST", headers: { ...headers(), "Content-Type": type }, body };
    return await parseAnswer(await ask(routeUrl(path, { lang: cursor.lang, ...params }), post));
  } catch {
    return { error: say("server_away"), away: true };
  }
}

/** A file of this browser. */
export function keepFile(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Saves what an address of ours sends, under the name that it gives or this one. A file that can't be made is told of, not saved. */
export async function saveFrom(address, name) {
  try {
    const answer = await ask(address, { headers: headers() });
    if (answer.headers.get("Content-Type")?.startsWith("application/json")) return notice((await answer.json()).error, "error");
    keepFile(await answer.blob(), /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? name);
  } catch {
    notice(say("server_away"), "error");
  }
}

/** Reads a page that an address of ours sends, with this browser's key; "" when none comes, which is told. */
export async function readPage(address) {
  try {
    return await (await ask(address, { headers: headers() })).text();
  } catch {
    notice(say("server_away"), "error");
    return "";
  }
}

export const isDark = () => document.body.classList.contains("dark");

export function debounce(action, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

/** Copies what stands in a field, and says so by the sentence `key`. */
export async function copyText(field, key = "copied") {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    document.execCommand("copy"); // a frame without the right to the clipboard
  }
  notice(say(key));
}

/** The button beside a field that copies what stands in it. */
export const copyButton = (field, id) => button({ id, onclick: () => copyText(field) }, say("copy"));

/** One plain sentence at the edge of the page, and what else is to stand there, in the place of an older one of its kind: they never pile
 * up. News goes by itself, the rest stays until it is closed. */
export function notice(text, kind = "info", ...more) {
  let place = document.getElementById("pg-notices");
  if (!place) document.body.append((place = h("div", { id: "pg-notices", role: "status", "aria-live": "polite" })));
  for (const note of place.querySelectorAll(".pg-notice")) if (note.dataset.kind === kind) note.remove();
  const close = button({ "aria-label": say("close"), onclick: () => note.remove() }, "×");
  const note = h("div", { class: `pg-notice ${kind}`, dataset: { text, kind } }, h("span", {}, text, ...more.flatMap((part) => [" ", part])), close);
  place.append(note);
  if (kind === "info") setTimeout(() => note.remove(), 6000);
}

/** Removes errors: their cause is mended, or about to be. */
export function forgive() {
  for (const error of document.querySelectorAll(".pg-notice.error")) error.remove();
}

/** Takes a sentence back that holds no longer. */
function withdraw(text) {
  for (const note of document.querySelectorAll(".pg-notice")) if (note.dataset.text === text) note.remove();
}

/** Numbers as people read them. */
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export const count = (number) => Number(number).toLocaleString(languageTag());
export const minus = (text) => text.replaceAll("-", "−"); // a true one
/**
 * Time that is left, in whole seconds or, when it may take longer than 90, in whole minutes: "2 to 3 s"; "about 3 s" where both ends are one.
 * @param {[number, number] | null} range seconds, at least and at most
 */
export function timeLeft(range) {
  if (!range) return "–";
  const [unit, size] = range[1] < 90 ? ["seconds", 1] : ["minutes", 60];
  const low = Math.max(1, Math.floor(range[0] / size)), high = Math.max(1, Math.ceil(range[1] / size));
  return low === high ? say(`about_${unit}`, { about: high }) : say(`range_${unit}`, { low, high });
}
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !isFinite(seconds)) return "–";
  if (seconds < 60) return say("seconds", { seconds: seconds.toFixed(seconds < 10 ? 1 : 0) });
  const whole = Math.round(seconds);
  return say("minutes", { minutes: Math.floor(whole / 60), seconds: String(whole % 60).padStart(2, "0") });
}

const placeOf = ({ clientX, clientY }) => `${clientX} ${clientY}`;
let rested = ""; // where the pointer was last
/** Whether the pointer is where it was: what appears under it was not pointed at. */
export const isResting = (event) => placeOf(event) === rested;
addEventListener("pointermove", (event) => (rested = placeOf(event)), { passive: true }); // after those of the document, which ask for it
