// The view as text: every caption, every table and the numbers of every picture, one below the other, to be heard or printed. It has an
// address of its own (?plain=1), is written anew whenever the panel is drawn, and looks as plain.css says.
// @ts-check

import { cursor, move, subscribe } from "./store.js";
import { button, childrenOf, h, ready, say } from "./dom.js";
import { asTable } from "./picture.js";

const isPlain = () => cursor.plain === "1";
const textOf = (element) => element.textContent.trim().replace(/\s+/g, " ");
const paragraph = (text) => (text ? [h("p", {}, text)] : []);

/** A table to be read where it stands: without what only a screen needs. */
function copied(table) {
  const copy = table.cloneNode(true);
  for (const element of [copy, ...copy.querySelectorAll("*")]) for (const name of ["class", "style", "tabindex"]) element.removeAttribute(name);
  return h("div", { class: "pg-plain-table", tabindex: "0", role: "region", "aria-label": say("as_table") }, copy);
}

/** @type {Record<string, (element: any) => any[]>} what each kind of block says, by its class */
const TEXTS = {
  "pg-figure": (element) => [
    h("h2", {}, textOf(element.querySelector("h3"))), ...paragraph(element.querySelector(".pg-caption").pgWords ?? ""),
    ...(element.pgFigure ? [copied(asTable(element.pgFigure))] : []),
  ],
  "pg-text": (element) => (element.classList.contains("pg-heading") ? [h("h2", {}, textOf(element))] : paragraph(element.pgWords ?? textOf(element))),
  "pg-table": (element) => [h("h2", {}, textOf(element.querySelector("h3, summary") ?? h("span", {}))), copied(element.querySelector("table"))],
  "pg-chips": (element) => [...element.querySelectorAll(".pg-chipline")].flatMap((line) => paragraph(childrenOf(line).map(spoken).join(": "))),
  "pg-heads": (element) => [h("p", {}, textOf(element.querySelector(".pg-label"))), listed(element.querySelectorAll("button"))],
  "pg-map": (element) => [listed(element.querySelectorAll("[data-address]")), ...textsOf(element)],
  "pg-numbers": (element) => paragraph(childrenOf(element).map(textOf).join(", ")),
  "pg-points": (element) => [h("h2", {}, textOf(element.querySelector("h3"))), listed(element.querySelectorAll("li"))],
  "pg-steps": (element) => [h("h2", {}, textOf(element.querySelector("h3"))), listed(element.querySelectorAll(".pg-step-text"))],
};

/** A name, or tokens one after the other. */
const spoken = (element) => (element.querySelector(".pg-chip") ? [...element.querySelectorAll(".pg-chip")].map(textOf).join(" ") : textOf(element));
const listed = (elements) => h("ul", {}, [...elements].map((element) => h("li", {}, element.getAttribute("aria-label") ?? textOf(element))));

/** Texts of the blocks in an element, in their order. */
const textsOf = (host) => childrenOf(host).flatMap((block) => {
  const kind = Object.keys(TEXTS).find((name) => block.classList.contains(name));
  return kind ? TEXTS[kind](block) : textsOf(block);
});

async function write() {
  const before = document.getElementById("pg-plain");
  document.body.toggleAttribute("data-plain", isPlain());
  if (!isPlain()) return before?.remove();
  const panel = await ready(`pg-panel-${cursor.tab}`);
  if (!isPlain()) return;
  const run = document.getElementById("pg-run"), result = document.getElementById("pg-result");
  const name = [run?.selectedOptions[0]?.textContent, say(`tab_${cursor.tab}`)].filter(Boolean).join(" · ");
  const back = button({ id: "pg-plain-leave", onclick: () => move({ plain: "" }, { instead: true }) }, say("plain_leave"));
  const print = button({ onclick: () => window.print() }, say("plain_print"));
  const page = h("main", { id: "pg-plain", tabindex: "-1" }, h("div", { class: "pg-plain-line" }, back, print), h("h1", {}, name),
    ...paragraph(result ? childrenOf(result).map(spoken).join(" ") : ""), ...textsOf(panel));
  if (before?.isEqualNode(page)) return; // its reader stays at the same place
  if (before) before.replaceWith(page);
  else {
    document.body.append(page);
    page.focus();
  }
}

subscribe(["plain", "tab", "boot", "sentence"], write);
new MutationObserver(() => isPlain() && write()).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-drawn", "aria-busy"] });
