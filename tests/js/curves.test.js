// Curves: each trace takes the columns of the history that it names, and the first shape stands at the replay's step.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fillCurve } from "../../playground/ui/static/curves.js";

const trace = (x, y) => ({ type: "scatter", x: [], y: [], meta: { x, y } });
const skeleton = () => ({
  data: [trace("step", "loss"), trace("validation_step", "validation_loss"), trace("validation_step", "exact_match")],
  layout: { height: 200, shapes: [{ type: "line" }, { type: "rect", x0: 3 }] },
});
const run = {
  id: "abba", version: 7, rows: { step: [1, 2, 3], loss: [3, 2, 1] }, validations: { step: [2], loss: [2.5], exact_match: [0.25] },
};

test("training and validation have columns of their own", () => {
  const { data } = fillCurve(skeleton(), run, "");
  assert.deepEqual(data.map(({ x, y }) => [x, y]), [[[1, 2, 3], [3, 2, 1]], [[2], [2.5]], [[2], [0.25]]]);
});

test("a line that came with its numbers keeps them: it is another run's", () => {
  const pinned = { type: "scatter", name: "pinned", x: [1, 2], y: [5, 4] };
  const { data } = fillCurve({ ...skeleton(), data: [...skeleton().data, pinned] }, run, "");
  assert.deepEqual(data.at(-1), pinned);
});

test("what the history doesn't have is empty, not missing", () => {
  const { data } = fillCurve(skeleton(), { ...run, rows: {}, validations: {} }, "");
  assert.deepEqual(data.map(({ x, y }) => [x, y]), [[[], []], [[], []], [[], []]]);
});

test("the first shape marks the step of the replay, and hides while the newest is shown", () => {
  const at = (step) => fillCurve(skeleton(), run, step).layout.shapes;
  assert.deepEqual(at("2"), [{ type: "line", visible: true, x0: 2, x1: 2 }, { type: "rect", x0: 3 }]);
  assert.equal(at("")[0].visible, false);
  assert.equal(at("0")[0].visible, true); // before the first step is a place as well
  assert.deepEqual(fillCurve({ data: [], layout: {} }, run, "2").layout.shapes, []);
});

test("a new version draws anew, and a zoom stays as long as the run", () => {
  const { layout } = fillCurve(skeleton(), run, "");
  assert.deepEqual([layout.datarevision, layout.uirevision, layout.height], [7, "abba", 200]);
});

test("the skeleton stays empty, to be filled again", () => {
  const empty = skeleton();
  fillCurve(empty, run, "2");
  assert.deepEqual(empty, skeleton());
});

test("what a fork has from its parent stands behind it, in grey; its own begins after that", () => {
  const loss = { name: "loss", x: [], y: [], meta: { x: "step", y: "loss", past_color: "grey" }, line: { color: "teal", width: 2 } };
  const { data } = fillCurve({ data: [loss], layout: {} }, run, "", { run: "a", step: 2, until: 2, name: "rapid-bee" });
  assert.deepEqual(data.map(({ name, x, y, line, showlegend }) => [name, x, y, line, showlegend]), [
    ["rapid-bee", [1, 2], [3, 2], { color: "grey", width: 2 }, false], ["loss", [3], [1], { color: "teal", width: 2 }, undefined],
  ]);
});

test("a fork of step 0, and one of those that counted anew, has nothing from its parent", () => {
  const { data } = fillCurve(skeleton(), run, "", { run: "a", step: 2, until: 0, name: "" });
  assert.deepEqual(data.map(({ x }) => x), [[], [], [], [1, 2, 3], [2], [2]]);
});

test("the axis is as long as the run, also in a picture that was made for another", () => {
  const made = skeleton();
  made.layout.xaxis = { autorange: false, range: [0, 90], nticks: 6 };
  assert.deepEqual(fillCurve(made, { ...run, steps: 40 }, "").layout.xaxis, { autorange: false, range: [0, 40], nticks: 6 });
  assert.deepEqual(fillCurve(made, { ...run, steps: 0 }, "").layout.xaxis.range, [0, 90]); // nothing is known of the run yet
  made.layout.xaxis = { autorange: true };
  assert.deepEqual(fillCurve(made, { ...run, steps: 40 }, "").layout.xaxis, { autorange: true });
});
