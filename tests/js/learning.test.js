// The numbers of a run: of a sample of the held-out sentences they say so, and of another step than was asked for they say which.

import assert from "node:assert/strict";
import { test } from "node:test";

import { KNOWN, openPage } from "./page.js";

openPage("?lang=en", KNOWN);
const { change } = await import("../../playground/ui/static/store.js");
const { measured } = await import("../../playground/ui/static/learning.js");
change({ boot: { glossary: { terms: [], not: [] }, words: { sample_of: "{pairs} of {all}", measured_at: "step {step}" } } });

const percent = (value) => `${100 * value} %`;
const run = {
  validations: { step: [10, 20, 20], exact_match: [0.25, 0.5, 0.75], pairs: [100, 100, 1500], all_pairs: [1500, 1500, 1500] },
};
const told = (upTo) => Object.values(measured(run, "exact_match", percent, upTo));

test("the newest number of all held-out sentences stands alone", () => {
  assert.deepEqual(told(), ["75 %", ""]);
  assert.deepEqual(told(20), ["75 %", ""]);
});

test("a sample is marked", () => assert.deepEqual(told(10), ["≈ 25 %", "100 of 1,500"]));

test("the step is named where another was asked for", () => {
  assert.deepEqual(told(19), ["≈ 25 %", "100 of 1,500 · step 10"]);
  assert.deepEqual(told(33), ["75 %", "step 20"]);
});

test("where nothing was measured there is no number", () => {
  assert.deepEqual(told(9), ["–", ""]);
  assert.equal(measured({ validations: {} }, "exact_match", percent).text, "–");
});
