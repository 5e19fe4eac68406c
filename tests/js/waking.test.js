// The computer sleeps for an hour: whoever listens is told once, and nobody while it is awake.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { openPage } from "./page.js";

mock.timers.enable({ apis: ["setInterval", "Date"], now: 1_000_000 });
const document = openPage();
await import("../../playground/ui/static/waking.js");
let told = 0;
document.addEventListener("pg-waking", () => (told += 1));

// fault: an hour's sleep | it is noticed once
test("after an hour's sleep everybody is told once", () => {
  for (let second = 0; second < 3600; second += 1) mock.timers.tick(1000); // awake
  assert.equal(told, 0);
  mock.timers.setTime(Date.now() + 3_600_000);
  for (let second = 0; second < 30; second += 1) mock.timers.tick(1000);
  assert.equal(told, 1);
  document.dispatchEvent(new Event("online"));
  assert.equal(told, 2);
});
