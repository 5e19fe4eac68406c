// The header of the frame: the run on screen, its state and its facts, and the tools beside it.
// @ts-check

import { LANGUAGES, carried, change, cursor, letGo, move, page, subscribe } from "./store.js";
import { button, h, icon, read, replaceChildren, routeUrl, saveFrom, say, update, updateAttributes } from "./dom.js";
import { isFrozen } from "./server.js";
import { accountPlace, openAccount } from "./account.js";
import { chooseRun, command } from "./actions.js";
import { openRoom } from "./room_dialog.js";
import { drawerButton } from "./knobs.js";
import { drawStatusLine } from "./status.js";
import { isPrivate, openDelete, openHelp, openRename, openShare } from "./dialogs.js";
import { isActive, nameParent } from "./live.js";

export function drawHeader(host, runs) {
  const languages = Object.entries(LANGUAGES).filter(([code, { translated }]) => code !== cursor.lang && translated === 100);
  const language = ([code, { name, html, brief }]) =>
    button({ class: "pg-quiet", lang: html, title: name, "aria-label": `${brief} ${name}`, onclick: () => move({ lang: code }) }, brief);
  const about = h("details", { id: "pg-run-about", ontoggle: openAccount },
    h("summary", { id: "pg-run-more", "aria-label": say("run_about"), title: say("run_about") }, "⋯"),
    h("div", { class: "pg-popover" }, h("p", { id: "pg-facts" }), h("div", { id: "pg-run-note" }), h("div", { id: "pg-own-run" }),
      ...(isFrozen ? [] : [h("div", { id: "pg-take" }), h("div", {}, button({ id: "pg-code", onclick: () => move({ api: "1" }) }, say("code")))])));
  const copy = button({ id: "pg-copy", hidden: true, onclick: () => command("copy") }, say("make_mine"));
  about.open = Boolean(runMenu()?.open); // the list of runs came anew while the menu is open
  replaceChildren(host,
    h("h1", {}, say("title")),
    h("div", { class: "pg-run" }, choiceOfRuns(runs), about, copy, h("span", { id: "pg-status", class: "pg-status" })),
    trainNow());
  document.getElementById("pg-tools").replaceChildren(
    drawerButton(),
    isFrozen ? "" : button({ id: "pg-class", class: "pg-quiet", onclick: openRoom }, say("room")),
    button({ id: "pg-share", class: "pg-quiet", "aria-label": say("share"), title: say("share"), onclick: () => openShare(classButton()) }, icon("link")),
    h("span", { id: "pg-language" }, languages.map(language)),
    button({ class: "pg-quiet", id: "pg-help", "aria-label": say("help"), title: say("help"), onclick: () => openHelp(classButton()) }, "?"));
  nameRun();
  drawStatus();
  drawTakeHome();
}

/** The way to rooms, in the dialogs of the link and of help: in a small window there is no place for it in the frame. */
const classButton = () => (isFrozen ? "" : button({ id: "pg-share-class", onclick: openRoom }, say("room")));

/** The foot of the page. */
export function drawFoot(host) {
  const way = (field, words) => button({ id: `pg-foot-${field}`, class: "pg-quiet", onclick: () => move({ [field]: "1" }) }, say(words));
  const partly = Object.entries(LANGUAGES).filter(([, { translated }]) => translated < 100);
  const language = ([code, { name, html, translated: percent }]) => (code === cursor.lang
    ? h("span", { id: "pg-translated" }, say("translated", { percent }))
    : button({ class: "pg-quiet", lang: html, onclick: () => move({ lang: code }) }, `${name} (${percent} %)`));
  host?.replaceChildren(...partly.map(language), isFrozen ? "" : way("api", "foot_api"), way("plain", "plain"));
}

/** The run's menu closes at a press elsewhere, and by Escape. */
for (const sign of ["pointerdown", "keydown"]) {
  document.addEventListener(sign, (event) => {
    if ("key" in event ? event.key === "Escape" : !runMenu()?.contains(/** @type {Node} */ (event.target))) closeMenu();
  });
}

const runMenu = () => /** @type {HTMLDetailsElement | null} */ (document.getElementById("pg-run-about"));

/** Closes the run's menu. The focus goes from what it holds to its button. */
function closeMenu() {
  const menu = runMenu();
  if (!menu?.open) return;
  if (menu.contains(document.activeElement)) document.getElementById("pg-run-more").focus();
  menu.open = false;
}
subscribe(["run"], closeMenu); // it was the menu of another one

