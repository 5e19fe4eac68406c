// The live stream: rows are put after those that are there, however often a line is cut; and a run is listened to once.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { openPage, streams } from "./page.js";

const document = openPage("?lang=en");
const { change, move, nothing, page, subscribe } = await import("../../playground/ui/static/store.js");
const live = await import("../../playground/ui/static/live.js");
await import("../../playground/ui/static/status.js");
const { drawStatusLine, measured } = await import("../../playground/ui/static/status.js");
const { follow, isBehind, isGrowing, newest, shownStep, mergeUpdate, toldStep } = live;
const statuses = { working: ["queued", "training"], resumable: ["paused", "stopped"], over: ["stopped", "done"] };
const words = {
  started: "{name} is training.", training_part: "{percent} %", training_over: "Over: {status}", status_training: "training", status_done: "done",
  status_shown: "{step}: {percent}", sample_of: "{pairs} of {all}", measured_at: "step {step}",
};
change({ boot: { words, statuses, glossary: { terms: [], not: [] }, knobs: [], labels: {}, live: [], choices: {} } });

const rows = (...steps) => ({ step: steps, loss: steps.map((step) => 10 - step) });
const all = (update, run = nothing("a")) => mergeUpdate(run, { id: "a", ...update });

test("updates grow a run, rows that come again are not there twice, and what an update doesn't say stays", () => {
  const first = all({ version: 4, from: 0, status: "training", rows: rows(1, 2), eta: 5, validations: { step: [1] }, replay: [0, 1] });
  const run = all({ version: 6, from: 2, step: 5, rows: rows(3, 4, 5), replay: [0, 1, 2] }, first);
  assert.deepEqual([run.rows, run.version, run.status, run.step, run.eta, "from" in run], [rows(1, 2, 3, 4, 5), 6, "training", 5, 5, false]);
  assert.deepEqual([run.validations, run.replay], [{ step: [1] }, [0, 1, 2]]);
  assert.deepEqual(first.rows, rows(1, 2)); // an update changes no run that is shown already
  for (const again of [{ from: 1, rows: rows(2, 3) }, { from: 5, rows: rows() }, { from: 5 }]) assert.deepEqual(all(again, run).rows, run.rows);
  assert.deepEqual(all({ from: 0, rows: rows(1) }, run).rows, rows(1)); // it began anew
});

test("a run is listened to once, again when it was resumed, and another run is another stream", () => {
  const events = [];
  subscribe(["live"], () => events.push([page.live.id, page.live.status]));
  follow("b");
  follow("b");
  assert.deepEqual([streams.length, streams[0].url.searchParams.get("since")], [1, "0"]);
  let drawFrame = () => {};
  globalThis.requestAnimationFrame = (draw) => Number(Boolean((drawFrame = draw)));
  streams[0].say({ id: "b", version: 2, from: 0, status: "queued", rows: {} }); // what comes within a frame is told at once
  streams[0].say({ id: "b", version: 3, from: 0, status: "training", rows: rows(1) });
  drawFrame();
  follow("b");
  assert.equal(streams.length, 1);
  streams[0].say({ id: "b", version: 8, from: 1, status: "stopped", rows: rows(2) });
  assert.equal(streams[0].readyState, 2); // nothing more comes
  follow("b");
  assert.deepEqual([streams.length, streams[1].url.searchParams.get("since"), page.live.rows], [2, "8", rows(1, 2)]);
  assert.deepEqual(events, [["b", ""], ["b", "training"], ["b", "stopped"]]);
  follow("c");
  const [old, now] = streams.slice(-2);
  assert.equal(old.readyState, 2);
  old.say({ id: "b", version: 9, from: 0, status: "training", rows: rows(7) });
  assert.deepEqual([page.live.id, page.live.rows], ["c", {}]);
  now.listeners.gone();
  assert.equal(page.live.status, "gone");
});

// fault: a computer that slept in the middle of a training | its page listens anew, from where it was, and nothing is there twice
test("after the computer slept a run is listened to anew, from where it was", () => {
  follow("e");
  streams.at(-1).say({ id: "e", version: 5, from: 0, status: "training", rows: rows(1) });
  const before = streams.length;
  document.dispatchEvent(new Event("pg-waking"));
  assert.deepEqual([streams.length, streams.at(-2).readyState, streams.at(-1).url.searchParams.get("since")], [before + 1, 2, "5"]);
  streams.at(-1).say({ id: "e", version: 6, from: 1, status: "done", rows: rows(2) });
  document.dispatchEvent(new Event("pg-waking"));
  assert.equal(streams.length, before + 1); // of what is over nothing more comes
});

