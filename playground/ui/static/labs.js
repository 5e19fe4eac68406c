// Labs: cards to choose from, and the visitor's guesses, kept in this browser only.
// @ts-check

import { change, cursor, move, page, presentNames, subscribe } from "./store.js";
import { button, h, paragraph, same, say, svg } from "./dom.js";
import { fixed } from "./room.js";
import { isOpenLab } from "./room_fixed.js";
import { forget, keep, recall } from "./storage.js";
import { register } from "./render.js";

const KEY = "playground-guesses"; // lab -> [percent sure, right or not], of the first guess
/** Guesses so far. */
export const guesses = () => presentNames("lesson", presentNames("lab", recall(KEY)));

/** Whether the answer of a lab or a lesson came after a guess made on this page, or after "I don't know". */
export const isAnswered = (name) => name in guesses() || name in page.guessed;

let here = false, isNew = false; // not by the link that was followed; and its answer has not been shown yet
subscribe(["lab", "lesson", "guess", "predicted"], (names) => {
  if (["lab", "lesson"].some((name) => names.has(name))) here = isNew = false;
  if (["guess", "predicted"].some((name) => names.has(name) && cursor[name])) here = isNew = true;
});

/**
 * Only the first guess of a lab counts: a visitor who has seen the answer guesses no more. `sure` is 0 where nothing is to be counted.
 * @param {HTMLElement} element
 * @param {import("./blocks").RecordBlock} block
 */
function record(element, block) {
  element.hidden = true;
  if (isNew) element.previousElementSibling?.scrollIntoView({ block: "nearest" }); // the verdict
  isNew = false;
  if (!here || isAnswered(block.lab)) return;
  if (block.sure) keep(KEY, { [block.lab]: [block.sure, block.right] });
  change({ guessed: { ...page.guessed, [block.lab]: true } });
}

export function forgetGuesses() {
  forget(KEY);
  change({ guessed: {} });
}

const ARMS = "playground-arms"; // lab -> the runs of its experiment, for a visitor who comes back

subscribe(["reply"], () => {
  const { lab, arms } = page.reply;
  if (!arms) return;
  const all = [cursor.lab === lab ? cursor.arms : "", ...arms].filter(Boolean).join(".");
  keep(ARMS, { [lab]: all });
  move({ lab, arms: all });
});

/** Labs to choose from, with what was guessed of each. */
register("cards", (element, block) => {
  const known = guesses(), arms = presentNames("lab", recall(ARMS)), { labs } = fixed(); // the labs that a room has open for this visitor
  if (same(element, [block, known, arms, page.guessed, labs])) return;
  const guessed = (name) => {
    const [percent, right] = known[name];
    const verdict = say(right ? "guess_was_right" : "guess_was_wrong", { percent }), done = h("span", { "aria-hidden": "true" }, "✓ ");
    return h("small", { class: right ? "right" : "" }, done, verdict);
  };
  /** @param {import("./blocks").Card} card */
  const card = ({ name, title, text, minutes, thumbnail, axes, go }) => {
    const open = () => move({ tab: "labs", lab: name, arms: arms[name] ?? "" });
    return button({ class: `pg-card${thumbnail ? " pictured" : ""}`, dataset: { lab: name }, onclick: open },
      ...(thumbnail ? [drawThumbnail(thumbnail, isAnswered(name)), h("span", { class: "pg-card-axes" }, axes)] : []),
      h("b", {}, title), h("span", { class: "pg-card-text" }, text), name in known ? guessed(name) : h("span", {}),
      h("span", { class: "pg-card-minutes" }, minutes), go ? h("span", { class: "pg-card-go" }, go) : "");
  };
  const cards = block.cards.filter(({ name }) => isOpenLab(name));
  element.hidden = !cards.length;
  element.replaceChildren(...(block.title ? [h("h3", {}, block.title)] : []), h("div", { class: "pg-cards" }, cards.map(card)));
}, { always: true, on: ["room"] });

const SMALL = { width: 220, height: 165, edge: 5 }; // of a picture, in its own units

const HINT = 1 / 3; // of a result, to whom it is still a question

/** The lines of a lab's result, without their names: how they begin, and the rest once it was guessed. */
function drawThumbnail(lines, answered) {
  const { width, height, edge } = SMALL;
  const x = (at, count) => (edge + (at / (count - 1)) * (width - 2 * edge)).toFixed(1);
  const y = (value) => (height - edge - value * (height - 2 * edge)).toFixed(1);
  const visible = (line) => (answered ? line : line.slice(0, Math.ceil(line.length * HINT)));
  const path = (line) => visible(line).map((value, at) => `${at ? "L" : "M"}${x(at, line.length)},${y(value)}`).join("");
  const start = edge + HINT * (width - 2 * edge), middle = { x: (width * (1 + HINT)) / 2, y: height / 2 };
  const question = svg("text", { ...middle, "text-anchor": "middle", "dominant-baseline": "central" }, "?");
  const ground = svg("path", { class: "ground", d: `M${edge},${edge}V${height - edge}H${width - edge}` });
  return svg("svg", { class: "pg-card-picture", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    ground, ...lines.map((line, at) => svg("path", { class: `line-${at}`, d: path(line) })),
    ...(answered ? [] : [svg("path", { class: "guess", d: `M${start},${edge}H${width - edge}V${height - edge}H${start}Z` }), question]));
}

/** How often guesses were right, by how sure the visitor was. */
register("calibration", (element) => {
  const bySure = new Map();
  for (const [sure, right] of Object.values(guesses())) bySure.set(sure, [...(bySure.get(sure) ?? []), right]);
  const sentence = ([percent, results]) => say("calibration", { percent, right: results.filter(Boolean).length, count: results.length });
  const sentences = [...bySure].sort(([first], [other]) => first - other).map(sentence);
  element.hidden = !sentences.length;
  element.className = "pg-block pg-text pg-caption";
  element.textContent = paragraph(sentences);
}, { always: true, on: ["guessed"] });

register("record", record, { always: true });
