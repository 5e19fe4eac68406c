// All heads of the model as one drawing that can be saved, and what is said of each as a table.
// @ts-check

import { svg } from "../../ui/static/dom.js";
import { lightened } from "../../ui/static/downloads.js";
import { miniature } from "../../ui/static/thumbnails.js";

/** @typedef {import("../../ui/static/blocks").ModelviewBlock} Block */
const SIDE = 84, STEP = 88, LEFT = 52, ABOVE = 44, APART = 30, SCALE = 34; // px: of a head, from one to the next, and around them
const INK = "#1f2933";

const words = (x, y, text, more = {}) => svg("text", { x, y, "font-size": 12, fill: INK, ...more }, text);
const middle = { "text-anchor": "middle" };

/** A head's picture, in the colours of a light page. */
function picture({ mini, label }, colours, x, y) {
  const canvas = document.createElement("canvas");
  miniature(canvas, mini, colours);
  const image = { href: canvas.toDataURL(), x, y, width: SIDE, height: SIDE, preserveAspectRatio: "none", style: "image-rendering: pixelated" };
  return svg("g", {}, svg("title", {}, label), svg("image", image), svg("rect", { x, y, width: SIDE, height: SIDE, fill: "none", stroke: "#c3cad5" }));
}

/**
 * One kind of attention, its name above it, the numbers of its heads across and of its layers down.
 * @param {import("../../ui/static/blocks").HeadGrid} grid
 * @param {Block} block
 * @param {number} x
 */
function part({ label, heads }, { colours, words: said }, x) {
  const at = (count) => LEFT + STEP * count;
  const across = heads[0].map((_, head) => words(at(head) + SIDE / 2, ABOVE - 6, String(head + 1), middle));
  const row = (one, layer) => [
    words(LEFT - 14, ABOVE + STEP * layer + SIDE / 2 + 4, String(layer + 1), middle),
    ...one.map((head, column) => picture(head, colours, at(column), ABOVE + STEP * layer)),
  ];
  return svg("g", { transform: `translate(${x} 0)` }, words(0, 13, label, { "font-weight": 600, "font-size": 13 }),
    words(0, ABOVE - 18, `${said.head} →`), words(0, ABOVE - 4, `${said.layer} ↓`), ...across, ...heads.flatMap(row));
}

/**
 * What the colours mean.
 * @param {Block} block
 * @param {number} y
 */
function scale({ colours, words: { weight, masked } }, y) {
  const stops = colours.probability.map((colour, at, all) => svg("stop", { offset: at / (all.length - 1), "stop-color": colour }));
  const hatch = { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" };
  return svg("g", { transform: `translate(0 ${y})` },
    svg("defs", {}, svg("linearGradient", { id: "weights" }, ...stops),
      svg("pattern", hatch, svg("rect", { width: 6, height: 6, fill: colours.masked }), svg("path", { d: "M0,6L6,0", stroke: colours.hatch }))),
    words(0, 11, `${weight}: 0`), svg("rect", { x: 150, y: 0, width: 120, height: 12, fill: "url(#weights)" }), words(276, 11, "1"),
    svg("rect", { x: 310, y: 0, width: 18, height: 12, fill: "url(#hatch)", stroke: "#c3cad5" }), words(334, 11, masked));
}

/**
 * The three kinds beside one another.
 * @param {Block} block
 */
export async function modelDrawing(block) {
  const light = { ...block, colours: JSON.parse(lightened(JSON.stringify(block.colours))) };
  const widths = block.grids.map(({ heads }) => LEFT + STEP * heads[0].length + APART);
  const layers = Math.max(...block.grids.map(({ heads }) => heads.length)), width = widths.reduce((sum, one) => sum + one) - APART;
  const height = ABOVE + STEP * layers + SCALE, starts = widths.map((_, at) => widths.slice(0, at).reduce((sum, one) => sum + one, 0));
  const parts = light.grids.map((grid, at) => part(grid, light, starts[at]));
  return { element: svg("svg", { viewBox: `0 0 ${width} ${height}` }, ...parts, scale(light, height - 16)), width, height };
}

/**
 * A row for each head, with what it does in this sentence.
 * @param {Block} block
 */
export function modelTable({ grids, words: { kind, layer, head, said } }) {
  const rows = grids.flatMap(({ label, heads }) => heads.flatMap((row, down) => row.map((one, across) =>
    [label, down + 1, across + 1, `${one.label}. ${one.said}`])));
  return { head: [kind, layer, head, said], rows };
}
