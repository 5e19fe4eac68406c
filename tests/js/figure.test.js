// The paper's figure: nothing lies over anything else, and lines begin and end at boxes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { WIDTH, layOut, partsOf } from "../../playground/ui/static/figure_layout.js";

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

test("every part has a box in the drawing, and none lies over another", () => {
  const plan = layOut(figure()), boxes = [...plan.boxes.values()];
  assert.deepEqual([...plan.boxes.keys()].sort(), partsOf(figure()).map(({ name }) => name).sort());
  for (const { x, y, width, height } of boxes) assert.ok(x >= 0 && y >= 0 && x + width <= WIDTH && y + height <= plan.height);
  for (const [at, a] of boxes.entries())
    for (const b of boxes.slice(at + 1))
      assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y);
});

test("lines end at boxes: from the memory at cross-attention, around each sublayer where there are residuals", () => {
  const plan = layOut(figure()), cross = plan.boxes.get("decoder.cross_attention");
  const [memory] = plan.lines.filter(({ kind }) => kind === "memory");
  assert.deepEqual(memory.points.at(-1), [cross.x, cross.y + cross.height / 2]);
  const on = ([x, y]) => [...plan.boxes.values()].some((box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
  const around = plan.lines.filter(({ kind }) => kind === "residual");
  assert.equal(around.length, 4);
  for (const { points } of around) assert.ok(on(points.at(-1)));
  assert.equal(layOut(figure(false)).lines.filter(({ kind }) => kind === "residual").length, 0);
});
