// Which tab is open: the link says it, then whoever clicks. Gradio opens the first one by itself, early or late, and that is nobody's choice.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { KNOWN, openPage } from "./page.js";

const document = openPage("?tab=labs");
let watch = null; // what Gradio's tabs are watched with
globalThis.MutationObserver = class {
  constructor(heard) {
    this.heard = heard;
  }

  observe(element) {
    if (element.getAttribute("id") === "pg-places") watch = this.heard;
  }

  disconnect() {}
};
const clicks = [], buttons = {};

function part(id) {
  const element = document.createElement("div");
  element.setAttribute("id", id);
  document.body.append(element);
  return element;
}
const [places] = ["pg-places", "pg-place-tabs", "pg-inner-tabs"].map(part);

/** A list of tabs as Gradio makes it: the first is open, and a click opens another. */
function list(around, ids) {
  const line = document.createElement("div");
  line.setAttribute("class", "tab-wrapper");
  for (const [at, id] of ids.entries()) {
    const button = (buttons[id] = document.createElement("button"));
    for (const [name, value] of [["id", `${id}-button`], ["role", "tab"], ["aria-selected", String(at === 0)]]) button.setAttribute(name, value);
    button.scrollIntoView = () => {};
    button.focus = () => {};
    button.click = () => {
      clicks.push(id);
      for (const other of ids) buttons[other].setAttribute("aria-selected", String(other === id));
    };
    line.append(button);
  }
  around.append(line);
}
list(places, Object.keys(KNOWN.places).map((place) => `pg-place-${place}`));
for (const [place, tabs] of Object.entries(KNOWN.places)) list(part(`pg-tabs-${place}`), tabs.map((tab) => `pg-tab-${tab}`));

const { cursor, move, subscribe } = await import("../../playground/ui/static/store.js");
const { openTab } = await import("../../playground/ui/static/tabs.js");
subscribe(["tab"], openTab);
const settled = () => new Promise((resolve) => setTimeout(resolve));
/** A click of a person, which the page hears before Gradio does. */
async function press(id, timeStamp = 0) {
  document.dispatchEvent({ type: "click", isTrusted: true, target: buttons[id], timeStamp });
  buttons[id].click();
  await settled();
}
const open = (id) => buttons[id].getAttribute("aria-selected") === "true";
beforeEach(() => clicks.splice(0));

test("the link's tab is opened, and its place; what Gradio opens by itself, early or late, changes nothing", async () => {
  await openTab();
  assert.deepEqual([clicks, document.body.dataset.place], [["pg-place-lessons", "pg-tab-labs"], "lessons"]);
  buttons["pg-tab-course"].click();
  document.dispatchEvent({ type: "click", isTrusted: false, target: buttons["pg-tab-course"] });
  watch([{ target: buttons["pg-tab-course"] }, { target: buttons["pg-tab-labs"] }]);
  await settled();
  assert.deepEqual([cursor.tab, open("pg-tab-labs")], ["labs", true]);
});

test("a click on a tab moves the cursor, one on a place opens what was open there last", async () => {
  await press("pg-place-inside");
  assert.equal(cursor.tab, "map");
  await press("pg-tab-masks");
  assert.deepEqual([cursor.tab, open("pg-tab-masks")], ["masks", true]);
  await press("pg-place-lessons");
  assert.deepEqual([cursor.tab, open("pg-tab-labs"), document.body.dataset.place], ["labs", true, "lessons"]);
  await press("pg-place-inside");
  assert.deepEqual([cursor.tab, open("pg-place-inside")], ["masks", true]);
});

test("where the cursor goes, the tabs follow; arrows go from tab to tab, and round at the end", async () => {
  move({ tab: "data" });
  await settled();
  assert.deepEqual([open("pg-place-train"), open("pg-tab-data"), document.body.dataset.place], [true, true, "train"]);
  document.dispatchEvent({ type: "keydown", key: "ArrowRight", target: buttons["pg-tab-data"], preventDefault() {} });
  await settled();
  assert.deepEqual([cursor.tab, open("pg-tab-training")], ["training", true]);
});
