// What a room fixes on a student's page, and the class's guess: what a member chooses goes to the room while its question is open, the answer
// waits as long, and nothing personal of a teacher is sent.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { KNOWN, openPage } from "./page.js";

const FREE = { settings: {}, tasks: [], labs: [], controls: ["data", "model"] };
const FIELDS = { sure: "", lesson: "", predicted: "", certain: "", notes: "", room: "", present: "" };
const known = { ...KNOWN.cursor, defaults: { ...KNOWN.cursor.defaults, ...FIELDS }, followed: [...KNOWN.cursor.followed, "lab", "lesson"] };
const document = openPage("?lang=en&run=a", { ...KNOWN, cursor: known });
const sent = [];
globalThis.innerHeight = 900;
let room = {}, takes = true, times = 0;
globalThis.fetch = async (url, { body = "{}" } = {}) => {
  const action = new URL(url).pathname.split("/").at(-1);
  sent.push([action, JSON.parse(body)]);
  return { json: async () => (action === "join" ? { room, ticket: "t" } : { done: true }) };
};
mock.timers.enable({ apis: ["setTimeout"] });
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { act, exit, fixed } = await import("../../playground/ui/static/room.js");
const { asked, meet } = await import("../../playground/ui/static/knobs.js");
const { isOpenLab } = await import("../../playground/ui/static/room_fixed.js");
const { awaits, drawQuestion } = await import("../../playground/ui/static/room_question.js");
const boot = {
  words: {}, knobs: ["task", "d_model"], groups: { data: ["task"], model: ["d_model"] }, defaults: { task: "reverse", d_model: 64 }, live: [],
  labs: { softmax: "Softmax", masks: "Masks" }, course: [],
};
meet({
  relabel() {},
  settings() {
    times += 1;
    if (takes) change({ knobs: { ...boot.defaults, ...page.wanted } });
  },
});

const actions = (action) => sent.filter(([name]) => name === action).map(([, values]) => values);
const settled = () => new Promise((resolve) => setImmediate(resolve));
const guess = (fields) => move({ tab: "labs", lab: "softmax", ...fields });
const question = (place, more = {}) => ({ kind: "question", place, state: "open", joined: 2, answered: 0, mine: false, ...more });

async function enter(more, teacher = false) {
  const empty = { here: 1, followers: 1, cursor: {}, members: [], name: "", activities: {}, fixed: FREE, now: null };
  room = { ...empty, code: "K7QFM", teacher, number: teacher ? 0 : 1, ...more };
  await act("join", { code: "K7QFM", nickname: "" });
}
const fix = (values, teacher) => enter({ fixed: { ...FREE, ...values } }, teacher);
const ask = (activities, teacher) => enter({ activities }, teacher);

beforeEach(() => {
  exit();
  takes = true;
  change({ boot, knobs: { ...boot.defaults }, own: "" });
  move({ tab: "labs", lab: "softmax", guess: "", sure: "", lesson: "", predicted: "", certain: "" }, { instead: true });
  times = sent.length = 0;
});

test("a fixed setting takes its value again whatever moves it, a task that is not open gives way, own sentences are the class's", async () => {
  await fix({ settings: { d_model: 32 } });
  assert.deepEqual(page.knobs, { task: "reverse", d_model: 32 });
  change({ knobs: { task: "sort", d_model: 128 } });
  assert.deepEqual(page.knobs, { task: "sort", d_model: 32 });
  await fix({ tasks: ["copy", "sort"] });
  change({ knobs: { ...page.knobs, task: "reverse" } });
  assert.equal(page.knobs.task, "copy");
  change({ knobs: { ...page.knobs, task: "sort" } });
  assert.equal(page.knobs.task, "sort");
  await fix({ settings: { task: "own", own: "abc" } });
  assert.equal(page.own, "abc");
});

test("controls that don't take a value are asked once", async () => {
  takes = false;
  await fix({ settings: { d_model: 32 } });
  for (let news = 0; news < 2; news++) change({ room: { ...page.room } });
  assert.equal(times, 1);
});

test("nothing is fixed for the teacher, nor after leaving", async () => {
  const values = { settings: { d_model: 32 }, labs: ["skip"] };
  await fix(values, true);
  assert.deepEqual([page.knobs.d_model, isOpenLab("masks")], [64, true]);
  await fix(values);
  assert.deepEqual([isOpenLab("masks"), isOpenLab("skip"), asked({}).asked.fixed], [false, true, "d_model"]);
  exit();
  assert.deepEqual([asked({}).asked.fixed, fixed().settings], ["", {}]);
  change({ knobs: { task: "reverse", d_model: 128 } });
  assert.equal(page.knobs.d_model, 128);
});

