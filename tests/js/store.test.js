// The store: one place that knows, one way to change it, and whoever asked is told; the address says where the page looks.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { KNOWN, openPage } from "./page.js";

let times = 0;
/** A store of its own, as of a page that was opened at this address. */
async function opened(query = "", known = KNOWN) {
  openPage(query, known);
  return await import(`../../playground/ui/static/store.js?${times++}`);
}
const boot = { knobs: ["steps", "bias", "rate"], defaults: { steps: 90, bias: true, rate: 0.05 } };
let store = null, told = [];
/** Hears of these fields from now on. */
const hear = (...fields) => store.subscribe(fields, (names) => told.push([...names].sort()));

beforeEach(async () => {
  store = await opened("?lang=en");
  told = [];
});

test("fields take what the link says, and their defaults where it says nothing", async () => {
  const { cursor } = await opened("?q=3&part=decoder&tab=");
  assert.deepEqual([cursor.q, cursor.part, cursor.tab, cursor.k], ["3", "decoder", "training", ""]);
  assert.deepEqual(Object.keys(cursor), Object.keys(KNOWN.cursor.defaults));
});

test("a link that says what a field was called before means the field", async () => {
  const known = structuredClone(KNOWN);
  Object.assign(known.cursor, { former_names: { view: "tab" }, former_values: { tab: { lives: "forcing" } } });
  assert.equal((await opened("?view=map", known)).cursor.tab, "map");
  assert.equal((await opened("?view=lives", known)).cursor.tab, "forcing");
  assert.equal((await opened("?tab=lives", known)).cursor.tab, "forcing");
  assert.equal((await opened("?view=map&tab=data", known)).cursor.tab, "data");
});

test("the language is the link's, else the first of the browser's that there is", async () => {
  const speak = async (query, ...languages) => {
    openPage(query);
    globalThis.navigator.languages = languages;
    return (await import(`../../playground/ui/static/store.js?${times++}`)).cursor.lang;
  };
  assert.equal(await speak("?lang=zh", "en"), "zh");
  assert.equal(await speak("", "fr", "zh-TW", "en"), "zh");
  assert.equal(await speak("", "zha", "fr"), "en");
});

test("whoever asked for a field is told of all that changed with it, and nobody else is", () => {
  hear("q");
  store.move({ k: 2 });
  assert.deepEqual(told, []);
  store.move({ q: 1, head: 4 });
  assert.deepEqual(told, [["head", "q"]]);
  assert.deepEqual([store.cursor.q, store.cursor.head], ["1", "4"]); // numbers become text
});

test("what stays as it is, is no change", () => {
  hear("q", "own");
  store.move({ q: "" });
  store.move({ q: null });
  store.change({ own: "" });
  assert.deepEqual(told, []);
});

test("another run lets go of all that belonged to the old one, and of nothing else", () => {
  store.move({ run: "a" });
  store.move({ text: "abc", part: "encoder", q: 1, k: 2, step: 5, layer: 1, head: 1, tab: "map" });
  hear("step", "text");
  store.move({ run: "b" });
  const { run, text, q, k, step, layer, head, tab, part } = store.cursor;
  assert.deepEqual({ run, text, q, k, step, layer, head, tab, part }, {
    run: "b", text: "", q: "", k: "", step: "", layer: "", head: "", tab: "map", part: "encoder",
  });
  assert.deepEqual(told, [["head", "k", "layer", "q", "run", "step", "text"]]); // once
});

test("what a move says itself stays, whatever else it lets go of", () => {
  store.move({ run: "a", q: 1, text: "abc" });
  store.move({ text: "abcd", q: 3 });
  assert.deepEqual([store.cursor.q, store.cursor.k], ["3", ""]);
  store.move({ run: "a", q: 4 }); // the same run: nothing is let go of
  assert.deepEqual([store.cursor.q, store.cursor.text], ["4", "abcd"]);
  assert.deepEqual(store.letGo("text"), { q: "", k: "" });
  assert.deepEqual(store.letGo("head"), {});
});

test("a field there is not is a mistake in a script", () => {
  assert.throws(() => store.move({ teacher: "on" }), /teacher/);
  assert.throws(() => store.change({ nothing: 1 }), /nothing/);
  assert.throws(() => store.change({ q: 1 }), /q/); // where the page looks is moved
});

