// What the page says of a training: to those who can't see it, and in its numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?lang=en");
const { change, move, nothing } = await import("../../playground/ui/static/store.js");
await import("../../playground/ui/static/announce.js");
const { measured } = await import("../../playground/ui/static/learning.js");
const words = {
  started: "{name} is training.", training_part: "{percent} %", training_over: "Over: {status}", status_training: "training", status_done: "done",
  sample_of: "{pairs} of {all}", measured_at: "step {step}",
};
const statuses = { working: ["queued", "training"], resumable: ["stopped"], over: ["done"] };
change({ boot: { words, statuses, glossary: { terms: [], not: [] }, knobs: [], labels: {}, live: [], choices: {} } });
const training = (step, more = {}) => ({ ...nothing("a"), status: "training", step, steps: 90, ...more });

test("a training of a hundred steps says five sentences, and a run that rests none", () => {
  const place = document.getElementById("pg-announced"), heard = [];
  const note = () => place.textContent !== (heard.at(-1) ?? "") && heard.push(place.textContent);
  move({ run: "a" });
  change({ card: { id: "a", title: "brisk-otter", examples: [], settings: {} } });
  for (let step = 0; step <= 100; step++) {
    change({ live: training(step, { steps: 100 }) });
    note();
    if (step % 9 === 2) change({ frame: { run: "a", step, isLast: false } });
    note();
  }
  change({ live: training(100, { status: "done", steps: 100 }) });
  note();
  assert.equal(heard.at(-1), "75 %"); // its last picture is on its way
  change({ frame: { run: "a", step: 100, isLast: true } });
  note();
  assert.deepEqual(heard, ["brisk-otter is training.", "25 %", "50 %", "75 %", "Over: done"]);
  place.textContent = "";
  move({ run: "b" });
  change({ card: { id: "b", title: "calm-fox", examples: [], settings: {} } });
  change({ live: { ...nothing("b"), status: "done", step: 100, steps: 100 } });
  assert.equal(place.textContent, "");
});

test("a number of a sample is marked, and one of another step than was asked for says which", () => {
  const run = { validations: { step: [10, 20, 20], exact_match: [0.25, 0.5, 0.75], pairs: [100, 100, 1500], all_pairs: [1500, 1500, 1500] } };
  for (const [upTo, ...wanted] of [
    [undefined, "75 %", ""], [20, "75 %", ""], [10, "≈ 25 %", "100 of 1,500"], [19, "≈ 25 %", "100 of 1,500 · step 10"], [33, "75 %", "step 20"], [9, "–", ""],
  ]) assert.deepEqual(Object.values(measured(run, "exact_match", (value) => `${100 * value} %`, upTo)), wanted, upTo);
  assert.equal(measured({ validations: {} }, "exact_match", String).text, "–");
});
