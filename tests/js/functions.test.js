// Scripts that compute: tables of what goes in and what comes out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

openPage("?lang=en&run=a");
const from = (name, folder = "ui/static") => import(`../../playground/${folder}/${name}.js`);
const { change, move, page } = await from("store");
const { HELP, isPrivate, shareLink } = await from("dialogs");
const { nearest } = await from("knobs");
const bounds = { d_model: { low: 8, high: 512, step: 8 }, learning_rate: { low: 1e-5, high: 1, step: 0 } };
const statuses = { working: [], resumable: [], over: [] };
const glossary = { terms: [{ forms: ["head"] }], not: [] };
change({ boot: { words: {}, statuses, knobs: [], defaults: {}, live: [], bounds, host: "", glossary, course: [] }, knobs: {} });
globalThis.location.origin = "http://page";
const card = { id: "a", settings: {}, examples: [["vcuz", "zucv"]] };
const acts = [() => change({ card }), () => move({ text: "playground" }), () => change({ card: { ...card, settings: { task: "own" } } })];
const links = acts.map((act) => (act(), shareLink()));
// The rest is imported now: what draws would listen.
const { stopLeft, stopUpNext } = await from("course");
const { csvOf, tableOf } = await from("downloads");
const { fillCurve } = await from("pen");
const { WIDTH, layOut, partsOf } = await from("figure_layout");
const { nearest: nearestGrid, place } = await from("frozen_server");
const { KEYS: gridKeys } = await from("gridkeys");
const { ACTS: pageKeys, KEYS: groupKeys, neighbour } = await from("keyboard");
const { Path, onBeat, reached, trailAfter } = await from("pen");
const { ACTS: presentKeys } = await from("present");
const { KEYS: roomKeys } = await from("room_dialog");
const { pieces } = await from("glossary");
const { holds } = await from("rules");
const { judged } = await from("tour", "features/map");

/** A test of a function by rows of what it gives and what it is given. */
const table = (title, act, rows) => test(title, () => {
  for (const [wanted, ...values] of rows) assert.deepEqual(act(...values), wanted, JSON.stringify(values));
});

page.boot.course.push({ name: "tour", steps: [{ name: "ids" }, { name: "sum" }] });
table("the tour goes on where it was left, at the first stop that isn't done, whose number the list says", (stop, ...tour) => {
  localStorage.setItem("playground-course", JSON.stringify({ stop, done: { tour } }));
  return [stopUpNext(), stopLeft()];
}, [[["ids", 0], ""], [["sum", 2], "", "ids"], [["ids", 1], "", "ids", "sum"], [["sum", 2], "sum"], [["ids", 1], "sum", "sum"]]);

table("a term is explained where it is said first, and none inside of what is quoted", (text) => pieces(text).map((piece) => piece.text),
  [[["The ", "head", " of a head."], "The head of a head."], [["“A head”, a ", "head", ""], "“A head”, a head"]]);

const own = { settings: { task: "own", own: "" } }, other = { settings: { task: "sort", own: "x" } }; // an imported one has no file of its own
table("a link to a run of sentences that are not shared promises no view of them", isPrivate,
  [[false, null], [false, other], [true, own], [false, { ...own, sentences_shared: true }]]);
table("a number is brought into its bounds and to the nearer step; what is no number is none", nearest, [
  [8, "d_model", -5], [512, "d_model", 9999], [64, "d_model", 63], [56, "d_model", 59], [64, "d_model", 64], [null, "d_model", null],
  [null, "d_model", NaN], [1e-5, "learning_rate", 0], [1, "learning_rate", 7], [0.0123, "learning_rate", 0.0123],
]);

table("a file says what it is about, then its table; formulas are guarded, quotation marks doubled, a record is one line", csvOf, [
  ['\ufeff"run","brisk-otter"\r\n"step",90\r\n\r\n"","a"\r\n"b",0.25\r\n', [["run", "brisk-otter"], ["step", 90]], { head: ["", "a"], rows: [["b", 0.25]] }],
  [`\ufeff\r\n"'=1+1","'+a","'@b","'-c","''=d","'\uff1de","f"\r\n"a=b",-0.5\r\n`,
    [], { head: ["=1+1", "+a", "@b", "-c", "'=d", "\uff1de", "f"], rows: [["a=b", -0.5]] }],
  ['\ufeff"a""b","c d"\r\n\r\n\r\n', [['a"b', "c\nd"]], { head: [], rows: [] }],
]);

