// The curves of a run, put together from what the server draws of them and from the run's history.
// @ts-check

import { svg } from "./dom.js";

/**
 * A curve with the history filled in: each trace says in its meta which columns it draws. The first shape marks the `step` of the replay,
 * which is "" while the page shows the newest. What a fork has from its `parent` is grey.
 * @param {import("./blocks").Plotly} skeleton
 * @param {import("./page").Run} run
 * @param {string} step
 * @param {import("./page").Parent | null} [parent]
 * @returns {import("./blocks").Plotly}
 */
export function fillCurve(skeleton, run, step, parent = null) {
  const { step: validated, loss, ...shares } = run.validations;
  const columns = { ...run.rows, validation_step: validated, validation_loss: loss, ...shares };
  const others = skeleton.data.filter((trace) => !trace.meta); // what names no columns is of the pinned run and has its numbers
  const lines = skeleton.data.filter((trace) => trace.meta);
  const filled = lines.map((trace) => ({ ...trace, x: columns[trace.meta.x] ?? [], y: columns[trace.meta.y] ?? [] }));
  const drawn = parent ? [...filled.map((trace) => past(trace, parent)), ...filled.map((trace) => own(trace, parent))] : filled;
  const data = [...drawn, ...others];
  const here = { visible: step !== "", x0: Number(step), x1: Number(step) };
  const shapes = (skeleton.layout.shapes ?? []).map((shape, at) => (at === 0 ? { ...shape, ...here } : shape));
  const { xaxis } = skeleton.layout, isFixed = xaxis?.autorange === false && run.steps; // to the steps of a run that may be another
  const layout = { ...skeleton.layout, ...(isFixed ? { xaxis: { ...xaxis, range: [0, run.steps] } } : {}) };
  return { data, layout: { ...layout, shapes, datarevision: run.version, uirevision: run.id } }; // zoom stays as long as the run does
}

/** How many rows of a trace are the parent's. */
const early = (trace, parent) => trace.x.filter((step) => step <= parent.until).length;

/** The parent's part of a curve, which stands behind. */
function past(trace, parent) {
  const color = trace.meta?.past_color, end = early(trace, parent), name = parent.name || trace.name;
  const grey = { line: { ...trace.line, color }, ...(trace.marker ? { marker: { ...trace.marker, color } } : {}) };
  return { ...trace, ...grey, x: trace.x.slice(0, end), y: trace.y.slice(0, end), name, showlegend: false };
}

/** The fork's own part. */
function own(trace, parent) {
  const first = early(trace, parent);
  return { ...trace, x: trace.x.slice(first), y: trace.y.slice(first) };
}

/** A piece of a run's line as the figures draw it. */
export const sample = ({ color, dash }) =>
  svg("svg", { width: "34", height: "10", "aria-hidden": "true" },
    svg("line", { x1: "1", x2: "33", y1: "5", y2: "5", stroke: color, "stroke-width": "2.5", "stroke-dasharray": dash || null }));