test("a group that is not shown is off, and so is what sets knobs of every group", async () => {
  const ids = ["knob-task", "knob-d_model", "pg-more-data", "pg-more-model", "preset", "pg-reset"];
  for (const id of ids) {
    const element = document.createElement("div");
    element.setAttribute("id", id);
    document.body.append(element);
  }
  const off = () => ids.filter((id) => document.getElementById(id).dataset.off !== undefined);
  await fix({ controls: ["data"] });
  assert.deepEqual(off(), ["knob-d_model", "pg-more-model", "preset", "pg-reset"]);
  exit();
  assert.deepEqual(off(), []);
});

test("a guess goes to the class once it is whole, and again when it changes; a lesson has fields of its own", async () => {
  await ask({ x: question({ lab: "softmax" }), y: question({ lesson: "attention", run: "a" }) });
  guess({ guess: "grows" });
  assert.deepEqual(actions("answer"), []);
  guess({ sure: "75" });
  guess({ guess: "shrinks" }); // while the first is on its way
  guess({ guess: "same" });
  assert.equal(actions("answer").length, 1);
  await settled();
  const answer = { code: "K7QFM", activity: "x", sure: "75" };
  assert.deepEqual(actions("answer"), [{ ...answer, guess: "grows" }, { ...answer, guess: "same" }]);
  await settled();
  move({ tab: "course", lesson: "attention", predicted: "last", certain: "50" });
  assert.deepEqual(actions("answer").at(-1), { code: "K7QFM", activity: "y", guess: "last", sure: "50" });
  await settled();
});

test("nothing is sent by a teacher, for another lab, of a closed question, or by who doesn't know", async () => {
  const open = { x: question({ lab: "softmax" }) }, closed = { x: question({ lab: "softmax" }, { state: "closed" }) };
  for (const [activities, isTeacher] of [[open, true], [{ x: question({ lab: "masks" }) }], [closed], [{}]]) {
    await ask(activities, isTeacher);
    guess({ guess: "grows", sure: "75" });
    guess({ guess: "", sure: "" });
  }
  await ask(open);
  guess({ guess: "unknown", sure: "75" });
  assert.deepEqual(actions("answer"), []);
});

function drawn() {
  const element = document.createElement("div");
  drawQuestion(element, { kind: "question", id: "class", field: "lab", name: "softmax" }, async () => {});
  const buttons = element.hidden ? [] : element.children[0].children.filter((child) => child.tag === "button");
  return { hidden: element.hidden, ids: buttons.map((one) => one.getAttribute("id").replace("pg-question-", "")), buttons };
}

test("how far a question is says whether its answer waits and what a teacher can do", async () => {
  for (const [state, more, student, teacher, buttons] of [
    ["open", {}, "open", "open", ["close", "reveal", "withdraw"]], ["closed", {}, "closed", "", ["reveal", "withdraw"]],
    ["revealed", { counts: {}, answer: "" }, "", "", ["reveal", "withdraw"]], ["revealed", { counts: {}, answer: "grows" }, "", "", ["withdraw"]],
  ]) {
    await ask({ x: question({ lab: "softmax" }, { state, ...more }) });
    assert.equal(awaits(), student, state);
    await ask({ x: question({ lab: "softmax" }, { state, ...more }) }, true);
    assert.deepEqual([awaits(), drawn().ids], [teacher, buttons], state);
  }
  await ask({ x: question({ lab: "softmax" }) });
  move({ lab: "masks" });
  assert.equal(awaits(), "");
  exit();
  move({ lab: "softmax" });
  assert.equal(awaits(), "");
});

test("only a teacher asks, and nothing personal of where they look is sent", async () => {
  assert.ok(drawn().hidden);
  await ask({});
  assert.ok(drawn().hidden);
  await ask({}, true);
  guess({ guess: "grows", sure: "75" });
  const { ids, buttons } = drawn();
  assert.deepEqual(ids, ["ask"]);
  buttons[0].dispatchEvent({ type: "click" });
  const [{ about, cursor: place }] = actions("ask");
  assert.deepEqual([about, place.lab, cursor.guess], ["lab", "softmax", "grows"]);
  assert.ok(!["guess", "sure", "predicted", "certain", "room", "lang"].some((name) => name in place));
});

test("a guess from before the class was asked is sent by a button, since no other click would", async () => {
  guess({ guess: "grows", sure: "75" });
  await ask({ x: question({ lab: "softmax" }) });
  const { ids, buttons } = drawn();
  assert.deepEqual(ids, ["send"]);
  buttons[0].dispatchEvent({ type: "click" });
  assert.deepEqual(actions("answer"), [{ code: "K7QFM", activity: "x", guess: "grows", sure: "75" }]);
  assert.equal(page.room.activities.x.mine, false); // the room says so itself, when it has it
});