test("everything stands before anybody is told, also of what a listener changes", () => {
  store.subscribe(["q"], () => store.move({ head: Number(store.cursor.q) + 1 }));
  hear("head");
  store.subscribe(["q"], () => assert.equal(store.cursor.head, "3"));
  store.move({ q: 2 });
  assert.deepEqual(told, [["head"]]);
});

test("the address says where the page looks, without defaults, and keeps what is Gradio's", async () => {
  const { move } = await opened("?lang=en&__theme=dark&part=cross");
  move({ q: 1, text: "a b" });
  assert.equal(globalThis.location.search, "?text=a+b&q=1&lang=en&__theme=dark");
  move({ q: "", text: "" });
  assert.equal(globalThis.location.search, "?lang=en&__theme=dark");
});

test("settings stand in it once they are known, those that differ from their defaults", async () => {
  const { change, address, move } = await opened("?lang=zh&steps=50&own=1");
  move({ q: 1 });
  assert.equal(String(address()), "steps=50&own=1&q=1&lang=zh"); // the link's own, until the controls hold them
  change({ boot });
  change({ knobs: { steps: 70, bias: false, rate: 0.05 } });
  assert.equal(String(address()), "steps=70&bias=off&q=1&lang=zh");
  assert.equal(globalThis.location.search, "?steps=70&bias=off&q=1&lang=zh");
  change({ knobs: { steps: null, bias: true, rate: 0.1 + 0.2 } });
  assert.equal(String(address()), "rate=0.3&q=1&lang=zh");
});

test("what of a link can't be used is let go of before anybody looks", async () => {
  const { cursor, settle } = await opened("?q=99&part=soul&run=gone&lang=xx");
  settle(["q", "part", "run", "lang", "d_model"], "reverse");
  assert.deepEqual([cursor.q, cursor.part, cursor.run, cursor.lang], ["", "cross", "reverse", "en"]);
});

test("Back returns from a place, and from nothing else: a link, another tab, another run", async () => {
  const { cursor, move, settle } = await opened("?lang=en&q=1"), { history } = globalThis;
  settle([], "reverse");
  move({ q: 2 });
  move({ text: "abc" });
  move({ step: 5 });
  assert.equal(history.entries.length, 1);
  move({ tab: "map", head: 2 });
  move({ head: 3 });
  move({ tab: "masks" });
  move({ run: "other", tab: "data" }); // one step, one entry
  assert.equal(history.entries.length, 4);
  history.back();
  assert.deepEqual([cursor.tab, cursor.run, cursor.head, cursor.text], ["masks", "reverse", "3", "abc"]);
  history.back();
  assert.deepEqual([cursor.tab, cursor.head], ["map", "3"]);
  history.back();
  assert.deepEqual([cursor.tab, cursor.head, cursor.step, cursor.run], ["training", "", "5", "reverse"]);
  assert.equal(history.entries.length, 1); // to go back adds nothing
});

test("whoever asked is told of what Back changes, once, and nothing is let go of besides", async () => {
  store = await opened("?run=a&text=abc&q=1&lang=en");
  store.move({ run: "b", text: "abc" });
  hear("run", "q");
  globalThis.history.back();
  assert.deepEqual(told, [["q", "run"]]);
  assert.deepEqual([store.cursor.text, store.cursor.q], ["abc", "1"]);
});

test("a place that takes the old one's makes no entry, and the language is that of now", async () => {
  const { cursor, move } = await opened("?run=a&lang=en");
  move({ run: "b" }, { instead: true });
  assert.equal(globalThis.history.entries.length, 1);
  move({ tab: "map" });
  move({ lang: "zh" });
  globalThis.history.back();
  assert.deepEqual([cursor.tab, cursor.run, cursor.lang], ["training", "b", "zh"]);
  assert.match(globalThis.location.search, /lang=zh/);
});

test("the first place of all names the run that is shown there", async () => {
  const { cursor, move, settle } = await opened("?lang=en");
  settle([], "mine");
  move({ run: "other" });
  globalThis.history.back();
  assert.equal(cursor.run, "mine");
});
