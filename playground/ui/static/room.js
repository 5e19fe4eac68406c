// The room that this visitor is in: joining, staying over a reload and a restart, seeing what the teacher shows. `page.room` is the room as
// the server tells it; `page.exploring` says that a member has let go of the teacher for a while.
// @ts-check

import { FIELDS, asText, change, cursor, followed, linkSettings, move, page, subscribe } from "./store.js";
import { AGAIN, notice, read, routeUrl, say, send } from "./dom.js";
import { isFrozen, listen } from "./server.js";
import { forget, keep, recall } from "./storage.js";

const KEY = "playground-room"; // what this browser keeps: the code, and whether its visitor explores
const SEND = 100; // milliseconds between two places that a teacher shows

/** Whether this visitor is one of the class in a room. */
export const isMember = () => page.room !== null && !page.room.teacher;
/** @type {import("./page").Fixed} */
export const FREE = { settings: {}, tasks: [], labs: [], controls: [] };
/** Settings, tasks and labs that the teacher has fixed for this visitor, in a room or by an exercise link. */
export const fixed = () => (isMember() ? page.room.fixed : fixedByLink());

/** @returns {import("./page").Fixed} the settings that the link's `fixed` names, with its values, and the groups in its `controls` */
function fixedByLink() {
  const { boot } = page, values = new Map(linkSettings);
  if (!boot || !(cursor.fixed || cursor.controls)) return FREE;
  const read = (usual, text = asText(usual)) => (typeof usual === "number" ? Number(text) : typeof usual === "boolean" ? text === "on" : text);
  const names = cursor.fixed.split(",").filter((name) => name in boot.defaults);
  const settings = Object.fromEntries(names.map((name) => [name, read(boot.defaults[name], values.get(name))]));
  return { settings, tasks: [], labs: [], controls: cursor.controls ? cursor.controls.split(",") : Object.keys(boot.groups) };
}

/** Whether the page shows what the teacher shows. */
export const isFollowing = () => isMember() && !page.exploring;

/** @type {(kind: string) => [string, any][]} every activity of the room that is of this kind, with its name */
export const activities = (kind) => Object.entries(page.room?.activities ?? {}).filter(([, activity]) => activity.kind === kind);

/** Does something in the room, or to it. Resolves with the server's answer, which holds the room after `open` and `join`. */
export async function act(action, values = {}) {
  const answer = await send({ ...(page.room ? { code: page.room.code } : {}), ...values }, `room/${action}`);
  if (answer.room) enter(answer);
  return answer;
}

/** Where this page looks, as far as others may be told. */
export const looking = () => Object.fromEntries(followed.map((name) => [name, cursor[name]]));

let isLeaving = false; // as this visitor asked: the reason is known

/** Does what leaves or ends the room. */
export async function leaving(action) {
  isLeaving = true;
  const answer = await act(action);
  isLeaving = false;
  return answer;
}

let ticket = "", source = null;

function enter(answer) {
  ({ ticket } = answer);
  keep(KEY, { code: answer.room.code, exploring: false });
  obeyed = "";
  change({ room: answer.room, exploring: false });
  connect();
  if (answer.room.teacher) show();
  else obey();
}

/** This visitor is in no room any more. */
export function exit() {
  source?.close();
  source = null;
  forget(KEY);
  change({ room: null, exploring: false });
}

/** After a reload: the room that this browser is in, if there still is one. */
async function resume() {
  const { code, exploring = false, obeyed: last = "" } = recall(KEY);
  if (!code || isFrozen || page.room) return;
  const answer = await read("room", { code });
  if (answer?.room) {
    ({ ticket } = answer);
    obeyed = last; // a reload takes no follower from their own run
    change({ room: answer.room, exploring });
    connect();
    obey();
  } else if (answer?.away) setTimeout(resume, AGAIN);
  else if (answer) {
    forget(KEY);
    if (answer.key === "rooms.damaged") notice(answer.error, "error");
  }
}

const countRevealed = ({ activities }) => Object.values(activities).filter(({ state }) => state === "revealed").length;

