// How the time that is left is said, words that depend on a number, notices, and answers that do not come.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const document = openPage();
const { change } = await import("../../playground/ui/static/store.js");
const { h, notice, onTyped, read, say, timeLeft } = await import("../../playground/ui/static/dom.js");
const words = {
  about_seconds: "about {about} s", about_minutes: "about {about} min", range_seconds: "{low} to {high} s", range_minutes: "{low} to {high} min",
  done: "done · {steps} {steps:step|steps} · {percent}", differ: "{wrong} of {tokens} {tokens:token|tokens} {wrong:differs|differ}",
};
change({ boot: { words, knobs: [], statuses: {} } });

test("the time left is a range in whole seconds or minutes, and a word has the form that its number asks for", () => {
  for (const [wanted, range] of [
    ["2 to 3 s", [2.1, 2.9]], ["60 to 89 s", [60, 89]], ["1 to 3 min", [61, 170]], ["5 to 10 min", [300.5, 600]], ["–", null],
    ["about 3 s", [3, 3]], ["about 1 s", [0, 0.2]], ["about 2 min", [120, 120]],
  ]) assert.equal(timeLeft(range), wanted, range);
  const done = (steps) => say("done", { steps, percent: "9 %" });
  assert.deepEqual(["1", "2", "1,000"].map(done), ["done · 1 step · 9 %", "done · 2 steps · 9 %", "done · 1,000 steps · 9 %"]);
  assert.deepEqual([1, 2].map((wrong) => say("differ", { wrong, tokens: 3 })), ["1 of 3 tokens differs", "2 of 3 tokens differ"]);
  assert.equal(say("done", { percent: "9 %" }), "done · {steps} {steps:step|steps} · 9 %"); // what is not filled in stays
});

test("of a word that an input method composes only the whole one is asked about", () => {
  const field = h("input"), heard = [];
  onTyped(field, () => heard.push(field.value));
  for (const [value, type, isComposing] of [["n", "input", true], ["ni", "input", true], ["你", "compositionend"], ["你a", "input", false]]) {
    Object.assign(field, { value }).dispatchEvent({ type, isComposing });
  }
  assert.deepEqual(heard, ["你", "你a"]);
});

test("a sentence takes the place of an older one of its kind, and what was wrong goes when something came through", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] }); // they go by themselves after a while
  const { reply } = await import("../../playground/ui/static/actions.js");
  const notices = () => document.querySelectorAll(".pg-notice").map((note) => note.dataset.text);
  notice("saved");
  for (const error of ["too many steps", "too few steps"]) reply({ error });
  notice("copied");
  assert.deepEqual(notices(), ["too few steps", "copied"]);
  reply({});
  assert.deepEqual(notices(), ["copied"]);
});

test("an answer that is given up while it comes in is none, one that breaks off is the server's being away, and no JSON is its error", async () => {
  const error = "The server answered {status}.", away = "away";
  change({ boot: { words: { ...words, server_error: error, server_away: away }, knobs: [], statuses: {} } });
  const come = (text) => (globalThis.fetch = async (_, { signal }) => new Response(new ReadableStream({
    start(body) {
      body.enqueue(new TextEncoder().encode(text));
      signal.addEventListener("abort", () => body.error(signal.reason));
      if (text === "<p>") body.close();
      if (text === '{"cut') body.error(new TypeError("network error"));
    },
  })));
  come('{"run": "');
  const early = read("run/a", {}, "card");
  await new Promise((resume) => setTimeout(resume, 10)); // its head is here, its body is not
  come("<p>");
  assert.deepEqual(await read("run/b", {}, "card"), { error: "The server answered 200." });
  assert.equal(await early, null);
  come('{"cut');
  assert.deepEqual(await read("run/c", {}, "card"), { error: away, away: true });
});
