// What grows while a run learns, beside its curves: the newest numbers, and the completions of the probe sentences.
// @ts-check

import { cursor, page } from "./store.js";
import { count, duration, h, percent, say } from "./dom.js";
import { caption } from "./glossary.js";

/**
 * The newest numbers of the run, each with its name.
 * @param {HTMLElement} element
 * @param {import("./blocks").NumbersBlock} [block] what it showed last, where it isn't given
 */
export function fillNumbers(element, block = element.pgNumbers) {
  if (!block) return;
  element.pgNumbers = block;
  const upTo = cursor.step === "" ? Infinity : Number(cursor.step); // the replay's step, or now
  const run = page.live;
  const last = (column, table = "rows") => run[table]?.[column]?.[(run[table].step?.findLastIndex((step) => step <= upTo) ?? -1)];
  const shown = (value, shape) => (value === undefined || value === null ? "–" : shape(value));
  const values = {
    exact: shown(last("exact_match", "validations"), percent), tokens: shown(last("token_accuracy", "validations"), percent),
    loss: shown(last("loss", "validations"), (value) => value.toFixed(3)), seconds: duration(run.seconds),
    left: run.status === "training" ? duration(run.eta) : "–", speed: shown(last("tokens_per_second"), (value) => count(Math.round(value))),
  };
  if (element.pgItems !== block.items) {
    element.pgItems = block.items;
    const number = (item) => h("div", { class: "pg-number", title: item.help, dataset: { number: item.id } }, h("b", {}), h("span", {}, item.label));
    const row = (items) => h("div", { class: "pg-number-row" }, items.map(number));
    const folded = h("details", { class: "pg-table" }, h("summary", {}, block.more), row(block.folded));
    element.replaceChildren(row(block.items), block.folded.length ? folded : "");
  }
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll(".pg-number"))) {
    const value = values[place.dataset.number];
    if (place.firstChild.textContent !== value) place.firstChild.textContent = value;
  }
}

/**
 * The fixed probe sentences and what the model makes of them now, token by token right or wrong.
 * @param {HTMLElement} element
 * @param {import("./blocks").ProbesBlock} [block] what it showed last, where it isn't given
 */
export function fillProbes(element, block = element.pgProbes) {
  if (!block) return;
  element.pgProbes = block;
  const probes = block.rows ?? page.live.probes;
  const text = JSON.stringify([probes, block.caption, block.joint, cursor.lang]);
  if (element.pgText === text) return;
  element.pgText = text;
  const line = (probe) => {
    const right = probe.finished && probe.right.every(Boolean);
    const output = probe.output.map((token, at) => h("span", { class: `pg-chip ${probe.right[at] ? "right" : "wrong"}` }, token));
    return h("tr", {},
      h("td", { class: "pg-probe-source" }, probe.src.join(block.joint)),
      h("td", { class: "pg-probe-output" }, output, output.length ? "" : "–"),
      h("td", { class: right ? "pg-right" : "pg-wrong" }, right ? `✓ ${say("right")}` : `✗ ${say("wrong")}`));
  };
  const lines = h("div", { class: "pg-scroll" }, h("table", {}, probes.map(line)));
  element.replaceChildren(h("h3", {}, block.title), caption(block.caption), probes.length ? lines : h("p", { class: "pg-caption" }, say("probes_none")));
}
