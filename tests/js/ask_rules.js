// What the page's own rules say of lessons' steps, for tests in Python: reads [{when, screens}, …] as JSON, and writes what a step can ask for
// at all (`rules`, and of a sentence `sentences`), and for each whether it is `done` after these screens one after another.

import { readFileSync } from "node:fs";

import { RULES, SENTENCES, holds } from "../../playground/ui/static/rules.js";

function isDone({ when, screens }) {
  const values = new Set();
  const all = screens.map(({ inSight, ...screen }) =>
    holds(when, { ...screen, isAnswered: () => false, isChecked: () => false, isInSight: (selector) => inSight.includes(selector) }, values));
  return all.some(Boolean);
}

const done = JSON.parse(readFileSync(0, "utf8")).map(isDone);
process.stdout.write(JSON.stringify({ rules: Object.keys(RULES), sentences: Object.keys(SENTENCES), done }));
