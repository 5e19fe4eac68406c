// Downloads of what is on screen: a figure as PNG, SVG and CSV, attention also as .npz, a table as CSV. The buttons appear with the pointer or the
// focus; a finger finds one that opens them.
// @ts-check

import { cursor, page, sentenceText } from "./store.js";
import { button, childrenOf, h, icon, isDark, keepFile, notice, routeUrl, saveFrom, say } from "./dom.js";
import { heatNames, plotly, tickName } from "./picture.js";
import { pixels, poster, standalone } from "./poster.js";
import { repainted } from "./repaint.js";

/**
 * A thing that can be saved, built when a button is pressed.
 * @typedef {{
 *   title: string, caption?: string, name: string, saved?: import("./blocks").Saved | null, step?: number | string, of?: string,
 *   table?: () => { head: (string | number)[], rows: (string | number | null)[][] },
 *   drawing?: () => Promise<{ element: SVGSVGElement, width: number, height: number }>,
 * }} Thing
 */

/**
 * The buttons of one figure or table, made once. `thing` says what is on screen when one is pressed.
 * @param {() => Thing} thing
 * @param {("png" | "svg" | "csv" | "npz")[]} kinds
 */
export function saveButtons(thing, kinds) {
  const group = h("div", { class: "pg-save", role: "group" });
  const save = (kind) => (event) => {
    event.stopPropagation();
    group.classList.remove("open");
    SAVE[kind](thing()).catch((error) => notice(say("save_failed", { kind: kind.toUpperCase(), reason: error.message }), "error"));
  };
  const open = button({ class: "pg-save-open", onclick: () => open.setAttribute("aria-expanded", String(group.classList.toggle("open"))) }, icon("save"));
  group.append(open, ...kinds.map((kind) => button({ dataset: { save: kind }, onclick: save(kind) }, kind.toUpperCase())));
  return group;
}

/** The words of the buttons, which change with the language; `shown` are the kinds that are there of this one. */
export function relabelSave(group, title, kinds = ["png", "svg", "csv"]) {
  group.setAttribute("aria-label", say("save_what", { title: title || say("save") }));
  const [open, ...each] = childrenOf(group);
  open.setAttribute("aria-label", say("save"));
  open.setAttribute("aria-expanded", String(group.classList.contains("open")));
  for (const save of each) {
    save.title = say(`save_${save.dataset.save}`);
    save.hidden = !kinds.includes(save.dataset.save);
  }
}

const SAVE = {
  async svg(thing) {
    keepFile(new Blob([(await sheet(thing)).text], { type: "image/svg+xml" }), `${fileName(thing)}.svg`);
  },
  async png(thing) {
    keepFile(await pixels(await sheet(thing)), `${fileName(thing)}.png`);
  },
  async csv(thing) {
    const ofRun = [["csv_run", runOf(thing)], ["csv_step", stepOf(thing)], ["csv_sentence", sentenceText()]];
    const about = [...(isOfRun(thing) ? ofRun : [["csv_of", thing.of]]), ["csv_figure", thing.title], ["csv_caption", thing.caption ?? ""]];
    const text = csvOf(about.map(([key, value]) => [say(key), value]), thing.table());
    keepFile(new Blob([text], { type: "text/csv;charset=utf-8" }), `${fileName(thing)}.csv`);
  },
  npz: ({ saved }) => saveFrom(routeUrl("attention", { lang: cursor.lang, ...saved.arrays }), "attention.npz"),
};

/** The picture with its title, its caption and what it is of. */
async function sheet(thing) {
  const { title, caption = "" } = thing, step = stepOf(thing), values = { run: runOf(thing), step, text: sentenceText() };
  const source = isOfRun(thing) ? say(step === "" ? "saved_from_run" : "saved_from", values) : thing.of;
  return poster(await thing.drawing(), { title, caption, source });
}

/** A text with the colours of our figures as they are on a light page: what is saved goes on a white slide. */
export function lightened(text) {
  const { light, dark } = page.boot.palettes;
  return isDark() ? repainted(text, dark, light) : text;
}

