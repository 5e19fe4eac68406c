// The room on the page: a member sees what the teacher shows until they move something themselves, and has what is fixed; the teacher's newest
// place is sent, ten times a second at most; what a member guesses goes to the class while its question is open. Nothing personal is sent.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { KNOWN, openPage, streams } from "./page.js";

const FIELDS = { sure: "", lesson: "", predicted: "", certain: "", notes: "", room: "", present: "", fixed: "", controls: "" };
const known = { ...KNOWN.cursor, defaults: { ...KNOWN.cursor.defaults, ...FIELDS }, followed: [...KNOWN.cursor.followed, "lab", "lesson"] };
const document = openPage("?lang=en&run=a&d_model=16", { ...KNOWN, cursor: known });
const sent = [];
let answers = {};
globalThis.fetch = async (url, { body = "{}", signal } = {}) => {
  const action = new URL(url).pathname.split("/").at(-1);
  sent.push([action, JSON.parse(body)]);
  return { json: async () => (signal?.throwIfAborted(), answers[action] ?? { done: true, blocks: [] }) };
};
mock.timers.enable({ apis: ["setTimeout"] });
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { h } = await import("../../playground/ui/static/dom.js");
const { act, exit, fixed, isFollowing, leaving, stayFollowing } = await import("../../playground/ui/static/room.js");
const { listenerInputs, meet, pointAt, setControls } = await import("../../playground/ui/static/knobs.js");
const { embedding } = await import("../../playground/ui/static/embed.js");
const { isOpenLab } = await import("../../playground/ui/static/room_fixed.js");
await import("../../playground/features/board/experiment.js");
const { awaits, drawQuestion } = await import("../../playground/ui/static/room_question.js");
const boot = {
  words: {}, knobs: ["task", "d_model"], groups: { data: ["task"], model: ["d_model"] }, defaults: { task: "reverse", d_model: 64 }, live: [],
  task_steps: { sort: 400 }, labs: { softmax: "Softmax", masks: "Masks" }, course: [],
  labels: {}, choices: {}, dealt_labs: { skip: { arms: ["with", "without"], first: [], minutes: 6 } },
  statuses: { working: [], over: [] }, glossary: { terms: [], not: [] }, lan: {}, host: "page.example",
};
meet({ relabel() {}, settings: () => change({ knobs: { ...boot.defaults, ...page.wanted } }) });

const FREE = { settings: {}, tasks: [], labs: [], controls: ["data", "model"] };
const ROOM = { code: "K7QFM", teacher: false, here: 1, followers: 1, cursor: {}, calls: 0, members: [],
  number: 1, name: "", activities: {}, fixed: FREE, now: null };
const TEACHER = { teacher: true, number: 0 };
const there = (fields) => ({ run: "a", text: "", tab: "training", layer: "", head: "", lab: "softmax", lesson: "", ...fields });
const settled = () => new Promise((resolve) => setImmediate(resolve));
const passed = (time) => (mock.timers.tick(time), settled());
const posted = (action) => sent.filter(([name]) => name === action).map(([, values]) => values);
const guess = (fields) => move({ tab: "labs", lab: "softmax", ...fields });
const question = (place, more = {}) => ({ kind: "question", place, state: "open", joined: 2, answered: 0, mine: false, ...more });

async function enter(room) {
  answers = { join: { room: { ...ROOM, ...room }, ticket: "t" } };
  await act("join", { code: ROOM.code, nickname: "" });
}
const fix = (values, more) => enter({ fixed: { ...FREE, ...values }, ...more });

beforeEach(() => {
  exit();
  navigator.userActivation = { isActive: false };
  change({ boot, knobs: { ...boot.defaults }, own: "" });
  move({ ...there({}), guess: "", sure: "", predicted: "", certain: "" }, { instead: true });
  streams.length = sent.length = 0;
});

test("joining shows where the teacher looks, in one step that Back doesn't return from; news of others change nothing", async () => {
  const before = globalThis.history.entries.length;
  await enter({ cursor: there({ tab: "map", layer: "2", head: "3" }) });
  assert.deepEqual([cursor.tab, cursor.layer, cursor.head, globalThis.history.entries.length], ["map", "2", "3", before]);
  assert.equal(streams.at(-1).url.searchParams.get("ticket"), "t");
  streams[0].say({ ...ROOM, cursor: there({ tab: "masks" }) });
  assert.equal(cursor.tab, "masks");
  move({ tab: "map" }); // by itself, without a click
  streams[0].say({ ...ROOM, here: 2, cursor: there({ tab: "masks" }) });
  assert.deepEqual([cursor.tab, isFollowing()], ["map", true]);
});

