// The head view: which threads are drawn and how strong, what stands out under the pointer, and what a click pins; and the small heads:
// what stands on their buttons, which one is pressed, and how one picture turns into the next.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?lang=en");
const { Crowd, around, mixBoxes } = await import("../../playground/features/attention/heads.js");
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

const colours = { scale: ["#ffffff", "#000000"], masked: "#888888", hatch: "#444444" }, panel = { query: {}, preview: () => {} };
const heads = (weight, more = {}) => ({
  kind: "heads", id: "heads", label: "2 heads", layer: null, head: null, tall: 300, mask: [[1, 1]], colours, names: [[["", ""], ["", ""]]],
  weights: [[[[weight, 1 - weight]], [[0.5, 0.5]]]], ...more,
});

test("no head is pressed until one is the large picture; then it is named, and the buttons stay", () => {
  const element = document.createElement("div"), crowd = new Crowd();
  const pressed = () => element.querySelectorAll("button").map(({ attributes }) => [attributes["aria-pressed"], attributes["data-named"]]);
  crowd.take(element, heads(0.5), panel);
  const [, second] = element.querySelectorAll("button");
  assert.deepEqual([element.dataset.mode, pressed()], ["all", [["false", "false"], ["false", "false"]]]);
  crowd.take(element, heads(0.9, { layer: 0, head: 1, tall: 0, names: [[["", ""], ["diagonal", "0.62"]]] }), panel);
  assert.deepEqual([element.dataset.mode, pressed()], ["small", [["false", "false"], ["true", "true"]]]);
  assert.equal(element.querySelectorAll("button")[1], second);
  assert.match(second.attributes["aria-label"], /^2 0.62 diagonal, /);
  second.dispatchEvent(new Event("click"));
  assert.deepEqual([cursor.layer, cursor.head], ["1", "2"]);
});

test("a picture turns into the next one of its run, never into one of another, and a head on its way is between its two places", () => {
  const element = document.createElement("div"), crowd = new Crowd();
  crowd.take(element, heads(0), panel);
  crowd.take(element, heads(1), panel);
  const [[early], [late]] = [crowd.weightsAt(crowd.since + 45), crowd.weightsAt(crowd.since + 1000)].map(([first]) => first);
  assert.ok(early > 0 && early < 0.5, String(early));
  assert.equal(late, 1);
  move({ run: "another" });
  crowd.take(element, heads(0), panel);
  assert.deepEqual(crowd.weightsAt(crowd.since)[0], [0, 1]);
  const [from, to] = [{ x: 0, y: 10, width: 20, height: 20 }, { x: 100, y: 50, width: 60, height: 40 }];
  assert.deepEqual(mixBoxes(from, to, 0.5), { x: 50, y: 30, width: 40, height: 30 });
  assert.deepEqual(around([from, to]), { x: 0, y: 10, width: 160, height: 80 });
});
