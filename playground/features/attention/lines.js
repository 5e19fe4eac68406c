// The head view: queries stand at the left, keys at the right, and every weight is a line between the two.
// @ts-check

import { h, say, svg } from "../../ui/static/dom.js";
import { caption } from "../../ui/static/glossary.js";
import { cursor, move } from "../../ui/static/store.js";
import { asTable, point } from "../../ui/static/picture.js";
import { ownDrawing, relabelSave, saveButtons } from "../../ui/static/downloads.js";
import { register } from "../../ui/static/kinds.js";

const TALL = 560, WIDE = 640; // px
const LEAST = 0.005; // a weight below this has no line
/** @typedef {import("../../ui/static/blocks").LinesBlock} LinesBlock */

const pen = document.createElement("canvas").getContext("2d");
function extent(texts, size) {
  pen.font = `${size}px ${getComputedStyle(document.body).getPropertyValue("--font-mono") || "monospace"}`;
  return Math.max(...texts.map((text) => pen.measureText(text).width));
}

/**
 * @param {HTMLElement} element
 * @param {LinesBlock} block
 */
export function drawLines(element, block) {
  const open = element.querySelector("details")?.open;
  const numbers = h("div", {}), table = h("details", { class: "pg-table", open }, h("summary", {}, say("as_table")), numbers);
  const z = block.weights.map((row, q) => row.map((weight, k) => (block.mask[q][k] ? weight : null)));
  numbers.append(asTable({ data: [{ type: "heatmap", z }], layout: { meta: { rows: block.rows, columns: block.columns } } }));
  const drawing = picture(block), masked = say("masked");
  const grid = { head: ["", ...block.columns], rows: z.map((row, q) => [block.rows[q], ...row.map((weight) => weight ?? masked)]) };
  const save = saveButtons(() => ({ ...block, name: block.id, drawing: () => ownDrawing(drawing), table: () => grid }), ["png", "svg", "csv", "npz"]);
  relabelSave(save, block.title, ["png", "svg", "csv", ...(block.saved.arrays ? ["npz"] : [])]);
  element.replaceChildren(h("h3", {}, block.title), drawing, caption(`${block.caption} ${block.hint}`), save, table);
}

/**
 * Where everything stands: queries in a column at the left, keys in one at the right, `unit` pixels from one to the next.
 * @param {LinesBlock} block
 */
function layout(block) {
  const { rows, columns } = block.short;
  const most = Math.max(rows.length, columns.length), unit = Math.max(9, Math.min(26, TALL / most)), size = unit < 13 ? 10 : 13;
  const width = Math.min(block.width, WIDE), { query, key } = block.words;
  const stacked = extent([query], 13) + extent([key], 13) + 16 > width; // the names of both sides, one below the other
  const top = stacked ? 51 : 34, every = Math.ceil((size + 1) / unit); // not every label has room
  const left = Math.max(extent(rows, size), 40) + 10, right = width - Math.max(extent(columns, size), 40) - 62;
  return { rows, columns, unit, size, width, top, stacked, every, left, right, y: (at) => top + unit * (at + 0.5), bottom: top + unit * most + 12 };
}

/** Parts between the two columns and in them; each line with the query and the key that it joins. */
function parts({ weights, mask, alignment }, { rows, columns, unit, size, width, top, every, left, right, y }) {
  const line = (name, q, k, more = {}) => svg("line", { class: name, x1: left, y1: y(q), x2: right, y2: y(k), ...more });
  const strand = (q, k, weight) => ({ q, k, weight, line: line("strand", q, k, { "stroke-width": (0.5 + 5 * weight).toFixed(2) }) });
  const strands = weights.flatMap((row, q) => row.flatMap((weight, k) => (mask[q][k] && weight >= LEAST ? [strand(q, k, weight)] : [])));
  const guides = (alignment ?? []).flatMap((k, q) => {
    if (k === null || q >= rows.length || k >= columns.length) return [];
    return [{ q, k, line: svg("g", {}, line("halo", q, k), line("guide", q, k)) }];
  });
  const label = (side, x) => (text, at) =>
    svg("text", { class: side, x, y: y(at), "font-size": size, dy: "0.35em", "data-at": at }, at % every ? "" : text);
  const number = (_, at) => svg("text", { class: "number", x: width - 4, y: y(at), "font-size": 12, dy: "0.35em", "text-anchor": "end" });
  const hit = (side, x, wide) => (_, at) =>
    svg("rect", { class: "hit", x, y: top + unit * at, width: Math.max(wide, 0), height: unit, "data-side": side, "data-at": at });
  return {
    strands, guides, query: rows.map(label("query", left - 6)), key: columns.map(label("key", right + 6)), numbers: columns.map(number),
    hits: [...rows.map(hit("query", 0, left + 14)), ...columns.map(hit("key", right - 14, width - right + 14))],
  };
}

