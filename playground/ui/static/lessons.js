// The tab of the course: the list of lessons, what there is to do in one, and what teachers read.
// @ts-check

import { cursor, move, subscribe } from "./store.js";
import { button, h, say } from "./dom.js";
import { setControls } from "./knobs.js";
import { doneOf, forgetCourse, isDone, stepsOf, upNext } from "./course.js";
import { forgetAnswers } from "./checks.js";
import { forgetGuesses } from "./labs.js";
import { prose } from "./glossary.js";
import { register } from "./kinds.js";

subscribe(["progress"], () => {
  for (const element of document.querySelectorAll(".pg-lessons, .pg-steps")) element.pgRedraw?.();
});

/** Steps as dots: full when done. */
export function dots(name) {
  const done = doneOf(name);
  return h("span", { class: "pg-dots", "aria-hidden": "true" }, stepsOf(name).map((step) => h("i", { class: done.includes(step.name) ? "done" : "" })));
}

/**
 * Every lesson with what is done of it; the one to go on with stands out.
 * @param {HTMLElement} element
 * @param {import("./blocks").LessonsBlock} block
 */
function drawLessons(element, block) {
  element.pgRedraw = () => drawLessons(element, block);
  const next = upNext()?.name, begun = block.lessons.some(({ name }) => doneOf(name).length);
  const state = (name) => (isDone(name) ? say("course_done") : name === next ? say(begun ? "course_go_on" : "course_begin") : "");
  const row = ({ name, title, text, to, minutes }, at) => {
    const progress = say("course_progress", { done: doneOf(name).length, steps: stepsOf(name).length });
    const open = { class: `pg-lesson${name === next ? " next" : ""}`, dataset: { lesson: name }, onclick: () => move(to) };
    return h("li", {}, button({ ...open, "aria-description": progress },
      h("span", { class: "pg-lesson-number" }, String(at)), h("b", {}, title), h("span", { class: "pg-lesson-text" }, text),
      h("span", { class: "pg-lesson-state" }, h("small", {}, [state(name), minutes].filter(Boolean).join(" · ")), dots(name))));
  };
  element.replaceChildren(h("ol", {}, block.lessons.map(row)));
}

/**
 * What there is to do, ticked off as the page sees it done, with the way to where it can be done.
 * @param {HTMLElement} element
 * @param {import("./blocks").StepsBlock} block
 */
function drawSteps(element, block) {
  element.pgRedraw = () => drawSteps(element, block);
  const done = doneOf(block.lesson);
  const step = (one) => {
    const ticked = done.includes(one.name);
    return h("li", { class: ticked ? "done" : "", dataset: { step: one.name } },
      h("span", { class: "pg-tick", role: "img", "aria-label": say(ticked ? "course_done" : "course_open") }, ticked ? "✓" : ""),
      h("span", { class: "pg-step-text" }, one.text), ...ways(one));
  };
  element.replaceChildren(h("h3", {}, block.title), h("ol", {}, block.steps.map(step)));
  if (done.length === block.steps.length) element.append(h("p", { class: "pg-right" }, say("course_all_done")));
}

/** Buttons that set what a step needs, and lead to where it can be done. */
export function ways({ to, knobs, sees }) {
  const way = (act, label) => button({ onclick: act }, say(label));
  return [
    ...(knobs ? [way(() => setControls(knobs), "course_set")] : []),
    ...(Object.keys(to).length ? [way(() => (move(to), sees && bring(sees)), "course_go")] : []),
  ];
}

/** Brings what a step is about into sight, once it is drawn. */
function bring(selector, tries = 50) {
  const found = document.querySelector(selector);
  if (found?.offsetParent) found.scrollIntoView({ block: "center" });
  else if (tries) setTimeout(() => bring(selector, tries - 1), 200);
}

/**
 * A few sentences, each on its own.
 * @param {HTMLElement} element
 * @param {import("./blocks").PointsBlock} block
 */
function drawPoints(element, block) {
  element.replaceChildren(h("h3", {}, block.title), points(block.points));
}

/** Sentences as a list, their terms explained. */
export function points(texts) {
  const list = h("ul", {}, texts.map(() => h("li", {})));
  texts.forEach((text, at) => prose(list.children[at], text));
  return list;
}

/**
 * What a teacher may want to know of one lesson.
 * @param {HTMLElement} element
 * @param {import("./blocks").NotesBlock} block
 */
function drawNotes(element, block) {
  const rows = block.rows.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]);
  const open = button({ class: "pg-quiet", onclick: () => move({ notes: "", lesson: block.id }) }, block.open);
  element.replaceChildren(h("h3", {}, block.title), h("dl", {}, rows), open);
}

/** Forgets what this browser keeps of the course and of all guesses, when asked twice. */
function drawForget(element) {
  if (element.firstChild?.dataset.lang === cursor.lang) return;
  const ask = (asked) => {
    forgets.dataset.asked = asked ? "yes" : "";
    forgets.textContent = say(asked ? "course_forget_sure" : "course_forget");
  };
  const press = () => {
    const sure = Boolean(forgets.dataset.asked);
    if (sure) {
      forgetGuesses();
      forgetCourse();
      forgetAnswers();
    }
    ask(!sure);
  };
  const forgets = button({ dataset: { lang: cursor.lang }, onclick: press, onblur: () => ask(false) }, say("course_forget"));
  element.replaceChildren(forgets);
}

register("lessons", drawLessons, { always: true });
register("steps", drawSteps, { always: true });
register("points", drawPoints);
register("notes", drawNotes);
register("forget", drawForget, { always: true });
