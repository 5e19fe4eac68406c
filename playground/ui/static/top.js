// What is always there: the run and its state, the sentence and what becomes of it, and the replay.
// @ts-check

import { LANGUAGES, cursor, maxText, move, onMove } from "./state.js";
import { count, debounce, duration, h, icon, percent, read, say } from "./dom.js";
import { highlight, point } from "./picture.js";
import { isActive, onUpdate, run } from "./live.js";
import { command } from "./actions.js";
import { openDelete, openHelp, openRename, openShare } from "./dialogs.js";

let card = null; // what is fixed about the run on screen: name, settings, examples, whose it is
let playing = 0;
export const currentCard = () => card;

// ---- header -------------------------------------------------------------------------------------------------------------------

export function drawHeader(host, runs) {
  const select = h("select", { id: "pg-run", "aria-label": say("run_choose"), onchange: (event) => move({ run: event.target.value }) });
  const group = (label, list) => list.length && select.append(h("optgroup", { label }, list.map((item) => h("option", { value: item.id }, item.title))));
  group(say("runs_mine"), runs.mine);
  group(say("runs_shipped"), runs.shipped);
  if (cursor.run && ![...runs.mine, ...runs.shipped].some((item) => item.id === cursor.run)) group(say("runs_other"), [{ id: cursor.run, title: card?.title ?? say("run_other") }]);
  select.value = cursor.run;
  const others = Object.entries(LANGUAGES).filter(([code]) => code !== cursor.lang);
  const language = h("span", { id: "pg-language" }, others.map(([code, { name, html }]) => h("button", { type: "button", class: "pg-quiet", lang: html, onclick: () => move({ lang: code }) }, name)));
  host.replaceChildren(
    h("div", { class: "pg-title" }, h("h1", {}, say("title")), h("button", { type: "button", class: "pg-quiet", id: "pg-invite", onclick: () => move({ tab: "course", lesson: "", notes: "" }) }, say("course_invite")), h("p", {}, say("tagline"))),
    h("div", { class: "pg-run" }, h("label", { for: "pg-run" }, say("run")), select, h("span", { id: "pg-status", class: "pg-status" }), h("span", { id: "pg-facts", class: "pg-status" }), h("span", { id: "pg-own-run" })),
    h("div", { class: "pg-tools" }, language, h("button", { type: "button", id: "pg-share", onclick: () => openShare() }, icon("link"), say("share")), h("button", { type: "button", class: "pg-quiet", id: "pg-help", "aria-label": say("help"), onclick: openHelp }, "?")),
  );
  drawStatus();
}

function drawStatus() {
  const place = document.getElementById("pg-status");
  if (!place) return;
  const last = (run.validations.exact_match ?? []).at(-1);
  const told = { step: count(run.step ?? 0), steps: count(run.steps ?? 0), left: duration(run.eta), place: run.place, percent: last === undefined ? "–" : percent(last) };
  Object.assign(place.dataset, { run: run.id, status: run.status, step: run.step ?? 0 });
  place.textContent = run.status ? say(`status_${run.status}`, told) : "";
  drawFacts();
  const note = document.getElementById("pg-run-note");
  if (note) {
    const lines = [];
    if (run.message) lines.push(run.message[cursor.lang] ?? run.message.en);
    if (card && !card.mine) lines.push(say(card.shipped ? "note_shipped" : "note_readonly"));
    if (run.status === "gone") lines.push(say("note_gone"));
    const acts = card && !card.mine && run.status !== "gone" ? [h("button", { type: "button", id: "pg-mine", onclick: () => command("remake") }, say("make_mine"))] : [];
    const text = JSON.stringify([lines, acts.length, cursor.lang]);
    if (note.dataset.text === text) return; // its button stays where it is while somebody presses it
    note.dataset.text = text;
    note.replaceChildren(...lines.map((line) => h("span", {}, line)), ...acts);
    note.hidden = !lines.length;
  }
}