const layout = { meta: { rows: ["x", "y"], columns: ["a", "b"] } };
const grid = { data: [{ type: "scatter", x: [1] }, { type: "heatmap", z: [[0.1234, null], [1, 0]] }], layout };
const twoLines = [{ name: "loss", x: [1, 2], y: [3, null] }, { name: "other", x: [1], y: [5], visible: "legendonly" }];

table("a grid has the names of its rows and columns; curves have a row for each point of each line that is seen", tableOf, [
  [{ head: ["", "a", "b"], rows: [["x", 0.1234, "masked"], ["y", 1, 0]] }, grid],
  [{ head: ["csv_line", "step", "y"], rows: [["loss", 1, 3], ["loss", 2, null]] },
    { data: twoLines, layout: { xaxis: { title: { text: "step" } }, yaxis: {} } }],
]);

const trace = (x, y) => ({ type: "scatter", x: [], y: [], meta: { x, y } });
const skeleton = () => ({
  data: [trace("step", "loss"), trace("validation_step", "validation_loss"), trace("validation_step", "exact_match")],
  layout: { height: 200, shapes: [{ type: "line" }, { type: "rect", x0: 3 }] },
});
const run = {
  id: "abba", version: 7, rows: { step: [1, 2, 3], loss: [3, 2, 1] }, validations: { step: [2], loss: [2.5], exact_match: [0.25] },
};

test("training and validation fill traces of their own; a pinned line keeps its numbers, and the skeleton stays empty", () => {
  const pinned = { type: "scatter", name: "pinned", x: [1, 2], y: [5, 4] }, empty = { ...skeleton(), data: [...skeleton().data, pinned] };
  const { data, layout } = fillCurve(empty, run, "2");
  assert.deepEqual(data.map(({ x, y }) => [x, y]), [[[1, 2, 3], [3, 2, 1]], [[2], [2.5]], [[2], [0.25]], [[1, 2], [5, 4]]]);
  assert.deepEqual([layout.datarevision, layout.uirevision, layout.height], [7, "abba", 200]); // a zoom stays as long as the run
  assert.deepEqual(empty, { ...skeleton(), data: [...skeleton().data, pinned] });
  assert.deepEqual(fillCurve(skeleton(), { ...run, rows: {}, validations: {} }, "").data.map(({ x, y }) => [x, y]), [[[], []], [[], []], [[], []]]);
});

test("the first shape marks the step of the replay, and what a fork has from its parent stands behind it, in grey", () => {
  const at = (step) => fillCurve(skeleton(), run, step).layout.shapes, curve = skeleton();
  assert.deepEqual(at("2"), [{ type: "line", visible: true, x0: 2, x1: 2 }, { type: "rect", x0: 3 }]);
  assert.deepEqual([at("")[0].visible, at("0")[0].visible], [false, true]); // before the first step is a place as well
  assert.deepEqual(fillCurve({ data: [], layout: {} }, run, "2").layout.shapes, []);
  const axis = (xaxis, steps) => fillCurve({ ...curve, layout: { ...curve.layout, xaxis } }, { ...run, steps }, "").layout.xaxis;
  assert.deepEqual(axis({ autorange: false, range: [0, 90], nticks: 6 }, 40), { autorange: false, range: [0, 40], nticks: 6 });
  assert.deepEqual(axis({ autorange: false, range: [0, 90] }, 0).range, [0, 90]); // nothing is known of the run yet
  assert.deepEqual(axis({ autorange: true }, 40), { autorange: true });
  const loss = { name: "loss", x: [], y: [], meta: { x: "step", y: "loss", past_color: "grey" }, line: { color: "teal", width: 2 } };
  const { data, layout } = fillCurve({ data: [loss], layout: { height: 200, margin: { t: 9 } } }, run, "", { run: "a", step: 2, until: 2, name: "rapid-bee" });
  assert.deepEqual([layout.height, layout.margin.t, ...data.map(({ name, x, y, line, showlegend }) => [name, x, y, line, showlegend])], [
    218, 27, ["parent", [1, 2], [3, 2], { color: "grey", width: 2 }, true], ["loss", [3], [1], { color: "teal", width: 2 }, undefined],
  ]);
  const anew = fillCurve(skeleton(), run, "", { run: "a", step: 2, until: 0, name: "" });
  assert.deepEqual([anew.layout.height, ...anew.data.map(({ x }) => x)], [200, [], [], [], [1, 2, 3], [2], [2]]);
});

