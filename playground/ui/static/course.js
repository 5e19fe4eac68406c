// The course: which lesson is under way, and which of its steps the page has seen done. Kept in this browser only. How it is shown at the side
// of the page is in dock.js.
// @ts-check

import { FIELDS, change, cursor, move, page, presentNames, subscribe } from "./store.js";
import { say } from "./dom.js";
import { announce } from "./status.js";
import { isChecked } from "./checks.js";
import { isAnswered } from "./labs.js";
import { holds } from "./rules.js";
import { keep, recall } from "./storage.js";
import { act, isMember } from "./room.js";

const TOUR = "tour"; // the lesson whose steps are the stops on the map
const KEY = "playground-course"; // {now: the lesson under way, done: {lesson: [its steps]}, stop: where the tour was left}
const values = new Map(); // step -> the different things that were looked at for it
export const lessons = () => page.boot?.course ?? [];

function progress() {
  const { now = "", done = {} } = recall(KEY);
  const [present] = Object.keys(presentNames("lesson", { [now]: 0 }));
  return { now: present, done: presentNames("lesson", done) };
}

function progressed(changes) {
  keep(KEY, changes);
  change({ progress: progress() });
}

/** Whether a stop of the tour is on screen. */
export const isTouring = () => cursor.tab === "map" && cursor.stop !== "";
/** A visitor who has begun the tour isn't invited to it any more. */
subscribe(["boot", "progress"], () => page.boot && document.body.toggleAttribute("data-toured", doneOf(TOUR).length > 0));
export const forgetCourse = () => (values.clear(), progressed({ now: "", done: {}, stop: "" }));
export const lessonUnderWay = () => lessons().find((lesson) => lesson.name === progress().now);
export const numberOf = (lesson) => lessons().indexOf(lesson);
export const lessonAfter = (lesson) => lessons()[numberOf(lesson) + 1];

/** A link that names a lesson, or a stop of the tour, begins it, wherever it leads; notes for teachers begin nothing. */
subscribe(["boot", "lesson", "notes", "stop"], () => {
  const named = cursor.stop ? TOUR : cursor.lesson;
  if (lessons().some(({ name }) => name === named) && !cursor.notes && progress().now !== named) progressed({ now: named });
});

/** Leaves the lesson: none is under way then, and the address names none, or it would be back with the next reload. */
export function leave() {
  move({ lesson: "" }, { instead: true });
  progressed({ now: "" });
}

/** Names of the steps of a lesson that are done. */
export function doneOf(name) {
  const known = lessons().find((lesson) => lesson.name === name)?.steps.map((step) => step.name) ?? [];
  return known.filter((step) => progress().done[name]?.includes(step));
}

/** The stop of the tour to go on with: the first from where it was left whose number was not read off yet, or the first of those before. */
export function stopUpNext() {
  const names = stepsOf(TOUR).map(({ name }) => name), left = Math.max(names.indexOf(recall(KEY).stop), 0);
  return [...names.slice(left), ...names].find((name) => !doneOf(TOUR).includes(name)) ?? names[0];
}
/** Its number, from 1; 0 while the tour has not begun. */
export const stopLeft = () => (recall(KEY).stop || doneOf(TOUR).length ? stepsOf(TOUR).findIndex(({ name }) => name === stopUpNext()) + 1 : 0);
subscribe(["stop"], () => cursor.stop && keep(KEY, { stop: cursor.stop }));

export const stepsOf = (name) => lessons().find((lesson) => lesson.name === name)?.steps ?? [];
/** Whether what to look at in a lesson can be told: it would answer the guess that is made first. */
export const isGuessed = (name) => stepsOf(name).every((step) => step.name !== "predict") || doneOf(name).includes("predict");
export const isDone = (name) => doneOf(name).length === stepsOf(name).length;
/** Where to go on: the lesson under way, else the first that isn't done. */
export const upNext = () => (lessonUnderWay() && !isDone(progress().now) ? lessonUnderWay() : lessons().find((lesson) => !isDone(lesson.name)));

// ---- seeing that something was done ------------------------------------------------------------------------------------------------

/** Whether half of an element is in sight: between the frame that sticks to the window's top and the lesson that may lie at its end. */
function inSight(element) {
  const { top, bottom, height } = element.getBoundingClientRect();
  const frame = document.getElementById("pg-frame")?.getBoundingClientRect().bottom ?? 0, dock = document.getElementById("pg-dock");
  const end = dock && getComputedStyle(dock).position === "fixed" ? dock.getBoundingClientRect().top || innerHeight : innerHeight;
  return height > 0 && Math.min(bottom, end) - Math.max(top, frame, 0) >= height / 2;
}

/** @returns {import("./rules.js").Screen} */
function screen() {
  const { card, live: run, sentence, uploaded } = page, here = card?.id === cursor.run && run.id === cursor.run;
  const known = sentence?.run === cursor.run && sentence.text === cursor.text ? sentence : null;
  const isInSight = (selector) => [...document.querySelectorAll(selector)].some(inSight);
  const state = { isAnswered, isChecked, isInSight, readOff: page.readOff };
  return { cursor, card: here ? card : null, run, sentence: known, hasRead: uploaded !== "", ...state };
}

/** How many of the different things that a step asks for were looked at, and how many it asks for; null for a step that asks for none. */
export function counted(lesson, { name, when }) {
  return when.different ? { seen: values.get(`${lesson.name} ${name}`)?.size ?? 0, wanted: when.different[1] } : null;
}

/** Whether a step of a lesson holds now; the different things that were looked at for it are kept as long as the page lives. */
function isSeen(lesson, { name, when }) {
  const key = `${lesson.name} ${name}`;
  if (!values.has(key)) values.set(key, new Set());
  return holds(when, screen(), values.get(key));
}

/** Looks at what is on screen, and ticks off what has been done. */
function look() {
  const lesson = lessonUnderWay();
  if (!lesson) return;
  const before = doneOf(lesson.name);
  const news = lesson.steps.filter((step) => !before.includes(step.name) && isSeen(lesson, step)).map((step) => step.name);
  if (!news.length) return;
  progressed({ done: { ...progress().done, [lesson.name]: [...before, ...news] } });
  if (cursor.tab === "course" || isTouring()) return; // there the list shows it, or the stop
  const summary = { number: numberOf(lesson), done: doneOf(lesson.name).length, steps: lesson.steps.length };
  announce(say(isDone(lesson.name) ? "course_lesson_done" : "course_step_done", summary)); // its tick is seen beside the picture
}

subscribe([...FIELDS, "boot", "card", "live", "sentence", "guessed", "uploaded", "readOff"], look);
setInterval(() => document.hidden || look(), 1000); // what is in sight changes by scrolling, and when a panel is drawn

// ---- what the room is told of it --------------------------------------------------------------------------------------------------------

let lastReport = ""; // to which room, and what

async function report() {
  if (!page.boot || !isMember()) return void (lastReport = "");
  const counts = lessons().map(({ name }) => [name, doneOf(name).length]).filter(([, count]) => count);
  const now = JSON.stringify([page.room.code, page.room.number, counts]);
  if (now === lastReport || (!lastReport && !counts.length)) return;
  lastReport = now;
  const { error } = await act("progress", { done: Object.fromEntries(counts) });
  if (error && lastReport === now) lastReport = ""; // with the next news of the room it is tried again
}
subscribe(["room", "progress", "boot"], report);
