// All heads of the model at once: a grid of small matrices for each kind of attention, layers down, heads across.
// @ts-check

import { move } from "../../ui/static/store.js";
import { button, h, svg } from "../../ui/static/dom.js";
import { folded } from "../../ui/static/glossary.js";
import { miniature } from "../../ui/static/thumbnails.js";
import { lightened, relabelSave, saveButtons } from "../../ui/static/downloads.js";
import { register } from "../../ui/static/render.js";

register("modelview", (element, block) => {
  element.pgBlock = block;
  if (!element.firstChild) build(element);
  const [title, about, grids, scale, note, save] = /** @type {HTMLElement[]} */ ([...element.children]);
  const same = (name, value) => element.dataset[name] === value || void (element.dataset[name] = value);
  title.textContent = block.title;
  folded(about, block.caption);
  fillScale(scale, block);
  relabelSave(save, block.title);
  if (!same("hint", block.hint) || !grids.querySelector(":hover, :focus")) note.textContent = block.hint;
  const form = JSON.stringify(block.grids.map(({ part, heads }) => [part, heads.map((row) => row.length)]));
  if (!same("form", form)) grids.replaceChildren(...block.grids.map((grid) => drawGrid(grid, block, note)));
  block.grids.forEach((grid, at) => fillGrid(grids.children[at], grid, block));
});

function build(element) {
  const thing = () => {
    const block = element.pgBlock;
    return { ...block, name: block.id, drawing: () => modelDrawing(block), table: () => modelTable(block) };
  };
  element.append(h("h3", {}), h("p", { class: "pg-caption" }), h("div", { class: "pg-model-grids" }),
    h("div", { class: "pg-model-scale" }), h("p", { class: "pg-model-said", "aria-live": "polite" }),
    saveButtons(thing, ["png", "svg", "csv"]));
}

/** One kind: its name, the numbers of heads over the columns and of layers before the rows, and a button for every head. */
function drawGrid(grid, block, note) {
  const columns = Math.max(...grid.heads.map((row) => row.length));
  const across = Array.from({ length: columns }, (_, head) => h("span", { class: "pg-model-number" }, String(head + 1)));
  const row = (heads, layer) => [
    h("span", { class: "pg-model-number" }, String(layer + 1)), ...heads.map((_, head) => oneHead(grid.part, layer, head, note)),
  ];
  const style = `--heads: ${columns}`;
  return h("div", { class: `pg-model-part hue-${grid.part}${grid.heads.length === 1 ? " single" : ""}`, role: "group", "aria-label": grid.label },
    h("h4", {}, grid.label),
    h("div", { class: "pg-model-grid", style },
      h("span", { class: "pg-model-corner" }, `${block.words.head} →`, h("br", {}), `${block.words.layer} ↓`), ...across, ...grid.heads.flatMap(row)));
}

function oneHead(part, layer, head, note) {
  const tell = ({ currentTarget }) => (note.textContent = `${currentTarget.getAttribute("aria-label")}. ${currentTarget.pgSaid}`);
  const open = () => move({ part, layer: layer + 1, head: head + 1, follow: "off", view: "matrix" });
  const hush = () => (note.textContent = note.parentElement.dataset.hint);
  return button({
    class: "pg-model-head", dataset: { head: `${part}.${layer + 1}.${head + 1}` }, onclick: open, onmouseenter: tell, onfocus: tell, onmouseleave: hush,
  }, h("canvas", {}));
}

function fillGrid(element, grid, block) {
  const buttons = element.querySelectorAll(".pg-model-head");
  grid.heads.flat().forEach((small, at) => {
    const head = buttons[at], columns = grid.heads[0].length;
    const chosen = grid.chosen !== null && at === grid.chosen[0] * columns + grid.chosen[1];
    head.setAttribute("aria-label", small.label);
    head.setAttribute("aria-pressed", String(chosen));
    head.title = small.label;
    head.pgSaid = small.effect;
    miniature(head.firstChild, small.mini, block.colours);
  });
}

/** The one scale of all of them. */
function fillScale(scale, { colours, words }) {
  const ramp = h("i", { class: "pg-model-ramp", style: `background: linear-gradient(to right, ${colours.probability.join(", ")})` });
  const hatch = `repeating-linear-gradient(135deg, ${colours.masked} 0 3px, ${colours.hatch} 3px 4px)`;
  scale.replaceChildren(words.weight, h("span", {}, "0"), ramp, h("span", {}, "1"),
    h("i", { class: "pg-model-masked", style: `background: ${hatch}` }), words.masked);
}

// ---- as one drawing and one table, to be saved ------------------------------------------------------------------------------------------

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
function part({ label, heads }, { colours, words: names }, x) {
  const at = (count) => LEFT + STEP * count;
  const across = heads[0].map((_, head) => words(at(head) + SIDE / 2, ABOVE - 6, String(head + 1), middle));
  const row = (layerHeads, layer) => [
    words(LEFT - 14, ABOVE + STEP * layer + SIDE / 2 + 4, String(layer + 1), middle),
    ...layerHeads.map((head, column) => picture(head, colours, at(column), ABOVE + STEP * layer)),
  ];
  return svg("g", { transform: `translate(${x} 0)` }, words(0, 13, label, { "font-weight": 600, "font-size": 13 }),
    words(0, ABOVE - 18, `${names.head} →`), words(0, ABOVE - 4, `${names.layer} ↓`), ...across, ...heads.flatMap(row));
}

/**
 * The legend of the colours.
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
async function modelDrawing(block) {
  const light = { ...block, colours: JSON.parse(lightened(JSON.stringify(block.colours))) };
  const widths = block.grids.map(({ heads }) => LEFT + STEP * heads[0].length + APART);
  const layers = Math.max(...block.grids.map(({ heads }) => heads.length)), width = widths.reduce((sum, width) => sum + width) - APART;
  const height = ABOVE + STEP * layers + SCALE, starts = widths.map((_, at) => widths.slice(0, at).reduce((sum, width) => sum + width, 0));
  const parts = light.grids.map((grid, at) => part(grid, light, starts[at]));
  return { element: svg("svg", { viewBox: `0 0 ${width} ${height}` }, ...parts, scale(light, height - 16)), width, height };
}

/**
 * A row for each head, with what it does in this sentence.
 * @param {Block} block
 */
function modelTable({ grids, words: { kind, layer, head, effect: text } }) {
  const rows = grids.flatMap(({ label, heads }) => heads.flatMap((row, down) => row.map((cell, across) =>
    [label, down + 1, across + 1, `${cell.label}. ${cell.effect}`])));
  return { head: [kind, layer, head, text], rows };
}
