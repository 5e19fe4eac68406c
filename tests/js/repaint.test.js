// Colours of a dark page as a light page has them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { repainted } from "../../playground/ui/static/repaint.js";

const light = { single: ["#1f2933"], sequential: ["#ffffff", "#01417f"], diverging: ["#800000", "#f0f0f0", "#008000"] };
const dark = { single: ["#e6e9ee"], sequential: ["#000000", "#80c0fe"], diverging: ["#ff8080", "#202020", "#80ff80"] };

test("single colours and the ends of scales", () => assert.equal(repainted("#E6E9EE #80c0fe", dark, light), "#1f2933 #01417f"));
test("what is mixed on a scale is mixed as much on the other", () => assert.equal(repainted("#40607f", dark, light), "#80a0bf"));
test("other colours stay", () => assert.equal(repainted("#ff00ff rgba(0,0,0,0)", dark, light), "#ff00ff rgba(0,0,0,0)"));
