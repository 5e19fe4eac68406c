// What a new run is shown with, and what is let go of.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openPage } from "./page.js";

openPage();
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { chooseRun, reply, train } = await import("../../playground/ui/static/actions.js");
const { meet, settings } = await import("../../playground/ui/static/knobs.js");

const CARRY = ["text", "layer", "head", "q", "k"], COPY = [...CARRY, "step"], tab = "training";
const at = (fields) => move({ run: "", tab: "map", ...fields });
const is = (wanted, message) => assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name) => [name, cursor[name]])), wanted, message);

beforeEach(() => {
  at({ text: "", step: "" });
  change({ card: null, held: { run: "", head: "", early: false } });
});

test("a new run is shown where one is, with the sentence, the head and the pinned cell; a copy takes the step, too", () => {
  const place = { text: "abc", step: "4", layer: "1", head: "2", q: "3", k: "4" };
  for (const [from, answer, wanted, following] of [
    [{ run: "old", ...place }, { run: "new", carry: CARRY, tab, other: true }, { ...place, run: "new", tab: "map", step: "" }, "new"],
    [{ run: "old", ...place }, { run: "copy", carry: COPY }, { ...place, run: "copy", tab: "map" }, ""], // it reads what the other did
    [{ run: "old", tab: "data" }, { run: "copy", carry: COPY }, { run: "copy", tab: "data" }, ""],
    [{ run: "old", tab: "data" }, { run: "new", carry: CARRY, tab }, { run: "new", tab }, ""],
  ]) {
    at({ text: "", step: "" });
    at(from);
    change({ card: null });
    reply(answer);
    is(wanted, JSON.stringify(answer));
    assert.equal(page.following, following, JSON.stringify(answer));
  }
  at({ run: "old" });
  change({ card: { id: "old", settings: {}, examples: [["vcuz", "zucv"]] } });
  reply({ run: "new", carry: CARRY });
  is({ text: "vcuz" }, "an example that was shown goes along, too");
});

test("a run that is chosen brings its settings, once both are known; the link that opened the page keeps its own", () => {
  const calls = [];
  meet({ settings: () => calls.push(settings()) });
  change({ boot: { knobs: ["d_model", "task"], defaults: { d_model: 64, task: "reverse" }, live: [], labels: {}, statuses: { working: [] } }, knobs: null });
  at({ run: "old" });
  chooseRun("other");
  change({ card: { id: "other", examples: [], settings: { d_model: 32, task: "own", own: "abc", precision: "x" } } });
  assert.deepEqual(calls, []);
  change({ knobs: { d_model: 64, task: "reverse" } });
  assert.deepEqual([calls, page.own], [[{ d_model: 32, task: "own" }], "abc"]);
  change({ knobs: { d_model: 128, task: "own" } }); // from then on they are moved by hand
  move({ run: "third" }); // it was not chosen: Back, or a link within the page
  change({ card: { id: "third", examples: [], settings: { d_model: 8, task: "sort" } } });
  assert.equal(calls.length, 1);
  change({ boot: null, knobs: null, card: null });
});

// fault: Train pressed twice | one run
test("a second press of Train while the first is on its way makes no second run; own sentences are those that were read last", async () => {
  const sent = [], { trainOwn } = await import("../../playground/features/data/reading.js");
  let answer = null;
  globalThis.fetch = (_, { body }) => {
    sent.push(JSON.parse(body).knobs.own);
    return new Promise((resolve) => (answer = resolve));
  };
  train({ task: "reverse" });
  train({ task: "reverse" });
  await new Promise(setImmediate);
  assert.deepEqual(sent, [""]);
  answer({ ok: true, json: async () => ({ run: "first", carry: [] }) });
  await new Promise(setImmediate);
  change({ uploaded: "read", own: "of a run" });
  trainOwn({ task: "reverse" }); // a third, once it is there, is meant
  await new Promise(setImmediate);
  assert.deepEqual(sent, ["", "read"]);
});
