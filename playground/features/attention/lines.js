// The head view: keys stand in a row above, queries in one below, and every weight is a thread between the two, as wide as it is large.
// @ts-check

import { h, say, svg } from "../../ui/static/dom.js";
import { caption } from "../../ui/static/glossary.js";
import { cursor, move, page, subscribe } from "../../ui/static/store.js";
import { asTable, point } from "../../ui/static/picture.js";
import { ownDrawing, relabelSave, saveButtons } from "../../ui/static/downloads.js";
import { register } from "../../ui/static/render.js";

const TALL = 360, LOW = 150, WIDEST = 84, EDGE = 8, NUMBER = 18, LEGEND = 40; // px: between the rows at most and at least, of a token, around them
const THICK = 7; // px of a weight of 1
const WIDE_NUMBER = 30, WIDE_WORD = 56; // px of a token over which there is room for a number of two digits, and for a word
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
 * Where everything stands: keys in a row above, queries in one below, `unit` pixels from one to the next.
 * @param {LinesBlock} block
 */
function layout(block) {
  const { rows, columns } = block.short, most = Math.max(rows.length, columns.length);
  const unit = Math.min(WIDEST, (block.width - 2 * EDGE) / most), size = unit < 13 ? 10 : 13;
  const upright = (texts) => extent(texts, size) + 6 <= unit, room = (texts) => (upright(texts) ? 20 : extent(texts, size) + 10);
  const every = (texts) => (upright(texts) ? 1 : Math.ceil((size + 1) / unit)); // not every label has room
  const top = 22 + room(columns) + NUMBER, below = room(rows) + 26, free = block.tall - top - below - LEGEND;
  const foot = top + Math.max(LOW, block.tall ? free : Math.min(TALL, 0.45 * block.width)), bottom = foot + below;
  return {
    unit, size, top, foot, bottom, width: block.width, x: (at) => EDGE + unit * (at + 0.5),
    key: { texts: columns, y: top - NUMBER, up: true, upright: upright(columns), every: every(columns) },
    query: { texts: rows, y: foot, up: false, upright: upright(rows), every: every(rows) },
  };
}

/** Parts between the two rows and in them; each thread with the query and the key that it joins. */
function parts({ weights, mask, alignment }, { unit, size, top, foot, bottom, x, key, query }) {
  const middle = (top + foot) / 2, path = (q, k) => `M${x(q)},${foot}C${x(q)},${middle} ${x(k)},${middle} ${x(k)},${top}`;
  const thread = (name, q, k, more = {}) => svg("path", { class: name, d: path(q, k), ...more });
  const strand = (q, k, weight) => ({ q, k, weight, line: thread("strand", q, k, { "stroke-width": (0.5 + THICK * weight).toFixed(2) }) });
  const strands = weights.flatMap((row, q) => row.flatMap((weight, k) => (mask[q][k] && weight >= LEAST ? [strand(q, k, weight)] : [])));
  const guides = (alignment ?? []).flatMap((k, q) => {
    if (k === null || q >= query.texts.length || k >= key.texts.length) return [];
    return [{ q, k, line: thread("guide", q, k) }];
  });
  const label = (name, { texts, y, up, upright, every }) => texts.map((text, at) => {
    const place = { x: x(at), y: up ? y - 6 : y + (upright ? 16 : 6), "font-size": size, "data-at": at };
    const turned = { transform: `rotate(-90 ${place.x} ${place.y})`, dy: "0.35em", "text-anchor": up ? "start" : "end" };
    return svg("text", { class: name, ...place, ...(upright ? { "text-anchor": "middle" } : turned) }, at % every ? "" : text);
  });
  const number = (_, at) => svg("text", { class: "number", x: x(at), y: top - 4, "font-size": 12, "text-anchor": "middle" });
  const hit = (side, y, height) => (_, at) =>
    svg("rect", { class: "hit", x: x(at) - unit / 2, y, width: unit, height, "data-side": side, "data-at": at });
  return {
    strands, guides, query: label("query", query), key: label("key", key), numbers: key.texts.map(number),
    hits: [...query.texts.map(hit("query", foot - 14, bottom - foot - 8)), ...key.texts.map(hit("key", 16, top))],
  };
}

