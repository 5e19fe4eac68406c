// The sentence on screen and what becomes of it, always there in the frame.
// @ts-check

import { change, cursor, maxText, move, page, sentenceText, subscribe } from "./store.js";
import { button, debounce, h, modelText, onTyped, same, say, updateAttributes } from "./dom.js";
import { askFor } from "./answers.js";
import { chips } from "./render.js";
import { highlight, point } from "./picture.js";
import { isActive, isBehind, isTooEarly } from "./live.js";
import { rememberSentence } from "./storage.js";
import { open } from "./dialogs.js";

/** The aria-live value of the output: a training run's is not read aloud, see status.js. */
const loudness = () => (isActive() || isBehind() ? "off" : "polite");

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
}

/** Typing into a field that is drawn anew goes on in the new one. */
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
  const query = sentenceQuery(cursor.step);
  const answer = await askFor("sentence", "panel/sentence", query);
  if (answer && query.run === cursor.run && !isTooEarly(answer)) showSentence(answer);
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
  const typed = answer.source.map(({ text }) => text).join(" ") === sentenceText().trim().replace(/\s+/g, " ");
  const { correct } = answer, verdict = correct ? `✓ ${say("right")}` : `✗ ${whatIsWrong(answer)}`;
  place.replaceChildren(
    correct === null ? "" : h("span", { class: `pg-verdict ${correct ? "right" : "wrong"}` }, verdict),
    h("span", { class: `pg-tokens${typed ? " typed" : ""}` }, chips(answer.source, "src")), h("span", { class: "pg-arrow", "aria-hidden": "true" }, "→"),
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

/** While the line is empty what stands below is of an example, and says so; and so does one that is decoded otherwise than in the tab below. */
function markExample() {
  const place = document.getElementById("pg-result");
  if (!place) return;
  const isEmpty = document.getElementById("pg-sentence").value === "" && sentenceText() !== ""; // of a private run there is none
  const isGreedy = cursor.tab === "translate" && (cursor.method || page.sentence?.method || "greedy") !== "greedy"; // the line always is
  const key = isEmpty ? "example" : isGreedy ? "greedy_line" : "";
  place.classList.toggle("is-example", isEmpty);
  if (key) place.dataset.said = say(key);
  else delete place.dataset.said;
}
subscribe(["tab", "method", "text", "sentence"], markExample);

subscribe(["text"], () => {
  if (cursor.text) change({ unread: "" });
  rememberSentence(cursor.run, cursor.text);
});
subscribe(["card"], fillSentence);
subscribe(["live", "frame"], () => {
  const result = document.getElementById("pg-result");
  if (result) updateAttributes(result, { "aria-live": loudness() });
});
subscribe(["run", "text", "tab", "stop", "part", "q", "k"], () => point(null));
subscribe(["text", "step"], (changed) => {
  if (changed.has("run")) return; // main.js opens it; until then the sentences known here are those of the run before
  fillSentence();
  if (!isActive()) refreshSentence(); // else it comes with the panel
});

// ---- unknown tokens ---------------------------------------------------------------------------------------------------------------------

function write(text) {
  /** @type {HTMLInputElement} */ (document.getElementById("pg-sentence")).value = text;
  move({ text });
}

/**
 * @param {{ told: string, use: string, label: string, missing: string, all: string, known: string[],
 *   words: { token: string, nearest: { word: string, text: string, about: string }[] }[] } | null} unknown
 */
function drawUnknown(unknown) {
  const place = document.getElementById("pg-unknown");
  if (same(place, unknown ?? null)) return;
  place.hidden = !unknown;
  document.body.toggleAttribute("data-unknown", !!unknown);
  if (!unknown) return place.replaceChildren();
  const instead = ({ word, text, about }) =>
    button({ class: "pg-instead", "aria-label": about, title: about, onclick: () => write(text), ...modelText("src") }, word);
  const isWhole = unknown.use && !unknown.words.some(({ nearest }) => nearest.some(({ text }) => text === unknown.use));
  const all = () => open(unknown.all, h("p", modelText("src"), unknown.known.join(" ")));
  const gap = ({ token, nearest }) => h("span", { class: "pg-gap" }, h("b", modelText("src"), token), nearest.length ? "→" : "", nearest.map(instead));
  const list = unknown.known.length ? button({ id: "pg-known-words", class: "pg-quiet", onclick: all }, unknown.all) : "";
  const use = isWhole ? button({ id: "pg-use", onclick: () => write(unknown.use) }, unknown.label) : "";
  place.title = unknown.told;
  place.replaceChildren(h("span", {}, unknown.missing || unknown.told), use, ...unknown.words.map(gap), list);
}