const steps = { fields: ["step"], values: [[""], ["1"], ["10"], ["40"]] };
const heads = { fields: ["part", "layer", "head"], values: [["cross", "", ""], ["cross", "1", "1"], ["encoder", "", ""], ["encoder", "1", "1"]] };
const widths = { fields: ["width", "height"], values: [["960", "900"], ["340", "840"]] };
const head = (part, layer, head) => ({ part, layer, head });

table("the nearest step and width, a head that there is, or another of the same part; no other sentence", (...values) => place(...values).at, [
  [0, steps, { step: "" }], [2, steps, { step: "10" }], [2, steps, { step: "22" }], [3, steps, { step: "9999" }],
  [0, widths, { width: "1180", height: "780" }], [0, widths, { width: "700", height: "780" }], [1, widths, { width: "360", height: "780" }],
  [3, heads, head("encoder", "1", "1")], [2, heads, head("encoder", "9", "1")], [-1, heads, head("rollout", "", "")],
  [-1, { fields: ["text"], values: [["abc"]] }, { text: "abd" }],
]);

test("a near step is as good as the one asked for, another head is not; the grid that knows the pinned cell, else all but it", () => {
  assert.deepEqual([place(steps, { step: "22" }).isExact, place(heads, head("encoder", "9", "1")).isExact], [true, false]);
  const text = (...values) => ({ fields: ["text"], values: values.map((value) => [value]) });
  const cells = { axes: [text("abc"), { fields: ["q"], values: [["0"], ["1"]] }], refused: ["view", "step"], pins: [] };
  const grids = [{ axes: [text("abc", "def"), steps], refused: ["view"], pins: ["q"] }, cells];
  const answerTo = (fields) => nearestGrid(grids, { text: "abc", step: "", view: "matrix", q: "", ...fields }, { step: "", view: "matrix", q: "" });
  assert.deepEqual(answerTo({ q: "1" }), { at: 1, found: [{ at: 0, isExact: true }, { at: 1, isExact: true }] });
  for (const other of [{ q: "1", text: "def" }, { q: "1", step: "10" }, { view: "lines", q: "1" }]) assert.equal(answerTo(other).at, 0);
});

/** Two rows, of three and of two boxes, 10 px high and 20 wide. */
const boxes = [[0, 0], [0, 20], [0, 40], [10, 0], [10, 20]].map(([top, left]) => (
  { getBoundingClientRect: () => ({ top, left, right: left + 20, bottom: top + 10 }) }));

table("left and right go round, home and end to the ends; up and down stay in the column", (at, key) => boxes.indexOf(neighbour(boxes, boxes[at], key)), [
  [1, 0, "ArrowRight"], [0, 4, "ArrowRight"], [4, 0, "ArrowLeft"], [0, 3, "Home"], [4, 1, "End"],
  [4, 1, "ArrowDown"], [4, 2, "ArrowDown"], [0, 3, "ArrowUp"], [0, 0, "ArrowUp"], [4, 4, "ArrowDown"],
]);

test("the list of keys names every key that a script listens to, and no other; a link says the sentence that is shown, typed or not", () => {
  const listed = (where) => HELP.filter((row) => row.where === where).flatMap(({ keys }) => keys).sort();
  const heard = { page: Object.keys(pageKeys), present: Object.keys(presentKeys), figure: gridKeys, group: groupKeys, room: roomKeys };
  for (const [where, keys] of Object.entries(heard)) assert.deepEqual(listed(where), [...keys].sort(), where);
  assert.deepEqual(links, ["http://page/?run=a&lang=en&text=vcuz", "http://page/?run=a&text=playground&lang=en", "http://page/?run=a&lang=en"]);
});

