// The experiment of a class: the arm that a student is dealt and trains, the teacher's board of all runs, and how the teacher deals.
// @ts-check

import { asText, change, cursor, move, page, subscribe } from "../../ui/static/store.js";
import { button, h, labelled, paragraph, ready, replaceChildren, same, say } from "../../ui/static/dom.js";
import { reply } from "../../ui/static/actions.js";
import { ACTS } from "../../ui/static/controls.js";
import { act, activities, stayFollowing } from "../../ui/static/room.js";
import { FORMS } from "../../ui/static/room_dialog.js";
import { guessAt, isHere, openQuestion } from "../../ui/static/room_question.js";
import { sample } from "../../ui/static/pen.js";
import { register } from "../../ui/static/render.js";
import { open } from "../../ui/static/dialogs.js";

const TURN = 3000; // milliseconds until a run that waits for its turn asks again

/** Does something in the room, says what came of it, and goes where that is seen. */
ACTS.room = async ({ command, values }) => showAnswer(await act(command, values));

/** Says what came of something that was done in the room, and goes where that is seen. */
export function showAnswer(answer) {
  reply(answer);
  const { activity, lab = "" } = answer;
  if (activity) move({ tab: "board", activity, ...(lab && { lab }) });
}

/** The name of a member's arm: as in its lab, else by its settings; of a choice its word. */
function armName({ arm, lab, at }) {
  const plan = page.boot.dealt_labs[lab];
  if (plan) return page.boot.labs[lab]?.toLowerCase() === plan.arms[at].toLowerCase() ? plan.arms[at] : `${plan.arms[at]} (${page.boot.labs[lab]})`;
  const { labels, choices } = page.boot, named = (knob, value) => `${labels[knob] ?? knob} ${choices[knob]?.[asText(value)] ?? asText(value)}`;
  return Object.entries(arm).map(([knob, value]) => (typeof value === "string" && choices[knob]?.[value]) || named(knob, value)).join(", ");
}

/** The newest experiment of the room, with its name. */
function newest() {
  const [name, experiment] = activities("experiment").at(-1) ?? [];
  return experiment && { name, ...experiment };
}

let away = ""; // the experiment whose bar was put away
let waiting = ""; // the experiment in which this visitor's run waits for its turn

/** Says what came of it, and shows one's own run where its training is seen, with its settings in the controls. */
function openMine(answer) {
  reply(answer);
  if (!answer.run) return;
  change({ taking: answer.run });
  move({ tab: "training" });
}

async function train(activity) {
  const answer = await act("train", { activity });
  stayFollowing();
  const { room } = page, isLate = answer.key === "rooms.not_your_turn" && room?.activities[activity];
  waiting = isLate ? activity : "";
  if (isLate) setTimeout(() => waiting === activity && train(activity), TURN);
  else openMine(answer);
  drawArm();
}

/** Draws the bar of a student: their arm, and the button that trains it, after their guess, or leads to its run. */
async function drawArm() {
  const frame = await ready("pg-frame"), { boot, room } = page, experiment = boot && room && !room.teacher ? newest() : null;
  const isThere = experiment?.run && experiment.run === cursor.run && cursor.tab === "training", isBoard = experiment?.board && cursor.tab !== "board";
  let place = document.getElementById("pg-arm");
  const isShown = experiment?.arm && experiment.name !== away && (!isThere || isBoard);
  if (!isShown) return void place?.remove();
  if (!place) frame.parentElement.append((place = h("div", { id: "pg-arm", role: "group" })));
  const question = guessAt(experiment.lab), guess = () => openQuestion(question), isAsked = isHere(question);
  if (same(place, [experiment, waiting, isThere, isBoard, question?.place, isAsked])) return;
  const waits = waiting === experiment.name, label = say("room_arm", { arm: armName(experiment) });
  const open = () => openMine({ run: experiment.run });
  const begin = () => train(experiment.name);
  const doing = experiment.run ? !isThere && button({ id: "pg-arm-open", onclick: open }, say("room_arm_open"))
    : question ? !isAsked && button({ id: "pg-arm-guess", class: "pg-main", onclick: guess }, say("room_guess_first"))
    : button({ id: "pg-arm-train", class: "pg-main", disabled: waits, onclick: begin }, say(waits ? "room_arm_waits" : "room_arm_train"));
  const toBoard = () => move({ tab: "board", activity: experiment.name });
  const board = isBoard && !question && button({ id: "pg-arm-board", onclick: toBoard }, say("room_arm_board"));
  place.setAttribute("aria-label", label);
  const close = button({ id: "pg-arm-away", "aria-label": say("close"), title: say("close"), onclick: () => putAway(experiment.name) }, "×");
  place.replaceChildren(h("span", { title: label }, label), ...[doing, board].filter(Boolean), close);
}
/** Takes the bar away until another experiment is dealt. */
function putAway(name) {
  away = name;
  drawArm();
}
subscribe(["room", "boot", "tab", "lab", "run"], drawArm);

