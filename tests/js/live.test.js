// The live stream: rows are put after those that are there, however often a line is cut; and a run is listened to once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, streams } from "./page.js";

const document = openPage("?lang=en");
const { change, cursor, move, nothing, page, subscribe } = await import("../../playground/ui/static/store.js");
const live = await import("../../playground/ui/static/live.js");
const { follow, heldHead, isActive, isBehind, isGrowing, isResumable, isTooEarly, newest, shownStep, statusKey, taken, toldStep } = live;
change({ boot: { words: {}, knobs: [], statuses: { working: ["queued", "training"], resumable: ["paused", "stopped"], over: ["stopped", "done"] } } });

const rows = (...steps) => ({ step: steps, loss: steps.map((step) => 10 - step) });
const all = (update, run = nothing("a")) => taken(run, { id: "a", ...update });

test("the first update is the whole run", () => {
  const run = all({ version: 4, from: 0, status: "training", step: 2, rows: rows(1, 2) });
  assert.deepEqual([run.version, run.status, run.rows], [4, "training", rows(1, 2)]);
});

test("later ones grow it", () => {
  const first = all({ version: 4, from: 0, rows: rows(1, 2) });
  const run = all({ version: 6, from: 2, rows: rows(3, 4, 5) }, first);
  assert.deepEqual(run.rows, rows(1, 2, 3, 4, 5));
  assert.deepEqual(first.rows, rows(1, 2)); // nothing is changed under anybody's hands
});

test("rows that come again are not there twice", () => {
  const run = all({ from: 0, rows: rows(1, 2, 3, 4) });
  assert.deepEqual(all({ from: 2, rows: rows(3, 4, 5) }, run).rows, rows(1, 2, 3, 4, 5));
  assert.deepEqual(all({ from: 1, rows: rows(2, 3) }, run).rows, rows(1, 2, 3, 4));
  assert.deepEqual(all({ from: 4, rows: rows() }, run).rows, rows(1, 2, 3, 4));
  assert.deepEqual(all({ from: 4 }, run).rows, rows(1, 2, 3, 4));
});

test("however a stream is cut and asked again, the curve is the one that was sent", () => {
  let seed = 7;
  const draw = (below) => (seed = (seed * 16807) % 2147483647) % below;
  for (let go = 0; go < 200; go++) {
    let run = all({ from: 0, rows: rows(1) });
    for (let last = 1; last < 40; ) {
      const from = draw(last) || 1, to = Math.min(40, Math.max(last, from) + draw(4)); // it may begin anywhere that is there already
      run = all({ from, rows: rows(...Array.from({ length: to - from }, (_, at) => from + at + 1)) }, run);
      last = Math.max(last, to);
      assert.deepEqual(run.rows, rows(...Array.from({ length: last }, (_, at) => at + 1)));
    }
  }
});

test("a run that begins anew replaces what was there", () => {
  const run = all({ from: 0, rows: rows(1, 2, 3) });
  assert.deepEqual(all({ from: 0, rows: rows(1) }, run).rows, rows(1));
});

test("what an update doesn't say stays, and of its frame nothing is kept", () => {
  const run = all({ from: 1, step: 3 }, all({ from: 0, rows: rows(1), eta: 5, device: "cpu" }));
  assert.deepEqual([run.step, run.eta, run.device, "from" in run], [3, 5, "cpu", false]);
});

test("statuses are what the server says they are", () => {
  change({ live: { ...nothing("a"), status: "training" } });
  assert.deepEqual([isActive(), isResumable()], [true, false]);
  change({ live: { ...nothing("a"), status: "stopped" } });
  assert.deepEqual([isActive(), isResumable()], [false, true]);
});

test("a run is listened to once, and again when it was resumed", () => {
  const told = [];
  subscribe(["live"], () => told.push([page.live.id, page.live.status]));
  follow("b");
  follow("b");
  assert.equal(streams.length, 1);
  assert.equal(streams[0].url.searchParams.get("since"), "0");
  streams[0].say({ id: "b", version: 3, from: 0, status: "training", rows: rows(1) });
  follow("b");
  assert.equal(streams.length, 1);
  streams[0].say({ id: "b", version: 8, from: 1, status: "stopped", rows: rows(2) });
  assert.equal(streams[0].readyState, 2); // nothing more comes
  follow("b");
  assert.equal(streams.length, 2);
  assert.equal(streams[1].url.searchParams.get("since"), "8");
  assert.deepEqual(page.live.rows, rows(1, 2));
  assert.deepEqual(told, [["b", ""], ["b", "training"], ["b", "stopped"]]);
});

test("another run is another stream, and the old one says nothing more", () => {
  follow("c");
  const [old, now] = streams.slice(-2);
  assert.equal(old.readyState, 2);
  old.say({ id: "b", version: 9, from: 0, status: "training", rows: rows(7) });
  assert.deepEqual([page.live.id, page.live.rows], ["c", {}]);
  now.listeners.gone();
  assert.equal(page.live.status, "gone");
});

