// The tour: one stop after another on the map, each with a number to read off. Space and the arrow keys go from stop to stop.
// @ts-check

import { change, cursor, move, page, subscribe } from "../../ui/static/store.js";
import { button, h, isEnter, say, update, updateAttributes } from "../../ui/static/dom.js";
import { doneOf, isTouring, leave, lessonAfter, lessons, stepsOf } from "../../ui/static/course.js";
import { prose } from "../../ui/static/glossary.js";
import { typedNumber } from "./sheet.js";
import { register } from "../../ui/static/render.js";
import { play } from "../../ui/static/replay.js";

const NAME = "tour", NEARLY = 4; // times the tolerance
const MS = 650; // that the eye is led
const typed = new Map(); // stop and its number -> what was typed there, until it is right
/** @type {import("../../ui/static/blocks").TourBlock | null} */
let stop = null;
let last = cursor.stop, went = false; // to this stop on this page, not by the link that opened it
subscribe(["stop"], () => {
  went ||= !last && cursor.stop !== "";
  last = cursor.stop;
});
/** Keys of the tour, and the stops by which each goes on. */
export const KEYS = { " ": 1, ArrowRight: 1, ArrowLeft: -1 };
// where a key is for something else
const FIELDS = "input,textarea,select,[contenteditable],[role=tab],[role=slider],[role=listbox],[role=combobox],dialog";
const TAKEN = { " ": `${FIELDS},button,summary,a`, arrow: `${FIELDS},.pg-plot,.pg-map-grid,[tabindex="0"]:not(button)` };

/**
 * Judges a typed number: returns how it is shown, and a sentence. The sentence for a wrong one says where to look.
 * @param {import("../../ui/static/blocks").TourBlock} block
 * @param {string} text
 * @returns {[string, string]}
 */
export function judged({ answer, tolerance, right, where, mistakes, words }, text) {
  const number = typedNumber(text), away = (value) => Math.abs(number - value), most = tolerance + 1e-9;
  if (Number.isNaN(number)) return ["no_number", words.no_number];
  if (away(answer) <= most) return ["right", right];
  const other = mistakes.filter(({ value }) => away(value) <= most).sort((first, two) => away(first.value) - away(two.value))[0];
  const why = away(answer) <= NEARLY * tolerance ? words.nearly : tolerance && away(-answer) <= most ? words.sign : other?.text ?? "";
  return ["wrong", ["✗", why, where].filter(Boolean).join(" ")];
}

/** Draws a stop, or changes what is there: its buttons stay, so that one can be pressed again and again. */
function drawTour(element, block) {
  if (!element.firstChild) build(element);
  const isOther = stop?.stop !== block.stop || !element.dataset.stop, done = doneOf(NAME);
  const isAsked = block.answer !== null && !done.includes(block.stop);
  const [title, , keys, place, dots] = element.querySelectorAll(".pg-tour-head > *");
  const [text, formula, ask, verdict] = [".pg-tour-text", ".pg-tour-formula", ".pg-tour-ask", ".pg-said"].map((css) => element.querySelector(css));
  const input = element.querySelector("input"), [check, back, next] = element.querySelectorAll("button:not(.pg-tour-end)");
  const end = element.querySelector(".pg-tour-end");
  stop = block;
  element.dataset.stop = block.stop;
  update(title, { textContent: block.title });
  mark(element, done.includes(block.stop));
  update(place, { textContent: block.place });
  const state = (name) => `${done.includes(name) ? "done" : ""} ${name === block.stop ? "here" : ""}`;
  dots.replaceChildren(...stepsOf(NAME).map(({ name }) => h("i", { class: state(name) })));
  prose(text, block.text);
  formula.textContent = block.formula;
  ask.textContent = block.answer === null ? block.words.not_finite : block.ask;
  updateAttributes(input, { "aria-label": block.words.label, placeholder: block.words.label });
  input.disabled = check.disabled = block.answer === null;
  update(check, { textContent: block.words.check });
  update(back, { textContent: block.words.previous, disabled: !block.previous });
  updateAttributes(end, { "aria-label": block.words.end, title: block.words.end });
  update(keys, { textContent: block.words.keys });
  label(next, done.includes(block.stop));
  check.classList.toggle("pg-tour-first", isAsked);
  next.classList.toggle("pg-tour-first", !isAsked);
  if (isOther) {
    input.value = (!done.includes(block.stop) && typed.get(`${block.stop} ${block.answer}`)) || "";
    tell(verdict, "", "");
    const free = document.activeElement === document.body || element.contains(document.activeElement);
    if (went && free && matchMedia("(pointer: fine)").matches) input.focus({ preventScroll: true });
    went = false;
  }
}

