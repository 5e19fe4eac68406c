// All heads of the model at once: a grid of small matrices for each kind of attention, layers down, heads across.
// @ts-check

import { move } from "../../ui/static/store.js";
import { button, h } from "../../ui/static/dom.js";
import { prose } from "../../ui/static/glossary.js";
import { miniature } from "../../ui/static/thumbnails.js";
import { relabelSave, saveButtons } from "../../ui/static/downloads.js";
import { modelDrawing, modelTable } from "./modelview_drawing.js";
import { register } from "../../ui/static/kinds.js";

/**
 * @param {HTMLElement} element
 * @param {import("../../ui/static/blocks").ModelviewBlock} block
 */
function drawModelView(element, block) {
  element.pgBlock = block;
  if (!element.firstChild) build(element);
  const [title, about, grids, scale, said, save] = /** @type {HTMLElement[]} */ ([...element.children]);
  const same = (name, value) => element.dataset[name] === value || void (element.dataset[name] = value);
  title.textContent = block.title;
  prose(about, block.caption);
  fillScale(scale, block);
  relabelSave(save, block.title);
  if (!same("hint", block.hint) || !grids.querySelector(":hover, :focus")) said.textContent = block.hint;
  const form = JSON.stringify(block.grids.map(({ part, heads }) => [part, heads.map((row) => row.length)]));
  if (!same("form", form)) grids.replaceChildren(...block.grids.map((grid) => drawGrid(grid, block, said)));
  block.grids.forEach((grid, at) => fillGrid(grids.children[at], grid, block));
}

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
function drawGrid(grid, block, said) {
  const columns = Math.max(...grid.heads.map((row) => row.length));
  const across = Array.from({ length: columns }, (_, head) => h("span", { class: "pg-model-number" }, String(head + 1)));
  const row = (heads, layer) => [
    h("span", { class: "pg-model-number" }, String(layer + 1)), ...heads.map((_, head) => oneHead(grid.part, layer, head, said)),
  ];
  const style = `--heads: ${columns}`;
  return h("div", { class: `pg-model-part hue-${grid.part}${grid.heads.length === 1 ? " single" : ""}`, role: "group", "aria-label": grid.label },
    h("h4", {}, grid.label),
    h("div", { class: "pg-model-grid", style },
      h("span", { class: "pg-model-corner" }, `${block.words.head} →`, h("br", {}), `${block.words.layer} ↓`), ...across, ...grid.heads.flatMap(row)));
}

function oneHead(part, layer, head, said) {
  const tell = ({ currentTarget }) => (said.textContent = `${currentTarget.getAttribute("aria-label")}. ${currentTarget.pgSaid}`);
  const open = () => move({ part, layer: layer + 1, head: head + 1, follow: "off", view: "matrix" });
  const hush = () => (said.textContent = said.parentElement.dataset.hint);
  return button({
    class: "pg-model-head", dataset: { head: `${part}.${layer + 1}.${head + 1}` }, onclick: open, onmouseenter: tell, onfocus: tell, onmouseleave: hush,
  }, h("canvas", {}));
}

function fillGrid(element, grid, block) {
  const buttons = element.querySelectorAll(".pg-model-head");
  grid.heads.flat().forEach((one, at) => {
    const head = buttons[at], columns = grid.heads[0].length;
    const chosen = grid.chosen !== null && at === grid.chosen[0] * columns + grid.chosen[1];
    head.setAttribute("aria-label", one.label);
    head.setAttribute("aria-pressed", String(chosen));
    head.title = one.label;
    head.pgSaid = one.said;
    miniature(head.firstChild, one.mini, block.colours);
  });
}

/** The one scale of all of them. */
function fillScale(scale, { colours, words }) {
  const ramp = h("i", { class: "pg-model-ramp", style: `background: linear-gradient(to right, ${colours.probability.join(", ")})` });
  const hatch = `repeating-linear-gradient(135deg, ${colours.masked} 0 3px, ${colours.hatch} 3px 4px)`;
  scale.replaceChildren(words.weight, h("span", {}, "0"), ramp, h("span", {}, "1"),
    h("i", { class: "pg-model-masked", style: `background: ${hatch}` }), words.masked);
}

register("modelview", drawModelView);
