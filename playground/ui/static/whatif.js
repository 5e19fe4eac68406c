// What if: every head as a switch, two sentences with their differences, and one look of cross-attention to be changed by hand.

import { debounce, h } from "./dom.js";
import { cursor, move } from "./state.js";
import { thumbnail } from "./picture.js";
import { chips } from "./top.js";

/** Heads by part and layer. A switch that is pressed is off. The buttons stay while only what is off changes, and so does the focus. */
export function drawSwitches(element, block) {
  const { off, ...fixed } = block, text = JSON.stringify(fixed);
  if (element.pgFixed !== text) {
    element.pgFixed = text;
    buildSwitches(element, block);
  }
  paintSwitches(element, block, new Set(off));
}

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
  const group = (label, title, chosen) => h("button", { type: "button", class: "pg-switch-all", title, "aria-label": title, dataset: { ids: chosen.join(" ") }, onclick: () => toggle(chosen) }, label);
  const one = (part, head, at) => {
    const canvas = h("canvas", { "aria-hidden": "true" });
    if (head.weights) thumbnail(canvas, head.weights, part.mask, block.colours);
    return h("button", { type: "button", class: "pg-switch", title: head.name, "aria-label": head.name, dataset: { ids: head.id }, onclick: () => toggle([head.id]) }, canvas, h("span", {}, String(at + 1)), h("b", { class: "pg-switch-state" }));
  };
  element.replaceChildren(
    h("p", { class: "pg-label" }, block.label),
    ...block.parts.map((part) => h("div", { class: `pg-switch-part hue-${part.part}` }, group(part.label, part.all, ids(part)),
      part.layers.map((layer) => h("div", { class: "pg-switch-layer" }, group(layer.label, layer.all, layer.heads.map((head) => head.id)), h("div", { class: "pg-switch-heads" }, layer.heads.map((head, at) => one(part, head, at))))))),
    h("button", { type: "button", class: "pg-switch-none", onclick: () => { paintSwitches(element, block, new Set()); move({ off: "" }); } }, block.none),
  );
}

function paintSwitches(element, block, off) {
  for (const button of element.querySelectorAll("[data-ids]")) {
    const ids = button.dataset.ids.split(" "), silent = ids.filter((id) => off.has(id)).length;
    button.setAttribute("aria-pressed", silent === ids.length ? "true" : silent ? "mixed" : "false");
    const state = button.querySelector(".pg-switch-state");
    if (state) state.textContent = silent ? block.states[1] : "";
  }
  element.querySelector(".pg-switch-none").disabled = !off.size;
}

/** Sentences under one another, each with the name of the model that wrote it. A click on a token chooses its step. */
export function drawCompare(element, block) {
  element.replaceChildren(...block.lines.map((line) => {
    const shown = chips(line.tokens, line.name === "reference" ? "" : "tgt");
    shown.forEach((chip, at) => {
      if (line.tokens[at].mark) chip.classList.add(line.tokens[at].mark);
      if (line.name === "reference") return;
      chip.classList.add("pick");
      chip.addEventListener("click", () => move({ q: at }));
    });
    const verdict = line.verdict ? h("span", { class: `pg-verdict ${line.right === null ? "" : line.right ? "right" : "wrong"}` }, line.verdict) : "";
    return h("div", { class: `pg-compare-line ${line.name}` }, h("span", { class: "pg-compare-name", title: line.long }, line.label), h("span", { class: "pg-tokens" }, shown), verdict);
  }));
}

/** One row of attention as bars that can be pressed: without the change an outline, with it filled. Below, what can be done to the chosen. */
export function drawCells(element, block) {
  const before = element.querySelector(".pg-cell-row")?.scrollLeft ?? 0, focus = document.activeElement, had = element.contains(focus);
  const slides = had && focus.matches("input"), held = had && focus.dataset.column;
  const mark = { given: "◆", masked: "✕" };
  const bar = (cell, column) => h("button", { type: "button", class: `pg-cell-bar ${cell.state}`, "aria-pressed": String(column === block.chosen), "aria-label": `${cell.name} ${cell.said}`.trim(), title: `${cell.name} ${cell.said}`, dataset: { column, weight: cell.after.toFixed(4) }, onclick: () => move({ ...block.place, k: column }) },
    h("span", { class: "pg-cell-number" }, cell.after === 0 ? "0" : cell.after < 0.005 ? "<.01" : cell.after.toFixed(2)),
    h("span", { class: "pg-cell-room" }, h("i", { class: "without", style: `height: ${100 * cell.before}%` }), h("i", { class: "with", style: `height: ${100 * cell.after}%` })),
    h("span", { class: "pg-cell-token" }, cell.token), h("span", { class: "pg-cell-state" }, mark[cell.state] ?? ""));
  const bars = h("div", { class: "pg-cell-row" }, block.cells.map(bar));
  const legend = h("p", { class: "pg-cells-legend" }, h("i", { class: "without" }), block.label[0], h("i", { class: "with" }), block.label[1], h("span", {}, block.sum));
  const [title, , , acts] = element.children;
  if (slides && acts) { // the slider stays under the finger
    element.replaceChildren(title, legend, bars, acts);
  } else {
    element.replaceChildren(h("h3", {}, block.title), legend, bars, block.slider ? actsOf(block) : h("p", { class: "pg-caption" }, block.hint));
  }
  bars.scrollLeft = before;
  if (held) bars.querySelector(`[data-column="${held}"]`)?.focus();
}

function actsOf(block) {
  const { slider, place } = block, chosen = block.cells[block.chosen];
  const told = h("output", {}, slider.value.toFixed(2));
  const settle = debounce((value) => move({ ...place, cells: `${slider.first}${value}${slider.rest}` }), 120);
  return h("div", { class: "pg-cell-acts" },
    h("b", {}, chosen.token),
    h("div", { class: "pg-segments", role: "group", "aria-label": chosen.token }, block.acts.map((act) => h("button", { type: "button", "aria-pressed": String(act.on), onclick: () => move({ ...place, cells: act.cells }) }, act.label))),
    h("label", {}, h("span", { class: "pg-label" }, slider.label), h("input", { type: "range", min: "0", max: "1", step: "0.01", value: String(slider.value), oninput: (event) => { told.textContent = Number(event.target.value).toFixed(2); settle(event.target.value); } }), told));
}
