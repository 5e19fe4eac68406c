// What is always there: the run and its state, the sentence and what becomes of it. The replay below them is in replay.js.
// @ts-check

import { LANGUAGES, carried, change, cursor, letGo, maxText, move, page, sentenceText, subscribe } from "./store.js";
import { button, count, debounce, h, icon, modelText, onTyped, read, say, update, updateAttributes } from "./dom.js";
import { askFor } from "./answers.js";
import { chips } from "./chips.js";
import { highlight, point } from "./picture.js";
import { isActive, isBehind, isTooEarly } from "./live.js";
import { isFrozen } from "./server.js";
import { chooseRun, command } from "./actions.js";
import { openRoom } from "./room_dialog.js";
import { drawerButton } from "./drawer.js";
import { drawStatusLine } from "./status.js";
import { rememberSentence } from "./storage.js";
import { drawTakeHome } from "./takehome.js";
import { trainNow } from "./train_now.js";
import { drawUnknown } from "./unknown.js";
import { openDelete, openHelp, openRename, openShare } from "./dialogs.js";

// ---- header -------------------------------------------------------------------------------------------------------------------

export function drawHeader(host, runs) {
  const others = Object.entries(LANGUAGES).filter(([code]) => code !== cursor.lang);
  const language = ([code, { name, html, brief }]) =>
    button({ class: "pg-quiet", lang: html, title: name, "aria-label": `${brief} ${name}`, onclick: () => move({ lang: code }) }, brief);
  const about = h("details", { id: "pg-run-about" }, h("summary", { id: "pg-run-more", "aria-label": say("run_about"), title: say("run_about") }, "⋯"),
    h("div", { class: "pg-popover" }, h("p", { id: "pg-facts" }), h("div", { id: "pg-run-note" }), h("div", { id: "pg-own-run" }),
      ...(isFrozen ? [] : [h("div", { id: "pg-take" }), h("div", {}, button({ id: "pg-code", onclick: () => move({ api: "1" }) }, say("code")))])));
  const copy = button({ id: "pg-copy", hidden: true, onclick: () => command("copy") }, say("make_mine"));
  const focused = host.contains(document.activeElement) && document.activeElement.id;
  about.open = Boolean(runMenu()?.open); // the list of runs came anew while somebody reads what the menu says
  host.replaceChildren(
    h("h1", {}, say("title")),
    h("div", { class: "pg-run" }, choiceOfRuns(runs), about, copy, h("span", { id: "pg-status", class: "pg-status" })),
    trainNow());
  document.getElementById("pg-tools").replaceChildren(
    drawerButton(),
    isFrozen ? "" : button({ id: "pg-class", class: "pg-quiet", onclick: openRoom }, say("room")),
    button({ id: "pg-share", class: "pg-quiet", "aria-label": say("share"), title: say("share"), onclick: () => openShare(classButton()) }, icon("link")),
    h("span", { id: "pg-language" }, others.map(language)),
    button({ class: "pg-quiet", id: "pg-help", "aria-label": say("help"), title: say("help"), onclick: openHelp }, "?"));
  drawStatus();
  drawTakeHome();
  if (focused) document.getElementById(focused)?.focus(); // whoever chooses by keys goes on choosing
}

/** The way to rooms, in the dialog of the link: in a small window there is no place for it in the frame. */
const classButton = () => (isFrozen ? "" : button({ id: "pg-share-class", onclick: openRoom }, say("room")));

/** What stands at the very end of the page. */
export function drawFoot(host) {
  const way = (field, words) => button({ id: `pg-foot-${field}`, class: "pg-quiet", onclick: () => move({ [field]: "1" }) }, say(words));
  host?.replaceChildren(isFrozen ? "" : way("api", "foot_api"), way("plain", "plain"));
}

/** What is open over the page closes when somebody acts elsewhere, or wants out. */
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

/** The visitor's runs, those that came with the app, and the one on screen if it is somebody else's. */
function choiceOfRuns({ mine, other, shipped }) {
  const select = h("select", { id: "pg-run", "aria-label": say("run_choose"), onchange: (event) => chooseRun(event.target.value) });
  const option = ({ id, title }) => h("option", { value: id }, title);
  const group = (label, list) => list.length && select.append(h("optgroup", { label }, list.map(option)));
  group(say("runs_mine"), mine);
  group(say("runs_shipped"), shipped);
  const isKnown = [...mine, ...other, ...shipped].some(({ id }) => id === cursor.run);
  group(say("runs_other"), [...other, ...(cursor.run && !isKnown ? [{ id: cursor.run, title: page.card?.title ?? say("run_other") }] : [])]);
  select.value = cursor.run;
  return select;
}

