// Plans of the teacher of a room for its class, a dialog each: fixed settings, the task of the moment (a line in the frame), limits on runs.
// @ts-check

import { asText, move, page, subscribe } from "./store.js";
import { button, h, labelled, notice, ready, replaceChildren, same, say } from "./dom.js";
import { open } from "./dialogs.js";
import { act } from "./room.js";
import { setControls } from "./knobs.js";

const TEXT = 200; // characters of a line

const error = () => h("p", { id: "pg-plan-said", class: "pg-error", role: "alert" });

/** A tick for each of [value, label], and which of them are ticked. */
function ticks(options, chosen) {
  const all = options.map(([value, label]) => ({ value, label, box: h("input", { type: "checkbox", value, checked: chosen.includes(value) }) }));
  const element = h("div", { class: "pg-plan-ticks" }, all.map(({ label, box }) => h("label", {}, box, h("span", {}, label))));
  return { element, values: () => all.filter(({ box }) => box.checked).map(({ value }) => value) };
}

/** A form whose button sends what `values` says; what came of it is said, and the dialog closes. */
function form(action, values, words, ...content) {
  const message = error();
  const send = async (sent, done) => {
    const answer = await act(action, sent);
    if (answer.error) return void (message.textContent = answer.error);
    document.getElementById("pg-dialog")?.close();
    notice(say(done));
  };
  const submit = (event) => {
    event.preventDefault();
    send(values(), words.done);
  };
  const away = words.away && button({ id: "pg-plan-away", onclick: () => send(words.nothing, words.gone) }, say(words.away));
  const line = h("div", { class: "pg-line" }, h("button", { id: "pg-plan-yes", class: "pg-main" }, say(words.yes)), away);
  return h("form", { class: "pg-plan", onsubmit: submit }, content, message, line);
}

// ---- what is fixed ---------------------------------------------------------------------------------------------------------------------

/** A setting and its value, as people read them. */
const settingName = (name, value) => `${page.boot.labels[name]}: ${page.boot.choices[name]?.[asText(value)] ?? asText(value)}`;

export function openFix() {
  const { boot, knobs, own, room: { fixed } } = page, { data } = boot.groups;
  const isFree = ![fixed.tasks, fixed.labs, Object.keys(fixed.settings)].flat().length && fixed.controls.length === Object.keys(boot.groups).length;
  const names = boot.knobs.filter((name) => !data.includes(name));
  const offered = names.filter((name) => name in fixed.settings || asText(knobs[name]) !== asText(boot.defaults[name]));
  const dataName = say("room_fix_data", { task: boot.choices.task[asText(knobs.task)] ?? asText(knobs.task) });
  const options = [...offered.map((name) => [name, settingName(name, knobs[name])]), ["data", dataName]];
  const ticked = isFree ? offered : [...offered.filter((name) => name in fixed.settings), ...("task" in fixed.settings ? ["data"] : [])];
  const settings = ticks(options, ticked);
  const groups = ticks(Object.keys(boot.groups).map((group) => [group, say(`room_group_${group}`)]), fixed.controls);
  const tasks = ticks(Object.entries(boot.choices.task), fixed.tasks), labs = ticks(Object.entries(boot.labs), fixed.labs);

  function values() {
    const chosen = settings.values(), names = chosen.flatMap((name) => (name === "data" ? data : [name]));
    const known = Object.fromEntries(names.filter((name) => knobs[name] !== null).map((name) => [name, knobs[name]]));
    const sentences = chosen.includes("data") ? { own: knobs.task === "own" ? own : "" } : {};
    return { fixed: { settings: { ...known, ...sentences }, tasks: tasks.values(), labs: labs.values(), controls: groups.values() } };
  }

  const words = { yes: "room_fix", done: "room_fixed_done", away: "room_fix_lift", gone: "room_lifted", nothing: { fixed: {} } };
  const part = (key, { element }, ...more) => h("fieldset", {}, h("legend", {}, say(key)), ...more, element);
  const fold = (key, list, chosen) => h("details", { open: chosen.length > 0 }, h("summary", {}, say(key)), list.element);
  open(say("room_fix"), h("p", {}, say("room_fix_about")), form("fix", values, words,
    part("room_fix_now", settings, offered.length ? "" : h("p", {}, say("room_fix_none"))), part("room_fix_controls", groups),
    fold("room_fix_tasks", tasks, fixed.tasks), fold("room_fix_labs", labs, fixed.labs)));
}

