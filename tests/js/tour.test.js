// The tour: how a typed number is judged. What is wrong says why, where it can, and always where to look.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage();
globalThis.matchMedia = () => ({ matches: true, addEventListener() {} });
globalThis.setInterval = () => 0;
globalThis.MutationObserver = globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};
const { judged } = await import("../../playground/ui/static/tour.js");

const words = { no_number: "a number, please", nearly: "nearly", sign: "sign" };
const near = [{ value: 0.06, text: "column 1" }, { value: 0.0601, text: "column 4" }];
const weight = { answer: 0.2163, tolerance: 0.0055, right: "right", where: "row 1", words, mistakes: near };
const count = { answer: 3, tolerance: 0, right: "right", where: "count", words, mistakes: [{ value: 6, text: "hatched" }] };
const cold = { ...weight, answer: -0.5, mistakes: [{ value: 0.5, text: "row 2" }] };

test("as near as the picture shows is right, however it is written", () => {
  for (const text of ["0.22", " 0,216 ", "21.6 %", "0.2163", ".22"]) assert.deepEqual(judged(weight, text), ["right", "right"], text);
  for (const text of ["−0.5", "-0,50", "-50%"]) assert.deepEqual(judged(cold, text), ["right", "right"], text);
  assert.deepEqual(judged(count, "3"), ["right", "right"]);
});

test("what is wrong is told where to look, and why where that can be known", () => {
  assert.deepEqual(judged(weight, "0.9"), ["wrong", "✗ row 1"]);
  assert.deepEqual(judged(weight, "0.2"), ["wrong", "✗ nearly row 1"]);
  assert.deepEqual(judged(weight, "-0.22"), ["wrong", "✗ sign row 1"]);
  assert.deepEqual(judged(weight, "0.06"), ["wrong", "✗ column 1 row 1"]);
  assert.deepEqual(judged(cold, "0.5"), ["wrong", "✗ sign row 1"]);
  assert.deepEqual(judged(count, "6"), ["wrong", "✗ hatched count"]);
  assert.deepEqual(judged(count, "-3"), ["wrong", "✗ count"]);
});

test("what is no number is asked for again", () => {
  for (const text of ["", "  ", "many", "%", "1.2.3"]) assert.deepEqual(judged(weight, text), ["no_number", "a number, please"], text);
});
