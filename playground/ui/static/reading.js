// What an upload was understood as: the report, the first rows, the controls to have it understood otherwise, and what would be learnt.

import { cursor, isDark, token } from "./state.js";
import { debounce, h, read, say } from "./dom.js";
import { render } from "./panels.js";

const SHOWN = 8; // columns of the preview; the chosen ones are always among them
let shown = null; // the reading on screen
let own = ""; // its id
let chosen = null; // what somebody set for it; null until they do
let again = false; // whether the next reading is of the same sentences

/** What the listener that reads is given: token, language, files, text, data set, choices and the rest. New sentences begin without choices. */
export function readInputs(...values) {
  if (!again) chosen = null;
  again = false;
  return [token, cursor.lang, ...values.slice(2, 5), chosen ? JSON.stringify(chosen) : "", ...values.slice(6)];
}

function choose(changes) {
  chosen = { ...chosen, ...changes };
  again = true;
  document.querySelector("#pg-read")?.click();
}

export function drawReading(host, answer) {
  if (!host || !answer) return;
  [shown, own] = [answer.reading, answer.own];
  host.replaceChildren(
    h("h3", {}, say("reading_title", { name: shown.name })),
    h("ul", { class: "pg-report" }, [...shown.report, shown.credit].filter(Boolean).map((sentence) => h("li", {}, sentence))),
    controls(),
    preview(),
    ...shown.dropped.filter((one) => one.rows.length).map(dropped),
    h("p", { class: "pg-caption" }, shown.next),
  );
  host.dataset.pairs = String(shown.pairs);
  refreshPreview();
}

function select(id, label, options, value, act) {
  const list = h("select", { id, onchange: (event) => act(event.target.value) }, options.map(([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text)));
  return h("label", { class: "pg-field" }, h("span", {}, label), list);
}

function controls() {
  const columns = shown.columns.map((name, at) => [at, name]), [source, target] = shown.chosen;
  const take = (side, other) => (value) => choose({ swap: false, source, target, [side]: Number(value), ...(Number(value) === shown.chosen[other] ? { [["source", "target"][other]]: shown.chosen[1 - other] } : {}) });
  const encodings = shown.encodings.map((one, at) => {
    const names = [one.name, ...one.alternatives, ...one.others.filter((name) => !one.alternatives.includes(name))];
    const act = (value) => choose({ encoding: shown.encodings.map((other, place) => (place === at ? value : other.name)).join(",") });
    const label = shown.encodings.length > 1 ? say("encoding_of", { name: one.file }) : say("encoding");
    return h("span", {}, select(`pg-encoding-${at}`, label, names.map((name) => [name, name === one.name && one.guessed ? say("guessed", { name }) : name]), one.name, act), one.guessed ? h("small", { class: "pg-caption", dir: "auto" }, one.samples.join(" · ")) : null);
  });
  return h("div", { class: "pg-choices" },
    select("pg-source", say("source"), columns, source, take("source", 1)),
    h("button", { type: "button", id: "pg-swap", onclick: () => choose({ swap: false, source: target, target: source }) }, say("own_swap")),
    select("pg-target", say("target"), columns, target, take("target", 0)),
    select("pg-header", say("header"), [["yes", say("yes")], ["no", say("no")]], shown.header ? "yes" : "no", (value) => choose({ source, target, swap: false, header: value === "yes" })),
    shown.traces.length ? h("label", { class: "pg-field" }, h("input", { type: "checkbox", id: "pg-undo", checked: shown.undone, onchange: (event) => choose({ undo: event.target.checked }) }), h("span", {}, say("undo", { traces: shown.traces.join(", ") }))) : null,
    encodings,
  );
}

function preview() {
  const [source, target] = shown.chosen;
  const places = [...new Set([source, target, ...shown.columns.keys()])].slice(0, SHOWN).sort((one, other) => one - other);
  const side = (at) => (at === source ? "source" : at === target ? "target" : "");
  const head = places.map((at) => h("th", { scope: "col", dataset: { side: side(at) } }, side(at) ? h("b", {}, say(side(at))) : null, " ", shown.columns[at]));
  const rows = shown.rows.map((row) => h("tr", { class: row.why ? "dropped" : "", title: row.why }, h("td", { class: "number" }, String(row.line)), places.map((at) => h("td", { dir: "auto", dataset: { side: side(at) } }, row.cells[at] ?? ""))));
  return h("div", { class: "pg-scroll" }, h("table", { class: "pg-rows" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, shown.unit), head)), h("tbody", {}, rows)));
}

function dropped(one) {
  const rows = one.rows.map(([line, cells]) => h("tr", {}, h("td", { class: "number" }, String(line)), h("td", { dir: "auto" }, cells.join(" ⇥ "))));
  return h("details", { class: "pg-dropped" }, h("summary", {}, say("dropped", { count: one.count, why: one.why })), h("div", { class: "pg-scroll" }, h("table", {}, h("tbody", {}, rows))));
}

/** How these sentences would be split and cut with the settings at the left; asked again when those change. */
export const refreshPreview = debounce(async () => {
  const host = document.getElementById("pg-preview");
  if (!host || !own) return;
  host.setAttribute("aria-busy", "true");
  const query = { ...Object.fromEntries(new URLSearchParams(location.search)), own, dark: isDark() ? "1" : "", width: String(host.clientWidth || 700) };
  const answer = await read("preview", query);
  if (!answer) return;
  await render(host, answer.error ? [{ kind: "text", id: "error", class: "pg-error", text: answer.error }] : answer.blocks);
  host.setAttribute("aria-busy", "false");
}, 150);
