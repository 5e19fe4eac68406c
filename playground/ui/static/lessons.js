// The tab of the course: the list of lessons, what there is to do in one, and what teachers read.
// @ts-check

import { cursor, move, page } from "./store.js";
import { button, childrenOf, h, read, say } from "./dom.js";
import { setControls } from "./knobs.js";
import { doneOf, forgetCourse, isDone, isGuessed, lessons, stepsOf, stopLeft, upNext } from "./course.js";
import { answersOf, countAnswers, forgetAnswers } from "./checks.js";
import { forgetGuesses } from "./labs.js";
import { prose } from "./glossary.js";
import { bring, register, render } from "./render.js";

/** Steps as dots: full when done. */
export function dots(name) {
  const done = doneOf(name);
  return h("span", { class: "pg-dots", "aria-hidden": "true" }, stepsOf(name).map((step) => h("i", { class: done.includes(step.name) ? "done" : "" })));
}

/** Every lesson with what is done of it; the one to go on with stands out. */
register("lessons", (element, block) => {
  const names = block.lessons.map(({ name }) => name), up = upNext()?.name, begun = names.some((name) => doneOf(name).length);
  const next = names.includes(up) ? up : names.find((name) => !isDone(name));
  const goOn = () => (next === "tour" && stopLeft() ? say("course_go_on_stop", { number: stopLeft() }) : say(begun ? "course_go_on" : "course_begin"));
  const state = (name) => (isDone(name) ? say("course_done") : name === next ? goOn() : "");
  const row = ({ name, title, text, to, minutes, number }) => {
    const progress = say("course_progress", { done: doneOf(name).length, steps: stepsOf(name).length });
    const open = { class: `pg-lesson${name === next ? " next" : ""}`, dataset: { lesson: name }, onclick: () => move(to) }, status = state(name);
    return h("li", {}, button({ ...open, "aria-description": progress },
      h("span", { class: "pg-lesson-number" }, String(number)), h("b", {}, title), h("span", { class: "pg-lesson-text" }, text),
      h("span", { class: "pg-lesson-state" }, h("small", {}, status, h("span", {}, status && " · ", minutes)), dots(name))));
  };
  element.replaceChildren(h("ol", {}, block.lessons.map(row)));
}, { always: true, on: ["progress"] });

/** Steps of a lesson, ticked off as the page sees them done, with a way to each. */
register("steps", (element, block) => {
  const done = doneOf(block.lesson);
  const step = (task) => {
    const ticked = done.includes(task.name);
    return h("li", { class: ticked ? "done" : "", dataset: { step: task.name } },
      h("span", { class: "pg-tick", role: "img", "aria-label": say(ticked ? "course_done" : "course_open") }, ticked ? "✓" : ""),
      h("span", { class: "pg-step-text" }, task.text), ...ways(task));
  };
  element.replaceChildren(h("h3", {}, block.title), h("ol", {}, block.steps.map(step)));
  if (done.length === block.steps.length) element.append(h("p", { class: "pg-right" }, say("course_all_done")));
}, { always: true, on: ["progress"] });

/** Buttons that set what a step needs, and lead to where it can be done. */
export function ways({ to, knobs, sees }) {
  const way = (act, label) => button({ onclick: act }, say(label));
  return [
    ...(knobs ? [way(() => setControls(knobs), "course_set")] : []),
    ...(Object.keys(to).length ? [way(() => (move(to), sees && bring(sees, to.tab === "course" ? "center" : "nearest")), "course_go")] : []),
  ];
}

/** The block of a kind or id in a panel's blocks, however deep it stands. */
function findBlock(blocks, wanted) {
  for (const block of blocks) {
    const match = block.kind === wanted || block.id === wanted ? block : findBlock(block.blocks ?? [], wanted);
    if (match) return match;
  }
  return null;
}

/** The live picture of a lesson's view; pressed, it leads there. */
register("glimpse", async (element, { to, shows, title, label, wait }, { query }) => {
  const { run, text = "", dark = "", height = "" } = query, width = String(Math.max(Math.round(element.clientWidth / 20) * 20, 280));
  const place = { run, text: to.run && to.run !== run ? "" : text, dark, height, width, ...to }, key = JSON.stringify([place, cursor.lang, page.live.step]);
  if (element.dataset.asked === key) return;
  element.dataset.asked = key;
  if (!element.childElementCount)
    element.append(h("h3", {}), h("div", { class: "pg-glimpse-picture" }, h("p", { class: "pg-waiting" }, wait)), button({}, label));
  const [heading, picture, way] = childrenOf(element);
  heading.textContent = title;
  way.textContent = label;
  way.onclick = () => move(to);
  const answer = await read(`panel/${to.tab}`, place, "glimpse");
  const block = answer && !answer.error && element.dataset.asked === key ? findBlock(answer.blocks, shows) : null;
  if (block) await render(picture, [{ ...block, id: `glimpse-${block.id}` }], { query: place, preview: () => {} });
  else if (answer?.error) picture.replaceChildren();
}, { always: true });

/** A few sentences, each on its own; those on a lesson once its guess is made. */
register("points", (element, block) => {
  element.hidden = !isGuessed(cursor.lesson);
  element.replaceChildren(h("h3", {}, block.title), points(block.points));
}, { always: true, on: ["progress"] });

/** Sentences as a list, their terms explained. */
export function points(texts) {
  const list = h("ul", {}, texts.map(() => h("li", {})));
  texts.forEach((text, at) => prose(list.children[at], text));
  return list;
}

/** Notes for teachers on one lesson. */
register("notes", (element, block) => {
  const rows = block.rows.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]);
  const open = button({ class: "pg-quiet", onclick: () => move({ notes: "", ...lessons().find(({ name }) => name === block.id).to }) }, block.open);
  element.replaceChildren(h("h3", {}, block.title), h("dl", {}, rows), open);
});

/** Forgets what this browser keeps of the course and of all guesses, when asked twice. */
register("forget", (element) => {
  if (element.querySelector("button")?.dataset.lang === cursor.lang) return;
  const ask = (isAsking) => {
    forgets.dataset.asked = isAsking ? "yes" : "";
    forgets.textContent = say(isAsking ? "course_forget_sure" : "course_forget");
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
}, { always: true });

/** The results of the course in this browser as a code that the server signs at a click. */
register("handin", (element, block) => {
  const code = h("input", { readOnly: true, hidden: true, "aria-label": block.label, onfocus: () => code.select() });
  const sign = async () => {
    const done = lessons().map(({ name }) => name).filter(isDone).join(".");
    const answer = await read("handin", { done, answered: countAnswers(), checked: answersOf("after") });
    if (!answer) return;
    code.hidden = false;
    code.value = answer.code ?? answer.error;
    code.focus();
  };
  element.replaceChildren(button({ onclick: sign }, block.label), h("p", { class: "pg-caption" }, block.about), code);
});