/** The name changes with what it names: until the list of runs is read anew a run that it doesn't have stands there alone. */
function nameRun() {
  const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("pg-run"));
  if (!select) return;
  if (![...select.options].some(({ value }) => value === cursor.run)) select.prepend(h("option", { value: cursor.run }, "…"));
  if (page.card?.id === cursor.run) [...select.options].find(({ value }) => value === cursor.run).textContent = page.card.title;
  select.value = cursor.run;
}
subscribe(["run", "card"], nameRun);

/** What is read aloud of the output: while a run trains nothing, see announce.js. */
const loudness = () => (isActive() || isBehind() ? "off" : "polite");

function drawStatus() {
  const place = document.getElementById("pg-status");
  if (!place) return;
  drawStatusLine(place);
  const result = document.getElementById("pg-result");
  if (result) updateAttributes(result, { "aria-live": loudness() });
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

/** What a run is, in one line: where it goes on from, what makes it different, and what it was trained on; for its owner, a way to name or
 * delete it. */
function drawFacts() {
  const facts = document.getElementById("pg-facts"), own = document.getElementById("pg-own-run"), { card, live: run } = page;
  if (!facts || !card) return;
  const how = run.device ? say("trained_on", { device: run.device, threads: run.threads, precision: card.precision }) : "";
  const from = card.parent && say(card.parent.name ? "parent" : "parent_gone", { ...card.parent, step: count(card.parent.step) });
  update(facts, { textContent: [from, card.line, how, trainedWhere(run.where ?? {}), page.boot.zero_gpu && say("zero_gpu")].filter(Boolean).join(" · ") });
  const key = `${card.mine} ${card.id} ${card.label} ${cursor.lang}`;
  if (own.dataset.key === key) return; // its buttons stay where they are while somebody presses one
  own.dataset.key = key;
  const rename = () => openRename(card.label, (label) => command("rename", { label }));
  const remove = () => openDelete(card.title, () => command("delete"));
  const buttons = [["rename", rename], ["delete", remove]];
  own.replaceChildren(...(card.mine ? buttons.map(([name, act]) => button({ class: "pg-quiet", id: `pg-${name}`, onclick: act }, say(name))) : []));
}

/** Why the run can't be changed by whoever looks, and what they can do; and what went wrong with it. */
function drawNote() {
  const note = document.getElementById("pg-run-note"), alert = document.getElementById("pg-run-alert"), { card, live: run } = page;
  if (!note || !alert) return;
  const gone = run.status === "gone", foreign = card && !card.mine;
  const wrong = gone ? say("note_gone") : run.message ? run.message[cursor.lang] ?? run.message.en : "";
  update(alert, { textContent: wrong, hidden: !wrong, className: gone || run.trouble ? "" : "news" });
  update(document.getElementById("pg-copy"), { hidden: !foreign || card.shipped || gone }); // of a shared run nothing else in sight acts
  const lines = [foreign && say(card.shipped ? "note_shipped" : "note_readonly")].filter(Boolean);
  const acts = foreign && !gone ? [button({ id: "pg-mine", onclick: () => command("copy") }, say("make_mine"))] : [];
  const text = JSON.stringify([lines, acts.length, cursor.lang]);
  if (note.dataset.text === text) return; // its button stays where it is while somebody presses it
  note.dataset.text = text;
  note.replaceChildren(...lines.map((line) => h("span", {}, line)), ...acts);
  note.hidden = !lines.length;
}

// ---- sentence -----------------------------------------------------------------------------------------------------------------

export function drawSentence(host) {
  const about = { type: "text", autocomplete: "off", spellcheck: "false", maxlength: String(maxText), ...modelText("src") };
  const input = h("input", { id: "pg-sentence", ...about, "aria-label": say("sentence"), placeholder: say("sentence_hint") });
  onTyped(input, debounce(() => move({ text: input.value }), 220));
  input.addEventListener("blur", () => cursor.text || (fillSentence(), markExample())); // who empties it and goes on gets the example
  const choose = (event) => event.target.value && move({ text: event.target.value }), before = document.activeElement;
  const examples = h("select", { id: "pg-examples", "aria-label": say("examples"), onchange: choose });
  host.replaceChildren(
    h("div", { class: "pg-line" }, input, examples), h("div", { id: "pg-result", class: "pg-result", "aria-live": loudness(), tabindex: "0" }),
    h("div", { id: "pg-unknown", role: "status", hidden: true }),
  );
  if (before instanceof HTMLInputElement && before.id === input.id) goOn(before, input);
  fillSentence();
  drawNote();
}

/** Whoever types into a field that is drawn anew goes on in the new one. */
function goOn(before, input) {
  input.value = before.value;
  input.focus();
  input.setSelectionRange(before.selectionStart, before.selectionEnd);
}

function fillSentence() {
  const input = document.getElementById("pg-sentence"), examples = document.getElementById("pg-examples"), { card } = page;
  if (!input || !card) return;
  updateAttributes(input, modelText("src"));
  if (document.activeElement !== input) input.value = sentenceText();
  const options = card.examples.map(([source]) => h("option", { value: source, ...modelText("src") }, source));
  examples.replaceChildren(h("option", { value: "" }, say("examples")), ...options);
  examples.value = card.examples.some(([source]) => source === cursor.text) ? cursor.text : "";
}

export const sentenceQuery = (step) => ({ run: cursor.run, step, text: sentenceText() });

export async function refreshSentence() {
  if (page.card?.id !== cursor.run) return;
  const asked = sentenceQuery(cursor.step);
  const answer = await askFor("sentence", "panel/sentence", asked);
  if (answer && asked.run === cursor.run && !isTooEarly(answer)) showSentence(answer);
}

/** Shows what the server says of the sentence. From then on the page shows the step that it is from; `isLast`: the run rested when
 * it was asked, so that nothing newer comes. */
export function showSentence(answer, isLast = !isActive()) {
  const place = document.getElementById("pg-result"), { run, text, step } = cursor;
  if (!place) return;
  place.classList.remove("stale");
  if (step === "") change({ frame: answer.error ? { run: "", step: 0, isLast } : { run, step: answer.step, isLast } });
  Object.assign(place.dataset, { run, step: answer.step ?? "" });
  markExample();
  drawUnknown(answer.unknown);
  if (answer.error) return place.replaceChildren(h("span", { class: "pg-error" }, answer.error));
  change({ sentence: { ...answer, run, text } });
  const { correct } = answer, verdict = correct ? `✓ ${say("right")}` : `✗ ${whatIsWrong(answer)}`;
  place.replaceChildren(
    correct === null ? "" : h("span", { class: `pg-verdict ${correct ? "right" : "wrong"}` }, verdict),
    h("span", { class: "pg-tokens" }, chips(answer.source, "src")), h("span", { class: "pg-arrow", "aria-hidden": "true" }, "→"),
    h("span", { class: "pg-tokens out" }, answer.output.length ? chips(answer.output, "tgt") : say("no_output")),
    correct === false ? h("span", { class: "pg-reference", translate: "no" }, say("should_be", { text: answer.references.join(" / ") })) : "",
    answer.note ? h("span", { class: "pg-note" }, answer.note) : "",
  );
  highlight();
}

/** The first wrong token, where one is; an output can also be too short. */
function whatIsWrong({ output }) {
  const at = output.findIndex(({ right }) => right === false);
  return at < 0 ? say("wrong_end", { count: output.length }) : say("wrong_at", { at: at + 1, token: output[at].text });
}

/** While the line is empty what stands below is of an example, and says so; and so does what a tab chose, while nobody has typed, and what
 * is decoded otherwise than in the tab below. */
function markExample() {
  const place = document.getElementById("pg-result"), { proposed } = page;
  if (!place) return;
  const isEmpty = document.getElementById("pg-sentence").value === "", isProposed = Boolean(cursor.text) && proposed?.text === cursor.text;
  const isGreedy = cursor.tab === "translate" && cursor.method !== "greedy"; // the line always is
  const what = isEmpty ? "example" : isGreedy ? "greedy_line" : isProposed ? "example_of_tab" : "";
  place.classList.toggle("is-example", isEmpty);
  if (what) place.dataset.said = say(what);
  else delete place.dataset.said;
}
subscribe(["tab", "method", "text"], markExample);

// ---- what makes them change -----------------------------------------------------------------------------------------------------

/** Reads what is fixed about the run on screen. Resolves when the page knows it, and has let go of what was carried there in vain. */
export async function readCard() {
  const run = cursor.run, isFollowing = page.following === run;
  const there = isFollowing ? Object.fromEntries(["part", ...carried].map((name) => [name, cursor[name]])) : {};
  const answer = await read(`run/${encodeURIComponent(run)}`, there, "card");
  if (answer && isFollowing) {
    change({ following: "" });
    const lost = (answer.unreadable ?? []).filter((name) => cursor[name] === there[name]); // what somebody typed meanwhile stays
    if (lost.includes("text")) change({ unread: there.text });
    if (cursor.run === run) move(Object.fromEntries(lost.map((name) => [name, letGo("run")[name]])));
  }
  if (answer) change({ card: answer.error ? null : answer });
  return answer;
}

subscribe(["text"], () => {
  if (cursor.text) change({ unread: "" });
  if (cursor.text !== page.proposed?.text) rememberSentence(cursor.run, cursor.text);
});
subscribe(["card"], fillSentence);
subscribe(["live", "card", "frame", "step"], drawStatus);
subscribe(["run", "text", "tab", "part", "q", "k"], () => point(null));
subscribe(["text", "step"], (changed) => {
  if (changed.has("run")) return; // main.js opens it; until then the sentences known here are those of the run before
  fillSentence();
  if (!isActive()) refreshSentence(); // else it comes with the panel
});
