// Under the sentence: which of its tokens the model doesn't know, and ways out. Letters have one: the nearest sentence that it can read;
// of a word the known ones that are spelt like it are offered, and there is a list of all.
// @ts-check

import { move } from "./store.js";
import { button, h, modelText, same } from "./dom.js";

function write(text) {
  /** @type {HTMLInputElement} */ (document.getElementById("pg-sentence")).value = text;
  move({ text });
}

/**
 * @param {{ told: string, use: string, label: string, words: { word: string, text: string, about: string }[], all: string } | null} found
 */
export function drawUnknown(found) {
  const place = document.getElementById("pg-unknown");
  if (same(place, found ?? null)) return;
  place.hidden = !found;
  document.body.toggleAttribute("data-unknown", !!found);
  if (!found) return place.replaceChildren();
  const instead = ({ word, text, about }) =>
    button({ class: "pg-instead", "aria-label": about, title: about, onclick: () => write(text), ...modelText("src") }, word);
  const whole = found.use && !found.words.some(({ text }) => text === found.use);
  const all = () => move({ tab: "embeddings", what: "src" });
  const words = found.words.map(instead);
  const list = found.all ? button({ id: "pg-known-words", class: "pg-quiet", onclick: all }, found.all) : "";
  const use = whole ? [button({ id: "pg-use", onclick: () => write(found.use) }, found.label), list, ...words] : [...words, list];
  place.replaceChildren(h("span", {}, found.told), ...use); // what mends all comes first: of many words not every one has room
}
