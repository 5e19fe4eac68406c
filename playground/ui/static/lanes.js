// The lives of a decoder under one another: a column for each step, in every lane what was fed and what was said.

import { h } from "./dom.js";
import { move } from "./state.js";
import { chips } from "./top.js";

export function drawLanes(element, block) {
  const steps = Array.from({ length: block.steps }, (_, step) => step);
  const classes = (step) => ({ class: `${step === block.at ? "at" : ""} ${step === block.parted ? "parted" : ""}` });
  const number = (step) => h("th", { scope: "col", ...classes(step) }, h("button", { type: "button", "aria-pressed": String(step === block.at), onclick: () => move({ q: step }) }, String(step + 1)));
  const note = (step) => (step === block.parted ? block.parts : "");
  const cell = (lane, row, step) => {
    const token = row.tokens[step];
    if (!token) return h("td", classes(step));
    const chip = chips([token], "")[0], fixed = row.name === "says" && step === lane.fixed;
    chip.classList.toggle("fixed", fixed);
    return h("td", { ...classes(step), onclick: () => move({ q: step }) }, chip, row.name === "says" ? h("small", {}, fixed ? block.fixes : token.p.toFixed(2)) : "");
  };
  const lane = (lane) => [
    h("tr", { class: "pg-lane" }, h("th", { scope: "rowgroup", colspan: String(block.steps + 1) }, lane.name, " ", h("span", { class: `pg-verdict ${lane.right === null ? "" : lane.right ? "right" : "wrong"}` }, lane.verdict))),
    ...lane.rows.map((row) => h("tr", { class: row.name }, h("th", { scope: "row" }, row.label), steps.map((step) => cell(lane, row, step)))),
  ];
  const scrolled = element.querySelector(".pg-scroll")?.scrollLeft ?? 0;
  element.replaceChildren(h("div", { class: "pg-scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, block.label), steps.map(number)),
      block.parted === null ? "" : h("tr", { class: "pg-parts", "aria-hidden": "true" }, h("td", {}), steps.map((step) => h("td", classes(step), note(step))))),
    block.lanes.map((one) => h("tbody", {}, lane(one))))));
  element.querySelector(".pg-scroll").scrollLeft = scrolled;
}
