// The dialog of rooms: to join one or open one; and inside, its code for the wall, its members, and the ways out. And its chip in the frame.
// @ts-check

import { LANGUAGES, cursor, move, page, subscribe } from "./store.js";
import { button, copyButton, h, labelled, notice, ready, replaceChildren, routeUrl, same, saveFrom, say } from "./dom.js";
import { reply } from "./actions.js";
import { forOthers, open, pageAddress } from "./dialogs.js";
import { act, activities, exit, explore, isFollowing, isMember, leaving } from "./room.js";
import { openFix, openLimits, openNow } from "./room_plan.js";
import { isForThePage } from "./single_keys.js";

const DAYS = 7, MOST_DAYS = 180;

/** Makes of forms in a teacher's dialog, which other scripts add. @type {(() => HTMLElement)[]} */
export const FORMS = [];

/** A day so many days from now, as a field for dates has it. */
function dayFromNow(days) {
  const day = new Date();
  day.setDate(day.getDate() + days);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** Seconds since 1970 at the end of a day, where this visitor is. */
const endOf = (day) => Math.floor(new Date(`${day}T23:59:59`).getTime() / 1000);

/** The dialog that fits: of the room that this visitor is in, or to come into one. */
export const openRoom = () => (page.room ? openInside() : openDoor());

// ---- outside -----------------------------------------------------------------------------------------------------------------------

function openDoor(code = "") {
  const message = h("p", { id: "pg-room-said", class: "pg-error", role: "alert" });
  const teach = code ? [] : [h("h3", {}, say("room_teach")), openForm(go)]; // a link to a room is for those who join it
  const dialog = open(say("room"), h("p", {}, say("room_none")), joinForm(code, go), message, ...teach);
  dialog.addEventListener("close", () => move({ room: "" }, { instead: true }));
  /** @type {HTMLElement | null} */ (dialog.querySelector(code ? "#pg-room-nickname" : "#pg-room-code"))?.focus();

  async function go(action, values) {
    const answer = await act(action, values);
    if (answer.error) return void (message.textContent = answer.error);
    dialog.close();
    if (action === "open") openInside();
  }
}

function form(id, submit, ...content) {
  const send = (event) => {
    event.preventDefault();
    submit();
  };
  return h("form", { id, class: "pg-room-form", onsubmit: send }, ...content);
}

function joinForm(code, go) {
  const plain = { type: "text", autocomplete: "off", spellcheck: "false" };
  const field = h("input", { id: "pg-room-code", ...plain, maxlength: "8", autocapitalize: "characters", required: true, value: code.toUpperCase() });
  const name = h("input", { id: "pg-room-nickname", ...plain, maxlength: "24", "aria-describedby": "pg-room-who" });
  return form("pg-room-in", () => go("join", { code: field.value, nickname: name.value }),
    labelled("room_code", field), labelled("room_nickname", name), h("button", { id: "pg-room-join", class: "pg-main" }, say("room_join")),
    h("p", { id: "pg-room-who" }, say("room_nickname_help")));
}

function openForm(go) {
  const bounds = { min: dayFromNow(0), max: dayFromNow(MOST_DAYS) };
  const day = h("input", { id: "pg-room-ends", type: "date", required: true, ...bounds, value: dayFromNow(DAYS) });
  const languages = Object.entries(LANGUAGES).map(([code, { name, html }]) => h("option", { value: code, lang: html }, name));
  const language = h("select", { id: "pg-room-language" }, languages);
  language.value = cursor.lang;
  return form("pg-room-new", () => go("open", { language: language.value, ends: endOf(day.value) }),
    labelled("room_ends", day), labelled("room_language", language), h("button", { id: "pg-room-open" }, say("room_open")),
    h("p", {}, say("room_kept")), page.boot.forgets ? h("p", { class: "pg-warning" }, say("room_lost")) : "");
}

// ---- inside ------------------------------------------------------------------------------------------------------------------------

function openInside() {
  const { code, ends, teacher } = page.room, date = new Date(1000 * ends).toLocaleDateString(document.documentElement.lang, { dateStyle: "long" });
  const until = h("p", {}, say("room_until", { date }));
  const message = h("p", { id: "pg-room-said", class: "pg-error", role: "alert" });
  const dialog = open(say("room_title", { code }), ...(teacher ? forTeacher(until) : forMember(until)), message);
  dialog.classList.add("pg-room-inside");
  fillMembers();
}

const memberName = ({ name, number }) => name || say("room_student", { number });

function forMember(until) {
  const leave = () => leaveBy("leave");
  const sure = () => ask("room_forget", "room_forget_help", async () => reply(await leaveBy("forget")));
  const you = h("p", { id: "pg-room-you" }, say("room_you", { name: memberName(page.room) }));
  const ways = [button({ id: "pg-room-leave", onclick: leave }, say("room_leave")), button({ id: "pg-room-forget", onclick: sure }, say("room_forget"))];
  return [you, until, h("div", { class: "pg-line" }, ways)];
}

function forTeacher(until) {
  const { code, language } = page.room;
  const query = new URLSearchParams({ room: code, lang: language });
  const { link, hint } = forOthers(`${pageAddress()}?${query}`, say("room"));
  const field = h("input", { id: "pg-room-link", type: "text", readonly: true, value: link, "aria-label": say("room_link") });
  const plans = Object.entries({ now: openNow, fix: openFix, limits: openLimits });
  const end = () => ask("room_end", "room_end_help", () => leaveBy("end"), boardFiles());
  const wall = [
    h("div", { id: "pg-room-large" }, code), hint, h("img", { id: "pg-qr", alt: say("room_qr"), src: routeUrl("qr", { text: link }) }),
    h("div", { class: "pg-line" }, field, copyButton(field)),
  ];
  if (cursor.present === "1") return wall; // a hall sees how to come in, and no names
  return [
    ...wall, ...FORMS.map((make) => make()),
    h("div", { class: "pg-line pg-room-plan" }, plans.map(([id, act]) => button({ id: `pg-plan-${id}`, onclick: act }, say(`room_${id}`)))),
    h("details", {}, h("summary", { id: "pg-room-count" }), h("ul", { id: "pg-room-members" })), until,
    h("div", { class: "pg-line" }, button({ id: "pg-room-end", onclick: end }, say("room_end"))),
  ];
}

/** Leaves in one of three ways; what the server can't do is said where the button is. */
async function leaveBy(action) {
  const answer = await leaving(action), message = document.getElementById("pg-room-said");
  if (answer.error) message ? (message.textContent = answer.error) : notice(answer.error, "error");
  else {
    document.getElementById("pg-dialog")?.close();
    exit();
  }
  return answer.error ? {} : answer;
}

/** The files of the class's boards, which are lost with the room. */
function boardFiles() {
  const about = { run: cursor.run, lang: cursor.lang, room: page.room.code };
  const save = (activity) =>
    button({ class: "pg-main", onclick: () => saveFrom(routeUrl("board", { ...about, activity }), "class.csv") }, say("room_end_file"));
  const title = ({ lab, arms }) => page.boot.labs[lab] ?? Object.keys(arms[0]).map((knob) => page.boot.labels[knob] ?? knob).join(", ");
  return activities("experiment").reverse().map(([name, board]) => h("p", {}, save(name), " ", title(board)));
}

/** A question before what can't be undone, after `files` to save. */
function ask(title, text, act, files = null) {
  const cancel = button({ id: "pg-room-no", autofocus: true, onclick: openRoom }, say("cancel"));
  const yes = button({ id: "pg-room-yes", class: files ? "" : "pg-danger", onclick: act }, say(title));
  open(say(title), ...(files ?? []), h("p", {}, say(text)), h("div", { class: "pg-line pg-answers" }, cancel, yes));
}

/** The list of members for the teacher: buttons stay in place while one is pressed. */
function fillMembers() {
  const list = document.getElementById("pg-room-members"), { room } = page;
  if (!list || !room || same(list, room.members)) return;
  document.getElementById("pg-room-count").textContent = say("room_members", { count: room.members.length });
  const named = (member, key) => ({ "aria-label": `${say(key)}: ${memberName(member)}` });
  const line = (member) => {
    const key = member.hidden ? "room_show" : "room_hide", target = { member: member.number };
    const switchHidden = () => actOnMember("hide", { ...target, hidden: !member.hidden });
    const hide = button({ id: `pg-hide-${member.number}`, ...named(member, key), onclick: switchHidden }, say(key));
    const drop = () => actOnMember("remove", target);
    const remove = button({ id: `pg-remove-${member.number}`, ...named(member, "room_remove"), onclick: drop }, say("room_remove"));
    const away = member.here ? "" : h("small", {}, say("room_away"));
    return h("li", {}, h("span", {}, memberName(member)), away, member.name || member.hidden ? hide : "", remove);
  };
  replaceChildren(list, ...room.members.map(line), ...(room.members.length ? [] : [h("li", {}, say("room_nobody"))]));
}

async function actOnMember(action, values) {
  const answer = await act(action, values);
  document.getElementById("pg-room-said").textContent = answer.error ?? "";
}

subscribe(["room"], () => {
  if (page.room) fillMembers();
  else if (document.querySelector(".pg-room-inside")) document.getElementById("pg-dialog").close();
});

/** A link to a room opens its door. */
const knock = () => page.boot && cursor.room && (page.room?.code === cursor.room.toUpperCase() ? move({ room: "" }, { instead: true }) : openDoor(cursor.room));
subscribe(["boot", "room"], knock);

// ---- the room in the frame --------------------------------------------------------------------------------------------------------------

async function draw() {
  const { room, boot, exploring } = page;
  document.body.toggleAttribute("data-room", Boolean(room && boot));
  if (!boot) return;
  const place = await ready("pg-room");
  if (same(place, room && [room.code, room.teacher, room.here, room.followers, exploring])) return;
  if (!room) return place.replaceChildren();
  const about = button({ id: "pg-room-about", onclick: openRoom }, say(room.teacher ? "room_taught" : "room_here", room));
  const help = say(exploring ? "room_explore_help" : "room_follow_help");
  const words = say(exploring ? "room_exploring" : "room_following"), pressed = { "aria-pressed": String(!exploring) };
  const callBack = () => button({ id: "pg-room-call", onclick: () => act("call") }, say("room_call"));
  const follow = () => button({ id: "pg-room-follow", ...pressed, title: help, onclick: () => explore(isFollowing()) }, words, h("kbd", {}, "F"));
  replaceChildren(place, about, ...(isMember() ? [follow()] : room.followers < room.here ? [callBack()] : []));
}
subscribe(["room", "exploring", "boot"], draw);

/** Keys of a member's page. */
export const KEYS = ["f"];

document.addEventListener("keydown", (event) => {
  if (!KEYS.includes(event.key.toLowerCase()) || !isMember() || !isForThePage(event)) return;
  event.preventDefault();
  explore(isFollowing());
});
