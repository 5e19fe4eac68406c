// An upload as it was understood: the report, the first rows, the controls to have it understood otherwise, and a preview of the training data.
// @ts-check

import { change, page, subscribe } from "../../ui/static/store.js";
import { button, debounce, forgive, h, isDark, modelText, read, ready, replaceChildren, say, send } from "../../ui/static/dom.js";
import { keepUpload } from "../../ui/static/storage.js";
import { reply, train } from "../../ui/static/actions.js";
import { isFrozen } from "../../ui/static/server.js";
import { blocksOf } from "../../ui/static/answers.js";
import { listenerInputs } from "../../ui/static/knobs.js";
import { render } from "../../ui/static/render.js";
import { ACTS } from "../../ui/static/controls.js";

const SHOWN = 8; // columns of the preview; the chosen ones are always among them
const place = () => document.getElementById("pg-reading");
const waiting = () => place()?.querySelector(".pg-waiting");
let reading = null; // the reading on screen
let chosen = null; // the visitor's choices for it; null before the first
let good = null; // what was set when the reading on screen was made
let again = false; // whether the next reading is of the same sentences
let isEarlier = false; // whether the page no longer holds its files: it is one of before a reload or a refusal

let isOther = false; // whether a file is known to be no run

/** Opens a downloaded run that is dropped anywhere, or chosen for the box of files; any other zip is handed to that box. */
async function openRun(event) {
  const files = event.type === "drop" ? event.dataTransfer?.files : event.target.type === "file" && event.target.files;
  if (isFrozen || isOther || files?.length !== 1 || !/\.zip$/i.test(files[0].name)) return;
  const file = files[0], transfer = new DataTransfer(), box = /** @type {HTMLInputElement} */ (document.querySelector("#pg-files input"));
  event.preventDefault();
  event.stopPropagation();
  const names = new TextDecoder("latin1").decode(await file.slice(-65536).arrayBuffer()); // a zip ends with its list of files
  if (names.includes("config.json") && names.includes("model.safetensors")) return reply(await send(file, "open", { name: file.name }));
  transfer.items.add(file);
  box.files = transfer.files;
  isOther = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  isOther = false;
}

document.addEventListener("dragover", (event) => event.dataTransfer?.types.some((type) => /files/i.test(type)) && event.preventDefault());
for (const type of ["drop", "change"]) document.addEventListener(type, openRun, { capture: true });

/** Inputs of the listener that reads: files, text, data set and the choices for them. New sentences begin without choices. */
export function readInputs(values) {
  if (!again) chosen = null;
  again = false;
  waiting()?.remove();
  place()?.querySelector("#pg-refused")?.remove();
  forgive();
  place()?.prepend(h("p", { class: "pg-waiting", role: "status" }, say("reading_now")));
  document.getElementById("pg-preview")?.toggleAttribute("inert", true); // of the last reading
  return listenerInputs(values, { choices: chosen ? JSON.stringify(chosen) : "", way: open });
}

/** Has the same sentences read otherwise. */
function choose(changes, to = chosen) {
  chosen = { ...to, ...changes };
  again = true;
  document.querySelector("#pg-read")?.click();
}

ACTS.read = ({ values }) => (isEarlier ? takeReading({ answer: { error: say("not_a_choice") } }) : choose(values));

/** Says why nothing was read, or `asks` for a confirmation first: that lines which seem to be in one language are pairs all the same. */
function refuse(sentence, asks) {
  const choices = chosen, confirm = () => choose({ same_language: true }, choices);
  const yes = asks && [" ", button({ id: "pg-same-language", onclick: confirm }, say("same_language"))];
  const warning = h("p", { id: "pg-refused", class: "pg-warning", role: "alert" }, sentence, yes);
  place()?.prepend(warning);
  warning.scrollIntoView({ block: "nearest" });
}

function remember(id) {
  keepUpload(id, page.boot.ticket);
  change({ uploaded: id, own: id });
}

/** Shows the server's reading; after a refusal the earlier one stays. */
export function takeReading({ answer }) {
  waiting()?.remove();
  isEarlier = !answer.reading && (isEarlier || !chosen);
  if (answer.reading) {
    [reading, good] = [answer.reading, chosen];
    remember(answer.own);
  }
  if (reading) drawReading();
  if (!answer.reading) refuse(answer.ask ?? answer.error, answer.ask);
  chosen = good;
}

