// The course: which lesson somebody is at, and what of it the page has seen them do. Kept in this browser only.

import { cursor, lastUploaded, move, onMove } from "./state.js";
import { h, notice, say } from "./dom.js";
import { onUpdate, run } from "./live.js";
import { currentCard } from "./top.js";
import { isAnswered } from "./labs.js";
import { keep, kept } from "./storage.js";

const KEY = "playground-course"; // {now: the lesson under way, done: {lesson: [its steps]}}
const listeners = new Set();
const seen = new Map(); // step -> the different things that were looked at for it, as long as the page lives
let lessons = [];
let sentence = null; // what the model made of the sentence on screen

export const onCourse = (listener) => listeners.add(listener);

const progress = () => ({ now: "", done: {}, ...kept(KEY) });

function progressed(changes) {
  keep(KEY, changes);
  drawBar();
  for (const listener of listeners) listener();
}

export const forgetCourse = () => (seen.clear(), progressed({ now: "", done: {} }));
export const lessonUnderWay = () => lessons.find((lesson) => lesson.name === progress().now);
export const numberOf = (lesson) => lessons.indexOf(lesson) + 1;

/** Names of the steps of a lesson that are done. */
export function doneOf(name) {
  const known = lessons.find((lesson) => lesson.name === name)?.steps.map((step) => step.name) ?? [];
  return known.filter((step) => progress().done[name]?.includes(step));
}

export const stepsOf = (name) => lessons.find((lesson) => lesson.name === name)?.steps ?? [];
export const isDone = (name) => doneOf(name).length === stepsOf(name).length;
/** Where to go on: the lesson under way, else the first that isn't done. */
export const upNext = () => (lessonUnderWay() && !isDone(progress().now) ? lessonUnderWay() : lessons.find((lesson) => !isDone(lesson.name)));

export function setCourse(declared) {
  lessons = declared;
  look();
  drawBar();
}

// ---- seeing that something was done ------------------------------------------------------------------------------------------------

/** What is fixed about the run on screen, once that and the stream are of the same run. */
const shown = () => (currentCard()?.id === cursor.run && run.id === cursor.run ? currentCard() : null);
const matches = (value, wanted) => (wanted === "*" ? value !== "" : wanted.startsWith("*") ? value.endsWith(wanted.slice(1)) : value === wanted);

const SENTENCES = {
  own: () => cursor.text.trim() !== "" && !currentCard().examples.some(([source]) => source === cursor.text),
  unknown: () => sentence.source.some((token) => token.known === false),
  wrong: () => sentence.correct === false,
};

/** What a step may ask for; see playground/lessons/course.py, where steps are declared. */
const HOLDS = {
  guess: isAnswered,
  at: (fields) => Object.entries(fields).every(([name, value]) => matches(cursor[name], value)),
  ahead: () => cursor.q !== "" && Number(cursor.k) > Number(cursor.q),
  settings: (knobs) => shown() && Object.entries(knobs).every(([name, value]) => shown().settings[name] === value),
  mine: () => shown()?.mine,
  forked: () => shown()?.parent,
  steps: (count) => shown() && run.step >= count,
  exact: (share) => shown() && (run.validations.exact_match ?? []).at(-1) >= share,
  live: (knob) => shown() && run.live?.[knob] !== undefined && run.live[knob] !== shown().settings[knob],
  sentence: (kind) => shown() && sentence?.run === cursor.run && sentence.text === cursor.text && SENTENCES[kind](),
  read: () => lastUploaded() !== "",
  sees: (selector) => [...document.querySelectorAll(selector)].some(inSight),
};

/** Whether somebody can see all of an element: nothing is below the window, or behind the stage that sticks to its top. */
function inSight(element) {
  const { top, bottom, height } = element.getBoundingClientRect(), covered = document.querySelector(".pg-stage")?.getBoundingClientRect().bottom ?? 0;
  return height > 0 && top > Math.max(covered, 0) - 1 && bottom < innerHeight + 1; // a part of a pixel doesn't count
}

/** Whether a step holds now. Different things are counted only while the rest of it holds. */
function holds(lesson, { name, when: { different, ...rest } }) {
  if (!Object.entries(rest).every(([kind, wanted]) => HOLDS[kind](wanted))) return false;
  if (!different) return true;
  const [fields, count] = different, key = `${lesson.name} ${name}`, values = fields.map((field) => cursor[field]);
  if (!seen.has(key)) seen.set(key, new Set());
  if (values.some(Boolean)) seen.get(key).add(values.join(" "));
  return seen.get(key).size >= count;
}

/** Looks at what is on screen, and ticks off what has been done. */
function look() {
  if (cursor.tab === "course" && cursor.lesson && !cursor.notes && progress().now !== cursor.lesson) progressed({ now: cursor.lesson });
  const lesson = lessonUnderWay();
  if (!lesson) return;
  const before = doneOf(lesson.name);
  const news = lesson.steps.filter((step) => !before.includes(step.name) && holds(lesson, step)).map((step) => step.name);
  if (!news.length) return;
  progressed({ done: { ...progress().done, [lesson.name]: [...before, ...news] } });
  if (cursor.tab === "course") return; // there the list shows it
  const said = { number: numberOf(lesson), done: doneOf(lesson.name).length, steps: lesson.steps.length };
  notice(say(isDone(lesson.name) ? "course_lesson_done" : "course_step_done", said));
}

onMove(() => (look(), drawBar()));
onUpdate(look);
setInterval(() => document.hidden || look(), 1000); // what is in sight changes by scrolling, and when a panel is drawn
document.addEventListener("pg-guess", look);
document.addEventListener("pg-reply", () => setTimeout(look)); // once everybody has taken the answer
document.addEventListener("pg-sentence", ({ detail }) => {
  sentence = detail;
  look();
});

// ---- the line under the replay, while a lesson is under way and somebody is on another tab -----------------------------------------------

/** Steps as dots: full when done. */
export const dots = (name) => h("span", { class: "pg-dots", "aria-hidden": "true" }, stepsOf(name).map((step) => h("i", { class: doneOf(name).includes(step.name) ? "done" : "" })));

function drawBar() {
  const host = document.getElementById("pg-lesson-bar"), lesson = lessonUnderWay();
  if (!host) return;
  host.hidden = !lesson || cursor.tab === "course";
  if (host.hidden) return host.replaceChildren();
  const done = doneOf(lesson.name), next = lesson.steps.find((step) => !done.includes(step.name)), following = lessons[numberOf(lesson)];
  const go = (to, label) => h("button", { type: "button", onclick: () => move({ tab: "course", lesson: to.name, notes: "" }) }, label);
  host.replaceChildren(
    go(lesson, say("course_lesson", { number: numberOf(lesson) })), dots(lesson.name),
    h("span", { class: "pg-lesson-next" }, next ? next.text : say("course_all_done")),
    next || !following ? "" : go(following, say("course_next", { title: following.title })),
    h("button", { type: "button", class: "pg-quiet", "aria-label": say("course_leave"), title: say("course_leave"), onclick: () => progressed({ now: "" }) }, "×"),
  );
}
