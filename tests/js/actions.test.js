// What a new run is shown with, and what is let go of.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage();
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { reply } = await import("../../playground/ui/static/actions.js");
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
  change({ card: { id: "old", examples: [["vcuz", "zucv"]] } });
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