test("a member who moves something has let go, and comes back to where the teacher is by then; own answers and the language are no move", async () => {
  await enter({ cursor: there({ tab: "map", guess: "no", lang: "zh" }) });
  navigator.userActivation.isActive = true;
  move({ guess: "yes" });
  assert.deepEqual([isFollowing(), cursor.guess, cursor.lang], [true, "yes", "en"]);
  move({ head: "5" });
  assert.ok(!isFollowing());
  assert.deepEqual(posted("follow"), [{ code: "K7QFM", following: false }]);
  streams[0].say({ ...ROOM, cursor: there({ tab: "masks" }) });
  assert.deepEqual([cursor.tab, cursor.head], ["map", "5"]);
  streams[0].say({ ...ROOM, calls: 1, cursor: there({ tab: "masks" }) }); // the teacher calls everybody back
  assert.deepEqual([cursor.tab, cursor.head, posted("follow").at(-1).following], ["masks", "", true]);
  const open = () => (move({ run: "mine" }), change({ reply: { run: "mine" } }), [isFollowing(), cursor.run]);
  stayFollowing(); // a run that one trains is no other place: the teacher still calls its owner, and shows what they reveal
  const hear = (news) => [...open(), (streams[0].say({ ...ROOM, calls: 2, cursor: there({ tab: "masks" }), ...news }), cursor.run)];
  const news = [{}, { here: 2 }, { activities: { x: question({ lab: "softmax" }, { state: "revealed" }) } }];
  assert.deepEqual(news.map(hear), ["a", "mine", "a"].map((run) => [true, "mine", run]));
  document.dispatchEvent({ type: "pointerdown", composedPath: () => [] });
  navigator.userActivation.isActive = false;
  assert.deepEqual(open(), [false, "mine"], "one that is asked for lets go long after the click");
});

test("a teacher's newest place is sent once, nothing personal of it; again after the line was cut, not after a reload", async () => {
  await enter(TEACHER);
  await passed(100);
  sent.length = 0;
  for (const head of ["1", "2", "3"]) move({ head, guess: "yes" });
  mock.timers.tick(99);
  assert.deepEqual(sent, []);
  await passed(1);
  const place = { code: "K7QFM", cursor: there({ head: "3" }) };
  assert.deepEqual(posted("cursor"), [place]);
  for (const wanted of [[place], [place, place]]) {
    streams[0].onopen(); // the second one is the browser's own try
    mock.timers.tick(100);
    assert.deepEqual(posted("cursor"), wanted);
  }
  await settled();
});

test("a room that is over is forgotten, and why is shown: it ended, or its file was damaged", async () => {
  for (const [key, text] of [["rooms.not_in", "room_over"], ["rooms.damaged", "The file was damaged."]]) {
    await enter({});
    assert.ok(localStorage.getItem("playground-room"));
    answers = { room: { error: "The file was damaged.", key } };
    streams.at(-1).listeners.gone({ data: "{}" });
    assert.deepEqual([page.room, localStorage.getItem("playground-room"), streams.at(-1).readyState], [null, null, 2]);
    await settled();
    assert.equal(document.querySelectorAll(".pg-notice").at(-1).dataset.text, text);
  }
  document.body.replaceChildren();
  await enter(TEACHER);
  await Promise.all([leaving("end"), streams.at(-1).listeners.gone({ data: "{}" })]);
  assert.equal(document.querySelectorAll(".pg-notice").length, 0, "who ends it is not told so in red");
});

