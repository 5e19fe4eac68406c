// Small heads: what stands on their buttons, which one is pressed, and how one picture turns into the next.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?lang=en");
const { Crowd, around, mixBoxes } = await import("../../playground/features/attention/heads.js");
const { cursor, move } = await import("../../playground/ui/static/store.js");

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

test("a picture turns into the next one of its run, and never into one of another run", () => {
  const element = document.createElement("div"), crowd = new Crowd();
  crowd.take(element, heads(0), panel);
  crowd.take(element, heads(1), panel);
  const [[early], [late]] = [crowd.weightsAt(crowd.since + 45), crowd.weightsAt(crowd.since + 1000)].map(([first]) => first);
  assert.ok(early > 0 && early < 0.5, String(early));
  assert.equal(late, 1);
  move({ run: "another" });
  crowd.take(element, heads(0), panel);
  assert.deepEqual(crowd.weightsAt(crowd.since)[0], [0, 1]);
});

test("a head on its way is between its two places, on a canvas around all of them", () => {
  const [from, to] = [{ x: 0, y: 10, width: 20, height: 20 }, { x: 100, y: 50, width: 60, height: 40 }];
  assert.deepEqual(mixBoxes(from, to, 0.5), { x: 50, y: 30, width: 40, height: 30 });
  assert.deepEqual(around([from, to]), { x: 0, y: 10, width: 160, height: 80 });
});