/** The runs of a class, a row each; a press on a student opens the run. */
register("board", (element, block) => {
  const [student, ...columns] = block.head.map((text) => h("th", { scope: "col" }, text));
  const about = (row) => ({ class: "pg-run-name", dataset: { run: row.run }, "aria-current": row.here ? "true" : null });
  const open = (row) => button({ ...about(row), onclick: () => look(row.run) }, row.name);
  const line = (row) =>
    h("tr", { class: row.here ? "here" : undefined }, h("th", { scope: "row" }, open(row)), h("td", {}, sample(row.key), " ", row.arm),
      row.numbers.map((text) => h("td", { class: "number" }, text)));
  const body = h("tbody", {}, block.rows.map(line));
  const table = h("div", { class: "pg-scroll" }, h("table", {}, h("thead", {}, h("tr", {}, student, columns)), body));
  replaceChildren(element, h("h3", {}, block.title), table);
});

/** Shows one run where its training is seen; who follows the teacher sees it as well. */
const look = (run) => move({ run, tab: "training" });

// ---- the teacher deals ------------------------------------------------------------------------------------------------------------------

const ORDERS = ["together", "in_turn"];
const WAYS = ["values", "several", "lab"];

/** The button under Train, for the teacher of a room. */
async function draw() {
  const teaches = Boolean(page.boot && page.room?.teacher);
  document.body.toggleAttribute("data-teaches", teaches);
  if (!page.boot) return;
  const place = await ready("pg-deal"), deal = () => button({ id: "pg-deal-open", onclick: openDeal }, say("room_deal"));
  if (teaches && place.textContent !== say("room_deal")) place.replaceChildren(deal());
  if (!teaches) place.replaceChildren();
}
subscribe(["room", "boot"], draw);

/**
 * A way to say what is dealt: what is said about it, what it looks like, and what is sent to do which action in the room.
 * @type {Record<string, () => { about: string, elements: HTMLElement[], message: () => Record<string, any>, action: string }>}
 */
const MAKE = { values: oneSetting, several: severalSettings, lab: armsOfLab };

function oneSetting() {
  const knob = settingOf("pg-deal-knob"), place = h("div", { class: "pg-deal-values" });
  let input = valuesOf(knob.value);
  const show = () => place.replaceChildren((input = valuesOf(knob.value)).element);
  knob.addEventListener("change", show);
  show();
  const arms = () => input.values().map((value) => ({ [knob.value]: value }));
  const message = () => ({ knobs: settings(), arms: arms() });
  return { about: "room_deal_about", elements: [labelled("room_deal_knob", knob), place], message, action: "deal" };
}

function severalSettings() {
  const table = combinations();
  return { about: "room_deal_several_about", elements: [table.element], message: () => ({ knobs: settings(), arms: table.arms() }), action: "deal" };
}

let showPlan = () => "";
subscribe(["room"], () => page.room && showPlan()); // while students come in