/** The visitor's runs, those that came with the app, and the one on screen if it is another visitor's. */
function choiceOfRuns({ mine: own, other, shipped }) {
  const select = h("select", { id: "pg-run", "aria-label": say("run_choose"), onchange: (event) => chooseRun(event.target.value) });
  const option = ({ id, title }) => h("option", { value: id }, title);
  const group = (label, list) => list.length && select.append(h("optgroup", { label }, list.map(option)));
  group(say("runs_mine"), own);
  group(say("runs_shipped"), shipped);
  const isKnown = [...own, ...other, ...shipped].some(({ id }) => id === cursor.run);
  group(say("runs_other"), [...other, ...(cursor.run && !isKnown ? [{ id: cursor.run, title: page.card?.title ?? say("run_other") }] : [])]);
  return select;
}

/** The name changes with what it names: until the list of runs is read anew a run that it doesn't have stands there alone. */
function nameRun() {
  const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("pg-run"));
  if (!select) return;
  if (![...select.options].some(({ value }) => value === cursor.run)) select.prepend(h("option", { value: cursor.run }, "…"));
  if (page.card?.id === cursor.run) [...select.options].find(({ value }) => value === cursor.run).textContent = page.card.title;
  select.value = cursor.run;
  select.title = select.selectedOptions[0].text; // it may be cut
}
subscribe(["run", "card"], nameRun);

function drawStatus() {
  const place = document.getElementById("pg-status");
  if (!place) return;
  drawStatusLine(place);
  drawFacts();
  drawNote();
}

/** Where a run is trained; nothing of one that the page's own process trains, or that was read from the disk.
 * @param {NonNullable<import("./page").Run["where"]>} at */
function trainedWhere(at) {
  if (at.process) return say("in_process", { process: at.process });
  if (!at.node) return "";
  return at.gpu === undefined ? say("on_node", { node: at.node }) : say("on_gpu", { node: at.node, gpu: at.gpu });
}

/** Facts of a run in one line: its parent, what makes it different, and what it was trained on; for its owner, a way to name or
 * delete it. */
function drawFacts() {
  const facts = document.getElementById("pg-facts"), own = document.getElementById("pg-own-run"), { card, live: run } = page;
  if (!facts || !card) return;
  const how = run.device ? say("trained_on", { device: run.device, threads: run.threads, precision: card.precision }) : "";
  const from = card.parent && nameParent(card.parent);
  update(facts, { textContent: [from, card.line, how, trainedWhere(run.where ?? {}), page.boot.zero_gpu && say("zero_gpu")].filter(Boolean).join(" · ") });
  const key = `${card.mine} ${card.id} ${card.label} ${cursor.lang}`;
  if (own.dataset.key === key) return; // its buttons stay in place while one is pressed
  own.dataset.key = key;
  const rename = () => openRename(card.label, (label) => command("rename", { label }));
  const remove = () => openDelete(card.title, () => command("delete"));
  const buttons = [["rename", rename], ["delete", remove]];
  own.replaceChildren(...(card.mine ? buttons.map(([name, act]) => button({ class: "pg-quiet", id: `pg-${name}`, onclick: act }, say(name))) : []));
}

/** Whether nothing of the run opens here. */
const isClosed = (card) => !card.mine && !card.shipped && isPrivate(card);

/** Draws why this visitor can't change the run, and what they can do; and what went wrong with it. */
function drawNote() {
  const note = document.getElementById("pg-run-note"), alert = document.getElementById("pg-run-alert"), { card, live: run } = page;
  if (!note || !alert) return;
  const isGone = run.status === "gone", foreign = card && !card.mine && !isClosed(card);
  const wrong = isGone ? say("note_gone") : run.message ? run.message[cursor.lang] ?? run.message.en : "";
  update(alert, { textContent: wrong, hidden: !wrong, className: isGone || run.trouble ? "" : "news" });
  update(document.getElementById("pg-copy"), { hidden: !foreign || card.shipped || isGone }); // of a shared run nothing else in sight acts
  const lines = [foreign && say(card.shipped ? "note_shipped" : "note_readonly")].filter(Boolean);
  const acts = foreign && !isGone ? [button({ id: "pg-mine", onclick: () => command("copy") }, say("make_mine"))] : [];
  const text = JSON.stringify([lines, acts.length, cursor.lang]);
  if (note.dataset.text === text) return; // its button stays in place while it is pressed
  note.dataset.text = text;
  note.replaceChildren(...lines.map((line) => h("span", {}, line)), ...acts);
  note.hidden = !lines.length;
}
subscribe(["live", "card", "frame", "step", "away"], drawStatus);

