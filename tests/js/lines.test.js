// The head view: which threads are drawn and how strong, what stands out under the pointer, and what a click pins.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?lang=en");
const { drawLines } = await import("../../playground/features/attention/lines.js");
const { cursor, move } = await import("../../playground/ui/static/store.js");

const block = {
  kind: "lines", id: "lines", title: "Head 1", caption: "It attends.", part: "cross", rows: ["<bos>→a", "a→b"], columns: ["b", "a", "<eos>"],
  weights: [[0.9, 0.096, 0.004], [0.25, 0.75, 0]], mask: [[1, 1, 1], [1, 1, 0]], alignment: [0, null], row: null, column: null, width: 600,
  colours: { hue: "#123456", guide: "#654321" }, words: { query: "query", key: "key", weight: "weight", right_place: "right" },
  saved: { file: "attention", run: "reverse", step: 90, arrays: null },
};
const drawn = (more = {}) => {
  const element = document.createElement("div"), { rows, columns } = { ...block, ...more };
  drawLines(element, { short: { rows, columns }, ...block, ...more });
  document.body.append(element);
  return element;
};
/** The lines of weights as [thickness, strength]; the legend's have no strength of their own. */
const strands = (element) => {
  const lines = element.querySelectorAll("path.strand").filter(({ style }) => style.opacity);
  return lines.map(({ attributes, style }) => [Number(attributes["stroke-width"]), Number(style.opacity)]);
};
const strengths = (element) => strands(element).map(([, strength]) => strength);
const numbers = (element) => element.querySelectorAll("text.number").map(({ textContent }) => textContent);
const hits = (element, side) => element.querySelectorAll("rect.hit").filter((hit) => hit.dataset.side === side);
const happen = (element, type) => element.dispatchEvent(new Event(type, { bubbles: true }));

beforeEach(() => move({ q: "", k: "" }));

test("every weight that can be seen is a line from its query to its key, as thick and as strong as it is", () => {
  const element = drawn(), second = element.querySelectorAll("path.strand")[1].attributes.d.match(/[\d.]+/g).map(Number);
  assert.deepEqual(strands(element), [[6.8, 0.9], [1.17, 0.096], [2.25, 0.25], [5.75, 0.75]]); // 0.004 is too little, the last 0 is masked
  const label = (side, at) => element.querySelectorAll(`text.${side}`)[at].attributes;
  assert.deepEqual([second[0], second.at(-2)], [Number(label("query", 0).x), Number(label("key", 1).x)]);
  assert.ok(second[1] > second.at(-1)); // the source stands above
});

test("the query under the pointer stands out with its weights, and lets go again; a key with its column, unless a row is pinned", () => {
  const element = drawn(), pinned = drawn({ row: 0, column: 0 });
  const on = (side) => element.querySelectorAll(`text.${side}`).map((text) => text.classList.contains("on"));
  happen(hits(element, "query")[1], "pointerover");
  assert.deepEqual(strengths(element), [0.03, 0.03, 0.3 + 0.7 * 0.25, 0.3 + 0.7 * 0.75]);
  assert.deepEqual([numbers(element), on("query"), on("key")], [["0.25", "0.75", "masked"], [false, true], [true, true, false]]);
  happen(element.querySelector("svg"), "pointerleave");
  assert.deepEqual([strands(element), numbers(element)], [strands(drawn()), ["", "", ""]]);
  happen(hits(element, "key")[1], "pointerover");
  assert.deepEqual(strengths(element), [0.03, 0.3 + 0.7 * 0.096, 0.03, 0.3 + 0.7 * 0.75]);
  assert.deepEqual(strengths(pinned), [0.3 + 0.7 * 0.9, 0.3 + 0.7 * 0.096, 0.03, 0.03]);
  assert.equal(pinned.querySelectorAll("path.pinned").length, 1);
  happen(hits(pinned, "key")[1], "pointerover"); // one cursor: the cell is lit in both
  assert.deepEqual(strengths(element), strengths(pinned));
});

test("a click pins a query's row, or a key's cell in the pinned row, else in the row that attends to it most; another lets go", () => {
  const element = drawn(), pinned = () => drawn({ row: 0 });
  for (const [place, side, wanted] of [
    [element, "query", ["1", ""]], [element, "query", ["", ""]], [element, "key", ["1", "1"]], [pinned(), "key", ["0", "1"]], [pinned(), "key", ["0", ""]],
  ]) {
    happen(hits(place, side)[1], "click");
    assert.deepEqual([cursor.q, cursor.k], wanted);
  }
  happen(drawn().querySelector("svg"), "click"); // beside all tokens
  assert.deepEqual([cursor.q, cursor.k], ["0", ""]);
});
