// The numbers of a run: of a sample of the held-out sentences they say so, and of another step than was asked for they say which. What
// stands there already is not written again.

import assert from "node:assert/strict";
import { test } from "node:test";

import { KNOWN, openPage, writes } from "./page.js";

const document = openPage("?lang=en", KNOWN);
const { change, nothing } = await import("../../playground/ui/static/store.js");
const { fillOutcome, measured } = await import("../../playground/ui/static/learning.js");
const words = { sample_of: "{pairs} of {all}", measured_at: "step {step}" };
change({ boot: { glossary: { terms: [], not: [] }, words, statuses: { working: ["training"] } } });

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

test("the bar of a training changes with its step, and by nothing else", () => {
  const element = document.createElement("div"), training = (step) => ({ ...nothing("a"), status: "training", step, steps: 90 });
  change({ live: training(3) });
  fillOutcome(element, { text: "" });
  assert.equal(writes(() => fillOutcome(element)), 0);
  change({ live: training(4) });
  assert.equal(writes(() => fillOutcome(element)), 1); // what is said of the step has no number here
  assert.equal(element.querySelector("progress").getAttribute("value"), "4");
});

test("a bar whose training has not begun shows no step; at step 0 of a training it does", () => {
  const element = document.createElement("div"), shown = () => element.querySelector("progress").getAttribute("value");
  change({ live: { ...nothing("a"), status: "paused", steps: 90 } });
  fillOutcome(element, { text: "" });
  assert.equal(shown(), null);
  change({ live: { ...nothing("a"), status: "training", steps: 90 } });
  fillOutcome(element);
  assert.equal(shown(), "0");
});
