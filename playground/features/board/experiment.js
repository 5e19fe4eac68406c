// The experiment of a class: what a student is dealt and trains, and the teacher's board of all runs.
// @ts-check

import { asText, cursor, move, page, subscribe } from "../../ui/static/store.js";
import { button, h, same, say } from "../../ui/static/dom.js";
import { reply } from "../../ui/static/actions.js";
import { ACTS } from "../../ui/static/controls.js";
import { act, activities } from "../../ui/static/room.js";
import { sample } from "../../ui/static/curves.js";
import { register } from "../../ui/static/kinds.js";

const TURN = 3000; // milliseconds until a run that waits for its turn asks again

/** Does something in the room, says what came of it, and goes where that is seen. */
ACTS.room = async ({ command, values }) => told(await act(command, values));

/** Says what came of something that was done in the room, and goes where that is seen. */
export function told(answer) {
  reply(answer);
  if (answer.activity) move({ tab: "board", activity: answer.activity });
}

/** What a member's arm is called: as in its lab, else by its settings, in a line. */
function armName({ arm, lab, at }) {
  const plan = page.boot.dealt_labs[lab];
  if (plan) return `${plan.arms[at]} (${page.boot.labs[lab]})`;
  const { labels, choices } = page.boot;
  return Object.entries(arm).map(([knob, value]) => `${labels[knob] ?? knob} ${choices[knob]?.[asText(value)] ?? asText(value)}`).join(", ");
}

/** The newest experiment of the room, with its name. */
function newest() {
  const [name, one] = activities("experiment").at(-1) ?? [];
  return one && { name, ...one };
}

let away = ""; // the experiment whose bar was put away
let waiting = ""; // the experiment in which this visitor's run waits for its turn

/** Says what came of it, and shows one's own run where its training is seen. */
function openMine(answer) {
  reply(answer);
  if (answer.run) move({ tab: "training" });
}

async function train(activity) {
  const answer = await act("train", { activity });
  const { room } = page, isLate = answer.key === "rooms.not_your_turn" && room?.activities[activity];
  waiting = isLate ? activity : "";
  if (isLate) setTimeout(() => waiting === activity && train(activity), TURN);
  else openMine(answer);
  drawArm();
}

/** What there is to do now: a student's arm, and the button that trains it or leads to its run. */
function drawArm() {
  const { boot, room } = page, one = boot && room && !room.teacher ? newest() : null;
  const isThere = one?.run && one.run === cursor.run && cursor.tab === "training", isBoard = one?.board && cursor.tab !== "board";
  let place = document.getElementById("pg-arm");
  const isShown = one?.arm && one.name !== away && (!isThere || isBoard);
  document.body.toggleAttribute("data-arm", !!isShown);
  if (!isShown) return void place?.remove();
  if (!place) document.body.append((place = h("div", { id: "pg-arm", role: "group" })));
  if (same(place, [one, waiting, isThere, isBoard])) return;
  const waits = waiting === one.name, label = say("room_arm", { arm: armName(one) });
  const open = () => openMine({ run: one.run });
  const begin = () => train(one.name);
  const doing = one.run ? !isThere && button({ id: "pg-arm-open", onclick: open }, say("room_arm_open"))
    : button({ id: "pg-arm-train", class: "pg-main", disabled: waits, onclick: begin }, say(waits ? "room_arm_waits" : "room_arm_train"));
  const toBoard = () => move({ tab: "board", activity: one.name });
  const board = isBoard && button({ id: "pg-arm-board", onclick: toBoard }, say("room_arm_board"));
  place.setAttribute("aria-label", label);
  const close = button({ id: "pg-arm-away", "aria-label": say("close"), title: say("close"), onclick: () => putAway(one.name) }, "×");
  place.replaceChildren(h("span", { title: label }, label), ...[doing, board].filter(Boolean), close);
}
/** Takes the bar away, which lies over the page, until another experiment is dealt. */
function putAway(name) {
  away = name;
  drawArm();
}
subscribe(["room", "boot", "tab", "run"], drawArm);

/**
 * The runs of a class, a row each; a press on a student opens the run.
 * @param {HTMLElement} element
 * @param {import("../../ui/static/blocks").BoardBlock} block
 */
function drawBoard(element, block) {
  const focused = element.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.run : "";
  const [student, ...others] = block.head.map((text) => h("th", { scope: "col" }, text));
  const about = (row) => ({ class: "pg-run-name", dataset: { run: row.run }, "aria-current": row.here ? "true" : null });
  const open = (row) => button({ ...about(row), onclick: () => look(row.run) }, row.name);
  const line = (row) =>
    h("tr", { class: row.here ? "here" : undefined }, h("th", { scope: "row" }, open(row)), h("td", {}, sample(row.key), " ", row.arm),
      row.numbers.map((text) => h("td", { class: "number" }, text)));
  const body = h("tbody", {}, block.rows.map(line));
  const table = h("div", { class: "pg-scroll" }, h("table", {}, h("thead", {}, h("tr", {}, student, others)), body));
  element.replaceChildren(h("h3", {}, block.title), block.rows.length ? table : h("p", { class: "pg-note" }, block.empty));
  if (focused) /** @type {HTMLElement | null} */ (element.querySelector(`[data-run="${CSS.escape(focused)}"]`))?.focus();
}

/** Shows one run where its training is seen; who follows the teacher sees it as well. */
const look = (run) => move({ run, tab: "training" });

register("board", drawBoard);
