// The rules by which the page ticks off a lesson's steps, one by one. That they fit every step there is, tests/lessons/test_course.py sees.

import assert from "node:assert/strict";
import { test } from "node:test";

import { holds } from "../../playground/ui/static/rules.js";

const screen = (more = {}) => ({
  cursor: { tab: "map", stage: "", q: "", k: "", text: "", shift: "3", ...more.cursor },
  card: { id: "abba", settings: { task: "reverse", positions: "none" }, mine: false, parent: null, examples: [["ab", "ba"]], ...more.card },
  run: { id: "abba", step: 0, validations: {}, ...more.run },
  sentence: null, hasRead: false, isAnswered: () => false, isInSight: () => false, ...more.rest,
});
const done = (when, more, values = new Set()) => holds(when, screen(more), values);
const unknown = { rest: { card: null } }; // before the run on screen is known
const exact = (...shares) => ({ run: { validations: { exact_match: shares } } });
const rate = { settings: { learning_rate: 0.001 } }, isRate = { live: "learning_rate" };
const live = (value) => ({ card: rate, run: { live: { learning_rate: value } } });
const sentence = { source: [{ known: true }], correct: true };
const reads = (text, more = {}) => ({ cursor: { text }, rest: { sentence: { ...sentence, ...more } } });

test("each condition, where it holds and where it does not", () => {
  const rows = [
    [true, { at: { tab: "map" } }], [false, { at: { tab: "training" } }], [false, { at: { tab: "map", stage: "*" } }],
    [true, { at: { stage: "*" } }, { cursor: { stage: "memory" } }], [true, { at: { q: "" } }],
    [true, { at: { stage: "*.weights" } }, { cursor: { stage: "decoder.0.cross_attention.weights" } }],
    [false, { at: { stage: "*.weights" } }, { cursor: { stage: "decoder.0.cross_attention.scores" } }],
    ...[["1", "2", true], ["2", "2", false], ["2", "1", false], ["", "2", false], ["2", "", false], ["9", "10", true]].map(
      ([q, k, wanted]) => [wanted, { ahead: true }, { cursor: { q, k } }]),
    [true, { settings: { positions: "none" } }], [true, { settings: {} }], [false, { settings: { positions: "none", task: "sort" } }],
    [true, { mine: true }, { card: { mine: true } }], [false, { mine: true }],
    [true, { forked: true }, { card: { parent: { run: "sort", step: 3 } } }], [false, { forked: true }],
    [false, { settings: {} }, unknown], [false, { mine: true }, unknown], [false, { forked: true }, unknown], [false, { steps: 0 }, unknown],
    ...[[59, false], [60, true], [61, true]].map(([step, wanted]) => [wanted, { steps: 60 }, { run: { step } }]),
    [true, { exact: 0.9 }, exact(0.2, 0.9)], [false, { exact: 0.9 }, exact(0.95, 0.89)], [false, { exact: 0.9 }, exact()], [false, { exact: 0.9 }],
    [true, isRate, live(0.002)], [false, isRate, live(0.001)], [false, isRate], [false, { live: "dropout" }, { run: { live: { learning_rate: 1 } } }],
    [true, { sentence: "own" }, reads("abc")], [false, { sentence: "own" }, reads("ab")], [false, { sentence: "own" }, reads("  ")],
    [true, { sentence: "unknown" }, reads("ab", { source: [{ known: true }, { known: false }] })], [false, { sentence: "unknown" }, reads("ab")],
    ...[[false, true], [true, false], [null, false]].map(([correct, wanted]) => [wanted, { sentence: "wrong" }, reads("ab", { correct })]),
    ...["own", "unknown", "wrong"].map((kind) => [false, { sentence: kind }, { cursor: { text: "ab" } }]),
    [false, { sentence: "wrong" }, { rest: { card: null, sentence: { ...sentence, correct: false } } }],
    ...["softmax", "heads"].map((guess) => [guess === "softmax", { guess }, { rest: { isAnswered: (name) => name === "softmax" } }]),
    [true, { read: true }, { rest: { hasRead: true } }], [false, { read: true }],
    [true, { sees: ".fixed" }, { rest: { isInSight: (selector) => selector === ".fixed" } }], [false, { sees: ".fixed" }],
    [false, { at: { tab: "map" }, mine: true }], [true, { at: { tab: "map" }, mine: true }, { card: { mine: true } }],
    [false, { at: { tab: "map" }, mine: true }, { card: { mine: true }, cursor: { tab: "training" } }],
  ];
  for (const [wanted, when, more] of rows) assert.equal(done(when, more), wanted, JSON.stringify([when, more]));
  assert.throws(() => done({ dances: true }), TypeError);
});

test("different: so many values one after another, each while the rest held, of one field or of several together", () => {
  const values = new Set(), when = { at: { tab: "map" }, different: [["shift"], 3] };
  const at = (shift, tab = "map") => done(when, { cursor: { shift, tab } }, values);
  assert.deepEqual([at("3"), at("3"), at("4"), at("5", "training"), at("4"), at("6")], [false, false, false, false, false, true]);
  assert.ok(at("3")); // once done it stays done as long as the rest holds
  const heads = new Set(), of = (layer, head) => done({ different: [["layer", "head"], 3] }, { cursor: { layer, head } }, heads);
  assert.deepEqual([of("", ""), of("1", ""), of("1", "2"), of("2", "1")], [false, false, false, true]); // nothing at all is no value
});