/** Lets one row (or column) stand out, its weights in numbers; without one, every line is as strong as its weight. */
function stand({ weights, mask, column: pinned }, { strands, guides, query, key, numbers }, unit, row, column = null) {
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
  const written = (weight) => (unit >= WIDE_NUMBER ? weight.toFixed(2) : weight >= 0.1 ? weight.toFixed(1).slice(-2) : "");
  const hidden = unit >= WIDE_WORD ? say("masked") : "–";
  numbers.forEach((text, k) => (text.textContent = row === null ? "" : mask[row][k] ? written(weights[row][k]) : hidden));
}

/** How wide a weight is, what the other lines mean, and the names of both rows. */
function legend({ words }, { bottom }, guided) {
  const word = extent([words.weight], 13) + 12;
  const note = (x, y, text, more = {}) => svg("text", { class: "note", x, y, ...more }, text);
  const sample = (weight, n) => {
    const x = word + n * 68, thick = { "stroke-width": 0.5 + THICK * weight, style: `opacity: ${weight}` };
    return [svg("path", { class: "strand", d: `M${x},${bottom + 8}h26`, ...thick }), note(x + 31, bottom + 12, String(weight))];
  };
  const guide = svg("path", { class: "guide", d: `M0,${bottom + 28}h26` });
  return [
    note(0, 14, words.key), note(0, bottom - 6, words.query), ...[0.1, 0.5, 1].flatMap(sample),
    note(0, bottom + 12, words.weight), ...(guided ? [guide, note(31, bottom + 32, words.right_place)] : []),
  ];
}

/** @type {WeakMap<Element, () => void>} */
const shows = new WeakMap(); // drawing -> lets stand out what is pointed at anywhere, else what is pinned

/** @param {LinesBlock} block */
function picture(block) {
  const place = layout(block), drawn = parts(block, place), { strands, guides, query, key, numbers, hits } = drawn;
  const { width, bottom, unit } = place, guided = guides.length > 0, height = bottom + (guided ? LEGEND : 22);
  const colours = `--hue: ${block.colours.hue}; --guide: ${block.colours.guide}`;
  const about = { role: "img", "aria-label": `${block.title}. ${block.caption}`, style: colours };
  const drawing = svg("svg", { class: "pg-strands", translate: "no", viewBox: `0 0 ${width} ${height}`, width, height, ...about },
    ...guides.map(({ line }) => line), ...strands.map(({ line }) => line), ...query, ...key, ...numbers, ...legend(block, place, guided), ...hits);
  drawing.addEventListener("pointerover", (event) => over(block, tokenOf(event)));
  drawing.addEventListener("pointerleave", () => point(null));
  drawing.addEventListener("click", (event) => click(block, tokenOf(event)));
  const show = () => {
    const { q = null, k = null } = page.pointed?.part === block.part ? page.pointed : {}, row = q ?? block.row;
    stand(block, drawn, unit, row < block.rows.length ? row : null, row === null ? k : null);
  };
  shows.set(drawing, show);
  show();
  return drawing;
}

/** The side and the number of the token that an event is about; null beside all. */
function tokenOf({ target }) {
  return target.dataset?.side ? { side: target.dataset.side, n: Number(target.dataset.at) } : null;
}

function over(block, here) {
  if (!here) return;
  const { side, n } = here;
  point(side === "query" ? { q: n, k: null, part: block.part } : { q: block.row, k: n, part: block.part });
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
subscribe(["pointed"], () => document.querySelectorAll(".pg-strands").forEach((drawing) => shows.get(drawing)?.()));
