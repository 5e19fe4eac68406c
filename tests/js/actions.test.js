// What a new run is shown with, and what is let go of.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage();
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { chooseRun, reply, train } = await import("../../playground/ui/static/actions.js");
const { meet, settings } = await import("../../playground/ui/static/knobs.js");
const FIRST_TAB = "training";

const CARRY = ["text", "layer", "head", "q", "k"];
const at = (fields) => move({ run: "", tab: "map", ...fields });

test("a new run is shown where one is: with the sentence, the head and the pinned cell", () => {
  at({ run: "old", text: "playground", step: 4, layer: 1, head: 2, q: 3, k: 4 });
  reply({ run: "new", carry: CARRY, tab: FIRST_TAB, other: true });
  const { run, tab, text, layer, head, q, k, step } = cursor;
  assert.deepEqual({ run, tab, text, layer, head, q, k, step }, {
    run: "new", tab: "map", text: "playground", layer: "1", head: "2", q: "3", k: "4", step: "",
  });
  assert.equal(page.following, "new");
});

test("also with a sentence that nobody typed", () => {
  at({ run: "old" });
  change({ card: { id: "old", settings: {}, examples: [["vcuz", "zucv"]] } });
  reply({ run: "new", carry: CARRY });
  assert.equal(cursor.text, "vcuz");
});

test("a copy takes the step with it, and whoever is where no run is shown sees a new one in the first tab", () => {
  at({ run: "old", text: "abc", step: 4 });
  reply({ run: "copy", carry: [...CARRY, "step"] });
  assert.deepEqual([cursor.step, cursor.text, cursor.tab], ["4", "abc", "map"]);
  assert.equal(page.following, ""); // it reads what the other did: nothing is to be let go of
  at({ tab: "data" });
  reply({ run: "copy of it", carry: [...CARRY, "step"] });
  assert.equal(cursor.tab, "data");
  reply({ run: "new", carry: CARRY, tab: FIRST_TAB });
  assert.equal(cursor.tab, FIRST_TAB);
});

test("a deleted run leaves no place to go back to", () => {
  at({ run: "old", text: "abc" });
  const entries = globalThis.history.entries.length;
  reply({ run: "reverse", gone: true });
  assert.equal(globalThis.history.entries.length, entries);
  assert.deepEqual([cursor.run, cursor.text], ["reverse", ""]);
});

test("a new model is not shown for ever with the head that was the best of another one", () => {
  at({ run: "old" });
  change({ held: { run: "old", head: "cross.2.4", early: false } });
  reply({ run: "copy", carry: CARRY });
  assert.deepEqual(page.held, { run: "copy", head: "cross.2.4", early: false });
  reply({ run: "new", carry: CARRY, other: true });
  assert.deepEqual(page.held, { run: "new", head: "cross.2.4", early: true });
});

test("another run is shown with the sentence that somebody typed, for it to say whether it can read it", () => {
  at({ run: "old", text: "abc", step: 4, layer: 1, head: 2 });
  chooseRun("other");
  assert.deepEqual([cursor.run, cursor.text, cursor.step, cursor.head, page.following], ["other", "abc", "", "", "other"]);
});

test("who chooses a run gets its settings, once both are known; the link with which somebody came keeps its own", () => {
  const asked = [];
  meet({ settings: () => asked.push(settings()) });
  change({ boot: { knobs: ["d_model", "task"], defaults: { d_model: 64, task: "reverse" }, live: [], labels: {}, statuses: { working: [] } }, knobs: null });
  at({ run: "old" });
  chooseRun("other");
  change({ card: { id: "other", examples: [], settings: { d_model: 32, task: "own", own: "abc", precision: "x" } } });
  assert.deepEqual(asked, []);
  change({ knobs: { d_model: 64, task: "reverse" } });
  assert.deepEqual(asked, [{ d_model: 32, task: "own" }]);
  assert.equal(page.own, "abc");
  change({ knobs: { d_model: 128, task: "own" } }); // from then on they are moved by hand
  move({ run: "third" }); // nobody chose it: Back, or a link within the page
  change({ card: { id: "third", examples: [], settings: { d_model: 8, task: "sort" } } });
  assert.equal(asked.length, 1);
  change({ boot: null, knobs: null, card: null });
});

test("what a panel proposed, and an example that nobody chose, is not taken along", () => {
  at({ run: "old", text: "abc" });
  change({ proposed: { tab: "teacher_forcing", text: "abc" } });
  chooseRun("other");
  assert.deepEqual([cursor.text, page.following], ["", ""]);
  change({ proposed: null });
});

test("a sentence that a run could not read comes back with one that can", () => {
  at({ run: "other" });
  change({ unread: "abc" });
  chooseRun("old");
  assert.deepEqual([cursor.text, page.following], ["abc", "old"]);
});

// fault: Train pressed twice | one run
test("a second press of Train while the first is on its way makes no second run", async () => {
  const sent = [];
  let answer = null;
  globalThis.fetch = (_, { body }) => {
    sent.push(JSON.parse(body).action);
    return new Promise((resolve) => (answer = resolve));
  };
  train({ task: "reverse" });
  train({ task: "reverse" });
  await new Promise(setImmediate);
  assert.deepEqual(sent, ["train"]);
  answer({ ok: true, json: async () => ({ run: "first", carry: [] }) });
  await new Promise(setImmediate);
  train({ task: "reverse" }); // a third, once it is there, is meant
  await new Promise(setImmediate);
  assert.deepEqual(sent, ["train", "train"]);
});
