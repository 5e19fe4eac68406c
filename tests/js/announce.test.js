// What is told of a training to those who can't see it: its beginning, each quarter at most, its end with the last picture; never a step.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?lang=en");
const { change, move, nothing } = await import("../../playground/ui/static/store.js");
await import("../../playground/ui/static/announce.js");
const words = {
  started: "{name} is training.", training_part: "{percent} %", training_over: "Over: {status}", status_training: "training", status_done: "done",
};
const statuses = { working: ["queued", "training"], resumable: ["stopped"], over: ["done"] };
change({ boot: { words, statuses, glossary: { terms: [], not: [] }, knobs: [], labels: {}, live: [], choices: {} } });

test("a training of a hundred steps says five sentences", () => {
  const place = document.getElementById("pg-announced"), told = [];
  const note = () => place.textContent !== (told.at(-1) ?? "") && told.push(place.textContent);
  move({ run: "a" });
  change({ card: { id: "a", title: "brisk-otter", examples: [], settings: {} } });
  for (let step = 0; step <= 100; step++) {
    change({ live: { ...nothing("a"), status: "training", step, steps: 100 } });
    note();
    if (step % 9 === 2) change({ frame: { run: "a", step, isLast: false } });
    note();
  }
  change({ live: { ...nothing("a"), status: "done", step: 100, steps: 100 } });
  note();
  assert.equal(told.at(-1), "75 %"); // its last picture is on its way
  change({ frame: { run: "a", step: 100, isLast: true } });
  note();
  assert.deepEqual(told, ["brisk-otter is training.", "25 %", "50 %", "75 %", "Over: done"]);
});

test("a run that rests says nothing", () => {
  const place = document.getElementById("pg-announced");
  place.textContent = "";
  move({ run: "b" });
  change({ card: { id: "b", title: "calm-fox", examples: [], settings: {} } });
  change({ live: { ...nothing("b"), status: "done", step: 100, steps: 100 } });
  assert.equal(place.textContent, "");
});