const words = { no_number: "a number, please", nearly: "nearly", sign: "sign" };
const near = [{ value: 0.06, text: "column 1" }, { value: 0.0601, text: "column 4" }];
const weight = { answer: 0.2163, tolerance: 0.0055, right: "right", where: "row 1", words, mistakes: near };
const count = { answer: 3, tolerance: 0, right: "right", where: "count", words, mistakes: [{ value: 6, text: "hatched" }] };
const cold = { ...weight, answer: -0.5, mistakes: [{ value: 0.5, text: "row 2" }] };

table("as near as the picture shows is right; what is wrong is told where to look, and why where that can be known", judged, [
  ...["0.22", " 0,216 ", "21.6 %", "0.2163", ".22"].map((text) => [["right", "right"], weight, text]),
  ...["−0.5", "-0,50", "-50%"].map((text) => [["right", "right"], cold, text]),
  [["right", "right"], count, "3"], [["wrong", "✗ row 1"], weight, "0.9"], [["wrong", "✗ nearly row 1"], weight, "0.2"],
  [["wrong", "✗ sign row 1"], weight, "-0.22"], [["wrong", "✗ column 1 row 1"], weight, "0.06"], [["wrong", "✗ sign row 1"], cold, "0.5"],
  [["wrong", "✗ hatched count"], count, "6"], [["wrong", "✗ count"], count, "-3"],
  ...["", "  ", "many", "%", "1.2.3"].map((text) => [["no_number", "a number, please"], weight, text]),
]);

const pixels = { x: (value) => 10 * value, y: (value) => 100 - 10 * value };
const points = (path) => [...path.matchAll(/([ML])(-?[\d.]+),(-?[\d.]+)/g)].map(([, act, x, y]) => [act, Number(x), Number(y)]);
const drawn = (xs, ys, count) => points(new Path(pixels).upTo(xs, ys, count));

test("a line leads through the points that have come, on its way between two of them; what is not a number is a gap", () => {
  for (const [wanted, ...inputs] of [
    [[["M", 10, 70], ["L", 20, 90], ["L", 30, 80]], [1, 2, 3], [3, 1, 2], 3], [[["M", 10, 70], ["L", 20, 90]], [1, 2, 3], [3, 1, 2], 2],
    [[["M", 10, 70], ["L", 15, 80]], [1, 2, 3], [3, 1, 2], 1.5], [[["M", 10, 70]], [1], [3], 1.9], [[], [], [], 0],
    [[["M", 10, 70], ["M", 30, 80], ["L", 40, 90]], [1, 2, 3, 4], [3, null, 2, 1], 4], [[["M", 10, 70]], [1, 2], [3, null], 1.5],
  ]) assert.deepEqual(drawn(...inputs), wanted, JSON.stringify(inputs));
  const xs = Array.from({ length: 200 }, (_, at) => at / 8), ys = xs.map((x) => Math.sin(9 * x)), path = new Path(pixels);
  for (let count = 0; count < 200; count += 0.7) path.upTo(xs, ys, count);
  const last = path.upTo(xs, ys, 200);
  assert.equal(last, new Path(pixels).upTo(xs, ys, 200)); // piece by piece it is the line that is drawn at once
  assert.equal(points(last).length, 200);
});

test("a line is behind its newest point for its trail and not longer, never stands still while points come, and is not late for ever", () => {
  const way = { from: 4, to: 10, since: 1000, trail: 150 };
  assert.deepEqual([900, 1000, 1050, 1075, 1150, 9999].map((now) => reached(way, now)), [4, 4, 6, 7, 10, 10]);
  assert.equal(reached({ ...way, trail: 0 }, 1000), 10);
  assert.deepEqual([onBeat(1050, 1000), onBeat(1089, 1000), onBeat(1500, 1000)], [1045, 1045, 1500]);
  let trail = 0, since = 0, now = 0;
  const come = (gap) => {
    now += gap;
    const stood = gap > trail && trail > 0;
    [trail, since] = [trailAfter(since ? now - since : 0, trail), now];
    return stood;
  };
  const uneven = Array.from({ length: 100 }, (_, at) => (at % 3 === 2 ? 210 : 105));
  assert.equal(uneven.map(come).slice(3).filter(Boolean).length, 0);
  assert.equal([400, 520, 480, 510, 520, 450].map(come).slice(2).filter(Boolean).length, 0); // the server has less to spare
  come(60_000);
  assert.ok(trail <= 700);
  for (let at = 0; at < 40; at++) come(100);
  assert.ok(trail <= 150, `${trail} ms`);
});

