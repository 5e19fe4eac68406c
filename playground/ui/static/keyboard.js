// The page by keyboard: ways past the controls, one stop for each group of them, and Gradio's menus, which don't close by themselves.
// @ts-check

import { cursor, subscribe } from "./store.js";
import { button, say } from "./dom.js";
import "./gridkeys.js";

// What belongs together is one stop: [each of it, what it stands in].
const GROUPS = [
  [".pg-segments button", ".pg-segments"], [".pg-many button", ".pg-many"], [".pg-thumb", ".pg-layers"], [".pg-buttons button", ".pg-buttons"],
  [".pg-tools button", ".pg-tools"], ["#pg-replay-bar button", "#pg-replay-bar"], ["[role=tab]", "[role=tablist]"],
  ["#pg-knobs [type=radio]", "fieldset"], [".pg-term", ".pg-block"], [".pg-map-grid [data-address]", ".pg-map-grid"],
  [".pg-lane-heads button", "tr"], [".pg-switch", ".pg-switch-part"], [".pg-cell-bar", ".pg-cell-row"],
];
const isShown = (element) => element.getClientRects().length > 0 && !element.disabled;
const isChosen = (element) => element.matches("[aria-pressed=true], [aria-selected=true], :checked");

/** The groups of what is on screen: {what stands in it: the elements of it}. */
function groups() {
  const found = new Map();
  for (const [each, around] of GROUPS) {
    for (const element of document.querySelectorAll(each)) {
      const group = element.closest(around);
      if (group && isShown(element)) found.set(group, [...(found.get(group) ?? []), element]);
    }
  }
  return found;
}

/** Said when Tab is pressed, before it moves the focus: what was drawn meanwhile is known then, and nothing has to watch the page. */
function setStops() {
  for (const elements of groups().values()) {
    const stop = elements.find((element) => element === document.activeElement) ?? elements.find(isChosen) ?? elements[0];
    for (const element of elements) element.tabIndex = element === stop ? 0 : -1;
  }
  for (const plot of document.querySelectorAll(".pg-plot")) /** @type {any} */ (plot).tabIndex = plot.layout?.meta?.cells ? 0 : -1;
  // the number beside a slider is enough, and a list is its menu's
  for (const element of document.querySelectorAll("#pg-knobs [type=range], #pg-knobs [role=listbox]")) /** @type {any} */ (element).tabIndex = -1;
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
  return there.sort((one, other) => far(one) - far(other))[0] ?? from;
}

/** Arrows go through a group. Tabs have theirs in tabs.js, and a slider takes its own. */
function moveInGroup(event) {
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
  const target = event.target, [, around] = GROUPS.find(([each]) => target.matches?.(each)) ?? [];
  const elements = around && target.role !== "tab" && groups().get(target.closest(around));
  if (!elements) return;
  event.preventDefault();
  event.stopPropagation();
  const next = neighbour(elements, target, event.key);
  next.focus();
  if (next.type === "radio") next.click();
}

/**
 * Gradio's menu opens with every key but Escape, also with the Tab that leaves it: it would stay open for good. After a choice it lets go
 * of the focus, and the next arrow would move something else.
 */
function tameMenu(event) {
  const menu = event.target;
  if (!menu.matches?.("#pg-knobs [role=combobox]")) return;
  if (event.key === "Tab" || event.key === "Shift") event.stopPropagation();
  if (event.key === "Enter") {
    menu.addEventListener("blur", () => setTimeout(() => {
      menu.focus();
      menu.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })); // focus opens it
    }), { once: true });
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Tab") setStops();
  tameMenu(event);
  moveInGroup(event);
}, true);

// ---- ways past the controls -------------------------------------------------------------------------------------------------------

/** The first picture of the open tab, or the first thing in it that can be acted on. */
function focusPicture() {
  setStops();
  const panel = document.getElementById(`pg-panel-${cursor.tab}`);
  const things = [...(panel?.querySelectorAll(".pg-plot[tabindex='0']") ?? []), ...(panel?.querySelectorAll("button, summary") ?? [])];
  const first = /** @type {HTMLElement | undefined} */ (things.find(isShown));
  first?.focus();
}

subscribe(["boot"], () => {
  const sentence = () => /** @type {HTMLInputElement | null} */ (document.getElementById("pg-sentence"))?.select();
  document.getElementById("pg-skip")?.replaceChildren(
    button({ onclick: sentence }, say("skip_sentence")), button({ onclick: focusPicture }, say("skip_picture")));
});
