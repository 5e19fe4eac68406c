// The room on the page: a member sees what the teacher shows until they move something themselves, and comes back; the teacher's newest
// place is sent, ten times a second at most; nothing personal ever is.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { openPage, streams } from "./page.js";

openPage("?lang=en&run=a");
const sent = [];
let answers = {};
globalThis.fetch = async (url, { body = "{}" } = {}) => {
  const action = new URL(url).pathname.split("/").at(-1);
  sent.push([action, JSON.parse(body)]);
  return { json: async () => answers[action] ?? { done: true } };
};
mock.timers.enable({ apis: ["setTimeout"] });
const { change, cursor, move, page } = await import("../../playground/ui/static/store.js");
const { act, exit, explore, isFollowing } = await import("../../playground/ui/static/room.js");
change({ boot: { words: {}, knobs: [], defaults: {} } });

const ROOM = { code: "K7QFM", teacher: false, here: 1, followers: 1, cursor: {}, members: [], number: 1, name: "" };
const there = (fields) => ({ run: "a", text: "", tab: "training", layer: "", head: "", ...fields });
const settled = () => new Promise((resolve) => setImmediate(resolve));
const told = (action) => sent.filter(([name]) => name === action).map(([, values]) => values);

async function enter(room) {
  answers = { join: { room: { ...ROOM, ...room }, ticket: "t" } };
  await act("join", { code: ROOM.code, nickname: "" });
}

beforeEach(() => {
  exit();
  navigator.userActivation = { isActive: false };
  move(there({}), { instead: true });
  streams.length = sent.length = 0;
});

test("whoever joins looks where the teacher looks, in one step that Back doesn't return from", async () => {
  const before = globalThis.history.entries.length;
  await enter({ cursor: there({ tab: "map", layer: "2", head: "3" }) });
  assert.deepEqual([cursor.tab, cursor.layer, cursor.head], ["map", "2", "3"]);
  assert.equal(globalThis.history.entries.length, before);
  assert.equal(streams.at(-1).url.searchParams.get("ticket"), "t");
});

test("what the teacher shows next is seen, and news of others changes nothing", async () => {
  await enter({ cursor: there({ tab: "map" }) });
  streams[0].say({ ...ROOM, cursor: there({ tab: "masks" }) });
  assert.equal(cursor.tab, "masks");
  move({ tab: "map" }); // by itself: nobody touched anything
  streams[0].say({ ...ROOM, here: 2, cursor: there({ tab: "masks" }) });
  assert.equal(cursor.tab, "map");
  assert.ok(isFollowing());
});

test("who moves something has let go, and comes back to where the teacher is by then", async () => {
  await enter({ cursor: there({ tab: "map" }) });
  navigator.userActivation.isActive = true;
  move({ head: "5" });
  assert.ok(!isFollowing());
  assert.deepEqual(told("follow"), [{ code: "K7QFM", following: false }]);
  streams[0].say({ ...ROOM, cursor: there({ tab: "masks" }) });
  assert.deepEqual([cursor.tab, cursor.head], ["map", "5"]);
  explore(false);
  assert.deepEqual([cursor.tab, cursor.head], ["masks", ""]);
  assert.equal(told("follow").at(-1).following, true);
});

test("a run that opens because one asked for it has let go, also when the answer comes long after the click", async () => {
  await enter({ cursor: there({ tab: "map" }) });
  move({ run: "mine" });
  change({ reply: { run: "mine" } });
  assert.ok(!isFollowing());
  streams[0].say({ ...ROOM, here: 2, cursor: there({ tab: "masks" }) });
  assert.deepEqual([cursor.run, cursor.tab], ["mine", "map"]);
});

test("one's own answers and language are neither moved nor a reason to let go", async () => {
  await enter({ cursor: there({ guess: "no", lang: "zh" }) });
  navigator.userActivation.isActive = true;
  move({ guess: "yes" });
  assert.ok(isFollowing());
  assert.deepEqual([cursor.guess, cursor.lang], ["yes", "en"]);
});

test("a teacher's newest place is sent once, and nothing personal of it", async () => {
  await enter({ teacher: true, number: 0 });
  mock.timers.tick(100);
  await settled();
  sent.length = 0;
  for (const head of ["1", "2", "3"]) move({ head, guess: "yes" });
  mock.timers.tick(99);
  assert.deepEqual(sent, []);
  mock.timers.tick(1);
  await settled();
  assert.deepEqual(told("cursor"), [{ code: "K7QFM", cursor: there({ head: "3" }) }]);
});

test("a teacher whose line was cut shows again where they are; one who comes back from a reload does not", async () => {
  await enter({ teacher: true, number: 0 });
  mock.timers.tick(100);
  await settled();
  sent.length = 0;
  streams[0].onopen();
  mock.timers.tick(100);
  assert.deepEqual(told("cursor"), []);
  streams[0].onopen(); // the browser's own second try
  mock.timers.tick(100);
  assert.equal(told("cursor").length, 1);
});

test("a room that is over is forgotten", async () => {
  await enter({});
  assert.ok(localStorage.getItem("playground-room"));
  streams[0].listeners.gone();
  assert.equal(page.room, null);
  assert.equal(localStorage.getItem("playground-room"), null);
  assert.equal(streams[0].readyState, 2);
});

test("why a room is over is told: it ended, or its file was damaged", async () => {
  for (const [key, text] of [["rooms.not_in", "room_over"], ["rooms.damaged", "The file was damaged."]]) {
    await enter({});
    answers = { room: { error: "The file was damaged.", key } };
    streams.at(-1).listeners.gone();
    await settled();
    assert.equal(globalThis.document.querySelectorAll(".pg-notice").at(-1).dataset.text, text);
  }
});
