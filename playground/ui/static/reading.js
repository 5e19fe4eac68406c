// What an upload was understood as: the report, the first rows, the controls to have it understood otherwise, and what would be learnt.

import { isDark, lastUploaded, setUploaded } from "./state.js";
import { debounce, h, read, say } from "./dom.js";
import { asked, reply } from "./actions.js";
import { render } from "./panels.js";

const SHOWN = 8; // columns of the preview; the chosen ones are always among them
const place = () => document.getElementById("pg-reading");
const waiting = () => place()?.querySelector(".pg-waiting");
let shown = null; // the reading on screen
let chosen = null; // what somebody set for it; null until they do
let good = null; // what was set when the reading on screen was made
let again = false; // whether the next reading is of the same sentences
let kept = false; // whether it is one of before a reload: the files are no longer in the page

/** What the listener that reads is told: files, text, data set and what was chosen for them. New sentences begin without choices. */
export function readInputs(values) {
  if (!again) chosen = null;
  again = false;
  waiting()?.remove();
  place()?.querySelector("#pg-question")?.remove();
  place()?.prepend(h("p", { class: "pg-waiting", role: "status" }, say("reading_now")));
  hold(true);
  return asked(values, { choices: chosen ? JSON.stringify(chosen) : "" });
}

function choose(changes) {
  chosen = { ...chosen, ...changes };
  again = true;
  document.querySelector("#pg-read")?.click();
}

/** What is drawn of the last reading can't be used any more once another one is asked for. */
function hold(held) {
  const host = document.getElementById("pg-preview");
  if (host) host.inert = held;
}

/** What has to be confirmed before anything is read: that lines which seem to be in one language are pairs all the same. */
function ask(sentence) {
  const asked = chosen;
  const confirm = () => {
    chosen = asked;
    choose({ same_language: true });
  };
  place()?.prepend(h("p", { id: "pg-question", class: "pg-warning", role: "alert" }, sentence, " ", h("button", { type: "button", id: "pg-same-language", onclick: confirm }, say("same_language"))));
}

/** What the server read; an answer without a reading is a refusal, and everything stays as it was. */
export function takeReading({ answer }) {
  waiting()?.remove();
  if (answer.reading) {
    [shown, good, kept] = [answer.reading, chosen, false];
    setUploaded(answer.own);
  } else {
    if (answer.ask) ask(answer.ask);
    chosen = good;
  }
  if (shown && (answer.reading || answer.error)) drawReading();
  else hold(false);
  reply(answer);
}

/** The same reading again: in another language, or after a reload. */
export async function redrawReading() {
  const id = lastUploaded();
  const answer = id && (await read("reading", { own: id }));
  if (!answer || !answer.reading) return;
  kept ||= !shown;
  shown = answer.reading;
  setUploaded(id);
  drawReading();
}

function drawReading() {
  const host = place();
  if (!host) return;
  host.replaceChildren(
    h("h3", {}, say("reading_title", { name: shown.name })),
    h("ul", { class: "pg-report" }, [...shown.report, shown.credit].filter(Boolean).map((sentence) => h("li", {}, sentence))),
    kept ? "" : controls(),
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
    const found = chosen?.encoding ? [["", say("encoding_auto")]] : [];
    const options = found.concat(one.options).map(([name, label]) => [name, name === one.name && one.guessed ? say("guessed", { name: label }) : label]);
    const act = (value) => choose({ encoding: shown.encodings.map((other, place) => (place === at ? value : other.name)).join(",") });
    const label = shown.encodings.length > 1 ? say("encoding_of", { name: one.file }) : say("encoding");
    return h("span", {}, select(`pg-encoding-${at}`, label, options, one.name, act), one.guessed ? h("small", { class: "pg-caption", dir: "auto" }, one.samples.join(" · ")) : null);
  });
  return h("div", { class: "pg-choices" },
    select("pg-source", say("source"), columns, source, take("source", 1)),
    h("button", { type: "button", id: "pg-swap", onclick: () => choose({ swap: false, source: target, target: source }) }, say("own_swap")),
    select("pg-target", say("target"), columns, target, take("target", 0)),
    shown.named ? null : select("pg-header", say("header"), [["yes", say("yes")], ["no", say("no")]], shown.header ? "yes" : "no", (value) => choose({ source, target, swap: false, header: value === "yes" })),
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
  return h("details", { class: "pg-dropped" }, h("summary", {}, say("dropped", { count: one.count, why: one.why }), one.more ? ` ${one.more}` : ""), h("div", { class: "pg-scroll" }, h("table", {}, h("tbody", {}, rows))));
}

/** How these sentences would be split and cut with the settings at the left; asked again when those change. */
export const refreshPreview = debounce(async () => {
  const host = document.getElementById("pg-preview"), own = lastUploaded();
  if (!host || !shown) return;
  host.setAttribute("aria-busy", "true");
  const query = { ...Object.fromEntries(new URLSearchParams(location.search)), own, dark: isDark() ? "1" : "", width: String(host.clientWidth || 700) };
  const answer = await read("preview", query);
  if (!answer) return;
  await render(host, answer.error ? [{ kind: "text", id: "error", css: "pg-error", text: answer.error }] : answer.blocks);
  host.setAttribute("aria-busy", "false");
  if (own === lastUploaded() && !waiting()) hold(false);
}, 150);
