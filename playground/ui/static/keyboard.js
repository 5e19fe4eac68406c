// The page by keyboard: ways past the controls, one stop for each group of them, keys of the whole page, and Gradio's menus.
// @ts-check

import { cursor, move, subscribe } from "./store.js";
import { say } from "./dom.js";
import { openHelp } from "./dialogs.js";
import { play, turn } from "./replay.js";
import { isSwitchedOff } from "./single_keys.js";
import "./gridkeys.js";

// What belongs together is one stop: {what it stands in: each of it}.
const GROUPS = {
  ".pg-segments": "button", ".pg-many": "button", ".pg-layers": ".pg-thumb", ".pg-buttons": "button", ".pg-tools": "button",
  "#pg-replay-bar": "button", "[role=tablist]": "[role=tab]", "#pg-knobs fieldset": "[type=radio]", ".pg-figure": ".pg-term",
  ".pg-text": ".pg-term", ".pg-points": ".pg-term", ".pg-map-grid": "[data-address]", ".pg-lanes thead": "button",
  ".pg-save": "button", ".pg-switch-part": ".pg-switch", ".pg-cell-row": ".pg-cell-bar", ".pg-modelview": ".pg-term",
  ".pg-model-grids": ".pg-model-head", ".pg-runs table": "[data-at]",
};
/** @type {(selector: string) => any[]} */
const all = (selector) => [...document.querySelectorAll(selector)];
const isShown = (element) => element.getClientRects().length > 0 && !element.disabled;
const isChosen = (element) => element.matches("[aria-pressed=true], [aria-selected=true], :checked");
const shownIn = (group, each) => [...group.querySelectorAll(each)].filter(isShown);

/** The elements of a group with this one, in their order; null when it is in none. */
function groupOf(element) {
  for (const [around, each] of Object.entries(GROUPS)) {
    const group = element.matches?.(each) && element.closest(around);
    if (group) return shownIn(group, each);
  }
  return null;
}

/** Said when Tab is pressed, before it moves the focus: what was drawn meanwhile is known then, and nothing has to watch the page. */
function setStops() {
  for (const [around, each] of Object.entries(GROUPS)) {
    for (const group of all(around)) {
      const elements = shownIn(group, each);
      const stop = elements.find((element) => element === document.activeElement) ?? elements.find(isChosen) ?? elements[0];
      for (const element of elements) element.tabIndex = element === stop ? 0 : -1;
    }
  }
  for (const plot of all(".pg-plot")) plot.tabIndex = plot.layout?.meta?.cells ? 0 : -1;
  for (const control of all("#pg-knobs [type=range], #pg-knobs [role=listbox]")) control.tabIndex = -1; // of a number, and of a menu
}

/** The one of `elements` that lies in a direction: the next of the row, or the nearest above or below. */
export function neighbour(elements, from, key) {
  const at = elements.indexOf(from), by = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (key === "Home" || key === "End") return elements.at(key === "Home" ? 0 : -1);
  if (by) return elements[(at + by + elements.length) % elements.length];
  const middle = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { x: (left + right) / 2, y: (top + bottom) / 2, high: (bottom - top) / 2 };
  };
  const here = middle(from), down = key === "ArrowDown" ? 1 : -1;
  const far = (element) => Math.hypot(middle(element).x - here.x, 3 * (middle(element).y - here.y)); // rather its row than its column
  const there = elements.filter((element) => down * (middle(element).y - here.y) > here.high);
  return there.sort((first, other) => far(first) - far(other))[0] ?? from;
}

/** Keys of a group. */
export const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

/** Arrows go through a group. Tabs have theirs in tabs.js, tiles in map.js, and a slider takes its own. */
function moveInGroup(event) {
  if (!KEYS.includes(event.key)) return;
  const target = event.target, elements = groupOf(target);
  if (!elements || target.role === "tab" || target.closest(".pg-map-grid")) return;
  event.preventDefault();
  event.stopPropagation();
  const next = neighbour(elements, target, event.key);
  next.focus();
  if (next.type === "radio") next.click();
}

const NOWHERE = { block: "", at: 0, element: /** @type {Element | null} */ (null) };
let last = NOWHERE; // of a group, that had the focus
document.addEventListener("focusin", ({ target }) => {
  const element = /** @type {HTMLElement} */ (target), block = /** @type {HTMLElement | null} */ (element.closest("[data-block]"));
  last = { block: block?.dataset.block ?? "", at: groupOf(element)?.indexOf(element) ?? -1, element };
});
/** A focus that was left for no other control isn't given back, whatever is drawn anew. */
document.addEventListener("focusout", ({ target }) => queueMicrotask(() => {
  const isLeft = document.activeElement === document.body && /** @type {Element} */ (target).isConnected;
  if (isLeft && last.element === target) last = NOWHERE;
}));

