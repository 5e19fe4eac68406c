// The bar of the training replay: it says where one is, and what stands there already is not written again.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, writes } from "./page.js";

const document = openPage("?lang=en&run=a");
const { change, nothing } = await import("../../playground/ui/static/store.js");
const { drawReplay } = await import("../../playground/ui/static/replay.js");
change({ boot: { words: { replay_step: "step {step} of {steps}" }, statuses: { working: ["training"], resumable: [], over: [] } } });

const training = (step) => ({ ...nothing("a"), status: "training", step, steps: 90, replay: [0, 1, 2, 4] });
const host = document.createElement("div");
document.body.append(host);
drawReplay(host);

test("a message without news writes nothing", () => {
  change({ live: training(4) });
  assert.equal(document.getElementById("pg-replay-step").textContent, "step 4 of 90");
  assert.equal(writes(() => change({ live: training(4) })), 0);
});

test("a step further it says so", () => {
  change({ live: training(5) });
  assert.equal(document.getElementById("pg-replay-step").textContent, "step 5 of 90");
  assert.equal(document.getElementById("pg-replay").getAttribute("aria-valuetext"), "step 5 of 90");
});