// The rules by which the page ticks off a lesson's steps. That they fit every step there is, tests/lessons/test_course.py sees.
const screen = (more = {}) => ({
  cursor: { tab: "map", stage: "", q: "", k: "", text: "", shift: "3", ...more.cursor },
  card: { id: "abba", settings: { task: "reverse", positions: "none" }, mine: false, parent: null, examples: [["ab", "ba"]], ...more.card },
  run: { id: "abba", step: 0, validations: {}, ...more.run },
  sentence: null, hasRead: false, isAnswered: () => false, isInSight: () => false, ...more.rest,
});
const done = (when, more, values = new Set()) => holds(when, screen(more), values);
const unknown = { rest: { card: null } }; // before the run on screen is known
const exact = (...shares) => ({ run: { validations: { exact_match: shares } } });
const sentence = { source: [{ known: true }], correct: true };
const reads = (text, more = {}) => ({ cursor: { text }, rest: { sentence: { ...sentence, ...more } } });

test("each condition, where it holds and where it does not; different: so many values one after another, each while the rest held", () => {
  const rows = [
    [true, { at: { tab: "map" } }], [false, { at: { tab: "training" } }], [false, { at: { tab: "map", stage: "*" } }],
    [true, { at: { stage: "*" } }, { cursor: { stage: "memory" } }], [true, { at: { q: "" } }],
    [true, { at: { stage: "*.weights" } }, { cursor: { stage: "decoder.0.cross_attention.weights" } }],
    [false, { at: { stage: "*.weights" } }, { cursor: { stage: "decoder.0.cross_attention.scores" } }],
    ...[["1", "2", true], ["2", "2", false], ["2", "1", false], ["", "2", false], ["2", "", false], ["9", "10", true]].map(
      ([q, k, wanted]) => [wanted, { ahead: true }, { cursor: { q, k } }]),
    [true, { settings: { positions: "none" } }], [true, { settings: {} }], [false, { settings: { positions: "none", task: "sort" } }],
    [true, { mine: true }, { card: { mine: true } }], [false, { mine: true }],
    [true, { forked: true }, { card: { parent: { run: "sort", step: 3 } } }], [false, { forked: true }],
    [false, { settings: {} }, unknown], [false, { mine: true }, unknown], [false, { forked: true }, unknown], [false, { steps: 0 }, unknown],
    ...[[59, false], [60, true], [61, true]].map(([step, wanted]) => [wanted, { steps: 60 }, { run: { step } }]),
    [true, { exact: 0.9 }, exact(0.2, 0.9)], [false, { exact: 0.9 }, exact(0.95, 0.89)], [false, { exact: 0.9 }, exact()], [false, { exact: 0.9 }],
    [true, { sentence: "own" }, reads("abc")], [false, { sentence: "own" }, reads("ab")], [false, { sentence: "own" }, reads("  ")],
    [true, { sentence: "unknown" }, reads("ab", { source: [{ known: true }, { known: false }] })], [false, { sentence: "unknown" }, reads("ab")],
    ...[[false, true], [true, false], [null, false]].map(([correct, wanted]) => [wanted, { sentence: "wrong" }, reads("ab", { correct })]),
    ...["own", "unknown", "wrong"].map((kind) => [false, { sentence: kind }, { cursor: { text: "ab" } }]),
    [false, { sentence: "wrong" }, { rest: { card: null, sentence: { ...sentence, correct: false } } }],
    ...["softmax", "heads"].map((guess) => [guess === "softmax", { guess }, { rest: { isAnswered: (name) => name === "softmax" } }]),
    [true, { read: true }, { rest: { hasRead: true } }], [false, { read: true }],
    [true, { sees: ".fixed" }, { rest: { isInSight: (selector) => selector === ".fixed" } }], [false, { sees: ".fixed" }],
    [false, { at: { tab: "map" }, mine: true }], [true, { at: { tab: "map" }, mine: true }, { card: { mine: true } }],
    [false, { at: { tab: "map" }, mine: true }, { card: { mine: true }, cursor: { tab: "training" } }],
  ];
  for (const [wanted, when, more] of rows) assert.equal(done(when, more), wanted, JSON.stringify([when, more]));
  assert.throws(() => done({ dances: true }), TypeError);
  const values = new Set(), when = { at: { tab: "map" }, different: [["shift"], 3] };
  const at = (shift, tab = "map") => done(when, { cursor: { shift, tab } }, values);
  assert.deepEqual([at("3"), at("3"), at("4"), at("5", "training"), at("4"), at("6")], [false, false, false, false, false, true]);
  assert.ok(at("3")); // once done it stays done as long as the rest holds
  const heads = new Set(), of = (layer, head) => done({ different: [["layer", "head"], 3] }, { cursor: { layer, head } }, heads);
  assert.deepEqual([of("", ""), of("1", ""), of("1", "2"), of("2", "1")], [false, false, false, true]); // nothing at all is no value
});

