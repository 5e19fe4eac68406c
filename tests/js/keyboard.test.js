// The page by keyboard: which control lies in a direction, where the frame of a grid goes, and how large a presented picture is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage();
globalThis.MutationObserver = class {
  observe() {}
  disconnect() {}
};
globalThis.ResizeObserver = globalThis.MutationObserver;
globalThis.setInterval = () => 0; // a script that looks again each second would never let the tests end
const { neighbour, KEYS: groupKeys } = await import("../../playground/ui/static/keyboard.js");
const { moved, KEYS: gridKeys } = await import("../../playground/ui/static/gridkeys.js");
const { HELP } = await import("../../playground/ui/static/help_keys.js");
const { ACTS: pageKeys } = await import("../../playground/ui/static/page_keys.js");
const { KEYS: roomKeys } = await import("../../playground/ui/static/room_chip.js");
const { enlarged, ACTS: presentKeys } = await import("../../playground/ui/static/present.js");

/** Two rows of three and two boxes, 10 px high and 20 wide. */
const boxes = [[0, 0], [0, 20], [0, 40], [10, 0], [10, 20]].map(([top, left]) => (
  { getBoundingClientRect: () => ({ top, left, right: left + 20, bottom: top + 10 }) }));
const from = (at, key) => boxes.indexOf(neighbour(boxes, boxes[at], key));

test("left and right go round, home and end to the ends", () => {
  assert.deepEqual([from(0, "ArrowRight"), from(4, "ArrowRight"), from(0, "ArrowLeft"), from(3, "Home"), from(1, "End")], [1, 0, 4, 0, 4]);
});

test("up and down stay in the column, and where there is no row they stay", () => {
  assert.deepEqual([from(1, "ArrowDown"), from(2, "ArrowDown"), from(3, "ArrowUp"), from(0, "ArrowUp"), from(4, "ArrowDown")], [4, 4, 0, 0, 4]);
});

test("the frame of a grid stays in it", () => {
  assert.deepEqual([moved([0, 0], [-1, 0], [3, 4]), moved([1, 3], [0, 1], [3, 4]), moved([1, 2], [1, 0], [3, 4])], [[0, 0], [1, 3], [2, 2]]);
  assert.deepEqual(moved([8, 9], [0, 0], [3, 4]), [2, 3]); // another sentence is shorter
});

test("a presented picture is one and a half times as large where there is room, and never smaller than drawn", () => {
  assert.deepEqual([enlarged(400, 800), enlarged(640, 800), enlarged(2000, 800)], [1.5, 1.25, 1]);
});

test("the list of keys names every key that a script listens to, and no other", () => {
  const listed = (where) => HELP.filter((row) => row.where === where).flatMap(({ keys }) => keys).sort();
  const heard = { page: Object.keys(pageKeys), present: Object.keys(presentKeys), figure: gridKeys, group: groupKeys, room: roomKeys };
  for (const [where, keys] of Object.entries(heard)) assert.deepEqual(listed(where), [...keys].sort(), where);
});
