// The head view: which lines are drawn and how strong, what stands out under the pointer, and what a click pins.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?lang=en");
const { drawLines } = await import("../../playground/ui/static/lines.js");
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
  return element;
};
/** The lines of weights as [thickness, strength]; the legend's have no strength of their own. */
const strands = (element) => {
  const lines = element.querySelectorAll("line.strand").filter(({ style }) => style.opacity);
  return lines.map(({ attributes, style }) => [Number(attributes["stroke-width"]), Number(style.opacity)]);
};
const hits = (element, side) => element.querySelectorAll("rect.hit").filter((hit) => hit.dataset.side === side);
const numbers = (element) => element.querySelectorAll("text.number").map(({ textContent }) => textContent);
const happen = (element, type) => element.dispatchEvent(new Event(type, { bubbles: true }));

beforeEach(() => move({ q: "", k: "" }));

test("every weight that can be seen is a line, as thick and as strong as it is", () => {
  assert.deepEqual(strands(drawn()), [[5, 0.9], [0.98, 0.096], [1.75, 0.25], [4.25, 0.75]]); // 0.004 is too little, the last 0 is masked
});

test("a line ends where its query and its key stand", () => {
  const element = drawn(), [first] = element.querySelectorAll("line.strand");
  const label = (side, at) => element.querySelectorAll(`text.${side}`)[at].attributes;
  assert.equal(first.attributes.y1, label("query", 0).y);
  assert.equal(first.attributes.y2, label("key", 0).y);
  assert.ok(Number(first.attributes.x1) < Number(first.attributes.x2));
});

test("only a right place that there is has a guide", () => {
  assert.equal(drawn().querySelectorAll("line.guide").length, 2); // one, and one in the legend
  assert.equal(drawn({ alignment: null }).querySelectorAll("line.guide").length, 0);
  assert.equal(drawn({ alignment: [7, null] }).querySelectorAll("line.guide").length, 0);
});

test("the query under the pointer stands out with its weights, and lets go again", () => {
  const element = drawn();
  happen(hits(element, "query")[1], "pointerover");
  assert.deepEqual(strands(element).map(([, strength]) => strength), [0.03, 0.03, 0.3 + 0.7 * 0.25, 0.3 + 0.7 * 0.75]);
  assert.deepEqual(numbers(element), ["0.25", "0.75", "masked"]);
  const on = (side) => element.querySelectorAll(`text.${side}`).map((text) => text.classList.contains("on"));
  assert.deepEqual([on("query"), on("key")], [[false, true], [true, true, false]]);
  happen(element.querySelector("svg"), "pointerleave");
  assert.deepEqual(strands(element), strands(drawn()));
  assert.deepEqual(numbers(element), ["", "", ""]);
});

test("a key under the pointer lets its column stand out, unless a row is pinned", () => {
  const element = drawn(), pinned = drawn({ row: 0, column: 0 });
  happen(hits(element, "key")[1], "pointerover");
  assert.deepEqual(strands(element).map(([, strength]) => strength), [0.03, 0.3 + 0.7 * 0.096, 0.03, 0.3 + 0.7 * 0.75]);
  happen(hits(pinned, "key")[1], "pointerover");
  assert.deepEqual(strands(pinned).map(([, strength]) => strength), [0.3 + 0.7 * 0.9, 0.3 + 0.7 * 0.096, 0.03, 0.03]);
  assert.deepEqual(pinned.querySelectorAll("line.pinned").length, 1);
});

test("a click on a query pins its row, another lets go of it", () => {
  const element = drawn();
  happen(hits(element, "query")[1], "click");
  assert.deepEqual([cursor.q, cursor.k], ["1", ""]);
  happen(hits(element, "query")[1], "click");
  assert.deepEqual([cursor.q, cursor.k], ["", ""]);
});

test("a click on a key pins the cell of the pinned row, else of the row that attends to it most", () => {
  const element = drawn();
  happen(hits(element, "key")[1], "click");
  assert.deepEqual([cursor.q, cursor.k], ["1", "1"]);
  happen(hits(drawn({ row: 0 }), "key")[1], "click");
  assert.deepEqual([cursor.q, cursor.k], ["0", "1"]);
  happen(hits(drawn({ row: 0 }), "key")[1], "click");
  assert.deepEqual([cursor.q, cursor.k], ["0", ""]);
});

test("a click beside all tokens does nothing", () => {
  move({ q: "1", k: "0" });
  happen(drawn().querySelector("svg"), "click");
  assert.deepEqual([cursor.q, cursor.k], ["1", "0"]);
});

test("of many tokens only as many are named as have room", () => {
  const many = Array.from({ length: 90 }, (_, at) => `token ${at}`), weights = many.map(() => many.map(() => 0.01));
  const element = drawn({ rows: many, columns: many, weights, mask: weights.map((row) => row.map(() => 1)), alignment: null });
  const named = element.querySelectorAll("text.query").filter(({ textContent }) => textContent);
  assert.ok(named.length >= 30 && named.length <= 45, `${named.length} of 90`);
  assert.equal(element.querySelectorAll("rect.hit").length, 180); // pointing finds every one
});
