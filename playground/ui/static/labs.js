// Labs: cards to choose from, and what somebody guessed, kept in this browser only.

import { cursor, move } from "./state.js";
import { h, say } from "./dom.js";

const KEY = "playground-guesses"; // lab -> [percent sure, right or not], of the first guess
/** What was guessed so far. */
export function guesses() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/** Only the first guess of a lab counts: whoever has seen the answer guesses no more. */
export function record(element, block) {
  element.hidden = true;
  const kept = guesses();
  if (block.lab in kept) return;
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...kept, [block.lab]: [block.sure, block.right] }));
  } catch {
    // storage is closed to us: guesses are forgotten
  }
  document.dispatchEvent(new CustomEvent("pg-guess"));
}

export function forgetGuesses() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // there are none
  }
  for (const element of document.querySelectorAll('[data-block^="calibration"]')) drawCalibration(element);
}

const ARMS = "playground-arms"; // lab -> the runs of its experiment, so that whoever comes back finds them
const arms = () => {
  try {
    return JSON.parse(localStorage.getItem(ARMS)) ?? {};
  } catch {
    return {};
  }
};

document.addEventListener("pg-reply", ({ detail }) => {
  if (!detail.arms) return;
  const all = [cursor.lab === detail.lab ? cursor.arms : "", ...detail.arms].filter(Boolean).join(".");
  try {
    localStorage.setItem(ARMS, JSON.stringify({ ...arms(), [detail.lab]: all }));
  } catch {
    // storage is closed to us: the address has them
  }
  move({ lab: detail.lab, arms: all });
});

export function drawCards(element, block) {
  const kept = guesses();
  const card = (one) => h("button", { type: "button", class: "pg-card", dataset: { lab: one.name }, onclick: () => move({ tab: "labs", lab: one.name, arms: arms()[one.name] ?? "" }) },
    h("b", {}, one.title), h("span", {}, one.text), one.name in kept ? h("small", {}, say(kept[one.name][1] ? "guess_was_right" : "guess_was_wrong", { percent: kept[one.name][0] })) : null);
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
