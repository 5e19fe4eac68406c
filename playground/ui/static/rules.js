// When a step of a lesson counts as done. What a step may ask for is declared, and explained, in playground/lessons/course.py.
// @ts-check

/**
 * State of the page at the moment a step is checked.
 * @typedef {object} Screen
 * @property {Record<string, string>} cursor
 * @property {import("./page").Card | null} card what is fixed about the run, once that and the stream are of the run on screen
 * @property {import("./page").Run} run
 * @property {import("./page").Sentence | null} sentence what the model made of the sentence on screen, once it has
 * @property {boolean} hasRead whether sentences of the visitor's own were read
 * @property {(name: string) => boolean} isAnswered whether the question of a lab or a lesson was
 * @property {(lesson: string) => boolean} isChecked whether each question that stands at the end of this lesson was answered
 * @property {(selector: string) => boolean} isInSight
 * @property {string} readOff the stop of the tour whose number was written last
 */

const matches = (value, wanted) => (wanted === "*" ? value !== "" : wanted.startsWith("*") ? value.endsWith(wanted.slice(1)) : value === wanted);

/** @type {Record<string, (screen: Screen) => boolean>} */
export const SENTENCES = {
  own: ({ cursor, card }) => cursor.text.trim() !== "" && !card.examples.some(([source]) => source === cursor.text),
  unknown: ({ sentence }) => sentence.source.some((token) => token.known === false),
  wrong: ({ sentence }) => sentence.correct === false,
};

/** @type {Record<string, (wanted: any, screen: Screen) => boolean>} */
export const RULES = {
  guess: (name, { isAnswered }) => isAnswered(name),
  checked: (lesson, { isChecked }) => isChecked(lesson),
  at: (fields, { cursor }) => Object.entries(fields).every(([name, value]) => matches(cursor[name], value)),
  ahead: (_, { cursor }) => cursor.q !== "" && Number(cursor.k) > Number(cursor.q),
  settings: (knobs, { card }) => card !== null && Object.entries(knobs).every(([name, value]) => card.settings[name] === value),
  mine: (_, { card }) => card !== null && card.mine,
  forked: (_, { card }) => card !== null && Boolean(card.parent),
  steps: (count, { card, run }) => card !== null && run.step >= count,
  exact: (share, { card, run }) => card !== null && (run.validations.exact_match ?? []).at(-1) >= share,
  sentence: (kind, screen) => screen.card !== null && screen.sentence !== null && SENTENCES[kind](screen),
  read: (_, { hasRead }) => hasRead,
  sees: (selector, { isInSight }) => isInSight(selector),
  read_off: (stop, { readOff }) => readOff === stop,
};

/**
 * Whether a step that asks for `when` is done now. It may ask for so many `different` values of some fields, one after another, each while
 * all the rest holds: `distinct` has those of before, and takes those of now.
 * @param {Record<string, any>} when
 * @param {Screen} screen
 * @param {Set<string>} distinct
 */
export function holds({ different, ...rest }, screen, distinct) {
  if (!Object.entries(rest).every(([kind, wanted]) => RULES[kind](wanted, screen))) return false;
  if (!different) return true;
  const [fields, count] = different, values = fields.map((field) => screen.cursor[field]);
  if (values.some(Boolean)) distinct.add(values.join(" "));
  return distinct.size >= count;
}