test("an exercise link fixes what it names and hides groups without a room, and the line for a course's page carries one", () => {
  move({ fixed: "d_model,gone,task", controls: "model" });
  assert.deepEqual(fixed(), { settings: { d_model: 16, task: "reverse" }, tasks: [], labs: [], controls: ["model"] });
  change({ knobs: { task: "sort", d_model: 128 } });
  assert.deepEqual(page.knobs, { task: "reverse", d_model: 16 });
  move({ fixed: "", controls: "" });
  assert.deepEqual(fixed().settings, {});
  change({ knobs: { task: "sort", d_model: 32 } });
  const part = embedding("https://page.example/?run=a", true), [fix, model] = ["fix", "model"].map((name) => part.querySelector(`#pg-embed-${name}`));
  for (const input of [fix, model]) Object.assign(input, { checked: true });
  fix.dispatchEvent(new Event("change"));
  const src = "https://page.example/?run=a&amp;task=sort&amp;d_model=32&amp;fixed=task%2Cd_model&amp;controls=model";
  assert.match(part.querySelector("textarea").value, new RegExp(`^<iframe src="${src.replace("?", "[?]")}".* height="720" .*></iframe>$`));
});

test("a fixed setting takes its value again whatever moves it, a task that is not open gives way; nothing for the teacher, nor after leaving", async () => {
  await fix({ settings: { d_model: 32 }, labs: ["skip"] }, TEACHER);
  assert.deepEqual([page.knobs.d_model, isOpenLab("masks")], [64, true]);
  await fix({ settings: { d_model: 32 }, labs: ["skip"] });
  assert.deepEqual([isOpenLab("masks"), isOpenLab("skip"), listenerInputs({}).asked.fixed], [false, true, "d_model"]);
  change({ knobs: { task: "sort", d_model: 128 } });
  assert.deepEqual(page.knobs, { task: "sort", d_model: 32 });
  await fix({ tasks: ["copy", "sort"] });
  change({ knobs: { ...page.knobs, task: "reverse" } });
  assert.equal(page.knobs.task, "copy");
  await fix({ settings: { task: "own", own: "abc" } });
  assert.equal(page.own, "abc");
  exit();
  assert.deepEqual([listenerInputs({}).asked.fixed, fixed().settings], ["", {}]);
  change({ knobs: { task: "reverse", d_model: 128 } });
  setControls({ task: "sort" });
  assert.deepEqual(page.wanted, { task: "sort", d_model: 128, steps: 400 }, "a lesson sets what it names, and the steps of its task");
});

test("a guess goes to the class once it is whole and again when it changes; nothing is sent by a teacher or of a closed question", async () => {
  await enter({ activities: { x: question({ lab: "softmax" }), y: question({ lesson: "attention", run: "a" }) } });
  guess({ guess: "grows" });
  assert.deepEqual(posted("answer"), []);
  guess({ sure: "75" });
  guess({ guess: "shrinks" }); // while the first is on its way
  guess({ guess: "same" });
  assert.equal(posted("answer").length, 1);
  await settled();
  const answer = { code: "K7QFM", activity: "x", sure: "75" };
  assert.deepEqual(posted("answer"), [{ ...answer, guess: "grows" }, { ...answer, guess: "same" }]);
  await settled();
  move({ tab: "course", lesson: "attention", predicted: "last", certain: "50" });
  assert.deepEqual(posted("answer").at(-1), { code: "K7QFM", activity: "y", guess: "last", sure: "50" });
  await settled();
  sent.length = 0;
  const open = { x: question({ lab: "softmax" }) }, closed = { x: question({ lab: "softmax" }, { state: "closed" }) };
  for (const [activities, more] of [[open, TEACHER], [{ x: question({ lab: "masks" }) }], [closed], [{}]]) {
    await enter({ activities, ...more });
    guess({ guess: "grows", sure: "75" });
    guess({ guess: "", sure: "" });
  }
  await enter({ activities: open });
  guess({ guess: "unknown", sure: "75" });
  assert.deepEqual(posted("answer"), []);
});

function drawn(element = document.createElement("div")) {
  const result = drawQuestion(element, { kind: "question", id: "class", field: "lab", name: "softmax" }, { query: {}, preview: () => {} });
  const buttons = element.hidden ? [] : element.children[0].children.filter((child) => child.tag === "button");
  return { ids: buttons.map((control) => control.getAttribute("id").replace("pg-question-", "")), buttons, result };
}

