// The course: which lesson somebody is at, and what of it the page has seen them do. Kept in this browser only.
// @ts-check

import { FIELDS, change, cursor, move, page, presentNames, subscribe } from "./store.js";
import { button, h, notice, say } from "./dom.js";
import { isAnswered } from "./labs.js";
import { holds } from "./rules.js";
import { prose } from "./glossary.js";
import { keep, kept } from "./storage.js";

const KEY = "playground-course"; // {now: the lesson under way, done: {lesson: [its steps]}}
const seen = new Map(); // step -> the different things that were looked at for it
const lessons = () => page.boot?.course ?? [];

function progress() {
  const { now = "", done = {} } = kept(KEY);
  const [present] = Object.keys(presentNames("lesson", { [now]: 0 }));
  return { now: present, done: presentNames("lesson", done) };
}

function progressed(changes) {
  keep(KEY, changes);
  change({ progress: progress() });
}

export const forgetCourse = () => (seen.clear(), progressed({ now: "", done: {} }));
export const lessonUnderWay = () => lessons().find((lesson) => lesson.name === progress().now);
export const numberOf = (lesson) => lessons().indexOf(lesson) + 1;

/** Names of the steps of a lesson that are done. */
export function doneOf(name) {
  const known = lessons().find((lesson) => lesson.name === name)?.steps.map((step) => step.name) ?? [];
  return known.filter((step) => progress().done[name]?.includes(step));
}

export const stepsOf = (name) => lessons().find((lesson) => lesson.name === name)?.steps ?? [];
export const isDone = (name) => doneOf(name).length === stepsOf(name).length;
/** Where to go on: the lesson under way, else the first that isn't done. */
export const upNext = () => (lessonUnderWay() && !isDone(progress().now) ? lessonUnderWay() : lessons().find((lesson) => !isDone(lesson.name)));

// ---- seeing that something was done ------------------------------------------------------------------------------------------------

/** Whether somebody can see all of an element: nothing is below the window, or behind the frame that sticks to its top. */
function inSight(element) {
  const { top, bottom, height } = element.getBoundingClientRect(), covered = document.querySelector("#pg-frame")?.getBoundingClientRect().bottom ?? 0;
  return height > 0 && top > Math.max(covered, 0) - 1 && bottom < innerHeight + 1; // a part of a pixel doesn't count
}

/** @returns {import("./rules.js").Screen} */
function screen() {
  const { card, live: run, sentence, uploaded } = page, here = card?.id === cursor.run && run.id === cursor.run;
  const said = sentence?.run === cursor.run && sentence.text === cursor.text ? sentence : null;
  const isInSight = (selector) => [...document.querySelectorAll(selector)].some(inSight);
  return { cursor, card: here ? card : null, run, sentence: said, hasRead: uploaded !== "", isAnswered, isInSight };
}

/** Whether a step of a lesson holds now; the different things that were looked at for it are kept as long as the page lives. */
function isSeen(lesson, { name, when }) {
  const key = `${lesson.name} ${name}`;
  if (!seen.has(key)) seen.set(key, new Set());
  return holds(when, screen(), seen.get(key));
}

/** Looks at what is on screen, and ticks off what has been done. */
function look() {
  if (cursor.tab === "course" && cursor.lesson && !cursor.notes && progress().now !== cursor.lesson) progressed({ now: cursor.lesson });
  const lesson = lessonUnderWay();
  if (!lesson) return;
  const before = doneOf(lesson.name);
  const news = lesson.steps.filter((step) => !before.includes(step.name) && isSeen(lesson, step)).map((step) => step.name);
  if (!news.length) return;
  progressed({ done: { ...progress().done, [lesson.name]: [...before, ...news] } });
  if (cursor.tab === "course") return; // there the list shows it
  const said = { number: numberOf(lesson), done: doneOf(lesson.name).length, steps: lesson.steps.length };
  notice(say(isDone(lesson.name) ? "course_lesson_done" : "course_step_done", said));
}

subscribe([...FIELDS, "boot", "card", "live", "sentence", "guessed", "uploaded"], look);
setInterval(() => document.hidden || look(), 1000); // what is in sight changes by scrolling, and when a panel is drawn

// ---- the lesson at the side, while one is under way and somebody is on another tab --------------------------------------------------------

/** Steps as dots: full when done. */
export function dots(name) {
  const done = doneOf(name);
  return h("span", { class: "pg-dots", "aria-hidden": "true" }, stepsOf(name).map((step) => h("i", { class: done.includes(step.name) ? "done" : "" })));
}

subscribe(["boot", "card", "progress", "tab"], drawBar);

function drawBar() {
  const host = document.getElementById("pg-lesson-bar"), lesson = lessonUnderWay();
  if (!host) return;
  host.hidden = !lesson || cursor.tab === "course";
  if (host.hidden) return host.replaceChildren();
  const done = doneOf(lesson.name), next = lesson.steps.find((step) => !done.includes(step.name)), following = lessons()[numberOf(lesson)];
  const go = (to, label) => button({ onclick: () => move({ tab: "course", notes: "", ...to }) }, label);
  const step = (one) => h("li", { class: done.includes(one.name) ? "done" : one === next ? "next" : "" },
    h("span", { class: "pg-tick", "aria-hidden": "true" }, done.includes(one.name) ? "✓" : ""),
    h("span", { class: one === next ? "pg-lesson-next" : "" }, one.text));
  const look = h("ul", {}, lesson.look.map(() => h("li", {})));
  lesson.look.forEach((point, at) => prose(look.children[at], point));
  host.replaceChildren(
    h("header", {}, go({ lesson: lesson.name }, say("course_lesson", { number: numberOf(lesson) })), dots(lesson.name),
      button({ class: "pg-quiet", "aria-label": say("course_leave"), title: say("course_leave"), onclick: () => progressed({ now: "" }) }, "×")),
    h("h3", {}, lesson.title), h("ol", {}, lesson.steps.map(step)),
    next ? "" : h("p", { class: "pg-lesson-next" }, say("course_all_done")),
    next || !following ? "" : go(following.to, say("course_next", { title: following.title })),
    h("h3", {}, say("course_look")), look,
  );
}
