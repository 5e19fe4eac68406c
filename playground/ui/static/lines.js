// The head view: who asks stands at the left, who answers at the right, and every weight is a line between the two.

import { h, say } from "./dom.js";
import { caption } from "./glossary.js";
import { cursor, move } from "./state.js";
import { asTable, point } from "./picture.js";

const TALL = 560, WIDE = 640; // px
const LEAST = 0.005; // a weight below this has no line
const SVG = "http://www.w3.org/2000/svg";

function s(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const pen = document.createElement("canvas").getContext("2d");
function extent(texts, size) {
  pen.font = `${size}px ${getComputedStyle(document.body).getPropertyValue("--font-mono") || "monospace"}`;
  return Math.max(...texts.map((text) => pen.measureText(text).width));
}
const short = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);

export function drawLines(element, block) {
  const open = element.querySelector("details")?.open;
  const table = h("details", { class: "pg-table", open }, h("summary", {}, say("as_table")), h("div", {}));
  const z = block.weights.map((row, q) => row.map((weight, k) => (block.mask[q][k] ? weight : null)));
  table.lastChild.append(asTable({ data: [{ type: "heatmap", z }], layout: { meta: { rows: block.rows, columns: block.columns } } }));
  element.replaceChildren(h("h3", {}, block.title), picture(block), caption(block.caption), table);
}

function picture(block) {
  const { weights, mask, alignment } = block, rows = block.rows.map(short), columns = block.columns.map(short);
  const most = Math.max(rows.length, columns.length), unit = Math.max(9, Math.min(26, TALL / most)), size = unit < 13 ? 10 : 13;
  const width = Math.min(block.width, WIDE), top = 34, every = Math.ceil((size + 1) / unit);
  const left = Math.max(extent(rows, size), 40) + 10, right = width - Math.max(extent(columns, size), 40) - 62;
  const y = (at) => top + unit * (at + 0.5), bottom = top + unit * most + 12;

  const strands = [], guides = [];
  weights.forEach((row, q) => row.forEach((weight, k) => {
    if (mask[q][k] && weight >= LEAST) strands.push([q, k, weight, s("line", { class: "strand", x1: left, y1: y(q), x2: right, y2: y(k), "stroke-width": (0.5 + 5 * weight).toFixed(2) })]);
  }));
  (alignment ?? []).forEach((k, q) => {
    if (k !== null && q < rows.length && k < columns.length) guides.push([q, k, s("g", {}, ...["halo", "guide"].map((name) => s("line", { class: name, x1: left, y1: y(q), x2: right, y2: y(k) })))]);
  });
  const label = (side, text, at) => s("text", { class: side, x: side === "asks" ? left - 6 : right + 6, y: y(at), "font-size": size, dy: "0.35em", "data-at": at }, at % every ? "" : text);
  const asks = rows.map((text, at) => label("asks", text, at)), answers = columns.map((text, at) => label("answers", text, at));
  const number = (x, at) => s("text", { class: "number", x, y: y(at), "font-size": 12, dy: "0.35em", "text-anchor": "end" });
  const numbers = columns.map((_, at) => number(width - 4, at));
  const hit = (side, x, wide, at) => s("rect", { class: "hit", x, y: top + unit * at, width: Math.max(wide, 0), height: unit, "data-side": side, "data-at": at });
  const hits = [...rows.map((_, at) => hit("asks", 0, left + 14, at)), ...columns.map((_, at) => hit("answers", right - 14, width - right + 14, at))];

  /** Lets one row (or column) stand out, its weights in numbers; without one, the pinned row; without that, every line as strong as its weight. */
  function stand(row, column = null) {
    const one = row !== null || column !== null;
    const mine = (q, k) => (row !== null ? q === row : k === column);
    for (const [q, k, weight, line] of strands) {
      line.style.opacity = !one ? weight : mine(q, k) ? 0.3 + 0.7 * weight : 0.03;
      line.classList.toggle("pinned", one && q === row && k === block.column);
    }
    for (const [q, k, line] of guides) line.style.opacity = !one ? 0.8 : mine(q, k) ? 1 : 0;
    asks.forEach((text, q) => text.classList.toggle("on", q === row || (column !== null && weights[q][column] >= 0.1)));
    answers.forEach((text, k) => text.classList.toggle("on", k === column || (row !== null && weights[row][k] >= 0.1)));
    answers.forEach((text, k) => text.classList.toggle("pinned", k === block.column));
    numbers.forEach((text, k) => (text.textContent = row === null ? "" : mask[row][k] ? weights[row][k].toFixed(2) : k % every ? "" : say("masked")));
  }
  const pinned = () => stand(block.row);
  const at = (event) => event.target.dataset?.side && [event.target.dataset.side, Number(event.target.dataset.at)];
  const over = (event) => {
    const here = at(event);
    if (!here) return;
    const [side, n] = here;
    point(side === "asks" ? { q: n, k: null, part: block.part } : { q: block.row, k: n, part: block.part });
    if (side === "asks") stand(n);
    else if (block.row === null) stand(null, n);
  };
  const out = () => {
    point(null);
    pinned();
  };
  const click = (event) => {
    const here = at(event);
    if (!here) return;
    const [side, n] = here;
    if (side === "asks") return move(String(n) === cursor.q ? { q: "", k: "" } : { q: n, k: "" });
    const asker = block.row ?? weights.map((row) => row[n]).reduce((best, weight, q, all) => (weight > all[best] ? q : best), 0);
    move(String(n) === cursor.k && String(asker) === cursor.q ? { k: "" } : { q: asker, k: n });
  };
  const word = extent([block.words.weight], 13) + 12;
  const legend = [0.1, 0.5, 1].flatMap((weight, n) => {
    const x = word + n * 68;
    return [s("line", { class: "strand", x1: x, x2: x + 26, y1: bottom + 8, y2: bottom + 8, "stroke-width": 0.5 + 5 * weight, style: `opacity: ${weight}` }), s("text", { class: "note", x: x + 31, y: bottom + 12 }, String(weight))];
  });
  const said = [s("text", { class: "note", x: 0, y: bottom + 12 }, block.words.weight)];
  if (guides.length) said.push(s("line", { class: "guide", x1: 0, x2: 26, y1: bottom + 28, y2: bottom + 28 }), s("text", { class: "note", x: 31, y: bottom + 32 }, block.words.right_place));
  const titles = [s("text", { class: "note", x: 0, y: 14 }, block.words.asks), s("text", { class: "note", x: width, y: 14, "text-anchor": "end" }, block.words.answers)];
  const tall = bottom + (guides.length ? 40 : 22);
  const drawing = s("svg", { class: "pg-strands", viewBox: `0 0 ${width} ${tall}`, width, height: tall, role: "img", "aria-label": `${block.title}. ${block.caption}`, style: `--hue: ${block.colours.hue}; --guide: ${block.colours.guide}` },
    ...strands.map(([, , , line]) => line), ...guides.map(([, , line]) => line), ...asks, ...answers, ...numbers, ...titles, ...legend, ...said, ...hits);
  drawing.addEventListener("pointerover", over);
  drawing.addEventListener("pointerleave", out);
  drawing.addEventListener("click", click);
  pinned();
  return drawing;
}