/** A control that was drawn anew has the focus still, one of a group as one that is alone: it was pressed, and the next key is for it. */
new MutationObserver(() => {
  if (document.activeElement !== document.body || !last.element || last.element.isConnected) return;
  const block = all("[data-block]").find((element) => element.dataset.block === last.block && isShown(element));
  const like = Object.values(GROUPS).find((each) => last.element.matches(each));
  const control = last.at >= 0 ? shownIn(block ?? document.body, like)[last.at] : last.block.startsWith("button ") && block?.querySelector("button");
  if (control) control.focus({ preventScroll: true });
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-drawn"] });

/**
 * Gradio's menus open when they get the focus, and with every key but Escape, also with the Tab that leaves them: they would stay open for
 * good, over other knobs. Here they open by a click, an arrow or a space. After a choice they let go of the focus, and the next arrow would
 * move something else: they get it back.
 */
function tameMenu(event) {
  const menu = event.target;
  if (!menu.matches?.("#pg-knobs [role=combobox]")) return;
  if (["Tab", "Shift"].includes(event.key)) event.stopPropagation();
  if (event.key === "Enter") menu.addEventListener("blur", () => setTimeout(() => menu.focus()), { once: true });
}

let byKey = false;
document.addEventListener("pointerdown", () => void (byKey = false), true);
document.addEventListener("focus", (event) => {
  if (byKey && /** @type {Element} */ (event.target).matches?.("#pg-knobs [role=combobox]")) event.stopPropagation();
}, true);

document.addEventListener("keydown", (event) => {
  byKey = true;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Tab") setStops();
  tameMenu(event);
  moveInGroup(event);
}, true);

// ---- ways past the controls -------------------------------------------------------------------------------------------------------

/** The first picture of the open tab, or the first thing in it that can be acted on. */
function firstPicture() {
  setStops();
  const panel = document.getElementById(`pg-panel-${cursor.tab}`);
  const things = [...(panel?.querySelectorAll(".pg-plot[tabindex='0']") ?? []), ...(panel?.querySelectorAll("button, summary") ?? [])];
  return /** @type {HTMLElement | undefined} */ (things.find(isShown));
}

const sentence = () => document.getElementById("pg-sentence");
const place = () => document.querySelector("#pg-place-tabs [aria-selected=true]");
/** @type {Record<string, () => any>} */
const WAYS = { "#pg-sentence": sentence, "#pg-view": firstPicture, "#pg-place-tabs": place }; // the links that the server sends, see ui/document.py

/** Goes there once there is something to be seen: what has just appeared takes the focus a moment later. */
async function follow(way) {
  if (!WAYS[way]) return;
  const later = () => new Promise((again) => setTimeout(again, 50));
  while (!("shown" in document.body.dataset)) await later();
  for (let tries = 0; tries < 40; tries += 1) {
    const goal = WAYS[way]();
    goal?.focus();
    if (goal && document.activeElement === goal) return void (goal instanceof HTMLInputElement && goal.select());
    await later();
  }
}

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest("#pg-skip a"));
  if (!link) return;
  event.preventDefault();
  follow(link.hash);
});
follow(location.hash); // of one that was followed before this script came

subscribe(["boot"], () => {
  const names = { "#pg-sentence": "skip_sentence", "#pg-view": "skip_picture", "#pg-place-tabs": "skip_places" };
  for (const link of all("#pg-skip a")) link.textContent = say(names[link.hash]);
});

// ---- keys of the whole page -------------------------------------------------------------------------------------------------------------

const row = (by) => move({ q: cursor.q === "" ? 0 : Math.max(0, Number(cursor.q) + by) });
const head = (number) => move({ head: number, layer: cursor.layer || 1, follow: "off" });

/** @type {Record<string, () => void>} key -> what it does */
export const ACTS = {
  " ": play, ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), ArrowUp: () => row(-1), ArrowDown: () => row(1), "?": () => openHelp(),
  ...Object.fromEntries([..."12345678"].map((number) => [number, () => head(number)])),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isSwitchedOff(event)) return;
  const target = /** @type {Element} */ (event.target);
  if (target.closest?.("input, textarea, select, button, summary, [contenteditable], [role=tab], [role=slider], [role=listbox], dialog")) return;
  if (!ACTS[event.key]) return;
  event.preventDefault();
  ACTS[event.key]();
});