/** What a run is, in one line: what makes it different, and what it was trained on; and for its owner, a way to name or delete it. */
function drawFacts() {
  const facts = document.getElementById("pg-facts"), own = document.getElementById("pg-own-run");
  if (!facts || !card) return;
  const where = run.device ? say("trained_on", { device: run.device, threads: run.threads, precision: card.precision }) : "";
  const text = [card.line, where].filter(Boolean).join(" · ");
  if (facts.textContent !== text) facts.textContent = text;
  if (own.dataset.mine === String(card.mine) + card.id + cursor.lang) return;
  own.dataset.mine = String(card.mine) + card.id + cursor.lang;
  own.replaceChildren(...(card.mine ? [
    h("button", { type: "button", class: "pg-quiet", id: "pg-rename", onclick: () => openRename(card.label, (label) => command("rename", { label })) }, say("rename")),
    h("button", { type: "button", class: "pg-quiet", id: "pg-delete", onclick: () => openDelete(card.title, () => command("delete")) }, say("delete")),
  ] : []));
}

// ---- sentence -----------------------------------------------------------------------------------------------------------------

export function drawSentence(host) {
  const input = h("input", { id: "pg-sentence", type: "text", autocomplete: "off", spellcheck: "false", maxlength: String(maxText), "aria-label": say("sentence"), placeholder: say("sentence_hint") });
  input.addEventListener("input", debounce(() => move({ text: input.value }), 220));
  const examples = h("select", { id: "pg-examples", "aria-label": say("examples"), onchange: (event) => event.target.value && move({ text: event.target.value }) });
  host.replaceChildren(
    h("div", { class: "pg-line" }, h("label", { for: "pg-sentence" }, say("sentence")), input, examples),
    h("div", { id: "pg-result", class: "pg-result", "aria-live": "polite" }),
    h("div", { id: "pg-run-note", class: "pg-run-note", hidden: true }),
  );
  fillSentence();
}

function fillSentence() {
  const input = document.getElementById("pg-sentence"), examples = document.getElementById("pg-examples");
  if (!input || !card) return;
  if (document.activeElement !== input) input.value = cursor.text || card.examples[0]?.[0] || "";
  examples.replaceChildren(h("option", { value: "" }, say("examples")), ...card.examples.map(([source]) => h("option", { value: source }, source)));
  examples.value = card.examples.some(([source]) => source === cursor.text) ? cursor.text : "";
}

export const sentenceText = () => cursor.text || card?.examples[0]?.[0] || "";

/** Tokens as chips. Wrong ones are underlined with a wave and marked ✗, so that colour is never the only sign. */
export function chips(tokens, side) {
  return tokens.map((token, at) =>
    h("span", { class: `pg-chip${token.known === false ? " unknown" : ""}${token.right === false ? " wrong" : ""}${token.right === true ? " right" : ""}${token.given ? " given" : ""}`, tabindex: "-1",
      dataset: { id: token.id, ...(side ? { token: `${side}-${at}` } : {}) }, title: token.known === false ? say("unknown_token") : say(token.p === undefined ? "token_id" : "token_id_p", { id: token.id, p: token.p?.toFixed(3) }) }, token.text),
  );
}

async function refreshSentence() {
  if (card?.id !== cursor.run) return;
  const place = document.getElementById("pg-result"), asked = { run: cursor.run, text: cursor.text };
  const answer = await read("panel/sentence", { run: cursor.run, step: cursor.step, text: sentenceText() }, "sentence");
  if (!answer || !place) return;
  if (answer.error) return place.replaceChildren(h("span", { class: "pg-error" }, answer.error));
  document.dispatchEvent(new CustomEvent("pg-sentence", { detail: { ...answer, ...asked } }));
  const verdict = answer.correct === null ? null : h("span", { class: `pg-verdict ${answer.correct ? "right" : "wrong"}` }, answer.correct ? `✓ ${say("right")}` : `✗ ${say("wrong")}`);
  place.replaceChildren(
    h("span", { class: "pg-tokens" }, chips(answer.source, "src")), h("span", { class: "pg-arrow", "aria-hidden": "true" }, "→"),
    h("span", { class: "pg-tokens out" }, chips(answer.output, "tgt")), verdict ?? "",
    answer.correct === false ? h("span", { class: "pg-reference" }, say("should_be", { text: answer.references.join(" / ") })) : "",
    answer.note ? h("span", { class: "pg-note" }, answer.note) : "",
  );
  highlight();
}

