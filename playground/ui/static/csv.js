// Numbers as a file for a spreadsheet: what a figure shows, with the names of its rows and columns. Only computes.
// @ts-check

import { say } from "./dom.js";
import { heatNames, tickName } from "./picture.js";

const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // as playground/reading/formats/guard.py has it; tests/js/test_scripts.py compares them

/** One cell. Text that a spreadsheet would compute has an apostrophe before it; numbers are numbers. */
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "").replace(/\s+/g, " ");
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/**
 * A table with what it is about before it, a line each, then an empty line: in pandas read_csv(file, skiprows=len(about) + 1). It begins
 * with a byte order mark, without which Excel guesses the encoding.
 * @param {[string, string | number][]} about
 * @param {{ head: (string | number)[], rows: (string | number | null)[][] }} table
 */
export function csvOf(about, { head, rows }) {
  const line = (values) => `${values.map(cell).join(",")}\r\n`;
  return `\ufeff${about.map(line).join("")}\r\n${line(head)}${rows.map(line).join("")}`;
}

/**
 * The numbers of a figure, as many digits as it was drawn from: the cells of a grid, else a row for every point.
 * @param {import("./blocks").Plotly} figure
 * @returns {{ head: (string | number)[], rows: (string | number | null)[][] }}
 */
export function tableOf({ data, layout }) {
  if (layout.meta?.table) return layout.meta.table;
  const heat = data.find((trace) => trace.type === "heatmap");
  if (heat) {
    const { row, column, hidden } = heatNames(heat.z, layout);
    const line = (values, at) => [row(at), ...values.map((value, k) => value ?? hidden(at, k))];
    return { head: ["", ...heat.z[0].map((_, at) => column(at))], rows: heat.z.map(line) };
  }
  const { columns } = layout.meta ?? {}, title = (axis, other) => layout[axis]?.title?.text || other;
  const across = (x) => columns?.[x] ?? tickName(layout.xaxis, x), up = (y) => tickName(layout.yaxis, y) ?? null;
  const points = (trace) => Array.from(trace.x ?? [], (x, at) => [trace.name ?? "", across(x), up(trace.y?.[at])]);
  return { head: [say("csv_line"), title("xaxis", "x"), title("yaxis", "y")], rows: data.filter(isShown).flatMap(points) };
}

const isShown = (trace) => trace.visible !== false && trace.visible !== "legendonly";