test("no number is ahead of the picture it stands beside, and every text names its step, also between the end and the last picture", () => {
  const at = (fields, step = "") => {
    change({ live: { ...nothing("a"), rows: rows(1, 2, 3, 4) }, ...fields });
    move({ step });
    return [newest("loss"), shownStep()];
  };
  assert.deepEqual([at({ frame: { run: "a", step: 3 } }), at({ frame: { run: "a", step: 1 } })], [[7, 3], [9, 1]]);
  assert.deepEqual(at({ frame: { run: "b", step: 1 } }), [6, Infinity]); // pictures of another run say nothing about this one
  assert.deepEqual([at({}, 2), at({ live: nothing("a") })], [[8, 2], [undefined, Infinity]]);
  for (const [wanted, status, step, frame, replay = ""] of [
    [[true, true, 40], "training", 60, { step: 40, isLast: false }],
    [[true, true, 80], "done", 90, { step: 80, isLast: false }],
    [[false, false, 90], "done", 90, { step: 90, isLast: true }],
    [[false, false, 80], "stopped", 90, { step: 80, isLast: true }], // no newer picture was made, and none is waited for
    [[false, true, 64], "training", 60, { step: 64, isLast: false }], // the picture was here before the stream
    [[false, true, 60], "training", 60, { run: "b", step: 80, isLast: true }],
    [[false, false, 3], "done", 90, { step: 80, isLast: false }, 3], // the replay is open
  ]) {
    move({ step: replay });
    change({ live: { ...nothing("a"), status, step }, frame: { run: "a", ...frame } });
    assert.deepEqual([isBehind(), isGrowing(), toldStep()], wanted, JSON.stringify([status, step, frame]));
  }
  move({ step: "" });
});

const training = (step, more = {}) => ({ ...nothing("a"), status: "training", step, steps: 90, ...more });

test("a training of a hundred steps says five sentences, and a run that rests none", () => {
  const place = document.getElementById("pg-announced"), heard = [];
  const note = () => place.textContent !== (heard.at(-1) ?? "") && heard.push(place.textContent);
  move({ run: "a" });
  change({ card: { id: "a", title: "brisk-otter", examples: [], settings: {} } });
  for (let step = 0; step <= 100; step++) {
    change({ live: training(step, { steps: 100 }) });
    note();
    if (step % 9 === 2) change({ frame: { run: "a", step, isLast: false } });
    note();
  }
  change({ live: training(100, { status: "done", steps: 100 }) });
  note();
  assert.equal(heard.at(-1), "75 %"); // its last picture is on its way
  change({ frame: { run: "a", step: 100, isLast: true } });
  note();
  assert.deepEqual(heard, ["brisk-otter is training.", "25 %", "50 %", "75 %", "Over: done"]);
  place.textContent = "";
  move({ run: "b" });
  change({ card: { id: "b", title: "calm-fox", examples: [], settings: {} } });
  change({ live: { ...nothing("b"), status: "done", step: 100, steps: 100 } });
  assert.equal(place.textContent, "");
});

test("a number of a sample is marked, and one of another step than was asked for says which", () => {
  const run = { validations: { step: [10, 20, 20], exact_match: [0.25, 0.5, 0.75], pairs: [100, 100, 1500], all_pairs: [1500, 1500, 1500] } };
  for (const [upTo, ...wanted] of [
    [undefined, "75 %", ""], [20, "75 %", ""], [10, "≈ 25 %", "100 of 1,500"], [19, "≈ 25 %", "100 of 1,500 · step 10"], [33, "75 %", "step 20"], [9, "–", ""],
  ]) assert.deepEqual(Object.values(measured(run, "exact_match", (value) => `${100 * value} %`, upTo)), wanted, upTo);
  assert.equal(measured({ validations: {} }, "exact_match", String).text, "–");
  const place = document.createElement("div"), line = (step) => (move({ step }), drawStatusLine(place), place.textContent);
  change({ live: { ...nothing("b"), ...run, status: "done", step: 20, steps: 20 } });
  assert.deepEqual([line(""), line("10")], ["done", "10: ≈ 25.0 %"], "the line at the top is of the step that is looked at");
});

// fault: an hour's sleep | it is noticed once
test("after an hour's sleep everybody is told once", async () => {
  let times = 0;
  mock.timers.enable({ apis: ["setInterval", "Date"], now: 1_000_000 });
  await import("../../playground/ui/static/waking.js");
  document.addEventListener("pg-waking", () => (times += 1));
  for (let second = 0; second < 3600; second += 1) mock.timers.tick(1000); // awake
  assert.equal(times, 0);
  mock.timers.setTime(Date.now() + 3_600_000);
  for (let second = 0; second < 30; second += 1) mock.timers.tick(1000);
  assert.equal(times, 1);
  document.dispatchEvent(new Event("online"));
  assert.equal(times, 2);
});
