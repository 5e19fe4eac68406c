// Where a frozen page finds an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.js";

openPage();
const { nearest, place, whole } = await import("../../playground/ui/static/frozen_server.js");

const steps = { fields: ["step"], values: [[""], ["1"], ["10"], ["40"]] };
const heads = { fields: ["part", "layer", "head"], values: [["cross", "", ""], ["cross", "1", "1"], ["encoder", "", ""], ["encoder", "1", "1"]] };

const at = (axis, asked) => place(axis, asked).at, isExact = (axis, asked) => place(axis, asked).isExact;

test("the newest step, a frozen one, and the nearest to another, which is as good", () => {
  assert.deepEqual(["", "10", "22", "9999"].map((step) => at(steps, { step })), [0, 2, 2, 3]);
  assert.ok(isExact(steps, { step: "22" }));
});

test("the width that is nearest", () => {
  const widths = { fields: ["width", "height"], values: [["960", "900"], ["340", "840"]] };
  assert.deepEqual(["1180", "700", "360"].map((width) => at(widths, { width, height: "780" })), [0, 0, 1]);
});

test("a head that there is; of the same part where there is none, which is another; no other part", () => {
  assert.equal(at(heads, { part: "encoder", layer: "1", head: "1" }), 3);
  assert.equal(at(heads, { part: "encoder", layer: "9", head: "1" }), 2);
  assert.ok(!isExact(heads, { part: "encoder", layer: "9", head: "1" }));
  assert.equal(at(heads, { part: "rollout", layer: "", head: "" }), -1);
});

test("another sentence isn't there", () => assert.equal(at({ fields: ["text"], values: [["abc"]] }, { text: "abd" }), -1));

test("the grid that knows the pinned cell, else the one that knows all but it, else the general one", () => {
  const text = (...values) => ({ fields: ["text"], values: values.map((value) => [value]) });
  const cells = { axes: [text("abc"), { fields: ["q"], values: [["0"], ["1"]] }], refused: ["view", "step"], pins: [] };
  const grids = [{ axes: [text("abc", "def"), steps], refused: ["view"], pins: ["q"] }, cells];
  const asked = (fields) => nearest(grids, { text: "abc", step: "", view: "matrix", q: "", ...fields }, { step: "", view: "matrix", q: "" });
  assert.deepEqual(asked({ q: "1" }), { at: 1, found: [{ at: 0, isExact: true }, { at: 1, isExact: true }] });
  assert.equal(asked({ q: "1", text: "def" }).at, 0);
  assert.equal(asked({ q: "1", step: "10" }).at, 0);
  assert.equal(asked({ view: "lines", q: "1" }).at, 0);
});

test("a lab that was asked in another way than any that is there is still that lab, and not the list of all", () => {
  const lab = (...names) => ({ fields: ["lab"], values: names.map((name) => [name]) });
  const guesses = { fields: ["guess", "sure"], values: [["", ""], ["more", ""], ["more", "75"]] };
  const grids = [{ axes: [lab("", "order")], refused: [], pins: [] }, { axes: [lab("softmax"), guesses], refused: ["set"], pins: [] }];
  const usual = { lab: "", guess: "", sure: "", set: "" }, asked = (fields) => nearest(grids, { ...usual, ...fields }, usual).at;
  assert.equal(asked({ lab: "softmax", guess: "more" }), 1);
  assert.equal(asked({ lab: "softmax", set: "size=3" }), 1);
  assert.equal(asked({ lab: "softmax", guess: "never heard of" }), 1);
  assert.equal(asked({ lab: "order" }), 0);
});

test("an answer has what it shares put in, also within what is shared", () => {
  assert.deepEqual(whole({ a: [{ $: 1 }], b: null }, [[1, 2], { c: { $: 0 } }]), { a: [{ c: [1, 2] }], b: null });
});
