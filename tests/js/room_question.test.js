// The class's guess on the page: what a member chooses goes to the room while its question is open, the answer waits as long, and nothing
// personal of a teacher is sent.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { KNOWN, openPage } from "./page.js";

const FIELDS = { sure: "", lesson: "", predicted: "", certain: "", notes: "", room: "", present: "" };
const known = { ...KNOWN.cursor, defaults: { ...KNOWN.cursor.defaults, ...FIELDS }, followed: [...KNOWN.cursor.followed, "lab", "lesson"] };
const document = openPage("?lang=en&run=a", { ...KNOWN, cursor: known });
const sent = [];
globalThis.innerHeight = 900;
let room = {};
globalThis.fetch = async (url, { body = "{}" } = {}) => {
  const action = new URL(url).pathname.split("/").at(-1);
  sent.push([action, JSON.parse(body)]);
  return { json: async () => (action === "join" ? { room, ticket: "t" } : { done: true }) };
};
mock.timers.enable({ apis: ["setTimeout"] });
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { act, exit } = await import("../../playground/ui/static/room.js");
const { awaits, drawQuestion } = await import("../../playground/ui/static/room_question.js");
change({ boot: { words: {}, knobs: [], defaults: {}, labs: { softmax: "Softmax", masks: "Masks" }, course: [] } });

const asked = (place, more = {}) => ({ kind: "question", place, state: "open", joined: 2, answered: 0, mine: false, ...more });
const told = (action) => sent.filter(([name]) => name === action).map(([, values]) => values);
const guess = (fields) => move({ tab: "labs", lab: "softmax", ...fields });

async function enter(activities, teacher = false) {
  room = { code: "K7QFM", teacher, here: 1, followers: 1, cursor: {}, members: [], number: teacher ? 0 : 1, name: "", activities };
  await act("join", { code: "K7QFM", nickname: "" });
}

beforeEach(() => {
  exit();
  move({ tab: "labs", lab: "softmax", guess: "", sure: "", lesson: "", predicted: "", certain: "" }, { instead: true });
  sent.length = 0;
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a guess goes to the class once it is whole, and again when it changes", async () => {
  await enter({ x: asked({ lab: "softmax" }) });
  guess({ guess: "grows" });
  assert.deepEqual(told("answer"), []);
  guess({ sure: "75" });
  guess({ guess: "shrinks" }); // while the first is on its way
  guess({ guess: "same" });
  assert.equal(told("answer").length, 1);
  await settled();
  const answer = { code: "K7QFM", activity: "x", sure: "75" };
  assert.deepEqual(told("answer"), [{ ...answer, guess: "grows" }, { ...answer, guess: "same" }]);
});

test("the question of a lesson has fields of its own", async () => {
  await enter({ x: asked({ lab: "masks" }), y: asked({ lesson: "attention", run: "a" }) });
  move({ tab: "course", lesson: "attention", predicted: "last", certain: "50" });
  assert.deepEqual(told("answer"), [{ code: "K7QFM", activity: "y", guess: "last", sure: "50" }]);
  await settled();
});

test("nothing is sent by a teacher, for another lab, of a closed question, or by who doesn't know", async () => {
  const open = { x: asked({ lab: "softmax" }) }, closed = { x: asked({ lab: "softmax" }, { state: "closed" }) };
  for (const [activities, isTeacher] of [[open, true], [{ x: asked({ lab: "masks" }) }], [closed], [{}]]) {
    await enter(activities, isTeacher);
    guess({ guess: "grows", sure: "75" });
    guess({ guess: "", sure: "" });
  }
  await enter(open);
  guess({ guess: "unknown", sure: "75" });
  assert.deepEqual(told("answer"), []);
});

test("the answer waits until the teacher has closed the question, and for the class until it is revealed", async () => {
  const waits = async (state, teacher) => {
    await enter({ x: asked({ lab: "softmax" }, { state }) }, teacher);
    return awaits();
  };
  assert.deepEqual([await waits("open"), await waits("closed"), await waits("revealed")], ["open", "closed", ""]);
  assert.deepEqual([await waits("open", true), await waits("closed", true)], ["open", ""]);
  move({ lab: "masks" });
  assert.equal(awaits(), "");
  exit();
  move({ lab: "softmax" });
  assert.equal(awaits(), "");
});

function drawn() {
  const element = document.createElement("div");
  drawQuestion(element, { kind: "question", id: "class", field: "lab", name: "softmax" }, async () => {});
  const buttons = element.hidden ? [] : element.children[0].children.filter((child) => child.tag === "button");
  return { hidden: element.hidden, ids: buttons.map((one) => one.getAttribute("id")), buttons };
}

test("only a teacher asks, and nothing personal of where they look is sent", async () => {
  assert.ok(drawn().hidden);
  await enter({});
  assert.ok(drawn().hidden);
  await enter({}, true);
  guess({ guess: "grows", sure: "75" });
  const { ids, buttons } = drawn();
  assert.deepEqual(ids, ["pg-question-ask"]);
  buttons[0].dispatchEvent({ type: "click" });
  const [{ about, cursor: place }] = told("ask");
  assert.equal(about, "lab");
  assert.equal(place.lab, "softmax");
  assert.ok(!["guess", "sure", "predicted", "certain", "room", "lang"].some((name) => name in place));
  assert.equal(cursor.guess, "grows");
});

test("what a teacher can do depends on how far the question is", async () => {
  const ids = async (state, more) => {
    await enter({ x: asked({ lab: "softmax" }, { state, ...more }) }, true);
    return drawn().ids.map((id) => id.replace("pg-question-", ""));
  };
  assert.deepEqual(await ids("open"), ["close", "reveal", "withdraw"]);
  assert.deepEqual(await ids("closed"), ["reveal", "withdraw"]);
  assert.deepEqual(await ids("revealed", { counts: {}, answer: "" }), ["reveal", "withdraw"]);
  assert.deepEqual(await ids("revealed", { counts: {}, answer: "grows" }), ["withdraw"]);
});

test("who guessed before the class was asked sends it by a button, since no other click would", async () => {
  guess({ guess: "grows", sure: "75" });
  await enter({ x: asked({ lab: "softmax" }) });
  const { ids, buttons } = drawn();
  assert.deepEqual(ids, ["pg-question-send"]);
  buttons[0].dispatchEvent({ type: "click" });
  assert.deepEqual(told("answer"), [{ code: "K7QFM", activity: "x", guess: "grows", sure: "75" }]);
  assert.equal(page.room.activities.x.mine, false); // the room says so itself, when it has it
});