function connect() {
  source?.close();
  source = null;
  if (!page.room || document.hidden) return;
  const { code, teacher } = page.room, stream = (source = listen(routeUrl("room/live", { code, ticket })));
  let isAnew = false; // the line was cut: what was said meanwhile did not arrive, also not at a server that has started again
  stream.onopen = () => {
    if (page.exploring) act("follow", { following: false });
    if (isAnew && page.room?.teacher) show();
    isAnew = true;
  };
  stream.onmessage = (event) => {
    if (stream !== source) return;
    const room = JSON.parse(event.data), isCalled = room.calls > page.room.calls;
    if (isCalled || countRevealed(room) > countRevealed(page.room)) obeyed = ""; // one who follows may be at a run of their own
    change({ room });
    if (isCalled && explore(false)) notice(say("room_called"));
    else obey();
  };
  stream.addEventListener("gone", ({ data }) => {
    if (stream !== source) return;
    exit();
    if (isLeaving) return;
    if (JSON.parse(data).ended) notice(say("room_ended"));
    else tellOver(code, teacher ? "info" : "error");
  });
  stream.onerror = () => stream === source && stream.readyState === EventSource.CLOSED && setTimeout(() => stream === source && connect(), AGAIN);
}

/** Why there is no room any more: it has come to its end, or its file was damaged. */
async function tellOver(code, kind) {
  const answer = await read("room", { code });
  if (answer?.key === "rooms.damaged") notice(answer.error, "error");
  else notice(say("room_over", { code }), kind);
}

for (const sign of ["visibilitychange", "pg-waking"]) document.addEventListener(sign, connect);

// ---- a member: follows, and lets go ------------------------------------------------------------------------------------------------

let obeyed = "", isObeying = false;

/** Looks where the teacher looks, in one step that leaves nothing in the browser's history. */
function obey() {
  const there = page.room?.cursor ?? {}, place = JSON.stringify(followed.map((name) => there[name]));
  if (!page.boot || !isFollowing() || !there.run || place === obeyed) return;
  obeyed = place;
  keep(KEY, { obeyed });
  isObeying = true;
  move(Object.fromEntries(followed.filter((name) => name in there).map((name) => [name, there[name]])), { instead: true });
  isObeying = false;
}

/** Lets go of the teacher, or comes back. Returns whether that is a change. */
export function explore(exploring) {
  if (!isMember() || exploring === page.exploring) return false;
  keep(KEY, { exploring });
  change({ exploring });
  act("follow", { following: !exploring });
  obeyed = "";
  obey();
  return true;
}

/** Stops following when this visitor moves something; things that move by themselves don't count. */
function letGo() {
  if (isObeying || !isFollowing()) return;
  explore(true);
  notice(say("room_let_go"));
}

let isTraining = false; // by what was pressed last: the run that opens is no other place that one chose

/** Training is what a teacher asks for: what its answer moves is no letting go. */
export const stayFollowing = () => void (isTraining = true);
for (const sign of ["pointerdown", "keydown"]) document.addEventListener(sign, () => (isTraining = false), true);

/** A run that opens because this visitor asked for it, however long ago. */
subscribe(["reply"], () => page.reply?.run && !isTraining && letGo());

// ---- the teacher: shows ----------------------------------------------------------------------------------------------------------------

let timer = 0, isSending = false, isNew = false;

/** Tells the class where the teacher looks now: at most one message is on its way, and of what changes meanwhile only the newest counts. */
function show() {
  isNew = true;
  timer ||= setTimeout(sendCursor, SEND);
}

async function sendCursor() {
  timer = 0;
  if (isSending || !page.room?.teacher || !cursor.run) return;
  [isSending, isNew] = [true, false];
  const answer = await act("cursor", { cursor: looking() });
  isSending = false;
  if (answer.error && !answer.away) notice(answer.error, "error");
  if (isNew) show();
}

subscribe(FIELDS, (changed) => {
  if (!page.room || !followed.some((name) => changed.has(name))) return;
  if (page.room.teacher) show();
  else if (navigator.userActivation?.isActive && !isTraining) letGo();
});
subscribe(["boot"], () => (page.room ? obey() : resume()));
