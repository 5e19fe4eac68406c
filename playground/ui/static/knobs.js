// The knobs at the left, which are Gradio's: what is said between it and the page, and a way to point at one. A number that can't be is
// brought into range, with a word at its knob. On a narrow screen they lie in a drawer, see drawer.js.
// @ts-check

import { asText, change, cursor, move, page } from "./store.js";
import { h, notice, say } from "./dom.js";
import { isFrozen } from "./server.js";
import { showKnobs } from "./drawer.js";
import { fixed } from "./room.js";
import { lastTicket } from "./storage.js";

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

/** The help of a knob opens beside the column, so that it covers no other knob; in the drawer it opens under its knob (see frame.css). */
function placeHelp({ target }) {
  const block = target.closest?.("#pg-knobs .block"), help = block?.querySelector(".info-text");
  if (!help) return;
  const { top } = block.getBoundingClientRect(), { right } = document.getElementById("pg-knobs").getBoundingClientRect();
  help.style.setProperty("--help-left", `${right + 6}px`);
  help.style.setProperty("--help-top", `${Math.min(top, innerHeight - help.offsetHeight - 8)}px`);
}
for (const sign of ["mouseover", "focusin"]) document.addEventListener(sign, placeHelp);

/** Scrolls to a control and flashes it: the one that a sentence is about. A frozen page has none. */
export function pointAt(name) {
  const control = document.getElementById(`knob-${name}`);
  if (!control) return void (isFrozen && notice(say("frozen_needs_server"), "error"));
  for (let fold = control.closest(".pg-more"); fold; fold = fold.parentElement?.closest(".pg-more")) {
    const label = fold.querySelector(".label-wrap");
    if (!label?.classList.contains("open")) label?.click();
  }
  showKnobs(true);
  show(control);
  flash(control);
}

/** Scrolls the column to a control, once its fold is open; the page stays where it is. */
function show(control, tries = 20) {
  if (!control.offsetHeight && tries) return void setTimeout(() => show(control, tries - 1), 50);
  const column = document.getElementById("pg-knobs"), [room, box] = [column, control].map((one) => one.getBoundingClientRect());
  column.scrollBy({ top: box.top + box.height / 2 - room.top - room.height / 2, behavior: "smooth" });
}

function flash(element) {
  element?.classList.add("pg-flash");
  setTimeout(() => element?.classList.remove("pg-flash"), 2400);
}

// ---- Gradio and we (see ui/listeners.py) ------------------------------------------------------------------------------------------------

let gradio = null; // what it can be asked for: relabel, settings, look_ahead
export const meet = (asks) => void (gradio = asks);
export const relabel = () => gradio?.relabel();

/** Sets the controls; those that are not named go back to their defaults. */
export function setAll(values) {
  change({ wanted: values });
  gradio?.settings();
}

/** Sets these controls, with a new task the steps that it takes, or without any all to their defaults; shows what was set, and points at
 * Train. */
export function setControls(values) {
  const { boot, knobs } = page, { task } = values, isNew = task && asText(knobs?.task) !== task;
  const steps = isNew ? { steps: boot.task_steps[task] ?? boot.defaults.steps } : {};
  setAll(Object.keys(values).length ? { ...knobs, ...steps, ...values } : {});
  move({ tab: "training" });
  showKnobs(true);
  for (const name of Object.keys(values)) pointAt(name);
  flash(document.getElementById("pg-train"));
}

export const settings = () => ({ ...page.boot.defaults, ...page.wanted });

/** What a listener is told: who asks, and about which sentences. */
export const asked = (values, more = {}) => ({
  ...values,
  asked: { language: cursor.lang, own: page.own, ticket: page.boot?.ticket ?? lastTicket(), ...still(), ...more },
});

let entered = ""; // the task, when somebody came to its menu
document.addEventListener("focusin", ({ target }) => {
  if (/** @type {Element} */ (target).closest("#knob-task")) entered = String(page.knobs?.task ?? "");
});

/** As `asked`, with the task of before: Gradio speaks of input also when somebody only leaves the menu. */
export function askedForTask(values) {
  const before = entered;
  entered = values.task;
  return asked(values, { before });
}

/** What of the controls the teacher of a room has fixed for this visitor. */
const still = () => ({ fixed: Object.keys(fixed().settings).join(), tasks: fixed().tasks.join() });

/** The link's settings are in the controls, and so are the sentences that it is about. */
export function arrived({ asked, ...knobs }) {
  document.body.dataset.knobs = "ready";
  change({ knobs, own: asked.own });
}

const PAUSE = 80; // milliseconds without a change, after which the forecast is asked for: a preset changes many controls at a time
let forecast = 0;

/** Gradio says what the controls hold. Until the page has taken over the link's settings that is not yet the visitor's choice. */
export function knobsChanged(knobs) {
  if (!page.knobs) return;
  change({ knobs });
  clearTimeout(forecast);
  forecast = setTimeout(() => gradio?.look_ahead(), PAUSE);
}
