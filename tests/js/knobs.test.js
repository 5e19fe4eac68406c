// A number out of range is brought into range.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage();
const { change } = await import("../../playground/ui/static/store.js");
const { nearest } = await import("../../playground/ui/static/knobs.js");
change({ boot: { knobs: [], defaults: {}, live: [], bounds: { d_model: { low: 8, high: 512, step: 8 }, learning_rate: { low: 1e-5, high: 1, step: 0 } } } });

test("beyond its bounds a number becomes the bound", () => {
  assert.deepEqual([-5, 9999].map((value) => nearest("d_model", value)), [8, 512]);
  assert.deepEqual([0, 7].map((value) => nearest("learning_rate", value)), [1e-5, 1]);
});

test("between two steps it becomes the nearer one; where all numbers are possible it stays", () => {
  assert.deepEqual([63, 59, 64].map((value) => nearest("d_model", value)), [64, 56, 64]);
  assert.equal(nearest("learning_rate", 0.0123), 0.0123);
});

test("what is no number is none", () => {
  assert.deepEqual([null, NaN].map((value) => nearest("d_model", value)), [null, null]);
});
