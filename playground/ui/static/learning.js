// What grows while a run learns, beside its curves: the newest numbers, and the completions of the probe sentences.
// @ts-check

import { cursor, page } from "./store.js";
import { count, duration, h, percent, say } from "./dom.js";
import { caption } from "./glossary.js";

/**
 * What the last validation up to a step found: a number as text, about so much where it is of a sample of the held-out sentences; and a
 * note of what it is of, where that is not all of them or not the step that was asked for.
 * @param {import("./page").Run} run
 * @param {string} column of the validations
 * @param {(value: number) => string} shape
 * @param {number} upTo
 */
export function measured(run, column, shape, upTo = Infinity) {
  const { step = [], pairs = [], all_pairs: all = [], [column]: values = [] } = run.validations;
  const at = step.findLastIndex((one) => one <= upTo), value = values[at];
  if (value === undefined || value === null) return { text: "–", note: "" };
  const sample = pairs[at] !== all[at] && say("sample_of", { pairs: count(pairs[at]), all: count(all[at]) });
  const other = upTo !== Infinity && step[at] !== upTo && say("measured_at", { step: count(step[at]) });
  return { text: sample ? `≈ ${shape(value)}` : shape(value), note: [sample, other].filter(Boolean).join(" · ") };
}

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
  const speed = run.rows.tokens_per_second?.[run.rows.step?.findLastIndex((step) => step <= upTo) ?? -1];
  const plain = (text) => ({ text, note: "" });
  const values = {
    exact: measured(run, "exact_match", percent, upTo), tokens: measured(run, "token_accuracy", percent, upTo),
    loss: measured(run, "loss", (value) => value.toFixed(3), upTo), seconds: plain(duration(run.seconds)),
    left: plain(run.status === "training" ? duration(run.eta) : "–"),
    speed: plain(speed === undefined || speed === null ? "–" : count(Math.round(speed))),
  };
  if (element.pgItems !== block.items) {
    element.pgItems = block.items;
    const parts = (item) => [h("b", {}), h("span", {}, item.label), h("small", {})];
    element.replaceChildren(...block.items.map((item) => h("div", { class: "pg-number", title: item.help, dataset: { number: item.id } }, parts(item))));
  }
  block.items.forEach((item, at) => {
    const [number, , note] = element.children[at].children, value = values[item.id];
    if (number.textContent !== value.text) number.textContent = value.text;
    if (note.textContent !== value.note) note.textContent = value.note;
  });
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
  element.replaceChildren(h("h3", {}, block.title), probes.length ? lines : h("p", { class: "pg-caption" }, say("probes_none")), caption(block.caption));
}
