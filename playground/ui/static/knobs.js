// The knobs at the left, which are Gradio's: a number that can't be is brought into range, with a word at its knob; and on a narrow screen
// they lie over the page when they are asked for.
// @ts-check

import { change, page } from "./store.js";
import { h, say } from "./dom.js";
import { setAll } from "./actions.js";

/**
 * The nearest number that a knob can be; null for what is no number.
 * @param {string} name
 * @param {number | null} value
 */
export function nearest(name, value) {
  const { low, high, step } = page.boot.bounds[name];
  if (value === null || !Number.isFinite(value)) return null;
  const kept = Math.max(low, Math.min(value, high));
  return step ? low + step * Math.round((kept - low) / step) : kept;
}

const knobOf = (element) => element.closest?.("#pg-knobs [id^='knob-']");

document.addEventListener("focusout", ({ target }) => {
  const input = /** @type {HTMLInputElement} */ (target), knob = input.type === "number" ? knobOf(input) : null;
  const name = knob?.id.slice("knob-".length);
  if (!knob || !page.knobs || !page.boot.bounds[name]) return;
  const typed = input.value === "" ? null : Number(input.value), value = nearest(name, typed) ?? page.boot.defaults[name];
  if (value === typed) return;
  const { low, high } = page.boot.bounds[name];
  knob.querySelector(".pg-knob-note")?.remove();
  knob.append(h("p", { class: "pg-knob-note", role: "status" }, say("knob_bounds", { low: String(low), high: String(high) })));
  change({ knobs: { ...page.knobs, [name]: value } });
  setAll(page.knobs);
});

document.addEventListener("input", ({ target }) => knobOf(target)?.querySelector(".pg-knob-note")?.remove());

/** Opens and closes the drawer with the knobs. */
export const toggleKnobs = () => void (document.body.dataset.drawer = document.body.dataset.drawer === "knobs" ? "" : "knobs");