function label(next, isDone) {
  update(next, { textContent: stop.next ? stop.words[isDone ? "next" : "skip"] : say("course_next", { title: following()?.title ?? "" }) });
}
function mark(element, isDone) {
  update(element.querySelector(".pg-tick"), { textContent: isDone ? "✓" : "", className: `pg-tick${isDone ? " done" : ""}` });
}
const following = () => lessonAfter(lessons().find(({ name }) => name === NAME));

function tell(verdict, how, text) {
  verdict.textContent = text;
  verdict.className = `pg-said ${how}`;
}

function build(element) {
  const about = { type: "text", inputmode: "decimal", autocomplete: "off", class: "pg-guess pg-tour-answer", "aria-describedby": "pg-tour-ask" };
  const input = h("input", about), verdict = h("output", { class: "pg-said" });
  const check = () => {
    const [how, text] = judged(stop, input.value);
    tell(verdict, how, text);
    if (how !== "right") return input.select();
    change({ readOff: "" }); // a tour that begins anew asks for the same number again
    change({ readOff: stop.stop });
    drawTour(element, stop);
  };
  input.addEventListener("keydown", (event) => isEnter(event) && check());
  input.addEventListener("input", () => typed.set(`${stop.stop} ${stop.answer}`, input.value));
  const end = () => {
    move({ stop: "" });
    leave();
  };
  const back = button({ onclick: () => go(-1) }), next = button({ class: "pg-tour-next", onclick: onward });
  const ways = h("div", { class: "pg-tour-ways" }, input, button({ onclick: check }), h("span", { class: "pg-tour-back" }, back), next);
  element.append(
    h("header", { class: "pg-tour-head" }, h("h3", {}), h("span", { class: "pg-tick", "aria-hidden": "true" }),
      h("span", { class: "pg-tour-keys" }), h("span", { class: "pg-tour-place" }),
      h("span", { class: "pg-dots", "aria-hidden": "true" }), button({ class: "pg-quiet pg-tour-end", onclick: end }, "×")),
    h("div", { class: "pg-tour-about" }, h("p", { class: "pg-tour-text" }), h("p", { class: "pg-tour-formula" })),
    h("div", { class: "pg-tour-does" }, h("p", { class: "pg-tour-ask", id: "pg-tour-ask" }), ways, verdict));
}

/** To the stop so many further on, if there is one. */
function go(by) {
  const to = by > 0 ? stop?.next : stop?.previous;
  if (!to) return;
  went = true;
  move({ stop: to, stage: "" });
}

/** From the last stop to the next lesson. */
const onward = () => (stop.next ? go(1) : move({ tab: "course", stop: "", ...following().to }));

/** Goes on where a key is one of the tour's. In the field of the answer it is, until something is typed. */
function goOn(event) {
  const by = KEYS[event.key], target = /** @type {any} */ (event.target);
  if (!by || !isTouring() || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isAnswer = target.matches?.(".pg-tour-answer"), isOver = document.querySelector(".pg-tour .pg-said.right") !== null;
  if (isAnswer ? target.value !== "" && !isOver : target.closest?.(TAKEN[event.key] ?? TAKEN.arrow)) return;
  event.preventDefault();
  go(by);
}
document.addEventListener("keydown", goOn); // before keyboard.js hears of it, which main.js imports later

/** Leads the eye from the stage before to the one that is open now: the small picture of the one goes over to the other, which unfolds. */
export function lead(grid, from, to) {
  if (!to || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const about = { duration: MS, easing: "ease-in-out" };
  to.animate([{ transform: "none" }, { transform: "scale(1.25)", offset: 0.75 }, { transform: "none" }], about);
  grid.querySelector(".pg-open").animate([{ clipPath: "inset(0 0 100% 0)" }, { clipPath: "inset(0 0 0 0)" }], { duration: MS / 2, easing: "ease-out" });
  if (!from?.isConnected || from === to) return;
  const picture = from.querySelector("canvas"), home = grid.getBoundingClientRect();
  const [start, goal] = [picture, to.querySelector("canvas")].map((canvas) => canvas.getBoundingClientRect());
  const ghost = h("canvas", { class: "pg-tour-ghost", width: picture.width, height: picture.height, "aria-hidden": "true" });
  ghost.getContext("2d").drawImage(picture, 0, 0);
  const at = ({ left, top, width, height }) => ({ left: `${left - home.left}px`, top: `${top - home.top}px`, width: `${width}px`, height: `${height}px` });
  grid.append(ghost);
  ghost.animate([at(start), at(goal)], about).onfinish = () => ghost.remove();
}

subscribe(["stop"], () => {
  if (!cursor.stop || !page.playing) return; // or the numbers would change while one is read
  play();
  move({ step: "" }, { instead: true });
});
subscribe(["stop", "tab"], () => document.body.toggleAttribute("data-touring", isTouring()));
document.body.toggleAttribute("data-touring", cursor.tab === "map" && cursor.stop !== "");

register("tour", drawTour, { on: ["progress"] });