/** Trains on the sentences of the reading, also where a run has brought others for the controls at the left. */
export function trainOwn(knobs) {
  change({ own: page.uploaded });
  train({ ...knobs, task: "own" });
}

/** The same reading again: in another language, or after a reload. */
export async function redrawReading() {
  const id = page.uploaded, answer = id && (await read("reading", { own: id }));
  if (!answer?.reading) return;
  isEarlier ||= !reading;
  reading = answer.reading;
  remember(id);
  drawReading();
}

function drawReading() {
  const host = place();
  if (!host) return;
  host.replaceChildren(
    h("h3", {}, say("reading_title", { name: reading.name })),
    h("ul", { class: "pg-report" }, [...reading.report, reading.credit].filter(Boolean).map((sentence) => h("li", {}, sentence))),
    isEarlier ? "" : controls(),
    preview(),
    ...reading.dropped.filter((group) => group.rows.length).map(dropped),
    isEarlier ? "" : h("p", { class: "pg-caption" }, reading.next),
  );
  host.dataset.pairs = String(reading.pairs);
  drawUse();
  refreshPreview();
}

function select(id, label, options, value, act) {
  const option = ([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text);
  const list = h("select", { id, onchange: (event) => act(event.target.value) }, options.map(option));
  return h("label", { class: "pg-field" }, h("span", {}, label), list);
}

function controls() {
  const columns = reading.columns.map((name, at) => [at, name]), [source, target] = reading.chosen;
  const take = (side, value) => { // whichever column the other side had, it takes this one's when both would be the same
    const pair = { source, target, [side]: Number(value) }, other = side === "source" ? "target" : "source";
    if (pair.source === pair.target) pair[other] = side === "source" ? source : target;
    choose({ swap: false, ...pair });
  };
  const yesOrNo = [["yes", say("yes")], ["no", say("no")]];
  const header = () =>
    select("pg-header", say("header"), yesOrNo, reading.header ? "yes" : "no", (value) => choose({ source, target, swap: false, header: value === "yes" }));
  const undo = () => {
    const box = h("input", { type: "checkbox", id: "pg-undo", checked: reading.undone, onchange: (event) => choose({ undo: event.target.checked }) });
    return h("label", { class: "pg-field" }, box, h("span", {}, say("undo", { traces: reading.traces.join(", ") })));
  };
  const rest = columns.filter(([at]) => at !== source && at !== target);
  const join = () => rest.slice(0, SHOWN).map(([at, name]) => {
    const wanted = (isTaken) => (isTaken ? [...reading.joined, at] : reading.joined.filter((other) => other !== at));
    const act = (event) => choose({ source, target, swap: false, joined: wanted(event.target.checked) });
    const box = h("input", { type: "checkbox", id: `pg-join-${at}`, checked: reading.joined.includes(at), onchange: act });
    return h("label", { class: "pg-field" }, box, h("span", {}, say("own_join", { name })));
  });
  const group = () => {
    const options = [[-1, say("own_group_source")], ...columns.filter(([at]) => at !== target)];
    const act = (value) => choose({ source, target, swap: false, joined: reading.joined, group: Number(value) });
    return select("pg-group", say("own_group"), options, reading.group, act);
  };
  return h("div", { class: "pg-choices" },
    select("pg-source", say("source"), columns, source, (value) => take("source", value)),
    button({ id: "pg-swap", onclick: () => choose({ swap: false, source: target, target: source }) }, say("own_swap")),
    select("pg-target", say("target"), columns, target, (value) => take("target", value)),
    reading.named ? null : header(),
    rest.length ? [...join(), group()] : null,
    reading.traces.length ? undo() : null,
    reading.encodings.map(encoding),
  );
}

/** The choice of a file's encoding; where it was guessed, with words that show it. */
function encoding(file, at) {
  const automatic = chosen?.encoding ? [["", say("encoding_auto")]] : [];
  const options = automatic.concat(file.options).map(([name, label]) => [name, name === file.name && file.guessed ? say("guessed", { name: label }) : label]);
  const act = (value) => choose({ encoding: reading.encodings.map((other, number) => (number === at ? value : other.name)).join(",") });
  const label = reading.encodings.length > 1 ? say("encoding_of", { name: file.file }) : say("encoding");
  const list = select(`pg-encoding-${at}`, label, options, file.name, act);
  return h("span", {}, list, file.guessed ? h("small", { class: "pg-caption", ...modelText() }, file.samples.join(" · ")) : null);
}

function preview() {
  const [source, target] = reading.chosen, places = [...new Set([source, target, ...reading.columns.keys()])].slice(0, SHOWN).sort((a, b) => a - b);
  const side = (at) => (at === source ? "source" : at === target ? "target" : "");
  const named = (at) => h("th", { scope: "col", dataset: { side: side(at) } }, side(at) ? h("b", {}, say(side(at))) : null, " ", reading.columns[at]);
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, reading.unit), places.map(named)));
  const cell = (row) => (at) => h("td", { ...modelText(), dataset: { side: side(at) } }, row.cells[at] ?? "");
  const line = (row) => h("tr", { class: row.why ? "dropped" : "", title: row.why }, h("td", { class: "number" }, String(row.line)), places.map(cell(row)));
  return h("div", { class: "pg-scroll" }, h("table", { class: "pg-rows" }, head, h("tbody", {}, reading.rows.map(line))));
}

