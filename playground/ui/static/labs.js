// Labs: cards to choose from, and what somebody guessed, kept in this browser only.

import { cursor, move, onMove } from "./state.js";
import { h, say } from "./dom.js";
import { forget, keep, kept } from "./storage.js";

const KEY = "playground-guesses"; // lab -> [percent sure, right or not], of the first guess
/** What was guessed so far. */
export const guesses = () => kept(KEY);

const answered = new Set(); // labs and lessons whose answer came after a guess made on this page, or after "I don't know"
export const isAnswered = (name) => name in guesses() || answered.has(name);

let here = false; // not by the link that was followed
onMove((names) => {
  if (["lab", "lesson"].some((name) => names.has(name))) here = false;
  if (["guess", "predicted"].some((name) => names.has(name) && cursor[name])) here = true;
});

/** Only the first guess of a lab counts: whoever has seen the answer guesses no more. `sure` is 0 where nothing is to be counted. */
export function record(element, block) {
  element.hidden = true;
  if (!here || isAnswered(block.lab)) return;
  answered.add(block.lab);
  if (block.sure) keep(KEY, { [block.lab]: [block.sure, block.right] });
  document.dispatchEvent(new CustomEvent("pg-guess"));
}

export function forgetGuesses() {
  forget(KEY);
  answered.clear();
  for (const element of document.querySelectorAll('[data-block^="calibration"]')) drawCalibration(element);
}

const ARMS = "playground-arms"; // lab -> the runs of its experiment, so that whoever comes back finds them

document.addEventListener("pg-reply", ({ detail }) => {
  if (!detail.arms) return;
  const all = [cursor.lab === detail.lab ? cursor.arms : "", ...detail.arms].filter(Boolean).join(".");
  keep(ARMS, { [detail.lab]: all });
  move({ lab: detail.lab, arms: all });
});

export function drawCards(element, block) {
  const known = guesses(), arms = kept(ARMS);
  const card = (one) => h("button", { type: "button", class: "pg-card", dataset: { lab: one.name }, onclick: () => move({ tab: "labs", lab: one.name, arms: arms[one.name] ?? "" }) },
    h("b", {}, one.title), h("span", {}, one.text), one.name in known ? h("small", {}, say(known[one.name][1] ? "guess_was_right" : "guess_was_wrong", { percent: known[one.name][0] })) : null);
  element.replaceChildren(...(block.title ? [h("h3", {}, block.title)] : []), h("div", { class: "pg-cards" }, block.cards.map(card)));
}

/** How often guesses of which somebody was so sure were right. */
export function drawCalibration(element) {
  const bySure = new Map();
  for (const [sure, right] of Object.values(guesses())) bySure.set(sure, [...(bySure.get(sure) ?? []), right]);
  const said = [...bySure].sort(([one], [other]) => one - other).map(([percent, found]) => say("calibration", { percent, right: found.filter(Boolean).length, count: found.length }));
  element.hidden = !said.length;
  element.className = "pg-block pg-text pg-caption";
  element.textContent = said.join(" ");
}
