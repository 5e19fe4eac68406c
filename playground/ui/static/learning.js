// What grows while a run learns: the curves, the numbers beside them and the completions of the probe sentences.

import { cursor } from "./state.js";
import { count, duration, h, percent, say } from "./dom.js";
import { run } from "./live.js";
import { caption } from "./glossary.js";

/** A curve with the history filled in: each trace says in its meta which columns it draws. The first shape marks the replay's step. */
export function fillCurve(skeleton) {
  const { step, loss, ...shares } = run.validations;
  const columns = { ...run.rows, validation_step: step, validation_loss: loss, ...shares };
  const data = skeleton.data.map((trace) => ({ ...trace, x: columns[trace.meta?.x] ?? [], y: columns[trace.meta?.y] ?? [] }));
  const shapes = (skeleton.layout.shapes ?? []).map((shape, at) => (at === 0 ? { ...shape, visible: cursor.step !== "", x0: Number(cursor.step), x1: Number(cursor.step) } : shape));
  return { data, layout: { ...skeleton.layout, shapes, datarevision: run.version, uirevision: run.id } }; // zoom stays as long as the run does
}

/** The newest numbers of the run, each with its name. */
export function fillNumbers(element, block = element.pgBlock) {
  if (!block) return;
  element.pgBlock = block;
  const upTo = cursor.step === "" ? Infinity : Number(cursor.step); // the replay's step, or now
  const last = (column, table = "rows") => run[table]?.[column]?.[(run[table].step?.findLastIndex((step) => step <= upTo) ?? -1)];
  const number = (value, shape) => (value === undefined || value === null ? "–" : shape(value));
  const values = {
    exact: number(last("exact_match", "validations"), percent), tokens: number(last("token_accuracy", "validations"), percent),
    loss: number(last("loss", "validations"), (value) => value.toFixed(3)), seconds: duration(run.seconds),
    left: run.status === "training" ? duration(run.eta) : "–", speed: number(last("tokens_per_second"), (value) => count(Math.round(value))),
  };
  if (element.pgItems !== block.items) {
    element.pgItems = block.items;
    element.replaceChildren(...block.items.map((item) => h("div", { class: "pg-number", title: item.help, dataset: { number: item.id } }, h("b", {}), h("span", {}, item.label))));
  }
  block.items.forEach((item, at) => {
    const place = element.children[at].firstChild;
    if (place.textContent !== values[item.id]) place.textContent = values[item.id];
  });
}

/** The fixed probe sentences and what the model makes of them now, token by token right or wrong. */
export function fillProbes(element, block = element.pgBlock) {
  if (!block) return;
  element.pgBlock = block;
  const probes = block.rows ?? run.probes;
  const text = JSON.stringify([probes, block.caption, block.joint, cursor.lang]);
  if (element.pgText === text) return;
  element.pgText = text;
  const line = (probe) => {
    const right = probe.finished && probe.right.every(Boolean);
    return h("tr", {}, h("td", { class: "pg-probe-source" }, probe.src.join(block.joint)), h("td", { class: "pg-probe-output" }, probe.output.map((token, at) => h("span", { class: `pg-chip ${probe.right[at] ? "right" : "wrong"}` }, token)), probe.output.length ? "" : "–"), h("td", { class: right ? "pg-right" : "pg-wrong" }, right ? `✓ ${say("right")}` : `✗ ${say("wrong")}`));
  };
  element.replaceChildren(h("h3", {}, block.title), probes.length ? h("div", { class: "pg-scroll" }, h("table", {}, probes.map(line))) : h("p", { class: "pg-caption" }, say("probes_none")), caption(block.caption));
}
