// What a room fixes, on a student's page: fixed settings go back whatever sets them, what can't be held is asked for once, and a teacher's
// page is free.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { KNOWN, openPage } from "./page.js";

const document = openPage("?lang=en&run=a", KNOWN);
let room = {};
globalThis.fetch = async () => ({ json: async () => ({ room, ticket: "t" }) });
const { change, page } = await import("../../playground/ui/static/store.js");
const { act, exit, fixed } = await import("../../playground/ui/static/room.js");
const { asked, meet } = await import("../../playground/ui/static/knobs.js");
const { isOpenLab } = await import("../../playground/ui/static/room_fixed.js");

const NAMES = ["task", "d_model"], FREE = { settings: {}, tasks: [], labs: [], controls: ["data", "model"] };
const boot = { words: {}, knobs: NAMES, groups: { data: ["task"], model: ["d_model"] }, defaults: { task: "reverse", d_model: 64 }, live: [] };
let takes = true, times = 0;
meet({
  relabel() {},
  settings() {
    times += 1;
    if (takes) change({ knobs: { ...boot.defaults, ...page.wanted } });
  },
});

async function enter(said, teacher = false) {
  room = { code: "K7QFM", teacher, here: 1, followers: 1, cursor: {}, members: [], number: 1, name: "", activities: {}, now: null };
  room.fixed = { ...FREE, ...said };
  await act("join", { code: "K7QFM", nickname: "" });
}

beforeEach(() => {
  exit();
  takes = true;
  change({ boot, knobs: { ...boot.defaults }, own: "" });
  times = 0;
});

test("a fixed setting takes its value, and takes it again whatever moves it", async () => {
  await enter({ settings: { d_model: 32 } });
  assert.deepEqual(page.knobs, { task: "reverse", d_model: 32 });
  change({ knobs: { task: "sort", d_model: 128 } });
  assert.deepEqual(page.knobs, { task: "sort", d_model: 32 });
});

test("a task that is not open gives way to one that is", async () => {
  await enter({ tasks: ["sort", "copy"] });
  assert.equal(page.knobs.task, "sort");
  change({ knobs: { ...page.knobs, task: "copy" } });
  assert.equal(page.knobs.task, "copy");
});

test("controls that don't take a value are asked once", async () => {
  takes = false;
  await enter({ settings: { d_model: 32 } });
  change({ room: { ...page.room } });
  change({ room: { ...page.room } });
  assert.equal(times, 1);
});

test("sentences of the teacher's own are the class's", async () => {
  await enter({ settings: { task: "own", own: "abc" } });
  assert.equal(page.own, "abc");
});

test("nothing holds for the teacher, nor for who has left", async () => {
  await enter({ settings: { d_model: 32 }, labs: ["skip"] }, true);
  assert.equal(page.knobs.d_model, 64);
  assert.ok(isOpenLab("masks"));
  await enter({ settings: { d_model: 32 }, labs: ["skip"] });
  assert.deepEqual([isOpenLab("masks"), isOpenLab("skip")], [false, true]);
  assert.equal(asked({}).asked.fixed, "d_model");
  exit();
  assert.equal(asked({}).asked.fixed, "");
  assert.deepEqual(fixed().settings, {});
  change({ knobs: { task: "reverse", d_model: 128 } });
  assert.equal(page.knobs.d_model, 128);
});

test("a group that is not shown is off, and so is what sets knobs of every group", async () => {
  for (const id of ["knob-task", "knob-d_model", "pg-more-data", "pg-more-model", "preset", "pg-reset"]) {
    const element = document.createElement("div");
    element.setAttribute("id", id);
    document.body.append(element);
  }
  const isOff = (id) => document.getElementById(id).dataset.off !== undefined;
  await enter({ controls: ["data"] });
  assert.deepEqual(["knob-task", "knob-d_model", "pg-more-model", "preset"].map(isOff), [false, true, true, true]);
  exit();
  assert.deepEqual(["knob-task", "knob-d_model", "pg-more-model", "preset"].map(isOff), [false, false, false, false]);
});
