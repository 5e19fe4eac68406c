// Tokens as chips, as they stand in every line of a sentence.
// @ts-check

import { h, modelText, say } from "./dom.js";

/** Tokens as chips. Wrong ones are underlined with a wave and marked ✗, so that colour is never the only sign. */
export function chips(tokens, side) {
  const chip = (token, at) => {
    const { given, copied } = token;
    const marks = { unknown: token.known === false, wrong: token.right === false, right: token.right === true, given, copied };
    const names = Object.keys(marks).filter((name) => marks[name]);
    const words = token.p === undefined ? say("token_id", { id: token.id }) : say("token_id_p", { id: token.id, p: token.p.toFixed(3) });
    const dataset = { id: token.id, ...(side ? { token: `${side}-${at}` } : {}) };
    const title = marks.unknown ? say("unknown_token") : copied ? say("copied_token") : words;
    return h("span", { class: ["pg-chip", ...names].join(" "), tabindex: "-1", dataset, title, ...modelText(side) }, token.text);
  };
  return tokens.map(chip);
}