// ---- replay ---------------------------------------------------------------------------------------------------------------------

export function drawReplay(host) {
  host.replaceChildren(
    h("button", { type: "button", id: "pg-replay-back", "aria-label": say("replay_back"), onclick: () => turn(-1) }, icon("back")),
    h("button", { type: "button", id: "pg-replay-play", "aria-label": say("replay_play"), onclick: play }, icon("play")),
    h("button", { type: "button", id: "pg-replay-forward", "aria-label": say("replay_forward"), onclick: () => turn(1) }, icon("forward")),
    h("input", { type: "range", id: "pg-replay", min: "0", max: "0", value: "0", step: "1", "aria-label": say("replay"), oninput: (event) => seek(Number(event.target.value)) }),
    h("output", { id: "pg-replay-step", for: "pg-replay" }),
    h("button", { type: "button", id: "pg-replay-now", onclick: () => move({ step: "" }) }, say("replay_now")),
    h("button", { type: "button", id: "pg-fork", title: say("fork_help"), onclick: () => command("fork", { step: cursor.step === "" ? run.step : Number(cursor.step) }) }, icon("fork"), h("span", {}, say("fork"))),
  );
  fillReplay();
}

/** The stops of the scrubber: every step of which the replay has a picture, then "now". */
const stops = () => run.replay;

function at() {
  const steps = stops();
  if (cursor.step === "") return steps.length;
  const wanted = Number(cursor.step);
  let best = 0;
  for (let i = 0; i < steps.length; i++) if (Math.abs(steps[i] - wanted) < Math.abs(steps[best] - wanted)) best = i;
  return best;
}

const seek = (index) => move({ step: index >= stops().length ? "" : stops()[index] });
export const turn = (by) => seek(Math.max(0, Math.min(stops().length, at() + by)));

export function play() {
  const button = document.getElementById("pg-replay-play");
  if (playing) {
    clearInterval(playing);
    playing = 0;
  } else {
    if (at() >= stops().length) seek(0);
    playing = setInterval(() => (at() >= stops().length ? play() : turn(1)), 450);
  }
  button?.replaceChildren(icon(playing ? "pause" : "play"));
  button?.setAttribute("aria-label", say(playing ? "replay_pause" : "replay_play"));
}

function fillReplay() {
  const bar = document.getElementById("pg-replay");
  if (!bar) return;
  bar.max = String(stops().length);
  bar.value = String(at());
  bar.disabled = !stops().length;
  bar.dataset.frames = String(stops().length);
  const shown = cursor.step === "" ? run.step : stops()[at()] ?? 0;
  const text = say("replay_step", { step: count(shown), steps: count(run.steps || run.step || 0) });
  document.getElementById("pg-replay-step").textContent = text;
  bar.setAttribute("aria-valuetext", text);
  document.getElementById("pg-replay-now").disabled = cursor.step === "";
}

// ---- what makes them change -----------------------------------------------------------------------------------------------------

/** Reads what is fixed about the run on screen. Resolves when the page knows it. */
export async function readCard() {
  const answer = await read(`run/${encodeURIComponent(cursor.run)}`, {}, "card");
  if (!answer) return null;
  card = answer.error ? null : answer;
  if (card) fillSentence();
  drawStatus();
  return answer;
}

export function wireTop() {
  onUpdate(() => {
    drawStatus();
    fillReplay();
  });
  onMove((changed) => {
    if (["run", "text", "tab", "part", "q", "k"].some((name) => changed.has(name))) point(null);
    if (changed.has("run")) return; // main.js opens it; until then the sentences known here are those of the run before
    if (["text", "step"].some((name) => changed.has(name))) {
      fillSentence();
      fillReplay();
      refreshSentence();
    }
  });
}

export { isActive, refreshSentence };
