// The numbers of a run: of a sample of the held-out sentences they say so, and of another step than was asked for they say which.

import assert from "node:assert/strict";
import { test } from "node:test";

import { KNOWN, openPage } from "./page.js";

openPage("?lang=en", KNOWN);
const { change } = await import("../../playground/ui/static/store.js");
const { measured } = await import("../../playground/ui/static/learning.js");
change({ boot: { glossary: { terms: [], not: [] }, words: { sample: "≈ {value} ({pairs} of {all})", at_step: "{value} at step {step}" } } });

const percent = (value) => `${100 * value} %`;
const run = {
  validations: { step: [10, 20, 20], exact_match: [0.25, 0.5, 0.75], pairs: [100, 100, 1500], all_pairs: [1500, 1500, 1500] },
};

test("the newest number of all held-out sentences stands alone", () => {
  assert.equal(measured(run, "exact_match", percent), "75 %");
  assert.equal(measured(run, "exact_match", percent, 20), "75 %");
});

test("a sample is marked", () => assert.equal(measured(run, "exact_match", percent, 10), "≈ 25 % (100 of 1,500)"));

test("the step is named where another was asked for", () => {
  assert.equal(measured(run, "exact_match", percent, 19), "≈ 25 % (100 of 1,500) at step 10");
  assert.equal(measured(run, "exact_match", percent, 33), "75 % at step 20");
});

test("where nothing was measured there is no number", () => {
  assert.equal(measured(run, "exact_match", percent, 9), "–");
  assert.equal(measured({ validations: {} }, "exact_match", percent), "–");
});