// ---- what there is to do now -----------------------------------------------------------------------------------------------------------

export function openNow() {
  const { boot, room: { now } } = page;
  const field = h("input", { id: "pg-plan-text", type: "text", maxlength: String(TEXT), autocomplete: "off", value: now?.text ?? "" });
  const group = (key, kind, options) =>
    h("optgroup", { label: say(key) }, options.map(([name, title]) => h("option", { value: `${kind} ${name}` }, title)));
  const tasks = Object.entries(boot.choices.task).filter(([name]) => name !== "own");
  const place = h("select", { id: "pg-plan-to" }, h("option", { value: "" }, say("room_now_nowhere")),
    group("room_now_lessons", "lesson", boot.course.map(({ name, title }) => [name, title])),
    group("room_now_labs", "lab", Object.entries(boot.labs)), group("room_now_tasks", "task", tasks));
  place.value = Object.entries(now?.to ?? {}).map((target) => target.join(" "))[0] ?? "";
  const values = () => ({ text: field.value, to: place.value ? Object.fromEntries([place.value.split(" ")]) : {} });
  const words = { yes: "room_now_show", done: "room_fixed_done", away: "room_now_drop", gone: "room_now_gone", nothing: { text: "", to: {} } };
  open(say("room_now"), h("p", {}, say("room_now_about")),
    form("assign", values, words, labelled("room_now_text", field), labelled("room_now_to", place)));
  field.focus();
}

// ---- limits ----------------------------------------------------------------------------------------------------------------------------

export function openLimits() {
  const fields = Object.entries(page.room.limits).map(([name, [value, most]]) =>
    ({ name, most, field: h("input", { type: "number", min: "1", max: String(most), step: "1", required: true, value: String(value) }) }));
  const row = ({ name, most, field }) => h("label", {}, h("span", {}, say(`room_${name}`), " ", h("small", {}, say("room_most", { most }))), field);
  const values = () => ({ limits: Object.fromEntries(fields.map(({ name, field }) => [name, Number(field.value)])) });
  const words = { yes: "room_limits_save", done: "room_limits_done" };
  open(say("room_limits"), h("p", {}, say("room_limits_about")), form("limit", values, words, ...fields.map(row)));
}

// ---- the line that says what to do now --------------------------------------------------------------------------------------------------

/** The title of the place that the class is sent to. */
function titleOf([kind, name]) {
  const { boot } = page;
  const titles = { lesson: boot.course.find((lesson) => lesson.name === name)?.title, lab: boot.labs[name], task: boot.choices.task[name] };
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
  line.setAttribute("aria-label", say("room_now"));
  const open = place && button({ id: "pg-now-open", title: titleOf(place), onclick: () => go(place) }, say("room_now_open"), " ▸");
  const box = () => h("input", { id: "pg-now-done", type: "checkbox", checked: now.mine, onchange: ({ target }) => tick(target.checked) });
  const tickBox = room.teacher ? [] : [h("label", {}, box(), say("room_now_done"))];
  const teachers = [h("output", {}, say("room_now_count", now)), button({ id: "pg-now-edit", onclick: openNow }, say("room_now_edit"))];
  const whole = button({ id: "pg-now-text", title: text, "aria-expanded": String(isWhole), onclick: unfold }, text);
  const end = room.teacher ? teachers : tickBox;
  replaceChildren(line, h("b", {}, say("room_now_lead")), h("span", { role: "status" }, whole), ...(open ? [open] : []), ...end);
}
subscribe(["room", "boot"], draw);
