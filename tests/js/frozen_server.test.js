// Where a frozen page finds an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.js";

openPage();
const { place, whole } = await import("../../playground/ui/static/frozen_server.js");

const steps = { fields: ["step"], values: [[""], ["1"], ["10"], ["40"]] };
const heads = { fields: ["part", "layer", "head"], values: [["cross", "", ""], ["cross", "1", "1"], ["encoder", "", ""], ["encoder", "1", "1"]] };

test("the newest step, a frozen one, and the nearest to another", () => {
  assert.deepEqual(["", "10", "22", "9999"].map((step) => place(steps, { step })), [0, 2, 2, 3]);
});

test("the width that is nearest", () => {
  const widths = { fields: ["width", "height"], values: [["960", "900"], ["340", "840"]] };
  assert.deepEqual(["1180", "700", "360"].map((width) => place(widths, { width, height: "780" })), [0, 0, 1]);
});

test("a head that there is; of the same part where there is none; no other part", () => {
  assert.equal(place(heads, { part: "encoder", layer: "1", head: "1" }), 3);
  assert.equal(place(heads, { part: "encoder", layer: "9", head: "1" }), 2);
  assert.equal(place(heads, { part: "rollout", layer: "", head: "" }), -1);
});

test("another sentence isn't there", () => assert.equal(place({ fields: ["text"], values: [["abc"]] }, { text: "abd" }), -1));

test("an answer has what it shares put in, also within what is shared", () => {
  assert.deepEqual(whole({ a: [{ $: 1 }], b: null }, [[1, 2], { c: { $: 0 } }]), { a: [{ c: [1, 2] }], b: null });
});
