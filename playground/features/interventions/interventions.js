// Interventions: every head as a switch, two sentences with their differences, and one look of cross-attention to be changed by hand.
// @ts-check

import { button, childrenOf, h, modelText, replaceChildren, same } from "../../ui/static/dom.js";
import { cursor, move } from "../../ui/static/store.js";
import { thumbnail } from "../../ui/static/thumbnails.js";
import { chips, register } from "../../ui/static/render.js";

/** Heads by part and layer. A switch that is pressed is off. The buttons stay while only what is off changes, and so does the focus. */
register("switches", (element, block) => {
  const { off, ...fixed } = block;
  if (!same(element, fixed)) buildSwitches(element, block);
  paintSwitches(element, block, new Set(off));
}, { always: true });

function buildSwitches(element, block) {
  const ids = (part) => part.layers.flatMap((layer) => layer.heads.map((head) => head.id));
  const known = block.parts.flatMap(ids);
  const now = () => new Set(cursor.off.split("_").filter((id) => known.includes(id)));
  const toggle = (chosen) => {
    const off = now(), all = chosen.every((id) => off.has(id));
    for (const id of chosen) all ? off.delete(id) : off.add(id);
    paintSwitches(element, block, off); // at once; the server's answer follows
    move({ off: known.filter((id) => off.has(id)).join("_") });
  };
  const group = (label, title, chosen) =>
    button({ class: "pg-switch-all", title, "aria-label": title, dataset: { ids: chosen.join(" ") }, onclick: () => toggle(chosen) }, label);
  const switchOf = (part, head, at) => {
    const canvas = h("canvas", { "aria-hidden": "true" });
    if (head.weights) thumbnail(canvas, head.weights, part.mask, block.colours);
    const about = { class: "pg-switch", title: head.name, "aria-label": head.name, dataset: { ids: head.id } };
    return button({ ...about, onclick: () => toggle([head.id]) }, canvas, h("span", {}, String(at + 1)));
  };
  const row = (part) => (layer) => h("div", { class: "pg-switch-layer" },
    group(layer.label, layer.all, layer.heads.map((head) => head.id)),
    h("div", { class: "pg-switch-heads" }, layer.heads.map((head, at) => switchOf(part, head, at))));
  const clear = () => {
    paintSwitches(element, block, new Set());
    move({ off: "" });
  };
  element.setAttribute("role", "group");
  element.setAttribute("aria-labelledby", "pg-switches-label");
  replaceChildren(element,
    h("p", { class: "pg-label", id: "pg-switches-label" }, block.label),
    ...block.parts.map((part) => h("div", { class: `pg-switch-part hue-${part.part}` }, group(part.label, part.all, ids(part)), part.layers.map(row(part)))),
    button({ class: "pg-switch-none", onclick: clear }, block.none),
  );
}

function paintSwitches(element, block, off) {
  for (const pressed of element.querySelectorAll("[data-ids]")) {
    const ids = pressed.dataset.ids.split(" "), silent = ids.filter((id) => off.has(id)).length;
    pressed.setAttribute("aria-pressed", silent === ids.length ? "true" : silent ? "mixed" : "false");
  }
  element.querySelector(".pg-switch-none").setAttribute("aria-disabled", String(!off.size)); // not disabled: that would take the focus away
}

/** Sentences under one another, each with the name of the model that wrote it. A click on a token chooses its step. */
register("compare", (element, block) => {
  element.replaceChildren(...block.lines.map((line) => {
    const tokens = chips(line.tokens, line.name === "reference" ? "" : "tgt");
    tokens.forEach((chip, at) => {
      if (line.tokens[at].mark) chip.classList.add(line.tokens[at].mark);
      if (line.name === "reference") return;
      chip.classList.add("pick");
      chip.addEventListener("click", () => move({ q: at }));
    });
    const verdict = line.verdict ? h("span", { class: `pg-verdict ${line.right === null ? "" : line.right ? "right" : "wrong"}` }, line.verdict) : "";
    const name = h("span", { class: "pg-compare-name", title: line.long }, line.label);
    return h("div", { class: `pg-compare-line ${line.name}` }, name, h("span", { class: "pg-tokens" }, tokens), verdict);
  }));
});

