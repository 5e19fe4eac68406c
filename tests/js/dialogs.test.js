// The link to give away: it says the sentence that is shown, and warns when nobody else can follow it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage("?lang=en&run=a");
const { change, move } = await import("../../playground/ui/static/store.js");
const { isOnlyHere, shareLink } = await import("../../playground/ui/static/dialogs.js");
globalThis.location.origin = "http://page";
change({ boot: { knobs: [], defaults: {}, host: "", glossary: { terms: [], not: [] }, course: [] }, knobs: {} });

test("a link says the sentence that is shown, typed or not", () => {
  change({ card: { id: "a", settings: {}, examples: [["vcuz", "zucv"]] } });
  assert.equal(shareLink(), "http://page/?run=a&lang=en&text=vcuz");
  move({ text: "playground" });
  assert.equal(new URL(shareLink()).searchParams.get("text"), "playground");
});

test("an address of this machine alone is known as such", () => {
  for (const host of ["localhost:7860", "127.0.0.1:7860", "127.1.2.3", "0.0.0.0:80", "[::1]:7860"]) assert.ok(isOnlyHere(`http://${host}/?run=a`), host);
  for (const host of ["192.168.1.7:7860", "example.org", "127.example.org", "somebody-playground.hf.space", "localhost.example"]) {
    assert.ok(!isOnlyHere(`https://${host}/`), host);
  }
});
