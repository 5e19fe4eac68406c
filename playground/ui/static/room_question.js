// The class's guess: how the question of a lab or a lesson is put to the room, how a guess goes there, and what came of it. The buttons of
// the guess are the page's own (controls.js): in a room with an open question what they choose is sent as well.
// @ts-check

import { cursor, move, page, subscribe } from "./store.js";
import { button, h, isDark, notice, paragraph, read, ready, replaceChildren, same, say } from "./dom.js";
import { blocksOf } from "./answers.js";
import { act, activities, isMember, looking } from "./room.js";
import { register, render } from "./render.js";

/** Where a question stands, and the two fields of the cursor that hold the guess. */
const ABOUT = { lab: { tab: "labs", guess: "guess", sure: "sure" }, lesson: { tab: "course", guess: "predicted", sure: "certain" } };
const UNKNOWN = "unknown"; // the guess “I don't know”

/** @type {() => [string, import("./page").Question][]} */
const questions = () => activities("question");
const fieldOf = ({ place }) => (place.lab ? "lab" : "lesson");
const isOf = (question, field, name) => question.place[field] === name;

/** The question that is on screen and asked of this room: its name and what is known of it. */
function here() {
  const field = cursor.tab === "board" ? "lab" : Object.keys(ABOUT).find((name) => ABOUT[name].tab === cursor.tab); // that of a dealt lab
  return field && cursor[field] ? questions().find(([, question]) => isOf(question, field, cursor[field])) : undefined;
}

/** Why the answer on screen has to wait: the class is still guessing, or all of it sees the teacher's screen. A teacher closes the question
 * to see it. "fixed" is a guess on models that train. */
export function awaits() {
  const { state, fixed } = here()?.[1] ?? { state: "" };
  if (fixed) return "fixed";
  return state === "open" || (state === "closed" && (isMember() || cursor.present === "1")) ? state : "";
}

/** A teacher sees the answer that they revealed, also without a guess. */
subscribe(["room", "tab", "lab", "lesson"], () => {
  const question = here()?.[1];
  if (page.room?.teacher && question?.answer && !isWhole(ownGuess(question))) move({ [ABOUT[fieldOf(question)].guess]: UNKNOWN });
});

/** Shows the class what it guessed. */
export const revealHere = () => tell("reveal", { activity: here()?.[0], cursor: looking() });

// ---- a guess goes to the class -----------------------------------------------------------------------------------------------------------

function ownGuess(question) {
  const { guess, sure } = ABOUT[fieldOf(question)];
  return { guess: cursor[guess], sure: cursor[sure] };
}

const isWhole = ({ guess, sure }) => guess && guess !== UNKNOWN && sure;

async function tell(action, values) {
  const { error, notice: news } = await act(action, values);
  if (error || news) notice(error || news, error ? "error" : "info");
}

let isSending = false, isNew = false;

/** One guess at a time is on its way, so that the newest is the last to arrive. */
async function sendGuess() {
  const [name, question] = here() ?? [];
  if (!question || !isMember() || question.state !== "open" || !isWhole(ownGuess(question))) return;
  isNew = true;
  if (isSending) return;
  [isSending, isNew] = [true, false];
  await tell("answer", { activity: name, ...ownGuess(question) });
  isSending = false;
  if (isNew) sendGuess();
}
subscribe(["guess", "sure", "predicted", "certain"], sendGuess);

// ---- below the guess -------------------------------------------------------------------------------------------------------------------

/**
 * @param {HTMLElement} element
 * @param {import("./blocks").QuestionBlock} block
 * @param {import("./render.js").Panel} panel
 */
export function drawQuestion(element, block, panel) {
  const [name, question] = questions().find(([, each]) => isOf(each, block.field, block.name)) ?? [];
  element.hidden = !page.room || !(question || page.room.teacher);
  if (element.hidden) return element.replaceChildren();
  if (!element.firstChild) element.append(h("div", { class: "pg-line" }), h("div", { class: "pg-question-result" }));
  const [line, result] = /** @type {HTMLElement[]} */ ([...element.children]);
  const state = [page.room.code, page.room.teacher, name, question, question && isWhole(ownGuess(question))];
  if (!same(line, state)) replaceChildren(line, ...(page.room.teacher ? forTeacher(block.field, name, question) : forMember(question)));
  return showResult(result, name, question, panel);
}

