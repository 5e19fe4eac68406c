// Several runs: the table in which they are ticked, opened and pinned, and what each makes of one sentence.
// @ts-check

import { cursor, languageTag, move } from "../../ui/static/store.js";
import { button, h, icon, modelText, replaceChildren, say, svg } from "../../ui/static/dom.js";
import { chooseRun, command } from "../../ui/static/actions.js";
import { openDelete, openRename } from "../../ui/static/dialogs.js";
import { sample } from "../../ui/static/pen.js";
import { chips, register } from "../../ui/static/render.js";

const unfolded = new Set(); // runs of which all differences are shown, also when the table is drawn anew

/** The table of runs. One of its controls at a time is reached by Tab, the others from there by the arrows (see keyboard.js). */
register("runs", (element, block) => {
  if (!element.firstChild) element.append(h("div", { class: "pg-scroll" }));
  element.classList.toggle("several", block.ticked.length > 1); // a lesson asks whether runs are compared
  const unseen = (text) => h("span", { class: "pg-unseen" }, text);
  const outer = (text) => h("th", { scope: "col" }, unseen(text));
  const head = h("tr", {}, outer(say("compare_over")), block.head.map((column) => sortable(column, block.sort)), outer(say("compare_pin")));
  const groups = block.groups.map(({ label, rows }) =>
    h("tbody", {}, h("tr", { class: "pg-run-group" }, h("th", { colspan: String(block.head.length + 2), scope: "rowgroup" }, label)),
      rows.map((row) => runRow(row, block))));
  const none = groups.length ? [] : [h("p", { class: "pg-note" }, block.empty)];
  replaceChildren(element.firstElementChild, h("table", {}, h("thead", {}, head), groups), ...none);
});

/** The head of a column: a press sorts by it, the largest first, then the smallest, then as the runs were made. */
function sortable({ label, sort }, now) {
  if (!sort) return h("th", { scope: "col" }, label);
  const order = now === sort ? "ascending" : now === `-${sort}` ? "descending" : "none";
  const next = { none: `-${sort}`, descending: sort, ascending: "" }[order];
  const arrow = h("span", { "aria-hidden": "true" }, { none: "", descending: " ▼", ascending: " ▲" }[order]);
  return h("th", { scope: "col", "aria-sort": order }, button({ class: "pg-run-sort", dataset: { sort }, onclick: () => move({ sort: next }) }, label, arrow));
}

/** A moment in the visitor's time zone: of today the time, else the day; all of it where one points at it. */
function moment(seconds) {
  const date = new Date(1000 * seconds), form = (options) => new Intl.DateTimeFormat(languageTag(), options).format(date);
  const isToday = date.toDateString() === new Date().toDateString(), whole = form({ dateStyle: "full", timeStyle: "long" });
  return h("time", { datetime: date.toISOString(), title: whole }, form(isToday ? { timeStyle: "short" } : { dateStyle: "short" }));
}

/** Without a run that is gone, nothing of it is ticked or pinned any more. */
const without = ({ ticked, none }, id) => ({ runs: ticked.filter((other) => other !== id).join(",") || none, ...(cursor.pin === id ? { pin: "" } : {}) });

/** One run: its tick, its line in the figures, name, difference, numbers, the course of its exact match, its date, its pin, and for its owner
 * two more buttons. A number has the name of its column with it, for where the table is cards. */
