// The teacher deals an experiment out to the class: one setting and its values, the others as they stand at the left.
// @ts-check

import { asText, page, subscribe } from "./store.js";
import { button, h, labelled, ready, say } from "./dom.js";
import { open } from "./dialogs.js";
import { told } from "./experiment.js";
import { act } from "./room.js";

const FIRST = "learning_rate"; // what is proposed
const ORDERS = ["together", "in_turn"];

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

/** How the values of a setting are given: its choices with a tick for each, or numbers that are typed. */
function valuesOf(knob) {
  const choices = Object.entries(page.boot.choices[knob] ?? {});
  if (!choices.length) {
    const about = { type: "text", autocomplete: "off", spellcheck: "false", required: true, placeholder: `${asText(page.knobs[knob])}, …` };
    const field = h("input", { id: "pg-deal-values", ...about });
    return { element: labelled("room_deal_values", field), values: () => field.value.split(/[\s,;，；、]+/).filter(Boolean) };
  }
  const ticks = choices.map(([value, label]) => ({ value, label, tick: h("input", { type: "checkbox", value }) }));
  const each = ticks.map(({ label, tick }) => h("label", { class: "pg-deal-tick" }, tick, h("span", {}, label)));
  const element = h("fieldset", { id: "pg-deal-ticks" }, h("legend", {}, say("room_deal_choices")), each);
  return { element, values: () => ticks.filter(({ tick }) => tick.checked).map(({ value }) => value) };
}

function openDeal() {
  const { boot } = page, offered = boot.knobs.filter((name) => name !== "seed");
  const knob = h("select", { id: "pg-deal-knob" }, offered.map((name) => h("option", { value: name }, boot.labels[name])));
  knob.value = offered.includes(FIRST) ? FIRST : offered[0];
  const order = h("select", { id: "pg-deal-order" }, ORDERS.map((name) => h("option", { value: name }, say(`room_deal_${name}`))));
  const place = h("div", { class: "pg-deal-values" }), said = h("p", { id: "pg-deal-said", class: "pg-error", role: "alert" });
  let given = valuesOf(knob.value);
  const show = () => place.replaceChildren((given = valuesOf(knob.value)).element);
  knob.addEventListener("change", show);
  show();
  const submit = async (event) => {
    event.preventDefault();
    const knobs = { ...page.knobs, own: page.knobs.task === "own" ? page.own : "" };
    const answer = await act("deal", { knobs, arms: given.values().map((value) => ({ [knob.value]: value })), order: order.value });
    if (answer.error) return void (said.textContent = answer.error);
    dialog.close();
    told(answer);
  };
  const send = h("button", { id: "pg-deal-yes", class: "pg-main" }, say("room_deal"));
  const form = h("form", { class: "pg-deal-form", onsubmit: submit },
    labelled("room_deal_knob", knob), place, labelled("room_deal_order", order), send, said);
  const dialog = open(say("room_deal"), h("p", {}, say("room_deal_about")), form);
}
