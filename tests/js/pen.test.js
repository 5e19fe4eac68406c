// The pen: lines that go on from point to point as the points come.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage("?lang=en");
const { Path, onBeat, reached, trailAfter } = await import("../../playground/ui/static/pen.js");

const pixels = { x: (value) => 10 * value, y: (value) => 100 - 10 * value };
const points = (path) => [...path.matchAll(/([ML])(-?[\d.]+),(-?[\d.]+)/g)].map(([, act, x, y]) => [act, Number(x), Number(y)]);
const drawn = (xs, ys, count) => points(new Path(pixels).upTo(xs, ys, count));

test("a line leads through the points that have come, on its way between two of them; what is not a number is a gap", () => {
  for (const [wanted, ...given] of [
    [[["M", 10, 70], ["L", 20, 90], ["L", 30, 80]], [1, 2, 3], [3, 1, 2], 3], [[["M", 10, 70], ["L", 20, 90]], [1, 2, 3], [3, 1, 2], 2],
    [[["M", 10, 70], ["L", 15, 80]], [1, 2, 3], [3, 1, 2], 1.5], [[["M", 10, 70]], [1], [3], 1.9], [[], [], [], 0],
    [[["M", 10, 70], ["M", 30, 80], ["L", 40, 90]], [1, 2, 3, 4], [3, null, 2, 1], 4], [[["M", 10, 70]], [1, 2], [3, null], 1.5],
  ]) assert.deepEqual(drawn(...given), wanted, JSON.stringify(given));
  const xs = Array.from({ length: 200 }, (_, at) => at / 8), ys = xs.map((x) => Math.sin(9 * x)), path = new Path(pixels);
  for (let count = 0; count < 200; count += 0.7) path.upTo(xs, ys, count);
  const last = path.upTo(xs, ys, 200);
  assert.equal(last, new Path(pixels).upTo(xs, ys, 200)); // piece by piece it is the line that is drawn at once
  assert.equal(points(last).length, 200);
});

test("a line is behind its newest point for its trail and not longer; with reduced motion never; a late drawing puts off no other", () => {
  const way = { from: 4, to: 10, since: 1000, trail: 150 };
  assert.deepEqual([900, 1000, 1050, 1075, 1150, 9999].map((now) => reached(way, now)), [4, 4, 6, 7, 10, 10]);
  assert.equal(reached({ ...way, trail: 0 }, 1000), 10);
  assert.deepEqual([onBeat(1050, 1000), onBeat(1089, 1000), onBeat(1500, 1000)], [1045, 1045, 1500]);
});

test("while points come, however unevenly, a line never stands still between two of them, and after a pause it is not late for ever", () => {
  let trail = 0, since = 0, now = 0;
  const come = (gap) => {
    now += gap;
    const stood = gap > trail && trail > 0;
    [trail, since] = [trailAfter(since ? now - since : 0, trail), now];
    return stood;
  };
  const uneven = Array.from({ length: 100 }, (_, at) => (at % 3 === 2 ? 210 : 105));
  assert.equal(uneven.map(come).slice(3).filter(Boolean).length, 0);
  assert.equal([400, 520, 480, 510, 520, 450].map(come).slice(2).filter(Boolean).length, 0); // the server has less to spare
  come(60_000);
  assert.ok(trail <= 700);
  for (let at = 0; at < 40; at++) come(100);
  assert.ok(trail <= 150, `${trail} ms`);
});
