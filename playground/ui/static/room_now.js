// What there is to do now in a room: a line at the lower edge, with a way there, a tick for a student, and how many have done it for the
// teacher.
// @ts-check

import { move, page, subscribe } from "./store.js";
import { button, h, notice, ready, same, say } from "./dom.js";
import { setControls } from "./knobs.js";
import { act } from "./room.js";
import { openNow } from "./room_plan.js";

/** What a place is called that the class is sent to. */
function titleOf([kind, name]) {
  const { boot } = page;
  const titles = { lesson: boot.course.find((one) => one.name === name)?.title, lab: boot.labs[name], task: boot.choices.task[name] };
  return say(`room_now_${kind}`, { title: titles[kind] ?? name });
}

/** Goes where there is something to do. */
function go([kind, name]) {
  if (kind === "lesson") return move({ tab: "course", lesson: name, notes: "" });
  if (kind === "lab") return move({ tab: "labs", lab: name });
  setControls({ task: name });
}

async function tick(done) {
  const { error } = await act("tick", { done });
  if (error) notice(error, "error");
}

let isWhole = false; // a line that is too long for the window can be read as a whole

function unfold({ currentTarget }) {
  isWhole = !isWhole;
  currentTarget.setAttribute("aria-expanded", String(isWhole));
}

async function draw() {
  const { boot, room } = page, now = boot && room ? room.now : null;
  document.body.toggleAttribute("data-now", Boolean(now));
  const frame = await ready("pg-frame"), line = document.getElementById("pg-now") ?? h("div", { id: "pg-now", role: "group" });
  if (!line.parentElement) frame.append(line);
  if (boot && same(line, now && [now, room.teacher])) return;
  if (!now) return line.replaceChildren();
  const place = Object.entries(now.to)[0], text = now.text || titleOf(place);
  const focused = line.contains(document.activeElement) ? document.activeElement.id : "";
  line.setAttribute("aria-label", say("room_now"));
  const open = place && button({ id: "pg-now-open", title: titleOf(place), onclick: () => go(place) }, say("room_now_open"), " ▸");
  const box = () => h("input", { id: "pg-now-done", type: "checkbox", checked: now.mine, onchange: ({ target }) => tick(target.checked) });
  const mine = room.teacher ? [] : [h("label", {}, box(), say("room_now_done"))];
  const teachers = [h("output", {}, say("room_now_count", now)), button({ id: "pg-now-edit", onclick: openNow }, say("room_now_edit"))];
  const whole = button({ id: "pg-now-text", title: text, "aria-expanded": String(isWhole), onclick: unfold }, text);
  const end = room.teacher ? teachers : mine;
  line.replaceChildren(h("b", {}, say("room_now_lead")), h("span", { role: "status" }, whole), ...(open ? [open] : []), ...end);
  if (focused) document.getElementById(focused)?.focus();
}
subscribe(["room", "boot"], draw);
