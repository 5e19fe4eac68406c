// Which part of a frame is in sight, by what iframe-resizer says of the page around it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage("?lang=en&run=a");
const { partInSight } = await import("../../playground/ui/static/space_frame.js");
const { onNetwork } = await import("../../playground/ui/static/dialogs.js");
const frame = { iframeHeight: 2000, clientHeight: 800, offsetTop: 64 };

test("the part in sight moves down with the page around", () => {
  assert.deepEqual(partInSight({ ...frame, scrollTop: 0 }), { top: 0, below: 1264, height: 736 });
  assert.deepEqual(partInSight({ ...frame, scrollTop: 564 }), { top: 500, below: 700, height: 800 });
  assert.deepEqual(partInSight({ ...frame, scrollTop: 1500 }), { top: 1436, below: 0, height: 564 });
});

test("a frame that was scrolled away has no part in sight, and one that fits has all", () => {
  assert.deepEqual(partInSight({ ...frame, scrollTop: 9000 }), { top: 2000, below: 0, height: 0 });
  assert.deepEqual(partInSight({ ...frame, offsetTop: 5000, scrollTop: 0 }), { top: 0, below: 2000, height: 0 });
  assert.deepEqual(partInSight({ ...frame, iframeHeight: 700, scrollTop: 0 }), { top: 0, below: 0, height: 700 });
});

test("a link to this machine becomes one that its network can follow", () => {
  assert.equal(onNetwork("http://127.0.0.1:7860/?run=a&text=ein+bier", "192.168.1.7"), "http://192.168.1.7:7860/?run=a&text=ein+bier");
});
