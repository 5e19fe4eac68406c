// Keys of one character act on the whole page. Who speaks to their computer, or hits keys by accident, can switch them off (WCAG 2.1.4).
// @ts-check

import { h, say } from "./dom.js";
import { keep, recall } from "./storage.js";

const KEY = "playground-keys";
const areOff = () => recall(KEY).off === true;

/** Whether a key is a character that means nothing now. Space and the arrows are no characters: they act where the focus is. */
export const isSwitchedOff = ({ key }) => key.length === 1 && key !== " " && areOff();

/** Whether a key is meant for the whole page: not for the browser, a dialog or a field. */
export function isForThePage(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isSwitchedOff(event) || document.querySelector("dialog[open]")) return false;
  return !event.target.closest?.("input:not([type=range], [type=radio], [type=checkbox]), textarea, select, [contenteditable], [role=combobox]");
}

/** The switch, for the list of keys. */
export function keySwitch() {
  const tick = h("input", { type: "checkbox", id: "pg-single-keys", checked: !areOff(), onchange: () => keep(KEY, { off: !tick.checked }) });
  return h("label", { class: "pg-line" }, tick, say("single_keys"));
}
