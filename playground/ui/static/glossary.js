// The glossary: a term in the page's prose explains itself when it is pointed at, focused or tapped.
// @ts-check

import { page, subscribe } from "./store.js";
import { button, childrenOf, h, isResting, say } from "./dom.js";

let meaning = new Map(); // form, in small letters -> its term; null for a phrase in which the word means something else
let pattern = null; // finds every form, the longest first, and what is quoted: a name or a token, never explained in part
let terms = [];
export const listTerms = () => terms;

subscribe(["boot"], () => {
  const { glossary } = page.boot;
  terms = glossary.terms;
  meaning = new Map(glossary.not.map((form) => [form.toLowerCase(), null]));
  for (const term of terms) for (const form of term.forms) meaning.set(form.toLowerCase(), term);
  const whole = (form) => (/^\w/.test(form) ? "(?<![\\w-])" : "") + form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + (/\w$/.test(form) ? "(?!\\w|-\\w)" : "");
  pattern = new RegExp([...meaning.keys()].sort((first, other) => other.length - first.length).map(whole).join("|") + "|“[^”]*”", "giu");
});

/** Prose in pieces: text, a term, text, a term … text; only the first place of a term is one. */
export function pieces(text) {
  const pieces = [], known = new Set([null, undefined]);
  let end = 0;
  for (const match of pattern ? text.matchAll(pattern) : []) {
    const term = meaning.get(match[0].toLowerCase());
    if (known.has(term)) continue;
    known.add(term);
    pieces.push({ text: text.slice(end, match.index) }, { text: match[0], term });
    end = match.index + match[0].length;
  }
  return [...pieces, { text: text.slice(end) }];
}

/** Writes prose into an element. Where only its numbers changed its terms stay the elements they were: nothing flickers under a finger. */
export function prose(element, text) {
  if (element.pgProse === text && element.pgPattern === pattern) return;
  Object.assign(element, { pgProse: text, pgPattern: pattern });
  const wanted = pieces(text), nodes = [...element.childNodes];
  if (nodes.length === wanted.length && wanted.every(({ term }, at) => nodes[at].pgTerm === term)) {
    wanted.forEach((piece, at) => nodes[at].textContent === piece.text || ((nodes[at].firstChild ?? nodes[at]).data = piece.text));
  } else {
    element.replaceChildren(...wanted.map(({ text: words, term }) => (term ? termElement(words, term) : document.createTextNode(words))));
  }
}

const LEAD = /^.{12,}?(?:[.!?…](?= )|[。！？])/su; // the first sentence; with the next one where it is as short as "Step 40."
const LONG = 100; // letters from which a text is folded; a Chinese character says as much as two and a half

/** Writes prose of which only the first sentence stands there, and the rest, when it is asked for, after it. */
export function folded(element, text) {
  const isLong = text.length + 1.5 * (text.match(/[\u2e80-\uffef]/gu)?.length ?? 0) > LONG;
  const [lead] = (isLong && text.match(LEAD)) || [text], rest = text.slice(lead.length).trim();
  element.pgWords = text;
  if (!element.querySelector(".pg-lead")) {
    const open = () => unfold(more.getAttribute("aria-expanded") !== "true");
    const [first, more, remainder] = [h("span", { class: "pg-lead" }), button({ class: "pg-unfold", onclick: open }), h("span", { class: "pg-rest" })];
    const unfold = (isOpen) => {
      more.setAttribute("aria-expanded", String(isOpen));
      remainder.hidden = !isOpen;
    };
    unfold(false);
    element.replaceChildren(first, more, " ", remainder); // a space before the button would move when it comes
  }
  const [first, more, remainder] = childrenOf(element);
  prose(first, lead);
  prose(remainder, rest);
  more.textContent = say("unfold");
  more.hidden = !rest;
  element.hidden = !text;
}

function termElement(text, term) {
  const element = h("span", { class: "pg-term", role: "term", tabindex: "0", translate: text.startsWith("<") ? "no" : undefined }, text);
  element.pgTerm = term;
  return element;
}

export function caption(text) {
  const paragraph = h("p", { class: "pg-caption" });
  folded(paragraph, text ?? "");
  return paragraph;
}

// ---- the one tooltip -----------------------------------------------------------------------------------------------------------------

const EDGE = 8, LATE = 250; // px to the edges of the window; ms in which a pointer gets from a term to its tooltip
const tip = h("div", { id: "pg-tip", role: "tooltip", hidden: true });
let openTerm = null, leaving = 0;
const watch = new MutationObserver(() => (openTerm?.isConnected && openTerm.offsetParent ? place() : close()));

function place() {
  const [at] = openTerm.getClientRects(), { offsetWidth: width, offsetHeight: height } = tip;
  const below = at.top < height + 2 * EDGE; // above, what it covers is read already
  const left = Math.max(EDGE, Math.min(at.left, document.documentElement.clientWidth - width - EDGE));
  Object.assign(tip.style, { left: `${left + scrollX}px`, top: `${scrollY + (below ? at.bottom + 6 : at.top - height - 6)}px` });
}

function open(term) {
  clearTimeout(leaving);
  if (openTerm === term) return;
  close();
  openTerm = term;
  const { name, shape, text } = term.pgTerm;
  tip.replaceChildren(h("b", {}, name), h("p", {}, text), shape ? h("code", {}, shape) : "");
  tip.hidden = false;
  document.body.append(tip);
  term.setAttribute("aria-describedby", tip.id);
  place();
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
}

function close() {
  clearTimeout(leaving);
  watch.disconnect();
  openTerm?.removeAttribute("aria-describedby");
  openTerm = null;
  tip.hidden = true;
}

const termAt = (event) => event.target.closest?.(".pg-term");
const onTip = (event) => event.composedPath().includes(tip);
document.addEventListener("pointermove", (event) => {
  if (event.pointerType !== "touch" && !isResting(event) && termAt(event)) open(termAt(event));
}, { passive: true });
document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  clearTimeout(leaving);
  if (!termAt(event) && openTerm && openTerm !== document.activeElement && !onTip(event)) leaving = setTimeout(close, LATE);
});
document.addEventListener("focusin", (event) => termAt(event) && open(termAt(event)));
document.addEventListener("focusout", (event) => termAt(event) && termAt(event) === openTerm && close());
document.addEventListener("click", (event) => termAt(event) && open(termAt(event)));
document.addEventListener("pointerdown", (event) => termAt(event) || (onTip(event) && event.pointerType !== "touch") || close());
document.addEventListener("keydown", (event) => {
  const again = ["Enter", " "].includes(event.key) && termAt(event);
  if (!again && !(openTerm && event.key === "Escape")) return;
  event.preventDefault();
  event.stopPropagation(); // it is meant for the tooltip alone
  if (again) open(again);
  else close();
}, true);
