// The lesson at the side, while one is under way and another tab is open, but for the board of a class: its steps, what to look at, and a
// hint for a visitor who is stuck. In a narrow window it is one line at the lower edge, which opens. Where a question has led to, its reason
// stands at the lower edge in place of the lesson.
// @ts-check

import { FIELDS, PLACES, cursor, move, page, subscribe } from "./store.js";
import { button, h, say } from "./dom.js";
import { counted, doneOf, isGuessed, isTouring, leave, lessonAfter, lessonUnderWay, numberOf } from "./course.js";
import { isRound, openWay } from "./checks.js";
import { dots, points, ways } from "./lessons.js";
import { stack } from "./bars.js";

const PATIENCE = 20_000; // milliseconds without progress, after which the next step gets a hint
let isOpen = false; // in a narrow window
let stuck = { at: "", since: 0, isTold: false }; // the next step, since when it is the next, and whether its hint is shown

subscribe(["boot", "card", "lang", "lesson", "progress", "tab", "stop"], draw);
subscribe(FIELDS, watch);
setInterval(() => document.hidden || watch(), 1000);

/** The step to do next, and how much of it is done: as long as that grows, no hint is needed. */
function watch() {
  const lesson = lessonUnderWay(), next = lesson && nextOf(lesson), now = performance.now();
  const at = next ? `${cursor.lang} ${lesson.name} ${next.name} ${counted(lesson, next)?.seen ?? ""}` : "";
  const was = stuck.isTold;
  if (at !== stuck.at) stuck = { at, since: now, isTold: false };
  else if (at && now - stuck.since > PATIENCE) stuck.isTold = true;
  if (was !== stuck.isTold) draw();
}

const nextOf = (lesson) => lesson.steps.find((step) => !doneOf(lesson.name).includes(step.name));

function draw() {
  const host = document.getElementById("pg-lesson-bar"), way = openWay(), lesson = isRound() ? undefined : lessonUnderWay();
  if (!host) return;
  host.hidden = !(way || lesson) || ["course", "board"].includes(cursor.tab) || isTouring();
  document.body.toggleAttribute("data-docked", !host.hidden);
  document.body.toggleAttribute("data-proves", !host.hidden && Boolean(way));
  if (host.hidden) return host.replaceChildren();
  if (way) {
    host.replaceChildren(h("p", { class: "pg-proof" }, way.reason, " ", button({ onclick: way.leave }, say("check_back"))));
    return stack(); // what the reason is about may be scrolled to at once
  }
  const next = nextOf(lesson), following = lessonAfter(lesson);
  host.toggleAttribute("data-open", isOpen);
  host.replaceChildren(
    header(lesson, next),
    h("h3", {}, lesson.title), h("ol", {}, lesson.steps.map((step) => item(lesson, step, step === next))),
    next ? "" : h("p", { class: "pg-lesson-next" }, say("course_all_done")),
    next || !following ? "" : openLesson(following, say("course_next", { title: following.title })),
    isGuessed(lesson.name) ? h("section", {}, h("h3", {}, say("course_look")), points(lesson.look)) : "",
  );
}

/** Pixels of the window that the reason of a question takes. */
export const reasonHeight = () => (openWay() ? document.getElementById("pg-dock").offsetHeight : 0);

const openLesson = ({ to }, label) => button({ onclick: () => move({ tab: "course", notes: "", ...to }) }, label);

function header(lesson, next) {
  const toggle = () => {
    isOpen = !isOpen;
    draw();
    document.getElementById("pg-lesson-fold")?.focus();
  };
  const label = say(isOpen ? "course_fold" : "course_unfold"), about = { class: "pg-quiet", "aria-expanded": String(isOpen), "aria-label": label };
  const fold = button({ ...about, id: "pg-lesson-fold", title: label, onclick: toggle }, isOpen ? "▾" : "▴");
  const away = button({ class: "pg-quiet", "aria-label": say("course_leave"), title: say("course_leave"), onclick: leave }, "×");
  const brief = h("span", { class: "pg-lesson-brief", "aria-hidden": "true" }, next ? next.text : say("course_all_done"));
  return h("header", {}, openLesson({ to: { lesson: lesson.name } }, say("course_lesson", { number: numberOf(lesson) })), dots(lesson.name), brief, fold, away);
}

/** A step; the next one stands out, and has its hint once that is due. To the questions, which stand on the lesson's own page and come before
 * the next lesson, the way is shown at once. */
function item(lesson, step, isNext) {
  const done = doneOf(lesson.name).includes(step.name), asks = step.when.checked !== undefined;
  const help = asks ? h("p", { class: "pg-lesson-hint" }, ways(step)) : stuck.isTold ? hint(lesson, step) : "";
  return h("li", { class: done ? "done" : isNext ? "next" : "" },
    h("span", { class: "pg-tick", "aria-hidden": "true" }, done ? "✓" : ""),
    h("div", {}, h("span", { class: isNext ? "pg-lesson-next" : "" }, step.text), isNext ? help : ""));
}

/** Where a step is done, how much of it is, and the way there. */
function hint(lesson, step) {
  const tab = step.to.tab ?? (step.knobs ? "training" : "course"), way = counted(lesson, step);
  const place = Object.keys(PLACES).find((name) => PLACES[name].includes(tab));
  const isHere = cursor.tab === tab && Object.entries(step.to).every(([name, value]) => cursor[name] === value);
  const values = { place: say(`place_${place}`), tab: say(`tab_${tab}`), lab: page.boot.labs[step.to.lab] };
  const where = say(isHere ? "course_hint_here" : step.to.lab ? "course_hint_lab" : "course_hint", values);
  if (isHere && !step.knobs) return h("p", { class: "pg-lesson-hint" }, where, way ? ` ${say("course_hint_count", way)}` : "");
  const to = step.to.tab || step.knobs ? step : { ...step, to: { tab, lesson: lesson.name } };
  return h("p", { class: "pg-lesson-hint" }, where, way ? ` ${say("course_hint_count", way)}` : "", ...ways(to).map((way) => [" ", way]).flat());
}
