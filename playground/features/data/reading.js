// What an upload was understood as: the report, the first rows, the controls to have it understood otherwise, and what would be learnt.
// @ts-check

import { change, page, subscribe } from "../../ui/static/store.js";
import { button, debounce, forgive, h, isDark, modelText, read, say } from "../../ui/static/dom.js";
import { keepUpload } from "../../ui/static/storage.js";
import { reply } from "../../ui/static/actions.js";
import { blocksOf } from "../../ui/static/answers.js";
import { asked } from "../../ui/static/knobs.js";
import { render } from "../../ui/static/kinds.js";
import { ACTS } from "../../ui/static/controls.js";
import { way } from "./ways.js";

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
  forgive();
  place()?.prepend(h("p", { class: "pg-waiting", role: "status" }, say("reading_now")));
  hold(true);
  return asked(values, { choices: chosen ? JSON.stringify(chosen) : "", way: way() });
}

/** Has the same sentences read otherwise. */
function choose(changes) {
  chosen = { ...chosen, ...changes };
  again = true;
  document.querySelector("#pg-read")?.click();
}

ACTS.read = ({ values }) => choose(values);

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
  const yes = button({ id: "pg-same-language", onclick: confirm }, say("same_language"));
  place()?.prepend(h("p", { id: "pg-question", class: "pg-warning", role: "alert" }, sentence, " ", yes));
}

function remember(id) {
  keepUpload(id, page.boot.ticket);
  change({ uploaded: id, own: id });
}

/** What the server read; an answer without a reading is a refusal, and everything stays as it was. */
export function takeReading({ answer }) {
  waiting()?.remove();
  if (answer.reading) {
    [shown, good, kept] = [answer.reading, chosen, false];
    remember(answer.own);
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
  const id = page.uploaded;
  const answer = id && (await read("reading", { own: id }));
  if (!answer || !answer.reading) return;
  kept ||= !shown;
  shown = answer.reading;
  remember(id);
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
  const option = ([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text);
  const list = h("select", { id, onchange: (event) => act(event.target.value) }, options.map(option));
  return h("label", { class: "pg-field" }, h("span", {}, label), list);
}

function controls() {
  const columns = shown.columns.map((name, at) => [at, name]), [source, target] = shown.chosen;
  const take = (side, value) => { // whichever column the other side had, it takes this one's when both would be the same
    const pair = { source, target, [side]: Number(value) }, other = side === "source" ? "target" : "source";
    if (pair.source === pair.target) pair[other] = side === "source" ? source : target;
    choose({ swap: false, ...pair });
  };
  const yesOrNo = [["yes", say("yes")], ["no", say("no")]];
  const header = () =>
    select("pg-header", say("header"), yesOrNo, shown.header ? "yes" : "no", (value) => choose({ source, target, swap: false, header: value === "yes" }));
  const undo = () => {
    const box = h("input", { type: "checkbox", id: "pg-undo", checked: shown.undone, onchange: (event) => choose({ undo: event.target.checked }) });
    return h("label", { class: "pg-field" }, box, h("span", {}, say("undo", { traces: shown.traces.join(", ") })));
  };
  const others = columns.filter(([at]) => at !== source && at !== target);
  const join = () => others.slice(0, SHOWN).map(([at, name]) => {
    const wanted = (taken) => (taken ? [...shown.joined, at] : shown.joined.filter((other) => other !== at));
    const act = (event) => choose({ source, target, swap: false, joined: wanted(event.target.checked) });
    const box = h("input", { type: "checkbox", id: `pg-join-${at}`, checked: shown.joined.includes(at), onchange: act });
    return h("label", { class: "pg-field" }, box, h("span", {}, say("own_join", { name })));
  });
  const group = () => {
    const options = [[-1, say("own_group_source")], ...columns.filter(([at]) => at !== target)];
    const act = (value) => choose({ source, target, swap: false, joined: shown.joined, group: Number(value) });
    return select("pg-group", say("own_group"), options, shown.group, act);
  };
  return h("div", { class: "pg-choices" },
    select("pg-source", say("source"), columns, source, (value) => take("source", value)),
    button({ id: "pg-swap", onclick: () => choose({ swap: false, source: target, target: source }) }, say("own_swap")),
    select("pg-target", say("target"), columns, target, (value) => take("target", value)),
    shown.named ? null : header(),
    others.length ? [...join(), group()] : null,
    shown.traces.length ? undo() : null,
    shown.encodings.map(encoding),
  );
}

/** What a file is written in, to be chosen otherwise; where that was guessed, with words that could tell. */
function encoding(one, at) {
  const found = chosen?.encoding ? [["", say("encoding_auto")]] : [];
  const options = found.concat(one.options).map(([name, label]) => [name, name === one.name && one.guessed ? say("guessed", { name: label }) : label]);
  const act = (value) => choose({ encoding: shown.encodings.map((other, number) => (number === at ? value : other.name)).join(",") });
  const label = shown.encodings.length > 1 ? say("encoding_of", { name: one.file }) : say("encoding");
  const list = select(`pg-encoding-${at}`, label, options, one.name, act);
  return h("span", {}, list, one.guessed ? h("small", { class: "pg-caption", ...modelText() }, one.samples.join(" · ")) : null);
}

function preview() {
  const [source, target] = shown.chosen;
  const places = [...new Set([source, target, ...shown.columns.keys()])].slice(0, SHOWN).sort((one, other) => one - other);
  const side = (at) => (at === source ? "source" : at === target ? "target" : "");
  const named = (at) => h("th", { scope: "col", dataset: { side: side(at) } }, side(at) ? h("b", {}, say(side(at))) : null, " ", shown.columns[at]);
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, shown.unit), places.map(named)));
  const cell = (row) => (at) => h("td", { ...modelText(), dataset: { side: side(at) } }, row.cells[at] ?? "");
  const line = (row) => h("tr", { class: row.why ? "dropped" : "", title: row.why }, h("td", { class: "number" }, String(row.line)), places.map(cell(row)));
  return h("div", { class: "pg-scroll" }, h("table", { class: "pg-rows" }, head, h("tbody", {}, shown.rows.map(line))));
}

function dropped(one) {
  const row = ([line, cells]) => h("tr", {}, h("th", { class: "number", scope: "row" }, String(line)), h("td", modelText(), cells.join(" ⇥ ")));
  const rows = one.rows.map(row);
  const summary = h("summary", {}, say("dropped", { count: one.count, why: one.why }), one.more ? ` ${one.more}` : "");
  return h("details", { class: "pg-dropped" }, summary, h("div", { class: "pg-scroll" }, h("table", {}, h("tbody", {}, rows))));
}

/** How these sentences would be split and cut with the settings at the left; asked again when those change. */
export const refreshPreview = debounce(async () => {
  const host = document.getElementById("pg-preview"), own = page.uploaded;
  if (!host || !shown) return;
  host.setAttribute("aria-busy", "true");
  const query = { ...Object.fromEntries(new URLSearchParams(location.search)), own, dark: isDark() ? "1" : "", width: String(host.clientWidth || 700) };
  const answer = await read("preview", query);
  if (!answer) return;
  host.dataset.of = answer.of ?? "";
  await render(host, blocksOf(answer));
  host.setAttribute("aria-busy", "false");
  if (own === page.uploaded && !waiting()) hold(false);
}, 150);
subscribe(["knobs"], refreshPreview);