function dropped(group) {
  const row = ([line, cells]) => h("tr", {}, h("th", { class: "number", scope: "row" }, String(line)), h("td", modelText(), cells.join(" ⇥ ")));
  const summary = h("summary", {}, say("dropped", { count: group.count, why: group.why }), group.more ? ` ${group.more}` : "");
  return h("details", { class: "pg-dropped" }, summary, h("div", { class: "pg-scroll" }, h("table", {}, h("tbody", {}, group.rows.map(row)))));
}

/** How these sentences would be split and cut with the settings at the left; asked again when those change. */
export const refreshPreview = debounce(async () => {
  const host = document.getElementById("pg-preview"), own = page.uploaded;
  if (!host || !reading) return;
  host.setAttribute("aria-busy", "true");
  const query = { ...Object.fromEntries(new URLSearchParams(location.search)), own, dark: isDark() ? "1" : "", width: String(host.clientWidth || 700) };
  const answer = await read("preview", query);
  if (!answer) return;
  host.dataset.of = answer.of ?? "";
  await render(host, blocksOf(answer));
  host.setAttribute("aria-busy", "false");
  if (own === page.uploaded && !waiting()) host.toggleAttribute("inert", false);
}, 150);
subscribe(["knobs"], refreshPreview);

// ---- where own sentences come from ------------------------------------------------------------------------------------------------------

const WAYS = ["files", "text", "hub"];
let open = WAYS[0];

/** Opens a way: what stands in the others doesn't count. */
async function drawWays(name = open) {
  open = name;
  const host = await ready("pg-ways"), option = (name) => button({ "aria-pressed": String(name === open), onclick: () => drawWays(name) }, say(`way_${name}`));
  document.body.dataset.way = open;
  document.body.style.setProperty("--pg-drop", JSON.stringify(say("own_files")));
  replaceChildren(host, h("div", { class: "pg-segments", role: "group", "aria-label": say("ways") }, WAYS.map(option)));
}

/** Gradio's place for files is called what is written on it; it is made anew when files are taken away. */
const nameFiles = () => document.querySelector("#pg-files button.upload-container")?.setAttribute("aria-label", say("own_files"));
ready("pg-files").then((files) => {
  nameFiles();
  new MutationObserver(nameFiles).observe(files, { childList: true, subtree: true });
});

/** Nothing offered fails: there is something to train on, or the button waits and says for what. */
async function drawUse() {
  const use = await ready("pg-train-own"), reason = await ready("pg-nothing-read");
  use.disabled = !page.uploaded;
  reason.textContent = !page.uploaded ? say("nothing_read_yet") : isEarlier && reading ? say("still_read", { name: reading.name }) : "";
}

subscribe(["boot"], () => drawWays());
subscribe(["boot"], nameFiles);
subscribe(["boot", "uploaded"], drawUse);