const says = (text) => h("p", { role: "status" }, text);

function forTeacher(about, name, question) {
  const acts = (action, values) => () => tell(action, { activity: name, ...values() });
  const does = (action, key, values = () => ({})) => button({ id: `pg-question-${action}`, onclick: acts(action, values) }, say(key));
  if (!question) return [does("ask", "room_ask", () => ({ about, cursor: looking() }))];
  const counted = (key) => says(paragraph([say(key, question), question.late && say("room_asked_late", question)]));
  const reveal = (key) => does("reveal", key, () => ({ cursor: looking() })), withdraw = does("withdraw", "room_withdraw");
  if (question.state === "open") return [counted("room_asked_open"), does("close", "room_close"), reveal("room_reveal"), withdraw];
  if (question.state === "closed") return [counted("room_asked_closed"), reveal("room_reveal"), withdraw];
  return [...(question.answer ? [] : [reveal("room_mark")]), withdraw];
}

function forMember(question) {
  if (question.state === "revealed") return [];
  if (question.state === "closed") return [says(say("room_guess_closed"))];
  if (question.fixed) return [];
  if (question.mine) return [says(say("room_guess_in"))];
  return [says(say("room_guess")), ...(isWhole(ownGuess(question)) ? [button({ id: "pg-question-send", onclick: sendGuess }, say("room_guess_send"))] : [])];
}

/** Guesses of the class, once they are revealed: requested again when they, or the page's look, have changed. */
async function showResult(element, name, question, panel) {
  if (question?.state !== "revealed") {
    element.pgKey = "";
    return element.replaceChildren();
  }
  const look = { dark: isDark() ? "1" : "", width: String(element.clientWidth || 700), height: String(innerHeight), present: cursor.present };
  const key = JSON.stringify([name, cursor.lang, look, questions()]);
  if (element.pgKey === key) return;
  element.pgKey = key;
  const channel = `room/question/${element.closest(".pg-panel")?.id}`; // the board and the lab's own panel show the same question
  const answer = await read("room/question", { code: page.room.code, activity: name, ...look }, channel);
  if (!answer || element.pgKey !== key) return;
  if (answer.error) element.pgKey = "";
  element.dataset.of = answer.of ?? "";
  await render(element, blocksOf(answer), panel);
  element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1); // the presenter's view looks for its picture then
}

// ---- a line at the room's chip ----------------------------------------------------------------------------------------------------------

/** Whether a question waits for the guess of a member. */
const isWaiting = (question) => question.state === "open" && !question.mine && !question.fixed;

/** An open question that waits for this member's guess and is not on screen. */
function waiting() {
  const open = isMember() ? questions().find(([, question]) => isWaiting(question)) : undefined;
  return open && open[0] !== here()?.[0] ? open[1] : undefined;
}

/** The question about a lab, while it waits for this member's guess. */
export const guessAt = (lab) => questions().find(([, question]) => lab && isOf(question, "lab", lab) && isWaiting(question))?.[1];

/** Opens a question. */
export const openQuestion = (question) => move({ ...question.place, tab: ABOUT[fieldOf(question)].tab, notes: "" });

/** Whether a question is on screen. */
export const isHere = (question) => here()?.[1] === question;

function titleOf(question) {
  const { lab, lesson } = question.place;
  return lab ? page.boot.labs[lab] : page.boot.course.find(({ name }) => name === lesson)?.title;
}

async function drawLine() {
  if (!page.boot) return;
  const frame = await ready("pg-frame"), question = waiting();
  const line = document.getElementById("pg-room-asks") ?? h("div", { id: "pg-room-asks", role: "status" });
  if (!line.parentElement) frame.append(line);
  if (same(line, question?.place ?? "")) return;
  line.replaceChildren(...(question ? [button({ onclick: () => openQuestion(question) }, say("room_asks", { title: titleOf(question) }), " ▸")] : []));
}
subscribe(["room", "boot", "tab", "lab", "lesson", "lang"], drawLine);

register("question", drawQuestion, { always: true, on: ["room", "guess", "sure", "predicted", "certain", "present"] });