// The paper's figure: nothing lies over anything else, and lines begin and end at boxes.
const part = (name, kind, shows = [], stages = [name]) => ({ name, kind, text: name, about: name, hue: "encoder", shows, stages });
const sublayer = (name, kind, shows, residual = true) => ({
  parts: [
    ...(kind === "attention" ? [part(`${name}.mask`, "mask_padding", [{ tab: "masks", mask: "padding" }], [`${name}.masked`])] : []),
    part(name, kind, shows),
    part(`${name}.norm`, "add_norm", [{ tab: "map", stage: `${name.replace(".", ".0.")}.norm` }], [`${name}.norm`, `${name}.residual`]),
  ],
  residual,
});
const stack = (name, side, sublayers, end = []) => ({
  layers: 2,
  input: [part(`${side}.ids`, "tokens"), part(`${side}.embedding`, "embedding", [{ tab: "embeddings", what: side }])],
  sublayers, end,
});
const figure = (residual = true) => ({
  label: "", open: "", next: "", shared: "none", differences: "",
  encoder: stack("encoder", "src", [
    sublayer("encoder.self_attention", "attention", [{ tab: "attention", part: "encoder" }], residual),
    sublayer("encoder.feed_forward", "feed_forward", [{ tab: "map", stage: "encoder.0.feed_forward.activated" }], residual),
  ]),
  memory: part("memory", "memory"),
  decoder: stack("decoder", "tgt", [
    sublayer("decoder.self_attention", "attention", [{ tab: "attention", part: "decoder" }], residual),
    sublayer("decoder.cross_attention", "attention", [{ tab: "attention", part: "cross" }], residual),
  ], [part("logits", "linear"), part("probabilities", "softmax")]),
});

test("every part has a box, none lies over another, and lines end at boxes: from the memory at cross-attention, around each sublayer", () => {
  const plan = layOut(figure()), boxes = [...plan.boxes.values()];
  assert.deepEqual([...plan.boxes.keys()].sort(), partsOf(figure()).map(({ name }) => name).sort());
  for (const { x, y, width, height } of boxes) assert.ok(x >= 0 && y >= 0 && x + width <= WIDTH && y + height <= plan.height);
  for (const [at, a] of boxes.entries())
    for (const b of boxes.slice(at + 1))
      assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y);
  const cross = plan.boxes.get("decoder.cross_attention");
  const [memory] = plan.lines.filter(({ kind }) => kind === "memory");
  assert.deepEqual(memory.points.at(-1), [cross.x, cross.y + cross.height / 2]);
  const on = ([x, y]) => [...plan.boxes.values()].some((box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
  const around = plan.lines.filter(({ kind }) => kind === "residual");
  assert.equal(around.length, 4);
  for (const { points } of around) assert.ok(on(points.at(-1)));
  assert.equal(layOut(figure(false)).lines.filter(({ kind }) => kind === "residual").length, 0);
});