/**
 * One row of attention as bars that can be pressed: without the change an outline, with it filled. Below, what can be done to the chosen.
 */
register("cells", (element, block) => {
  if (!element.firstChild) element.append(h("h3", {}), h("p", { class: "pg-cells-legend" }), h("div", { class: "pg-cell-row", role: "group" }), h("div", {}));
  const [title, legend, bars, below] = childrenOf(element), { scrollLeft } = bars;
  element.pgCells = block; // what a button does when it is pressed, whenever it was made
  title.textContent = block.title;
  bars.setAttribute("aria-label", block.title);
  legend.replaceChildren(h("i", { class: "without" }), block.label[0], h("i", { class: "with" }), block.label[1], h("span", {}, block.sum));
  const press = (column) => () => {
    move({ ...block.place, k: column });
    wait();
  };
  const wait = () => below.inert = cursor.k in block.cells && Number(cursor.k) !== block.chosen; // they are still of the cell chosen before
  replaceChildren(bars, ...block.cells.map((cell, column) => barOf(block, cell, column, press(column))));
  bars.scrollLeft = scrollLeft;
  const about = JSON.stringify([block.hint, block.chosen, block.cells[block.chosen]?.token]);
  if (below.dataset.about !== about) { // else they stay under the finger, and under the focus
    below.dataset.about = about;
    below.replaceChildren(block.slider ? actsOf(element) : h("p", { class: "pg-caption" }, block.hint));
  }
  if (block.slider) paintActs(below, block);
  wait();
});

function barOf(block, cell, column, onclick) {
  const mark = { given: "◆", masked: "✕" }, name = `${cell.name} ${cell.state_label}`.trim();
  const bar = (side, share) => h("i", { class: side, style: `height: ${100 * share}%` });
  const about = { class: `pg-cell-bar ${cell.state}`, "aria-pressed": String(column === block.chosen), "aria-label": name, title: name };
  return button({ ...about, dataset: { column, weight: cell.after.toFixed(4) }, onclick },
    h("span", { class: "pg-cell-number" }, short(cell.after)),
    h("span", { class: "pg-cell-room" }, bar("without", cell.before), bar("with", cell.after)),
    h("span", { class: "pg-cell-token", ...modelText() }, cell.token), h("span", { class: "pg-cell-state" }, mark[cell.state] ?? ""));
}

/** A weight in two digits, which says 0 or 1 only of what is. */
function short(weight) {
  if (weight === 0) return "0";
  return weight < 0.005 ? "<.01" : weight >= 0.995 && weight < 1 ? ">.99" : weight.toFixed(2);
}

function actsOf(element) {
  const { acts, cells, chosen, slider } = element.pgCells, { token } = cells[chosen];
  let waiting = 0; // to move the slider once it rests, unless a button comes first
  const change = (edit) => {
    clearTimeout(waiting);
    move({ ...element.pgCells.place, cells: edit });
  };
  const slide = ({ target }) => {
    target.nextElementSibling.textContent = Number(target.value).toFixed(2);
    clearTimeout(waiting);
    waiting = setTimeout(() => change(`${element.pgCells.slider.first}${target.value}${element.pgCells.slider.rest}`), 120);
  };
  const act = ({ label }, at) => button({ onclick: () => change(element.pgCells.acts[at].cells) }, label);
  return h("div", { class: "pg-cell-acts" },
    h("b", modelText(), token),
    h("div", { class: "pg-segments", role: "group", "aria-label": token }, acts.map(act)),
    h("label", {}, h("span", { class: "pg-label" }, slider.label),
      h("input", { type: "range", min: "0", max: "1", step: "0.01", oninput: slide }), h("output", {})));
}

function paintActs(below, block) {
  below.querySelectorAll("button").forEach((act, at) => act.setAttribute("aria-pressed", String(block.acts[at].on)));
  const input = below.querySelector("input");
  if (document.activeElement === input) return; // it is being moved, and says where it is
  input.value = String(block.slider.value);
  input.nextElementSibling.textContent = block.slider.value.toFixed(2);
}