/** Lets one row (or column) stand out, its weights in numbers; without one, every line is as strong as its weight. */
function stand({ weights, mask, column: pinned }, { strands, guides, query, key, numbers }, every, row, column = null) {
  const isChosen = row !== null || column !== null;
  const isOfIt = (q, k) => (row !== null ? q === row : k === column);
  for (const { q, k, weight, line } of strands) {
    line.style.opacity = String(!isChosen ? weight : isOfIt(q, k) ? 0.3 + 0.7 * weight : 0.03);
    line.classList.toggle("pinned", isChosen && q === row && k === pinned);
  }
  for (const { q, k, line } of guides) line.style.opacity = String(!isChosen ? 0.8 : isOfIt(q, k) ? 1 : 0);
  query.forEach((text, q) => text.classList.toggle("on", q === row || (column !== null && weights[q][column] >= 0.1)));
  key.forEach((text, k) => {
    text.classList.toggle("on", k === column || (row !== null && weights[row][k] >= 0.1));
    text.classList.toggle("pinned", k === pinned);
  });
  const hidden = (k) => (k % every ? "" : say("masked"));
  numbers.forEach((text, k) => (text.textContent = row === null ? "" : mask[row][k] ? weights[row][k].toFixed(2) : hidden(k)));
}

/** How thick a weight is, what the other lines mean, and who stands at which side. */
function legend({ words }, { width, bottom, stacked }, guided) {
  const word = extent([words.weight], 13) + 12;
  const note = (x, y, text, more = {}) => svg("text", { class: "note", x, y, ...more }, text);
  const sample = (weight, n) => {
    const x = word + n * 68, thick = { "stroke-width": 0.5 + 5 * weight, style: `opacity: ${weight}` };
    return [svg("line", { class: "strand", x1: x, x2: x + 26, y1: bottom + 8, y2: bottom + 8, ...thick }), note(x + 31, bottom + 12, String(weight))];
  };
  const guide = svg("line", { class: "guide", x1: 0, x2: 26, y1: bottom + 28, y2: bottom + 28 });
  return [
    note(0, 14, words.query), note(width, stacked ? 31 : 14, words.key, { "text-anchor": "end" }), ...[0.1, 0.5, 1].flatMap(sample),
    note(0, bottom + 12, words.weight), ...(guided ? [guide, note(31, bottom + 32, words.right_place)] : []),
  ];
}

/** @param {LinesBlock} block */
function picture(block) {
  const place = layout(block), drawn = parts(block, place), { strands, guides, query, key, numbers, hits } = drawn;
  const { width, bottom } = place, guided = guides.length > 0, height = bottom + (guided ? 40 : 22);
  const colours = `--hue: ${block.colours.hue}; --guide: ${block.colours.guide}`;
  const about = { role: "img", "aria-label": `${block.title}. ${block.caption}`, style: colours };
  const drawing = svg("svg", { class: "pg-strands", translate: "no", viewBox: `0 0 ${width} ${height}`, width, height, ...about },
    ...strands.map(({ line }) => line), ...guides.map(({ line }) => line), ...query, ...key, ...numbers, ...legend(block, place, guided), ...hits);
  const show = (row, column) => stand(block, drawn, place.every, row, column);
  drawing.addEventListener("pointerover", (event) => over(block, tokenOf(event), show));
  drawing.addEventListener("pointerleave", () => {
    point(null);
    show(block.row);
  });
  drawing.addEventListener("click", (event) => click(block, tokenOf(event)));
  show(block.row);
  return drawing;
}

/** The side and the number of the token that an event is about; null beside all. */
function tokenOf({ target }) {
  return target.dataset?.side ? { side: target.dataset.side, n: Number(target.dataset.at) } : null;
}

function over(block, here, show) {
  if (!here) return;
  const { side, n } = here;
  point(side === "query" ? { q: n, k: null, part: block.part } : { q: block.row, k: n, part: block.part });
  if (side === "query") show(n);
  else if (block.row === null) show(null, n);
}

/** Pins a row, or of the pinned row (without one, of the row that attends most) a cell; what was pinned is let go of. */
function click(block, here) {
  if (!here) return;
  const { side, n } = here;
  if (side === "query") return void move(String(n) === cursor.q ? { q: "", k: "" } : { q: n, k: "" });
  const strongest = block.weights.reduce((best, row, q, all) => (row[n] > all[best][n] ? q : best), 0);
  const row = block.row ?? strongest;
  move(String(n) === cursor.k && String(row) === cursor.q ? { k: "" } : { q: row, k: n });
}

register("lines", drawLines);