function armsOfLab() {
  const { dealt_labs: plans, labs } = page.boot, plan = h("p", { id: "pg-deal-plan", role: "status" });
  const lab = h("select", { id: "pg-deal-lab" }, Object.keys(plans).map((name) => h("option", { value: name }, labs[name])));
  if (cursor.lab in plans) lab.value = cursor.lab;
  showPlan = () => (plan.textContent = planned(plans[lab.value]));
  lab.addEventListener("change", showPlan);
  showPlan();
  return { about: "room_deal_lab_about", elements: [labelled("room_deal_lab_name", lab), plan], message: () => ({ lab: lab.value }), action: "deal_lab" };
}

/** The plan of a dealt lab in this room: its arms and its minutes, and how many students are missing for a verdict. */
function planned({ arms, first, minutes, needed }) {
  const students = page.room.members.length, values = { count: arms.length, arms: arms.join(" · "), students, minutes };
  const order = students < arms.length && say("room_deal_first", { first: (first.length ? first : arms).join(" · ") });
  return paragraph([say("room_deal_plan", values), students < needed && say("room_deal_short", { needed }), order]);
}

/** The settings at the left. */
const settings = () => ({ ...page.knobs, own: page.knobs.task === "own" ? page.own : "" });

function openDeal() {
  const order = h("select", { id: "pg-deal-order" }, ORDERS.map((name) => h("option", { value: name }, say(`room_deal_${name}`))));
  const about = h("p", {}), place = h("div", { class: "pg-deal-what" });
  const otherWays = h("p", { class: "pg-line" });
  let chosenWay = MAKE.values();
  const take = (way) => {
    chosenWay = MAKE[way]();
    for (const message of document.querySelectorAll("#pg-deal-said")) message.textContent = "";
    about.textContent = paragraph([say(chosenWay.about), way !== "lab" && page.knobs.task === "own" ? say("room_deal_own") : ""]);
    place.replaceChildren(...chosenWay.elements);
    const other = (name) => button({ id: `pg-deal-${name}-way`, type: "button", class: "pg-quiet", onclick: () => again(name) }, say(`room_deal_way_${name}`));
    otherWays.replaceChildren(...WAYS.filter((name) => name !== way).map(other));
  };
  const again = (way) => {
    take(way);
    /** @type {HTMLElement | null} */ (place.querySelector("select"))?.focus();
  };
  take("values");
  open(say("room_deal"), about, dealForm(() => chosenWay, () => order.value, place, otherWays, labelled("room_deal_order", order)));
}

/** In the dialog of a room that was just opened: a lab's arms, dealt at once. */
FORMS.push(() => {
  const way = armsOfLab();
  return dealForm(() => way, () => ORDERS[0], ...way.elements);
});

