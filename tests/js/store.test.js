// The store: one place that knows, one way to change it, and listeners hear of what they asked for; the address says where the page looks.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { KNOWN, openPage } from "./page.js";

let times = 0;
/** A store of its own, as of a page that was opened at this address. */
async function opened(query = "", { known = KNOWN, languages = ["en"] } = {}) {
  openPage(query, known);
  globalThis.navigator.languages = languages;
  return await import(`../../playground/ui/static/store.js?${times++}`);
}
const boot = { knobs: ["steps", "bias", "rate"], defaults: { task: "reverse", steps: 90, bias: true, rate: 0.05 } };
let store = null, heard = [];
/** Hears of these fields from now on. */
const hear = (...fields) => store.subscribe(fields, (names) => heard.push([...names].sort()));
const at = ({ cursor }, fields) => Object.fromEntries(Object.keys(fields).map((name) => [name, cursor[name]]));

beforeEach(async () => {
  store = await opened("?lang=en");
  heard = [];
});

test("a link says the fields, also former values, and the language; what of it can't be used is let go of before anything is drawn", async () => {
  const known = structuredClone(KNOWN);
  known.cursor.former_values = { tab: { lives: "forcing" } };
  for (const [query, fields, more] of [
    ["?q=3&part=decoder&tab=", { q: "3", part: "decoder", tab: "training", k: "" }], ["?tab=lives", { tab: "forcing" }, { known }],
    ["?lang=zh", { lang: "zh" }], ["", { lang: "zh" }, { languages: ["fr", "zh-TW", "en"] }], ["", { lang: "en" }, { languages: ["zha", "fr"] }],
  ]) assert.deepEqual(at(await opened(query, more), fields), fields, query);
  assert.deepEqual(Object.keys(store.cursor), Object.keys(KNOWN.cursor.defaults));
  const used = await opened("?q=99&part=soul&run=gone&lang=xx"), wanted = { q: "", part: "cross", run: "reverse", lang: "en" };
  used.settle(["q", "part", "run", "lang", "d_model"], "reverse");
  assert.deepEqual(at(used, wanted), wanted);
});

test("a listener hears once of all that changed with its field, and nothing where all stays", () => {
  hear("q", "own");
  store.move({ k: 2 });
  store.move({ q: "" });
  store.move({ q: null });
  store.change({ own: "" });
  assert.deepEqual(heard, []);
  store.move({ q: 1, head: 4 });
  assert.deepEqual([heard, at(store, { q: 0, head: 0 })], [[["head", "q"]], { q: "1", head: "4" }]); // numbers become text
});

test("another run lets go of all that belonged to the old one, and of nothing else; what a move says itself stays", () => {
  store.move({ run: "a" });
  store.move({ text: "abc", part: "encoder", q: 1, k: 2, step: 5, layer: 1, head: 1, tab: "map" });
  hear("step", "text");
  store.move({ run: "b" });
  const now = { run: "b", text: "", q: "", k: "", step: "", layer: "", head: "", tab: "map", part: "encoder" };
  assert.deepEqual(at(store, now), now);
  assert.deepEqual(heard, [["head", "k", "layer", "q", "run", "step", "text"]]); // once
  store.move({ text: "abcd", q: 3 });
  store.move({ run: "b", q: 4 }); // the same run: nothing is let go of
  assert.deepEqual(at(store, { q: 0, k: 0, text: 0 }), { q: "4", k: "", text: "abcd" });
  assert.deepEqual([store.letGo("text"), store.letGo("head")], [{ q: "", k: "" }, {}]);
});

test("the address says where the page looks and which settings differ, and keeps what is Gradio's", async () => {
  const { move } = await opened("?lang=en&__theme=dark&part=cross");
  move({ q: 1, text: "a b" });
  assert.equal(globalThis.location.search, "?text=a+b&q=1&lang=en&__theme=dark");
  move({ q: "", text: "" });
  assert.equal(globalThis.location.search, "?lang=en&__theme=dark");
  const other = await opened("?lang=zh&steps=50&own=1");
  other.move({ q: 1 });
  assert.equal(String(other.address()), "steps=50&own=1&q=1&lang=zh"); // the link's own, until the controls hold them
  other.change({ boot });
  for (const [knobs, settings] of [[{ steps: 70, bias: false, rate: 0.05 }, "steps=70&bias=off"], [{ steps: null, bias: true, rate: 0.1 + 0.2 }, "rate=0.3"]]) {
    other.change({ knobs });
    assert.equal(globalThis.location.search, `?${settings}&q=1&lang=zh`);
  }
  other.change({ boot: { ...boot, knobs: ["task", "steps"] }, knobs: { task: "reverse", steps: 90 }, card: { id: "", settings: { steps: 400 } } });
  assert.match(globalThis.location.search, /^\?task=reverse&q=1/, "a link without settings means those of its run");
});

test("Back returns from a place, and from nothing else: a link, another tab, another run", async () => {
  const opening = await opened("?lang=en&q=1"), { move, settle } = opening, { history } = globalThis;
  settle([], "reverse");
  for (const fields of [{ q: 2 }, { text: "abc" }, { step: 5 }]) move(fields);
  assert.equal(history.entries.length, 1);
  for (const fields of [{ tab: "map", head: 2 }, { head: 3 }, { tab: "masks" }, { run: "other", tab: "data" }]) move(fields); // one step, one entry
  assert.equal(history.entries.length, 4);
  for (const place of [
    { tab: "masks", run: "reverse", head: "3", text: "abc" }, { tab: "map", head: "3" }, { tab: "training", head: "", step: "5", run: "reverse" },
  ]) {
    history.back();
    assert.deepEqual(at(opening, place), place);
  }
  assert.equal(history.entries.length, 1); // to go back adds nothing
});
