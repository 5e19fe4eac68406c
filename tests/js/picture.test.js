// Figures are drawn in turns, and those of one frame at once: a waiting caller hears of it, and none stands under another run's name.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const document = openPage("?run=a");
let finish = () => {};
const Plotly = { react: () => new Promise((resolve) => (finish = resolve)) };
globalThis.window = globalThis;
document.head = {
  append(script) {
    globalThis.Plotly = Plotly;
    script.onload();
  },
};
const { draw, drawNow } = await import("../../playground/ui/static/picture.js");
const { change, move } = await import("../../playground/ui/static/store.js");
const { render } = await import("../../playground/ui/static/render.js");

const FIGURE = { data: [{ x: [1] }], layout: {} };
const tick = () => new Promise((go) => setTimeout(go, 5));

/** A plot in sight that was drawn before, within its figure, which is grey. */
function plotOf() {
  const figure = document.createElement("div"), plot = document.createElement("div");
  figure.setAttribute("class", "pg-figure stale");
  figure.append(plot);
  plot.dataset = { points: "1", wired: "yes" };
  return { figure, plot: Object.assign(plot, { offsetParent: figure, isConnected: true, getBoundingClientRect: () => ({ top: 0, bottom: 9 }) }) };
}

test("a figure that is waited for comes with that of a frame; a frame that is drawn when another run has been opened stays grey", async () => {
  for (const [run, isGrey] of [["a", false], ["b", true]]) {
    const { plot, figure } = plotOf(), drawn = draw(plot, FIGURE), frame = drawNow(plot, FIGURE);
    await tick();
    move({ run });
    finish();
    await Promise.all([drawn, frame]);
    assert.equal(figure.classList.contains("stale"), isGrey);
  }
});

test("no picture stands under the caption of another, also where it waits until it is in sight or printed", async () => {
  let top = 0;
  const getBoundingClientRect = () => ({ top, bottom: top + 9 });
  const insertBefore = function add(node) { this.append(node); }, more = { offsetParent: {}, isConnected: true, on() {} };
  Object.assign(Object.getPrototypeOf(document.body), { getBoundingClientRect, insertBefore, ...more });
  change({ boot: { words: {}, statuses: { working: [], resumable: [] }, glossary: { terms: [], not: [] }, labels: {}, knobs: [] } });
  Plotly.react = async (place, data) => Object.assign(place, { data });
  const host = document.createElement("div"), captions = [];
  for (const [caption, at, event] of [["one", 0], ["two", 5000], ["two", 0], ["three", 5000, "beforeprint"]]) {
    top = at;
    document.dispatchEvent({ type: "scroll" });
    await render(host, [{ kind: "figure", id: "m", title: "", caption, hint: "", live: false, figure: { data: [{ x: [caption] }], layout: {} } }], {});
    await tick();
    document.dispatchEvent({ type: event });
    await tick();
    const [, words, plot] = host.children[0].children;
    captions.push([words.pgWords, plot.data[0].x[0]]);
  }
  assert.deepEqual(captions, [["one", "one"], ["one", "one"], ["two", "two"], ["three", "three"]]);
});
