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
const done = (when, more, seen = new Set()) => holds(when, screen(more), seen);
const nobody = { rest: { card: null } }; // before the run on screen is known

test("at: a value, any value, any that ends so", () => {
  assert.ok(done({ at: { tab: "map" } }));
  assert.ok(!done({ at: { tab: "training" } }));
  assert.ok(!done({ at: { tab: "map", stage: "*" } }));
  assert.ok(done({ at: { stage: "*" } }, { cursor: { stage: "memory" } }));
  assert.ok(done({ at: { stage: "*.weights" } }, { cursor: { stage: "decoder.0.cross_attention.weights" } }));
  assert.ok(!done({ at: { stage: "*.weights" } }, { cursor: { stage: "decoder.0.cross_attention.scores" } }));
  assert.ok(done({ at: { q: "" } }));
});

test("ahead: the key comes after the query", () => {
  const at = (q, k) => done({ ahead: true }, { cursor: { q, k } });
  assert.deepEqual([at("1", "2"), at("2", "2"), at("2", "1"), at("", "2"), at("2", ""), at("9", "10")], [true, false, false, false, false, true]);
});

test("settings, mine, forked: of the run on screen, once it is known", () => {
  assert.ok(done({ settings: { positions: "none" } }));
  assert.ok(done({ settings: {} }));
  assert.ok(!done({ settings: { positions: "none", task: "sort" } }));
  assert.ok(done({ mine: true }, { card: { mine: true } }));
  assert.ok(!done({ mine: true }));
  assert.ok(done({ forked: true }, { card: { parent: { run: "sort", step: 3 } } }));
  assert.ok(!done({ forked: true }));
  for (const when of [{ settings: {} }, { mine: true }, { forked: true }]) assert.ok(!done(when, nobody));
});

test("steps, exact: how far it has come", () => {
  assert.deepEqual([59, 60, 61].map((step) => done({ steps: 60 }, { run: { step } })), [false, true, true]);
  const exact = (...shares) => done({ exact: 0.9 }, { run: { validations: { exact_match: shares } } });
  assert.deepEqual([exact(0.2, 0.9), exact(0.95, 0.89), exact()], [true, false, false]); // the newest counts
  assert.ok(!done({ exact: 0.9 }));
  assert.ok(!done({ steps: 0 }, nobody));
});

test("live: a knob that isn't as the run began", () => {
  const card = { settings: { learning_rate: 0.001 } };
  const live = (value) => done({ live: "learning_rate" }, { card, run: { live: { learning_rate: value } } });
  assert.deepEqual([live(0.002), live(0.001)], [true, false]);
  assert.ok(!done({ live: "learning_rate" }));
  assert.ok(!done({ live: "dropout" }, { run: { live: { learning_rate: 1 } } }));
});

test("sentence: one's own, with an unknown token, or wrong", () => {
  const sentence = { source: [{ known: true }], correct: true };
  const is = (kind, said, text = "ab") => done({ sentence: kind }, { cursor: { text }, rest: { sentence: said } });
  assert.deepEqual([is("own", sentence, "abc"), is("own", sentence, "ab"), is("own", sentence, "  ")], [true, false, false]);
  assert.deepEqual([is("unknown", { ...sentence, source: [{ known: true }, { known: false }] }), is("unknown", sentence)], [true, false]);
  assert.deepEqual([false, true, null].map((correct) => is("wrong", { ...sentence, correct })), [true, false, false]); // null: nobody knows
  for (const kind of ["own", "unknown", "wrong"]) assert.ok(!is(kind, null), kind);
  assert.ok(!done({ sentence: "wrong" }, { rest: { card: null, sentence: { ...sentence, correct: false } } }));
});

test("guess, read, sees: what other parts of the page know", () => {
  assert.ok(done({ guess: "softmax" }, { rest: { isAnswered: (name) => name === "softmax" } }));
  assert.ok(!done({ guess: "softmax" }, { rest: { isAnswered: (name) => name === "heads" } }));
  assert.ok(done({ read: true }, { rest: { hasRead: true } }));
  assert.ok(!done({ read: true }));
  assert.ok(done({ sees: ".fixed" }, { rest: { isInSight: (selector) => selector === ".fixed" } }));
  assert.ok(!done({ sees: ".fixed" }));
});

test("all of it has to hold at once", () => {
  const when = { at: { tab: "map" }, mine: true }, card = { mine: true };
  assert.deepEqual([done(when), done(when, { card }), done(when, { card, cursor: { tab: "training" } })], [false, true, false]);
});

test("different: so many values one after another, each while the rest held", () => {
  const seen = new Set(), when = { at: { tab: "map" }, different: [["shift"], 3] };
  const at = (shift, tab = "map") => done(when, { cursor: { shift, tab } }, seen);
  assert.deepEqual([at("3"), at("3"), at("4"), at("5", "training"), at("4"), at("6")], [false, false, false, false, false, true]);
  assert.ok(at("3")); // once done it stays done as long as the rest holds
});

test("different: of several fields together; nothing at all is no value", () => {
  const seen = new Set(), when = { different: [["layer", "head"], 3] };
  const at = (layer, head) => done(when, { cursor: { layer, head } }, seen);
  assert.deepEqual([at("", ""), at("1", ""), at("1", "2"), at("2", "1")], [false, false, false, true]);
});

test("a condition that nobody knows is no silence", () => {
  assert.throws(() => done({ dances: true }), TypeError);
});
