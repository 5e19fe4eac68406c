// The controls among the blocks: each moves the cursor, or does something to the run on screen.
// @ts-check

import { cursor, maxText, move, page } from "./store.js";
import { button, debounce, h, modelText, onTyped, same } from "./dom.js";
import { command } from "./actions.js";
import { stopUpNext } from "./course.js";
import { pointAt, setAll } from "./knobs.js";
import { playFromStart } from "./replay.js";
import { showTakeHome } from "./header.js";
import { register } from "./render.js";

/** One of a few values of a cursor field, or of a live knob of the run on screen. */
register("choice", (element, block) => {
  const take = ({ value, resets }, pressed) => {
    if (!block.knob) return void move({ [block.field]: value, ...block.resets, ...resets });
    for (const other of pressed.parentElement.children) other.setAttribute("aria-pressed", String(other === pressed));
    element.pgText = ""; // what the server says of it is drawn in any case
    command("live", { knob: block.knob, value });
  };
  const option = (choice) => {
    const { value, label, hue } = choice;
    const about = { "aria-pressed": String(value === block.value), disabled: block.off, dataset: { value }, class: hue ? `hue-${hue}` : "" };
    return button({ ...about, ...(block.tokens && value ? modelText() : {}), onclick: (event) => take(choice, event.currentTarget) }, label);
  };
  const id = `pg-choice-${block.id}`, about = { class: "pg-segments", role: "group", "aria-labelledby": id };
  element.replaceChildren(h("span", { class: "pg-label", id }, block.label), h("div", about, block.options.map(option)));
});

/** Any number of values of a cursor field. */
register("many", (element, block) => {
  const { value: chosen } = block;
  const toggle = (value) => (chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]).join(",");
  const option = ({ value, label }) =>
    button({ "aria-pressed": String(chosen.includes(value)), onclick: () => move({ [block.field]: toggle(value) }) }, label);
  const about = { class: "pg-many", role: "group", "aria-label": block.label };
  element.replaceChildren(h("span", { class: "pg-label" }, block.label), h("div", about, block.options.map(option)));
});

/** A number of a cursor field. While it is being moved nothing is drawn over it. */
register("slider", (element, block) => {
  const input = element.querySelector("input");
  if (input && document.activeElement === input) return;
  if (same(element, block)) return;
  const label = (value) => String(Number(value) + block.first); // what is counted from 0 is shown from 1
  const output = h("output", {}, label(block.value));
  const settle = debounce((value) => move({ [block.field]: value }), 120);
  const slide = ({ target }) => {
    output.textContent = label(target.value);
    settle(target.value);
  };
  const bounds = { min: String(block.low), max: String(block.high), step: String(block.step), value: String(block.value) };
  const range = h("input", { type: "range", ...bounds, oninput: slide });
  element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, block.label), range, output));
}, { always: true });

/** A line of text of a cursor field. While it has the focus nothing is drawn over it. */
register("field", (element, block) => {
  const input = element.querySelector("input");
  if (input && document.activeElement === input) return;
  if (same(element, block) && input.value === block.value) return; // the typed text is in no block
  const settle = debounce((value) => move({ [block.field]: value }), 300);
  const about = { type: "text", value: block.value, placeholder: block.hint, maxlength: String(maxText), autocomplete: "off", spellcheck: "false" };
  const line = h("input", { ...about, ...modelText() });
  onTyped(line, () => settle(line.value));
  element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, block.label), line));
}, { always: true });

/**
 * Functions of buttons, by their act. Features add acts of their own.
 * @type {Record<string, (block: import("./blocks").ButtonBlock) => unknown>}
 */
export const ACTS = {
  draw: () => move({ draw: Number(cursor.draw || 0) + 1 }),
  knob: ({ knob }) => {
    pointAt(knob);
    /** @type {HTMLElement} */ (document.querySelector(`#knob-${knob} :is(input, button)`))?.focus({ preventScroll: true });
  },
  command: ({ command: action, values }) => command(action, values),
  move: ({ to }) => move(to.stop ? { ...to, stop: stopUpNext() } : to),
  play: playFromStart,
  take: showTakeHome,
  set: ({ values }) => setAll({ ...page.knobs, ...values }),
};

register("button", (element, block) => element.replaceChildren(button({ onclick: () => ACTS[block.act](block) }, block.label)));
