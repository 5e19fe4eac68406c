// The questions at the end of a lesson: the visitor's answers, kept in this browser, and sent along when the lesson is asked for, so that
// the server can say what was right. No address holds it. In a room it is reported as well: the teacher is told how the class chose, and
// never who. And the model answers, which the server tells the teacher of a room.
// @ts-check

import { change, cursor, move, page, sentenceText, subscribe } from "./store.js";
import { button, h, read, replaceChildren, same, say } from "./dom.js";
import { blocksOf } from "./answers.js";
import { prose } from "./glossary.js";
import { act, activities, isMember } from "./room.js";
import { forget, keep, recall } from "./storage.js";
import { bring, register, render } from "./render.js";

const KEY = "playground-checks"; // {lesson: {question: [the hash of what was asked, the choice]}}

/** Answers of a lesson, as the server reads them; with those after the course come those before it. */
export function answersOf(lesson) {
  const all = recall(KEY), before = lesson === "after" ? Object.entries(all.before ?? {}).map(([name, answer]) => [`before_${name}`, answer]) : [];
  return [...Object.entries(all[lesson] ?? {}), ...before].map(([name, answer]) => [name, ...answer].join("~")).join(".");
}

/** @type {{ tab: string, reason: string, leave: () => void } | null} */
let way = null; // what a question has led to: the tab, the reason that it shows, and the way back
subscribe(["tab"], () => (way &&= way.tab === cursor.tab ? way : null));
export const openWay = () => way;
/** Whether one of the rounds before and after the course is the place, so no lesson. */
export const isRound = () => ["before", "after"].includes(cursor.lesson);

/** Opens what a question is about, with the numbers of its answer in sight, until the way back is taken or another tab opened. */
function follow(id, { to, shows, reason }) {
  const from = Object.fromEntries(Object.keys(to).map((name) => [name, cursor[name]]));
  const leave = () => {
    move(from);
    bring(`#pg-panel-${from.tab}[aria-busy="false"] #pg-check-${id}`);
  };
  way = { tab: to.tab, reason, leave };
  move(to);
  if (shows) bring(`#pg-panel-${to.tab}[aria-busy="false"] [data-block="${shows}"]`, "nearest", true, 300); // some take a minute
}

/** Whether each question that stands at the end of a lesson has its answer. */
export function isChecked(lesson) {
  const questions = [...document.querySelectorAll(`.pg-check[data-lesson="${CSS.escape(lesson)}"]`)];
  return questions.length > 0 && questions.every((element) => element.hasAttribute("data-over"));
}

let fresh = ""; // what was chosen just now, and is to be reported once the server has taken it

/** Tells the room what was chosen. Whether it is right, where the page isn't told yet, the server knows. */
function report({ id, lesson, asked: hash, value, right }) {
  if (fresh !== `${id} ${hash}`) return;
  fresh = "";
  if (isMember()) act("check", { lesson, question: id, asked: hash, choice: Number(value), right: value === right });
}

/** How many questions are answered at the ends of lessons. */
export const countAnswers = () =>
  Object.entries(recall(KEY)).reduce((sum, [lesson, all]) => sum + (["before", "after"].includes(lesson) ? 0 : Object.keys(all).length), 0);

export function forgetAnswers() {
  forget(KEY);
  change({ checked: {} });
}

/**
 * A question with its choices. Once one is chosen they stay and can't be chosen any more, and once it is graded they say which was right; the
 * focus stays where it is.
 */
register("check", (element, block) => {
  const isOver = block.value !== "", isGraded = block.right !== "", id = `pg-check-${block.id}`;
  const choose = (value) => {
    if (isOver) return;
    fresh = `${block.id} ${block.asked}`;
    keep(KEY, { [block.lesson]: { ...recall(KEY)[block.lesson], [block.id]: [block.asked, value] } });
    change({ checked: { [block.id]: value } });
  };
  const option = ({ value, label }) => {
    const [isRight, isMine] = [isGraded && value === block.right, isOver && value === block.value], isWrong = isGraded && isMine;
    const mark = isRight ? "✓ " : isWrong ? "✗ " : "", css = isRight ? "right" : isWrong ? "wrong" : "";
    const about = { "aria-pressed": String(isMine), "aria-disabled": isOver ? "true" : undefined, class: css, dataset: { value } };
    return button({ ...about, onclick: () => choose(value) }, mark, label);
  };
  const text = h("p", { id });
  prose(text, block.text);
  const verdict = h("div", { class: "pg-check-verdict", role: "status" });
  element.dataset.lesson = block.lesson;
  element.toggleAttribute("data-over", isOver);
  if (isOver) report(block);
  if (isOver && !isGraded) verdict.append(say("check_taken"));
  if (isGraded) {
    const isRight = block.value === block.right;
    verdict.append(h("b", { class: isRight ? "pg-right" : "pg-wrong" }, `${isRight ? "✓" : "✗"} ${say(isRight ? "right" : "wrong")}`), " ", block.why, " ");
    if (block.way) verdict.append(button({ class: "pg-quiet", onclick: () => follow(block.id, block.way) }, block.way.label));
  }
  replaceChildren(element, text, h("div", { class: "pg-check-options", role: "group", "aria-labelledby": id }, block.options.map(option)), verdict);
});

/**
 * The model answers of a lesson: for the teacher of a room with how the class answered, for a visitor in no room behind a button.
 * @param {HTMLElement} element
 * @param {import("./blocks").AnswersBlock} block
 * @param {import("./render.js").Panel} panel
 */
async function drawAnswers(element, block, panel) {
  const show = () => {
    element.dataset.opened = block.lesson;
    drawAnswers(element, block, panel);
  };
  const query = { code: page.room?.code ?? "", lesson: block.lesson, run: cursor.run, step: cursor.step, text: sentenceText(), toss: cursor.toss };
  const all = /** @type {[string, import("./page").CourseAnswers][]} */ (activities("answers"))[0]?.[1].counted ?? {};
  const counted = (all[block.lesson] ?? 0) + (block.lesson === "after" ? all.before ?? 0 : 0);
  const isOpen = page.room ? page.room.teacher : element.dataset.opened === block.lesson;
  if (same(element, { isOpen, query, counted })) return;
  if (!isOpen && page.room) return element.replaceChildren(h("p", { class: "pg-caption" }, say("course_answers")));
  if (!isOpen) return element.replaceChildren(button({ class: "pg-quiet", onclick: show }, say("course_answers_show")));
  const answer = await read("room/answers", query, `room/answers ${block.lesson}`);
  if (!answer) return void (element.pgText = "");
  element.replaceChildren();
  await render(element, blocksOf(answer), panel);
}

register("answers", drawAnswers, { always: true, on: ["room", "lang"] });