test("how far a question is says whether its answer waits and what a teacher can do; only a teacher asks", async () => {
  guess({});
  for (const [state, more, student, teacher, buttons] of [
    ["open", {}, "open", "open", ["close", "reveal", "withdraw"]], ["closed", {}, "closed", "", ["reveal", "withdraw"]],
    ["revealed", { counts: {}, answer: "" }, "", "", ["reveal", "withdraw"]], ["revealed", { counts: {}, answer: "grows" }, "", "", ["withdraw"]],
  ]) {
    const activities = { x: question({ lab: "softmax" }, { state, ...more }) };
    await enter({ activities });
    assert.equal(awaits(), student, state);
    await enter({ activities, ...TEACHER });
    assert.deepEqual([awaits(), drawn().ids, cursor.guess], [teacher, buttons, more.answer && "unknown" || ""], state);
  }
  const panels = ["board", "labs"].map((id) => h("div", { class: "pg-panel", id }, h("div", {})));
  await Promise.all(panels.map(({ firstChild }) => drawn(firstChild).result));
  assert.deepEqual(panels.map(({ firstChild }) => firstChild.children[1].dataset.drawn), ["1", "1"], "each asks for itself");
  await enter({});
  assert.deepEqual(drawn().ids, []);
  await enter(TEACHER);
  guess({ guess: "grows", sure: "75" });
  const { ids, buttons } = drawn();
  assert.deepEqual(ids, ["ask"]);
  buttons[0].dispatchEvent({ type: "click" });
  const [{ about, cursor: place }] = posted("ask");
  assert.deepEqual([about, place.lab, cursor.guess], ["lab", "softmax", "grows"]);
  assert.ok(!["guess", "sure", "predicted", "certain", "room", "lang"].some((name) => name in place));
});

test("the bar of a dealt arm asks the guess first and goes with its ×; Q shows a hall the room's code; what leads to a control scrolls to it", async () => {
  document.body.append(h("div", { id: "pg-frame" }));
  for (const name of ["first", "second"]) {
    const activities = { [name]: { kind: "experiment", arm: { d_model: 8 }, at: 0, run: "", lab: "skip", order: "together" } };
    await enter({ activities });
    for (const [more, id] of [[{}, "guess"], [{ mine: true }, "train"], [{ fixed: true }, "train"], [{ state: "closed" }, "train"]]) {
      await enter({ activities: { ...activities, x: question({ lab: "skip" }, more) } });
      assert.ok(document.getElementById(`pg-arm-${id}`), "the guess comes first, while there can be one");
    }
    answers.train = { run: name };
    document.getElementById("pg-arm-train").dispatchEvent({ type: "click" });
    await settled();
    change({ card: { id: name, examples: [["a"]], settings: { ...boot.defaults, d_model: 8 } } });
    assert.deepEqual([page.knobs.d_model, cursor.tab, isFollowing()], [8, "training", true], "the dealt settings are in the controls");
    document.getElementById("pg-arm-away").dispatchEvent({ type: "click" });
    await enter({ activities }); // what else happens in the room doesn't bring it back
    assert.equal(document.getElementById("pg-arm"), null);
  }
  Object.assign(Object.getPrototypeOf(document.body), { showModal() {}, select() {}, close() {} });
  move({ present: "1" });
  const { ACTS } = await import("../../playground/ui/static/present.js");
  for (const [room, wanted] of [[{}, null], [{ ...TEACHER, ends: 0, language: "zh" }, ROOM.code]]) {
    await enter(room);
    ACTS.q();
    assert.equal(document.getElementById("pg-room-members"), null, "a hall sees no names");
    const link = new URL(document.getElementById("pg-qr").getAttribute("src"), "http://page").searchParams.get("text");
    assert.equal(new URL(link).searchParams.get("room"), wanted);
  }
  const moved = [], box = (top, height) => ({ getBoundingClientRect: () => ({ top, height }), scrollBy: (by) => moved.push(by.top) });
  const [first, other] = ["d_model", "task"].map((name) => h("div", { id: `knob-${name}` }));
  document.body.append(Object.assign(h("div", { id: "pg-knobs" }, first, other), box(100, 600)));
  Object.assign(first, box(900, 40), { offsetHeight: 40, scrollIntoView: () => moved.push("page") });
  pointAt("d_model");
  assert.deepEqual([moved, first.classList.contains("pg-flash"), other.classList.contains("pg-flash")], [[520], true, false]);
});
