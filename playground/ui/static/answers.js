// A cache of answers about a run that rests: looking back and forth costs nothing, and what comes next can be read ahead.
// @ts-check

import { cursor } from "./store.js";
import { read } from "./dom.js";
import { isActive } from "./live.js";

const MOST = 90; // answers that are kept
const PATIENCE = 300; // milliseconds that one part of the page waits for another
const known = new Map(); // question -> promise of its answer
const pending = new Map(); // part of the page -> what it asked last

/** Blocks of an answer, or one with the sentence of a refusal. */
export const blocksOf = ({ error, blocks }) => (error ? [{ kind: "text", id: "error", css: "pg-error", text: error }] : blocks);

/** The answer to a question, which is asked once as long as nothing trains; null when a newer one on the same channel took its place. */
function ask(path, query, channel) {
  if (isActive()) return read(path, query, channel);
  const key = `${path} ${cursor.lang} ${new URLSearchParams(query)}`;
  if (!known.has(key)) {
    known.set(key, read(path, query, channel).then((answer) => {
      if (!answer || answer.error || answer.more || isActive()) known.delete(key);
      return answer;
    }));
    if (known.size > MOST) known.delete(known.keys().next().value);
  }
  return known.get(key);
}

/** Asks for a part of the page. The answer comes when other parts have theirs too, so that they change together and show one step. */
export async function askFor(part, path, query) {
  const coming = ask(path, query, part);
  pending.set(part, coming);
  const answer = await coming;
  await Promise.race([Promise.all(pending.values()), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  return answer;
}

let ahead = 0; // questions on their way that were asked ahead
export const isReadingAhead = () => ahead > 0;

/** Asks for what is about to be shown, while something else still is. */
export function readAhead(path, query) {
  if (isActive()) return;
  ahead++;
  ask(path, query, `ahead/${path}`).finally(() => ahead--);
}

export const forget = () => known.clear();
