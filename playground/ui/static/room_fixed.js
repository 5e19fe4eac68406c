// Settings and tasks that the teacher has fixed, in a room or by a link, on a student's page: fixed settings hold their values, groups of
// knobs that are not meant today aren't there, own sentences are off where the data are fixed. The server holds to the same (see playground/rooms/registry.py).
// @ts-check

import { asText, change, page, subscribe } from "./store.js";
import { h, ready, say } from "./dom.js";
import { FREE, fixed } from "./room.js";
import { relabel, setAll } from "./knobs.js";

/** Whether a lab is meant for this visitor. */
export const isOpenLab = (name) => !fixed().labs.length || fixed().labs.includes(name);

/** The values that settings must have now and don't: {knob: value}. */
function missing() {
  const { settings, tasks } = fixed(), knobs = page.knobs;
  const differing = ([name, value]) => name in knobs && asText(knobs[name]) !== asText(value);
  const wanted = Object.fromEntries(Object.entries(settings).filter(differing));
  if (tasks.length && !("task" in settings) && !tasks.includes(String(knobs.task))) wanted.task = tasks[0];
  return wanted;
}

let tried = ""; // what the controls were last asked to hold: they are not asked again for what they don't take

/** Whatever sets a knob: a fixed one goes back. */
function hold() {
  if (!page.boot || !page.knobs) return;
  const { own } = fixed().settings, wanted = missing(), held = { ...page.knobs, ...wanted }, wish = JSON.stringify(held);
  if (own && page.own !== own) change({ own: String(own) });
  if (!Object.keys(wanted).length) tried = "";
  else if (wish !== tried) {
    tried = wish;
    setAll(held);
  }
}

let lastFixed = JSON.stringify(fixed());

/** Updates the controls when other things are fixed, or this visitor came or left. */
function show() {
  if (!page.boot || !page.knobs) return;
  const now = fixed(), text = JSON.stringify(now);
  if (text !== lastFixed) {
    lastFixed = text;
    hideGroups();
    relabel(); // Gradio makes the controls still, see ui/listeners.py
    document.body.toggleAttribute("data-fixed-data", "task" in now.settings || (now.tasks.length > 0 && !now.tasks.includes("own")));
  }
  note();
  hold();
}
subscribe(["room", "knobs", "boot"], show);

/** Groups of knobs that are not shown; and without all of them what sets knobs of every group. */
function hideGroups() {
  const { groups } = page.boot, isOff = (group) => fixed() !== FREE && !fixed().controls.includes(group), all = Object.keys(groups);
  const off = (id, isHidden) => document.getElementById(id)?.toggleAttribute("data-off", isHidden);
  for (const group of all) for (const id of [`pg-more-${group}`, ...groups[group].map((name) => `knob-${name}`)]) off(id, isOff(group));
  for (const id of ["preset", "pg-reset"]) off(id, all.some(isOff));
}

/** Beside each fixed knob, who fixed it. */
function note() {
  const { settings } = fixed(), words = say("room_fixed");
  for (const old of document.querySelectorAll(".pg-knob-fixed")) {
    if (!(old.parentElement.id.slice("knob-".length) in settings) || old.textContent !== words) old.remove();
  }
  for (const name of Object.keys(settings)) {
    const knob = document.getElementById(`knob-${name}`);
    if (knob && !knob.querySelector(".pg-knob-fixed")) knob.append(h("p", { class: "pg-knob-fixed" }, words));
  }
}

/** Why own sentences are off. */
ready("pg-own").then((own) => subscribe(["room", "boot"], () => {
  if (!page.boot) return;
  const line = document.getElementById("pg-own-fixed") ?? h("p", { id: "pg-own-fixed" });
  line.textContent = say("room_fixed_data");
  own.before(line);
}));
