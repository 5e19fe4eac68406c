// Keys of the whole page: space plays the replay, arrows move along it and through the tokens, numbers choose heads, ? says so.
// @ts-check

import { cursor, move } from "./store.js";
import { openHelp } from "./dialogs.js";
import { play, turn } from "./replay.js";
import { isSwitchedOff } from "./single_keys.js";

const row = (by) => move({ q: cursor.q === "" ? 0 : Math.max(0, Number(cursor.q) + by) });
const head = (number) => move({ head: number, layer: cursor.layer || 1, follow: "off" });

/** @type {Record<string, () => void>} key -> what it does */
export const ACTS = {
  " ": play, ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), ArrowUp: () => row(-1), ArrowDown: () => row(1), "?": openHelp,
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
