// Of a line that scrolls sideways the page knows on which sides there is more.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage();
globalThis.matchMedia = () => ({ matches: true });
const { hidden } = await import("../../playground/ui/static/strips.js");
const line = (scrollLeft, scrollWidth) => ({ scrollLeft, clientWidth: 300, scrollWidth });

test("a line that fits hides nothing", () => {
  assert.equal(hidden(line(0, 300)), "");
});

test("a longer one hides its end, its beginning, or both", () => {
  assert.deepEqual([line(0, 500), line(120, 500), line(200, 500)].map(hidden), ["right", "left right", "left"]);
});

test("half a pixel is nothing: browsers round", () => {
  assert.equal(hidden(line(0.4, 300.9)), "");
});
