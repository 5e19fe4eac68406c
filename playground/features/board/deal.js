// The teacher deals an experiment out to the class: the values of one setting, arms over several settings, or those of a lab. All other
// settings are as they stand at the left.
// @ts-check

import { page, subscribe } from "../../ui/static/store.js";
import { button, h, labelled, paragraph, ready, say } from "../../ui/static/dom.js";
import { combinations, settingOf, valuesOf } from "./deal_arms.js";
import { open } from "../../ui/static/dialogs.js";
import { told } from "./experiment.js";
import { act } from "../../ui/static/room.js";

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
  let given = valuesOf(knob.value);
  const show = () => place.replaceChildren((given = valuesOf(knob.value)).element);
  knob.addEventListener("change", show);
  show();
  const arms = () => given.values().map((value) => ({ [knob.value]: value }));
  const message = () => ({ knobs: settings(), arms: arms() });
  return { about: "room_deal_about", elements: [labelled("room_deal_knob", knob), place], message, action: "deal" };
}

function severalSettings() {
  const table = combinations();
  return { about: "room_deal_several_about", elements: [table.element], message: () => ({ knobs: settings(), arms: table.arms() }), action: "deal" };
}

function armsOfLab() {
  const { dealt_labs: plans, labs } = page.boot, plan = h("p", { id: "pg-deal-plan", role: "status" });
  const lab = h("select", { id: "pg-deal-lab" }, Object.keys(plans).map((name) => h("option", { value: name }, labs[name])));
  const show = () => (plan.textContent = planned(plans[lab.value]));
  lab.addEventListener("change", show);
  show();
  return { about: "room_deal_lab_about", elements: [labelled("room_deal_lab_name", lab), plan], message: () => ({ lab: lab.value }), action: "deal_lab" };
}

/** What dealing a lab comes to in this room: its arms and its minutes, and for how many arms there is nobody. */
function planned({ arms, first, minutes }) {
  const students = page.room.members.length, values = { count: arms.length, arms: arms.join(" · "), students, minutes };
  const isShort = students < arms.length, left = { left: arms.length - students, first: (first.length ? first : arms).join(" · ") };
  return paragraph([say("room_deal_plan", values), isShort ? say("room_deal_short", left) : ""]);
}

/** The settings at the left. */
const settings = () => ({ ...page.knobs, own: page.knobs.task === "own" ? page.own : "" });

function openDeal() {
  const order = h("select", { id: "pg-deal-order" }, ORDERS.map((name) => h("option", { value: name }, say(`room_deal_${name}`))));
  const about = h("p", {}), place = h("div", { class: "pg-deal-what" }), said = h("p", { id: "pg-deal-said", class: "pg-error", role: "alert" });
  const others = h("p", { class: "pg-line" });
  let made = MAKE.values();
  const take = (way) => {
    made = MAKE[way]();
    said.textContent = "";
    about.textContent = paragraph([say(made.about), way !== "lab" && page.knobs.task === "own" ? say("room_deal_own") : ""]);
    place.replaceChildren(...made.elements);
    const other = (one) => button({ id: `pg-deal-${one}-way`, type: "button", class: "pg-quiet", onclick: () => again(one) }, say(`room_deal_way_${one}`));
    others.replaceChildren(...WAYS.filter((one) => one !== way).map(other));
  };
  const again = (way) => {
    take(way);
    /** @type {HTMLElement | null} */ (place.querySelector("select"))?.focus();
  };
  const submit = async (event) => {
    event.preventDefault();
    const answer = await act(made.action, { ...made.message(), order: order.value });
    if (answer.error) return void (said.textContent = answer.error);
    dialog.close();
    told(answer);
  };
  take("values");
  const yes = h("button", { id: "pg-deal-yes", class: "pg-main" }, say("room_deal"));
  const form = h("form", { class: "pg-deal-form", onsubmit: submit }, place, others, labelled("room_deal_order", order), yes, said);
  const dialog = open(say("room_deal"), about, form);
}