function runRow(row, block) {
  const { id, name } = row, { ticked } = block, isTicked = ticked.includes(id);
  const toggled = isTicked ? ticked.filter((other) => other !== id) : [...ticked, id];
  const full = !isTicked && ticked.length >= block.most;
  const about = (act) => ({ dataset: { at: `${act}:${id}` } });
  const tick = h("input", {
    type: "checkbox", checked: isTicked, "aria-disabled": String(full), title: full ? say("compare_full", { most: block.most }) : "",
    "aria-label": say("compare_tick", { name }), ...about("tick"),
    onclick: (event) => (full ? event.preventDefault() : move({ runs: toggled.join(",") || block.none })),
  });
  const exact = (text) => [course(row.course), h("span", {}, text)];
  const [, , ...columns] = block.head.map(({ label }) => label);
  const number = (text, at) => h("td", { class: "number", dataset: { label: columns[at] } }, at ? text : exact(text)); // the first is exact match
  const naming = { "aria-current": row.here ? "true" : null, title: name };
  const open = button({ class: "pg-run-name", ...naming, ...about("open"), onclick: () => chooseRun(id) }, name);
  const unfold = ({ currentTarget: pressed }) => {
    if (!unfolded.delete(id)) unfolded.add(id);
    pressed.setAttribute("aria-expanded", String(unfolded.has(id)));
  };
  const folding = { "aria-expanded": String(unfolded.has(id)), title: row.line, onclick: unfold };
  const line = button({ class: "pg-run-line", ...folding, ...about("line") }, row.line);
  const pinning = { "aria-pressed": String(row.pinned), "aria-label": `${say("compare_pin")} ${name}`, title: say("compare_pin_about") };
  const pin = button({ class: "pg-run-pin", ...pinning, ...about("pin"), onclick: () => move({ pin: row.pinned ? "" : id }) }, icon("pin"));
  const rename = () => openRename(row.label, (label) => command("rename", { run: id, label }));
  const remove = () => openDelete(name, async () => {
    const isShown = id === cursor.run;
    if (ticked.includes(id) || row.pinned) move(without(block, id));
    await command("delete", { run: id, stay: !isShown });
  });
  const own = (act, picture, onclick) =>
    button({ class: "pg-run-act", title: say(act), "aria-label": `${say(act)} ${name}`, onclick, ...about(act) }, icon(picture));
  const acts = row.own ? [own("rename", "pen", rename), own("delete", "trash", remove)] : [];
  return h("tr", { dataset: { run: id }, class: row.here ? "here" : undefined },
    h("td", { class: "pg-run-tick" }, tick, row.key ? sample(row.key) : null), h("th", { scope: "row" }, open),
    h("td", { class: "pg-run-difference" }, line), row.numbers.map(number),
    columns[row.numbers.length] && h("td", { class: "number", dataset: { label: columns.at(-1) } }, row.created === null ? "–" : moment(row.created)),
    h("td", { class: "pg-run-acts" }, pin, acts));
}

/** A small curve: points from 0 to 1 each way. */
function course(points) {
  const [width, height] = [64, 22], place = ([x, y]) => `${(2 + x * (width - 4)).toFixed(1)},${(height - 2 - y * (height - 4)).toFixed(1)}`;
  const around = { viewBox: `0 0 ${width} ${height}`, width: String(width), height: String(height), class: "pg-run-course", "aria-hidden": "true" };
  const [x, y] = points.length ? place(points.at(-1)).split(",") : [null, null];
  return svg("svg", around, svg("line", { x1: "2", x2: String(width - 2), y1: String(height - 2), y2: String(height - 2), class: "ground" }),
    svg("polyline", { points: points.map(place).join(" ") }), ...(x ? [svg("circle", { cx: x, cy: y, r: "2" })] : []));
}

/** Sentences on which runs disagree; a press on one runs it through all of them. */
register("disagreements", (element, block) => {
  const verdict = (correct) => ({ class: correct ? "pg-right" : "pg-wrong", role: "img", "aria-label": say(correct ? "right" : "wrong") });
  const mark = (correct) => h("span", verdict(correct), correct ? "✓" : "✗");
  const output = ({ text, correct }, at) =>
    h("td", { class: correct ? "is-right" : "is-wrong", dataset: { label: block.names[at] } }, mark(correct), " ", h("span", modelText("tgt"), text));
  const open = (text) => button({ class: "pg-run-name", onclick: () => move({ text }), ...modelText("src") }, text);
  const row = ({ source, reference, outputs }) =>
    h("tr", {}, h("th", { scope: "row" }, open(source)), outputs.map(output), h("td", { dataset: { label: block.reference }, ...modelText("tgt") }, reference));
  const named = block.names.map((name, at) => h("th", { scope: "col" }, sample(block.keys[at]), " ", name));
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, block.label), named, h("th", { scope: "col" }, block.reference)));
  element.replaceChildren(h("div", { class: "pg-scroll" }, h("table", {}, head, h("tbody", {}, block.rows.map(row)))));
});

/** Outputs of each run for the sentence, and whether they are right. */
register("outputs", (element, block) => {
  const verdict = (correct) => (correct ? `✓ ${say("right")}` : `✗ ${say("wrong")}`);
  const row = ({ name, key, tokens, correct, note }) =>
    h("tr", {}, h("th", { scope: "row" }, sample(key), " ", name),
      h("td", {}, h("span", { class: "pg-tokens" }, chips(tokens, "")), note ? h("span", { class: "pg-note" }, " ", note) : null),
      h("td", { class: correct ? "pg-right" : "pg-wrong" }, correct === null ? "–" : verdict(correct)));
  const head = h("thead", {}, h("tr", {}, block.head.map((text) => h("th", { scope: "col" }, text))));
  const table = h("table", {}, head, h("tbody", {}, block.rows.map(row)));
  element.replaceChildren(h("h3", {}, block.title), h("div", { class: "pg-scroll" }, table));
});