/** Reads what is fixed about the run on screen. Resolves when the page knows it, and has let go of what was carried there in vain. */
export async function readCard() {
  const run = cursor.run, isFollowing = page.following === run;
  const there = isFollowing ? Object.fromEntries(["part", ...carried].map((name) => [name, cursor[name]])) : {};
  const answer = await read(`run/${encodeURIComponent(run)}`, there, "card");
  if (answer && isFollowing) {
    change({ following: "" });
    const lost = (answer.unreadable ?? []).filter((name) => cursor[name] === there[name]); // a sentence that was typed meanwhile stays
    if (lost.includes("text")) change({ unread: there.text });
    if (cursor.run === run) move(Object.fromEntries(lost.map((name) => [name, letGo("run")[name]])));
  }
  if (answer) change({ card: answer.error ? null : answer });
  return answer;
}

// ---- taking the run home ----------------------------------------------------------------------------------------------------------------

/** Fills its place among what is said about the run; whose sentences are their own may take them along. */
function drawTakeHome() {
  const place = document.getElementById("pg-take"), { card } = page;
  if (!place || !card) return;
  const own = card.mine && card.settings.task === "own", closed = isClosed(card), key = JSON.stringify([card.id, own, closed, cursor.lang]);
  if (place.dataset.key === key) return; // a tick stays as it is
  place.dataset.key = key;
  const tick = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "pg-take-sentences" }));
  const take = button({ id: "pg-take-home", "aria-describedby": "pg-take-about", onclick: () => fetchZip(take, card.id, tick.checked) }, say("take_home"));
  const book = button({ id: "pg-workbook", "aria-describedby": "pg-workbook-about", onclick: () => fetchWorkbook(book, card.id) }, say("workbook"));
  update(document.getElementById("pg-code"), { hidden: closed });
  if (closed) return place.replaceChildren();
  place.replaceChildren(
    take, own ? h("label", {}, tick, say("take_sentences")) : "", h("small", { id: "pg-take-about" }, say("take_about")),
    book, h("small", { id: "pg-workbook-about" }, say("workbook_about")), accountPlace(),
  );
}

/** Opens the menu of the run where its button stands. */
export function showTakeHome() {
  /** @type {HTMLDetailsElement} */ (document.getElementById("pg-run-about")).open = true;
  document.getElementById("pg-take-home").focus();
}

const fetchZip = (take, run, sentences) =>
  fetchFile(take, `takeaway/${encodeURIComponent(run)}`, sentences ? { sentences: "on" } : {}, "model.zip");

/** Of the sentence and the step on screen. */
const fetchWorkbook = (take, run) => fetchFile(take, "workbook", { run, text: cursor.text, step: cursor.step, target: cursor.target }, "model.xlsx");

/** Saves a file of the run, while its button says so. */
async function fetchFile(take, path, params, name) {
  const label = take.textContent;
  take.disabled = true;
  take.textContent = say("taking");
  await saveFrom(routeUrl(path, { lang: cursor.lang, ...params }), name);
  take.disabled = false;
  take.textContent = label;
}
subscribe(["card"], drawTakeHome);

// ---- Train on a telephone ---------------------------------------------------------------------------------------------------------------

const keyNow = () => (!page.card?.mine ? "train" : isActive() ? "stop" : page.live.status === "interrupted" ? "resume" : "train");

function act() {
  const key = keyNow();
  if (key === "train") document.getElementById("pg-train")?.click(); // Gradio knows the settings
  else void command(key);
}

function fill(place) {
  const key = keyNow();
  update(place.dataset, { act: key });
  update(place, { textContent: say(`${key}_now`) });
  updateAttributes(place, { "aria-label": say(key) });
}

function trainNow() {
  const place = button({ id: "pg-train-now", onclick: act });
  fill(place);
  return place;
}

subscribe(["live", "card"], () => {
  const place = document.getElementById("pg-train-now");
  if (place) fill(place);
});
