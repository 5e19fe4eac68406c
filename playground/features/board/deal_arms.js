// How the arms of an experiment are given: values of one setting, or a table with a row for each arm and a column for each of a few settings.
// @ts-check

import { asText, page } from "../../ui/static/store.js";
import { button, h, labelled, say } from "../../ui/static/dom.js";

const FIRST = ["learning_rate", "warmup", "optimiser"]; // what is proposed, in this order
const SETTINGS = 3, LEAST_ARMS = 2, MOST_ARMS = 8;

const offered = () => page.boot.knobs.filter((name) => name !== "seed"); // of which everybody has another
const choicesOf = (knob) => Object.entries(page.boot.choices[knob] ?? {});
const PLAIN = { type: "text", autocomplete: "off", spellcheck: "false", required: true };

/** A choice among all settings, or with `none` of no setting as well. */
export function settingOf(id, { at = 0, none = false, label = "" } = {}) {
  const options = offered().map((name) => h("option", { value: name }, page.boot.labels[name]));
  const field = h("select", { id, ...(label ? { "aria-label": label } : {}) }, none ? h("option", { value: "" }, "–") : "", options);
  field.value = none ? "" : offered().includes(FIRST[at]) ? FIRST[at] : offered()[at];
  return field;
}

/** How the values of a setting are given: its choices with a tick for each, or numbers that are typed. */
export function valuesOf(knob) {
  const choices = choicesOf(knob);
  if (!choices.length) {
    const field = h("input", { id: "pg-deal-values", ...PLAIN, placeholder: `${asText(page.knobs[knob])}, …` });
    return { element: labelled("room_deal_values", field), values: () => field.value.split(/[\s,;，；、]+/).filter(Boolean) };
  }
  const ticks = choices.map(([value, label]) => ({ value, label, tick: h("input", { type: "checkbox", value }) }));
  const each = ticks.map(({ label, tick }) => h("label", { class: "pg-deal-tick" }, tick, h("span", {}, label)));
  const element = h("fieldset", { id: "pg-deal-ticks" }, h("legend", {}, say("room_deal_choices")), each);
  return { element, values: () => ticks.filter(({ tick }) => tick.checked).map(({ value }) => value) };
}

/** One value of a setting in an arm: as at the left to begin with. */
function valueOf(knob, arm) {
  const label = say("room_deal_cell", { arm, setting: page.boot.labels[knob] }), choices = choicesOf(knob), now = asText(page.knobs[knob]);
  if (!choices.length) return h("input", { ...PLAIN, inputmode: "decimal", "aria-label": label, value: now });
  const field = h("select", { "aria-label": label }, choices.map(([value, text]) => h("option", { value }, text)));
  field.value = now;
  return field;
}

/** A table of arms: its settings are chosen in the head, and a third one may be; what was given stays when an arm or a setting is added. */
export function combinations() {
  const label = say("room_deal_knob");
  const heads = Array.from({ length: SETTINGS }, (_, at) => settingOf(`pg-deal-setting-${at}`, { at, none: at === SETTINGS - 1, label }));
  const rows = [];
  const body = h("tbody", {});
  const addRow = () => rows.push(heads.map(({ value }) => (value ? valueOf(value, rows.length + 1) : null)));
  const draw = () => {
    const line = (row, at) => h("tr", {}, h("th", { scope: "row" }, String(at + 1)), row.map((cell) => h("td", {}, cell ?? "")));
    body.replaceChildren(...rows.map(line));
    more.disabled = rows.length === MOST_ARMS;
    fewer.disabled = rows.length === LEAST_ARMS;
  };
  const more = button({ id: "pg-deal-more", type: "button", onclick: () => (addRow(), draw()) }, say("room_deal_more"));
  const fewer = button({ id: "pg-deal-fewer", type: "button", onclick: () => (rows.pop(), draw()) }, say("room_deal_fewer"));
  heads.forEach((head, at) => head.addEventListener("change", () => {
    rows.forEach((row, arm) => (row[at] = head.value ? valueOf(head.value, arm + 1) : null));
    draw();
  }));
  while (rows.length < LEAST_ARMS) addRow();
  draw();
  const head = h("tr", {}, h("th", { scope: "col" }, say("room_deal_arm")), heads.map((field) => h("th", { scope: "col" }, field)));
  const table = h("div", { class: "pg-scroll" }, h("table", { class: "pg-deal-arms" }, h("thead", {}, head), body));
  const armOf = (row) => Object.fromEntries(heads.flatMap(({ value }, at) => (row[at] ? [[value, row[at].value]] : [])));
  return { element: h("div", {}, table, h("p", { class: "pg-line" }, more, fewer)), arms: () => rows.map(armOf) };
}