/** The form that deals what was chosen; what came of it is said, and the dialog closes. */
function dealForm(chosen, order, ...content) {
  const message = h("p", { id: "pg-deal-said", class: "pg-error", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    const { action, message: values } = chosen();
    const answer = await act(action, { ...values(), order: order() });
    if (answer.error) return void (message.textContent = answer.error);
    document.getElementById("pg-dialog")?.close();
    showAnswer(answer);
  };
  const yes = h("button", { id: "pg-deal-yes", class: "pg-main" }, say("room_deal"));
  return h("form", { class: "pg-deal-form", onsubmit: submit }, ...content, yes, message);
}

// ---- how arms are given -----------------------------------------------------------------------------------------------------------------

const FIRST = ["learning_rate", "warmup", "optimiser"]; // what is proposed, in this order
const SETTINGS = 3, LEAST_ARMS = 2, MOST_ARMS = 8;

const offered = () => page.boot.knobs.filter((name) => name !== "seed"); // of which everybody has another
const choicesOf = (knob) => Object.entries(page.boot.choices[knob] ?? {});
const PLAIN = { type: "text", autocomplete: "off", spellcheck: "false", required: true };

/** A choice among all settings, or with `none` of no setting as well. */
function settingOf(id, { at = 0, none = false, label = "" } = {}) {
  const options = offered().map((name) => h("option", { value: name }, page.boot.labels[name]));
  const field = h("select", { id, ...(label ? { "aria-label": label } : {}) }, none ? h("option", { value: "" }, "–") : "", options);
  field.value = none ? "" : offered().includes(FIRST[at]) ? FIRST[at] : offered()[at];
  return field;
}

/** How the values of a setting are given: its choices with a tick for each, or numbers that are typed. */
function valuesOf(knob) {
  const choices = choicesOf(knob);
  if (!choices.length) {
    const field = h("input", { id: "pg-deal-values", ...PLAIN, placeholder: `${asText(page.knobs[knob])}, …` });
    return { element: labelled("room_deal_values", field), values: () => field.value.split(/[\s,;，；、]+/).filter(Boolean) };
  }
  const ticks = choices.map(([value, label]) => ({ value, label, tick: h("input", { type: "checkbox", value }) }));
  const each = ticks.map(({ label, tick }) => h("label", { class: "pg-deal-tick" }, tick, h("span", {}, label)));
  const element = h("fieldset", { id: "pg-deal-ticks" }, h("legend", {}, say("room_deal_choices")), each);
  return { element, values: () => ticks.filter(({ tick }) => tick.checked).map(({ value }) => value) };
}

/** One value of a setting in an arm: as at the left to begin with. */
function valueOf(knob, arm) {
  const label = say("room_deal_cell", { arm, setting: page.boot.labels[knob] }), choices = choicesOf(knob), now = asText(page.knobs[knob]);
  if (!choices.length) return h("input", { ...PLAIN, inputmode: "decimal", "aria-label": label, value: now });
  const field = h("select", { "aria-label": label }, choices.map(([value, text]) => h("option", { value }, text)));
  field.value = now;
  return field;
}

/** A table of arms: its settings are chosen in the head, and a third one may be; what was given stays when an arm or a setting is added. */
function combinations() {
  const label = say("room_deal_knob");
  const heads = Array.from({ length: SETTINGS }, (_, at) => settingOf(`pg-deal-setting-${at}`, { at, none: at === SETTINGS - 1, label }));
  const rows = [];
  const body = h("tbody", {});
  const addRow = () => rows.push(heads.map(({ value }) => (value ? valueOf(value, rows.length + 1) : null)));
  const draw = () => {
    const line = (row, at) => h("tr", {}, h("th", { scope: "row" }, String(at + 1)), row.map((cell) => h("td", {}, cell ?? "")));
    body.replaceChildren(...rows.map(line));
    more.disabled = rows.length === MOST_ARMS;
    fewer.disabled = rows.length === LEAST_ARMS;
  };
  const more = button({ id: "pg-deal-more", type: "button", onclick: () => (addRow(), draw()) }, say("room_deal_more"));
  const fewer = button({ id: "pg-deal-fewer", type: "button", onclick: () => (rows.pop(), draw()) }, say("room_deal_fewer"));
  heads.forEach((head, at) => head.addEventListener("change", () => {
    rows.forEach((row, arm) => (row[at] = head.value ? valueOf(head.value, arm + 1) : null));
    draw();
  }));
  while (rows.length < LEAST_ARMS) addRow();
  draw();
  const head = h("tr", {}, h("th", { scope: "col" }, say("room_deal_arm")), heads.map((field) => h("th", { scope: "col" }, field)));
  const table = h("div", { class: "pg-scroll" }, h("table", { class: "pg-deal-arms" }, h("thead", {}, head), body));
  const armOf = (row) => Object.fromEntries(heads.flatMap(({ value }, at) => (row[at] ? [[value, row[at].value]] : [])));
  return { element: h("div", {}, table, h("p", { class: "pg-line" }, more, fewer)), arms: () => rows.map(armOf) };
}