test("while nobody looks nothing is asked for", () => {
  follow("d");
  const before = streams.length;
  document.hidden = true;
  document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(streams.at(-1).readyState, 2);
  streams.at(-1).say({ id: "d", version: 2, from: 0, status: "training", rows: rows(1) });
  assert.deepEqual(page.live.rows, {});
  document.hidden = false;
  document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(streams.length, before + 1);
});

// fault: a computer that slept in the middle of a training | its page listens anew, from where it was, and nothing is there twice
test("after the computer slept a run is listened to anew, from where it was", () => {
  follow("e");
  streams.at(-1).say({ id: "e", version: 5, from: 0, status: "training", rows: rows(1) });
  const before = streams.length;
  document.dispatchEvent(new Event("pg-waking"));
  assert.deepEqual([streams.length, streams.at(-2).readyState], [before + 1, 2]);
  assert.equal(streams.at(-1).url.searchParams.get("since"), "5");
  streams.at(-1).say({ id: "e", version: 6, from: 1, status: "done", rows: rows(2) });
  document.dispatchEvent(new Event("pg-waking"));
  assert.equal(streams.length, before + 1); // of what is over nothing more comes
});

test("what comes whole stays as it is while there is no other", () => {
  const first = all({ version: 4, from: 0, rows: rows(1), validations: { step: [1] }, replay: [0, 1] });
  const run = all({ version: 5, from: 1, rows: rows(2), replay: [0, 1, 2] }, first);
  assert.deepEqual([run.validations, run.replay], [{ step: [1] }, [0, 1, 2]]);
});

test("no number is ahead of the picture it stands beside", () => {
  const live = { ...nothing("a"), rows: rows(1, 2, 3, 4) };
  const seen = () => [newest("loss"), shownStep()];
  change({ live, frame: { run: "a", step: 3 } });
  assert.deepEqual(seen(), [7, 3]);
  change({ frame: { run: "a", step: 1 } });
  assert.deepEqual(seen(), [9, 1]);
  change({ frame: { run: "b", step: 1 } }); // pictures of another run say nothing about this one
  assert.deepEqual(seen(), [6, Infinity]);
  move({ step: 2 });
  assert.deepEqual(seen(), [8, 2]);
  move({ step: "" });
  assert.equal(cursor.step, "");
  change({ live: nothing("a") });
  assert.deepEqual(seen(), [undefined, Infinity]);
});

test("every text names the step of the picture, also for the moment between the end and the last picture", () => {
  const at = (status, step, frame) => {
    change({ live: { ...nothing("a"), status, step }, frame: { run: "a", ...frame } });
    return [isBehind(), isGrowing(), toldStep()];
  };
  assert.deepEqual(at("training", 60, { step: 40, isLast: false }), [true, true, 40]);
  assert.deepEqual(at("done", 90, { step: 80, isLast: false }), [true, true, 80]);
  assert.deepEqual(at("done", 90, { step: 90, isLast: true }), [false, false, 90]);
  assert.deepEqual(at("stopped", 90, { step: 80, isLast: true }), [false, false, 80]); // no newer picture was made: nobody waits for one
  assert.deepEqual(at("training", 60, { step: 64, isLast: false }), [false, true, 64]); // the picture was here before the stream
  assert.deepEqual(at("training", 60, { run: "b", step: 80, isLast: true }), [false, true, 60]);
  move({ step: 3 });
  assert.deepEqual(at("done", 90, { step: 80, isLast: false }), [false, false, 3]); // somebody looks at the replay
  move({ step: "" });
});

test("a run that has just been made is too early to look at, one that has failed is not", () => {
  const refusal = { key: "runs.nothing_yet" };
  const at = (status) => {
    change({ live: { ...nothing("a"), status } });
    return isTooEarly(refusal);
  };
  assert.deepEqual(["", "queued", "training", "done"].map(at), [true, true, true, false]);
  change({ live: { ...nothing("a"), status: "queued" } });
  assert.equal(isTooEarly({ key: "runs.too_long" }), false);
  assert.equal(isTooEarly({ step: 3 }), false);
});

test("the head that a run was shown with while it trained is not kept beyond its end; one that was found then is", () => {
  move({ run: "learner" });
  const is = (status) => change({ live: { ...nothing("learner"), status } });
  is("training");
  change({ held: { run: "learner", head: "cross.1.2", early: true } });
  assert.equal(heldHead(), "cross.1.2");
  is("done");
  assert.equal(heldHead(), "");
  change({ held: { run: "learner", head: "cross.2.4", early: false } });
  assert.equal(heldHead(), "cross.2.4");
  move({ run: "another" });
  assert.equal(heldHead(), "");
});

test("only who waits for memory is told a place in the queue", () => {
  change({ live: { ...nothing("a"), status: "queued", place: 2 } });
  assert.equal(statusKey("queued"), "status_queued");
  change({ live: { ...nothing("a"), status: "queued", place: 0 } });
  assert.equal(statusKey("queued"), "status_preparing");
  assert.equal(statusKey("paused"), "status_paused");
});
