// Decodings of one sentence under one another: a column for each step, in every lane what was fed and what came out.
// @ts-check

import { button, h } from "../../ui/static/dom.js";
import { move } from "../../ui/static/store.js";
import { chips, register } from "../../ui/static/render.js";

/** Decodings of one sentence under one another, a column for each step. */
register("lanes", (element, block) => {
  const steps = Array.from({ length: block.steps }, (_, step) => step);
  const classes = (step) => ({ class: `${step === block.at ? "at" : ""} ${step === block.parted ? "parted" : ""}` });
  const choose = (step) => button({ "aria-pressed": String(step === block.at), onclick: () => move({ q: step }) }, String(step + 1));
  const number = (step) => h("th", { scope: "col", ...classes(step) }, choose(step));
  const note = (step) => (step === block.parted ? block.parts : "");
  const cell = (lane, row, step) => {
    const token = row.tokens[step];
    if (!token) return h("td", classes(step));
    const chip = chips([token], "")[0], fixed = row.name === "says" && step === lane.fixed;
    chip.classList.toggle("fixed", fixed);
    const name = token.p?.toFixed(2) ?? "", bar = () => h("i", { role: "img", "aria-label": name, title: name, style: `--share: ${token.p}` });
    const beneath = row.name === "says" ? h("small", {}, fixed ? block.fixes : step === block.at || !name ? name : bar()) : "";
    return h("td", { ...classes(step), onclick: () => move({ q: step }) }, chip, beneath);
  };
  const verdict = (lane) => h("span", { class: `pg-verdict ${lane.right === null ? "" : lane.right ? "right" : "wrong"}` }, lane.verdict);
  const rows = (lane) => [
    h("tr", { class: "pg-lane" }, h("th", { scope: "rowgroup", colspan: String(block.steps + 1) }, lane.name, " ", verdict(lane))),
    ...lane.rows.map((row) => h("tr", { class: row.name }, h("th", { scope: "row" }, row.label), steps.map((step) => cell(lane, row, step)))),
  ];
  const scrolled = element.querySelector(".pg-scroll")?.scrollLeft ?? 0;
  element.replaceChildren(h("div", { class: "pg-scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, block.label), steps.map(number)),
      block.parted === null ? "" : h("tr", { class: "pg-parts", "aria-hidden": "true" }, h("td", {}), steps.map((step) => h("td", classes(step), note(step))))),
    block.lanes.map((lane) => h("tbody", {}, rows(lane))))));
  element.querySelector(".pg-scroll").scrollLeft = scrolled;
});
