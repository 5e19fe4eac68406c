// The numbers of figures as tables for a spreadsheet.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.js";

openPage();
const { csvOf, tableOf } = await import("../../playground/ui/static/csv.js");

const lines = (text) => text.slice(1).split("\r\n");

test("what it is about comes first, then an empty line, then the table", () => {
  const text = csvOf([["run", "brisk-otter"], ["step", 90]], { head: ["", "a"], rows: [["b", 0.25]] });
  assert.equal(text[0], "\ufeff");
  assert.deepEqual(lines(text), ['"run","brisk-otter"', '"step",90', "", '"","a"', '"b",0.25', ""]);
});

test("text that a spreadsheet would compute is guarded, a negative number isn't", () => {
  const [head, row] = lines(csvOf([], { head: ["=1+1", "+a", "@b", "-c", "'=d", "\uff1de", "f"], rows: [["a=b", -0.5]] })).slice(1);
  assert.equal(head, `"'=1+1","'+a","'@b","'-c","''=d","'\uff1de","f"`);
  assert.equal(row, '"a=b",-0.5');
});

test("quotation marks are doubled, and a record is one line", () => {
  assert.equal(lines(csvOf([['a"b', "c\nd"]], { head: [], rows: [] }))[0], '"a""b","c d"');
});

test("a grid has the names of its rows and columns; what is not there is named too", () => {
  const layout = { meta: { rows: ["x", "y"], columns: ["a", "b"] } };
  const table = tableOf({ data: [{ type: "scatter", x: [1] }, { type: "heatmap", z: [[0.1234, null], [1, 0]] }], layout });
  assert.deepEqual(table.head, ["", "a", "b"]);
  assert.deepEqual(table.rows, [["x", 0.1234, "masked"], ["y", 1, 0]]);
});

test("curves have a row for each point of each line that is seen", () => {
  const data = [{ name: "loss", x: [1, 2], y: [3, null] }, { name: "other", x: [1], y: [5], visible: "legendonly" }];
  const table = tableOf({ data, layout: { xaxis: { title: { text: "step" } }, yaxis: {} } });
  assert.deepEqual(table.head, ["csv_line", "step", "y"]);
  assert.deepEqual(table.rows, [["loss", 1, 3], ["loss", 2, null]]);
});