/** A Plotly figure as it is on screen, with its zoom. */
export async function plotDrawing(plot, figure) {
  const Plotly = await plotly(), { clientWidth: width } = plot, height = figure.layout.height ?? plot.clientHeight;
  const { data, layout } = JSON.parse(lightened(JSON.stringify(figure)));
  for (const axis of ["xaxis", "yaxis"]) {
    const range = plot.layout?.[axis]?.range;
    if (range) layout[axis] = { ...layout[axis], range: [...range], autorange: false };
  }
  if (layout.meta?.legend_when_saved) layout.showlegend = true; // on the page that of its neighbour says it
  const text = await Plotly.toImage({ data, layout }, { format: "svg", width, height, imageDataOnly: true });
  const element = /** @type {any} */ (new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
  return { element: document.importNode(element, true), width, height };
}

/** One of our own drawings. */
export async function ownDrawing(drawing) {
  const { width, height } = drawing.viewBox.baseVal;
  return { element: standalone(drawing, lightened), width, height };
}

// ---- files -------------------------------------------------------------------------------------------------------------------------

/** The origin of an element's data where that is not the run on screen: a class, a lab, several runs, an upload. */
export const originOf = (element) => /** @type {HTMLElement | null} */ (element.closest("[data-of]"))?.dataset.of ?? "";

const isOfRun = ({ saved, of }) => Boolean(saved) || !of;
const runOf = (thing) => thing.saved?.run ?? (isOfRun(thing) ? page.card?.name : thing.of) ?? "";
const stepOf = ({ saved, step }) => saved?.step ?? step ?? "";

/** brisk-otter-step90-attention-cross-L2H1, of letters that every system takes. */
function fileName(thing) {
  const step = stepOf(thing), parts = [runOf(thing), step === "" ? "" : `step${step}`, thing.saved?.file ?? thing.name];
  return parts.map((part) => String(part).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")).filter(Boolean).join("-");
}

// ---- numbers for a spreadsheet ----------------------------------------------------------------------------------------------------------

const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // as playground/reading/formats/guard.py has it; tests/js/test_scripts.py compares them

/** One cell. Text that a spreadsheet would compute has an apostrophe before it; numbers are numbers. */
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "").replace(/\s+/g, " ");
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/**
 * A table with what it is about before it, a line each, then an empty line: in pandas read_csv(file, skiprows=len(about) + 1). It begins
 * with a byte order mark, without which Excel guesses the encoding.
 * @param {[string, string | number][]} about
 * @param {{ head: (string | number)[], rows: (string | number | null)[][] }} table
 */
export function csvOf(about, { head, rows }) {
  const line = (values) => `${values.map(cell).join(",")}\r\n`;
  return `\ufeff${about.map(line).join("")}\r\n${line(head)}${rows.map(line).join("")}`;
}

/**
 * The numbers of a figure, as many digits as it was drawn from: the cells of a grid, else a row for every point.
 * @param {import("./blocks").Plotly} figure
 * @returns {{ head: (string | number)[], rows: (string | number | null)[][] }}
 */
export function tableOf({ data, layout }) {
  if (layout.meta?.table) return layout.meta.table;
  const heat = data.find((trace) => trace.type === "heatmap");
  if (heat) {
    const { row, column, hidden } = heatNames(heat.z, layout);
    const line = (values, at) => [row(at), ...values.map((value, k) => value ?? hidden(at, k))];
    return { head: ["", ...heat.z[0].map((_, at) => column(at))], rows: heat.z.map(line) };
  }
  const { columns } = layout.meta ?? {}, title = (axis, other) => layout[axis]?.title?.text || other;
  const across = (x) => columns?.[x] ?? tickName(layout.xaxis, x), up = (y) => tickName(layout.yaxis, y) ?? null;
  const points = (trace) => Array.from(trace.x ?? [], (x, at) => [trace.name ?? "", across(x), up(trace.y?.[at])]);
  return { head: [say("csv_line"), title("xaxis", "x"), title("yaxis", "y")], rows: data.filter(isShown).flatMap(points) };
}

const isShown = (trace) => trace.visible !== false && trace.visible !== "legendonly";
