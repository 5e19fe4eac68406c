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
const posted = (action) => sent.filter(([name]) => name === action).map(([, values]) => values);

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

test("joining shows where the teacher looks, in one step that Back doesn't return from; news of others change nothing", async () => {
  const before = globalThis.history.entries.length;
  await enter({ cursor: there({ tab: "map", layer: "2", head: "3" }) });
  assert.deepEqual([cursor.tab, cursor.layer, cursor.head], ["map", "2", "3"]);
  assert.equal(globalThis.history.entries.length, before);
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
  explore(false);
  assert.deepEqual([cursor.tab, cursor.head], ["masks", ""]);
  assert.equal(posted("follow").at(-1).following, true);
});

test("a run that opens because one asked for it has let go, also when the answer comes long after the click", async () => {
  await enter({ cursor: there({ tab: "map" }) });
  move({ run: "mine" });
  change({ reply: { run: "mine" } });
  assert.ok(!isFollowing());
  streams[0].say({ ...ROOM, here: 2, cursor: there({ tab: "masks" }) });
  assert.deepEqual([cursor.run, cursor.tab], ["mine", "map"]);
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
  assert.deepEqual(posted("cursor"), [{ code: "K7QFM", cursor: there({ head: "3" }) }]);
});

test("a teacher whose line was cut shows again where they are; one who comes back from a reload does not", async () => {
  await enter({ teacher: true, number: 0 });
  mock.timers.tick(100);
  await settled();
  sent.length = 0;
  streams[0].onopen();
  mock.timers.tick(100);
  assert.deepEqual(posted("cursor"), []);
  streams[0].onopen(); // the browser's own second try
  mock.timers.tick(100);
  assert.equal(posted("cursor").length, 1);
});

test("a room that is over is forgotten, and why is shown: it ended, or its file was damaged", async () => {
  for (const [key, text] of [["rooms.not_in", "room_over"], ["rooms.damaged", "The file was damaged."]]) {
    await enter({});
    assert.ok(localStorage.getItem("playground-room"));
    answers = { room: { error: "The file was damaged.", key } };
    streams.at(-1).listeners.gone();
    assert.deepEqual([page.room, localStorage.getItem("playground-room"), streams.at(-1).readyState], [null, null, 2]);
    await settled();
    assert.equal(globalThis.document.querySelectorAll(".pg-notice").at(-1).dataset.text, text);
  }
});
