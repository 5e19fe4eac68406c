// Which tab is open: the link says it, then whoever clicks. Gradio opens the first one by itself, early or late, and that is nobody's choice.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?tab=labs");
document.querySelector ??= () => null;
globalThis.scrollTo = () => {};
globalThis.innerWidth = 1280;
const { FIRST_TAB, change, cursor, move, page, subscribe } = await import("../../playground/ui/static/store.js");
const TABS = [FIRST_TAB, "labs", "data"];
const clicks = [];
for (const tab of TABS) {
  const button = document.createElement("button");
  button.setAttribute("id", `pg-tab-${tab}-button`);
  button.setAttribute("role", "tab");
  button.scrollIntoView = () => {};
  button.click = () => (clicks.push(tab), open(tab));
  document.body.append(button);
}
const open = (tab) => {
  for (const other of TABS) document.getElementById(`pg-tab-${other}-button`).setAttribute("aria-selected", String(other === tab));
};
const { arrived, openTab, reply, tabOpened } = await import("../../playground/ui/static/actions.js");
subscribe(["tab"], openTab);
beforeEach(() => clicks.splice(0));

test("the first tab that opens by itself before the link's is no choice", () => {
  open(FIRST_TAB);
  tabOpened({ tab: FIRST_TAB });
  assert.deepEqual([cursor.tab, clicks], ["labs", []]);
});

test("once the settings are there the link's tab is open", () => {
  arrived({ asked: { own: "" } });
  assert.deepEqual(clicks, ["labs"]);
});

test("what is told late of a tab that has been left is no choice either", () => {
  tabOpened({ tab: "labs" });
  tabOpened({ tab: FIRST_TAB });
  assert.deepEqual([cursor.tab, clicks], ["labs", []]);
});

test("from then on the cursor follows the tabs, and the tabs the cursor", () => {
  open("data");
  tabOpened({ tab: "data" });
  assert.deepEqual([cursor.tab, clicks], ["data", []]);
  move({ tab: FIRST_TAB });
  assert.deepEqual(clicks, [FIRST_TAB]);
});

test("somebody who clicks before the scripts are there is heard", async () => {
  const other = "../../playground/ui/static/actions.js?again";
  open("data");
  (await import(other)).tabOpened({ tab: "data" });
  assert.equal(cursor.tab, "data");
});

const CARRY = ["text", "layer", "head", "q", "k"];
const at = (fields) => move({ run: "", tab: "map", ...fields });

test("a new run is shown where one is: with the sentence, the head and the pinned cell", () => {
  at({ run: "old", text: "playground", step: 4, layer: 1, head: 2, q: 3, k: 4 });
  reply({ run: "new", carry: CARRY, tab: FIRST_TAB, other: true });
  const { run, tab, text, layer, head, q, k, step } = cursor;
  assert.deepEqual({ run, tab, text, layer, head, q, k, step }, {
    run: "new", tab: "map", text: "playground", layer: "1", head: "2", q: "3", k: "4", step: "",
  });
  assert.equal(page.following, "new");
});

test("also with a sentence that nobody typed", () => {
  at({ run: "old" });
  change({ card: { id: "old", examples: [["vcuz", "zucv"]] } });
  reply({ run: "new", carry: CARRY });
  assert.equal(cursor.text, "vcuz");
});

test("a copy takes the step with it, and whoever is where no run is shown sees a new one in the first tab", () => {
  at({ run: "old", text: "abc", step: 4 });
  reply({ run: "copy", carry: [...CARRY, "step"] });
  assert.deepEqual([cursor.step, cursor.text, cursor.tab], ["4", "abc", "map"]);
  assert.equal(page.following, ""); // it reads what the other did: nothing is to be let go of
  at({ tab: "data" });
  reply({ run: "copy of it", carry: [...CARRY, "step"] });
  assert.equal(cursor.tab, "data");
  reply({ run: "new", carry: CARRY, tab: FIRST_TAB });
  assert.equal(cursor.tab, FIRST_TAB);
});

test("a deleted run leaves no place to go back to", () => {
  at({ run: "old", text: "abc" });
  const entries = globalThis.history.entries.length;
  reply({ run: "reverse", gone: true });
  assert.equal(globalThis.history.entries.length, entries);
  assert.deepEqual([cursor.run, cursor.text], ["reverse", ""]);
});
