// Blocks to elements, reused when they change. Each kind of block is drawn by the function that its script registers here; kinds of no
// feature are drawn below. Python declares the fields of every kind (see its feature).
// @ts-check

import { cursor, move, page, subscribe } from "./store.js";
import { childrenOf, h, modelText, read, routeUrl, same, saveFrom, say } from "./dom.js";
import { blocksOf } from "./answers.js";
import { asTable, draw, drawNow } from "./picture.js";
import { originOf, plotDrawing, relabelSave, saveButtons, tableOf } from "./downloads.js";
import { isActive, isGrowing, parentOfRun, shownStep } from "./live.js";
import { drawCurve, fillCurve } from "./pen.js";
import { folded, prose } from "./glossary.js";

const PLAIN = /pg-heading|pg-error|map-formula/, FOLDED = /pg-caption/; // text that is no prose; that has its first sentence in sight

/**
 * Facts about the panel around a block: the parameters of its request, a way to preview others, and whether
 * all of it is of one moment of a training, so that all of it changes at once.
 * @typedef {{ query: Record<string, string>, preview: (changes: Record<string, any> | null) => void, isFrame?: boolean }} Panel
 */

/**
 * Makes `host` hold exactly these blocks, in this order. A block with a known id changes in place.
 * @param {Element} host
 * @param {import("./blocks").Block[]} blocks
 * @param {Panel} [panel]
 */
export async function render(host, blocks, panel = { query: {}, preview: () => {} }) {
  const old = new Map(childrenOf(host).map((child) => [child.dataset.block, child]));
  const elements = blocks.map((block) => {
    const element = old.get(`${block.kind} ${block.id}`);
    const css = ["css" in block && block.css, "live" in block && block.live && "pg-live"].filter(Boolean).join(" ");
    return element ?? h("div", { class: `pg-block pg-${block.kind} ${css}`, dataset: { block: `${block.kind} ${block.id}` } });
  });
  for (const child of childrenOf(host)) if (!elements.includes(child)) child.remove();
  elements.forEach((element, at) => { // what stays isn't moved: that would take its focus
    if (host.children[at] !== element) host.insertBefore(element, host.children[at] ?? null);
  });
  await Promise.all(blocks.map((block, at) => {
    if (block.kind !== "figure") elements[at].classList.remove("stale"); // a figure is stale until it is drawn
    return drawBlock(elements[at], block, panel);
  }));
}

/** @type {Record<string, { draw: (element: HTMLElement, block: any, panel: Panel) => unknown, always: boolean }>} */
const KINDS = {};

/**
 * Registers how a kind of block is drawn: whenever a block differs from the one on screen, or with `always` at every answer of the server;
 * and again when one of the fields `on` of the store changes.
 * @template {keyof import("./blocks").Blocks} Kind
 * @param {Kind} kind
 * @param {(element: HTMLElement, block: import("./blocks").Blocks[Kind], panel: Panel) => unknown} draw
 * @param {{ always?: boolean, on?: string[] }} [when]
 */
export function register(kind, draw, { always = false, on = [] } = {}) {
  KINDS[kind] = { draw, always };
  subscribe(on, (names) => {
    if (names.has("live") && !page.live.status) return; // nothing is known of a new run yet: its blocks stay as they are
    for (const element of document.querySelectorAll(`[data-block^="${kind} "]`)) element.pgRedraw?.();
  });
}

/** @type {(element: HTMLElement, block: import("./blocks").Block, panel: Panel) => unknown} */
function drawBlock(element, block, panel) {
  const { draw, always } = KINDS[block.kind];
  element.pgRedraw = () => draw(element, block, panel);
  return always || !same(element, block) ? element.pgRedraw() : undefined;
}

const ALWAYS = { always: true };

register("row", (element, block, panel) => render(element, block.blocks, panel), ALWAYS);

register("figure", async (element, block, { isFrame }) => {
  if (!element.firstChild) element.append(...partsOfFigure(element, block.id));
  const [title, caption, plot, save, table] = childrenOf(element);
  const label = () => {
    const { title: name, caption: words, hint, saved } = /** @type {import("./blocks").FigureBlock} */ (element.pgBlock);
    element.pgLang = cursor.lang;
    title.textContent = name;
    title.hidden = !name;
    folded(caption, `${words} ${hint}`.trim());
    table.firstChild.textContent = say("as_table");
    plot.setAttribute("aria-label", `${name} ${words}`);
    relabelSave(save, name, ["png", "svg", "csv", ...(saved?.arrays ? ["npz"] : [])]);
    if (table.open) table.lastChild.replaceChildren(asTable(element.pgFigure));
  };
  element.pgBlock = block;
  const grows = isGrowing();
  const figure = block.live ? fillCurve(block.figure, page.live, grows ? "" : cursor.step, parentOfRun()) : block.figure;
  if (!block.live) figure.layout.uirevision = `${cursor.run} ${cursor.text}`; // another sentence lets go of a zoom, nothing else does
  const isNew = block.live || !same(plot, figure);
  if (isNew) element.pgFigure = figure;
  element.pgSkeleton = block.live ? block.figure : null;
  // words change with the picture, also with one that waits until it is in sight: none stands under another one's caption
  const drawn = () => {
    plot.pgShown = figure;
    if (element.pgFigure === figure) label();
  };
  if (!plot.dataset.points || element.pgLang !== cursor.lang) label();
  plot.style.minHeight = `${figure.layout.height ?? 240}px`;
  if (block.live) drawCurve(plot, figure, grows, shownStep());
  else if (isNew) plot.pgDrawn = isFrame ? drawNow(plot, figure, drawn) : draw(plot, figure, isActive(), drawn);
  if (!(block.live && isFrame)) await plot.pgDrawn; // a curve has a pace of its own
  if (element.pgBlock === block && (block.live || plot.pgShown === element.pgFigure)) label();
}, ALWAYS);

register("chips", (element, block) => {
  const tokens = (line) => h("span", { class: "pg-tokens", dataset: line.role ? { role: line.role } : {} }, chips(line.tokens, line.side));
  const row = (line) => h("div", { class: "pg-chipline" }, h("span", { class: "pg-label" }, line.label), tokens(line));
  element.replaceChildren(...block.lines.map(row));
  if (!block.pick) return;
  element.querySelectorAll(`[data-token^="${block.pick}-"]`).forEach((chip, at) => {
    chip.classList.add("pick");
    chip.onclick = () => move({ q: at });
  });
});

register("downloads", (element, block) => {
  const href = (file) => routeUrl(block.path, { lang: cursor.lang, ...file.query });
  const link = (file) => [" ", h("a", { href: href(file), download: "", onclick: follow }, file.label)];
  element.replaceChildren(h("span", { class: "pg-label" }, block.label), ...block.files.flatMap(link));
});

register("text", (element, block) => {
  element.className = `pg-block pg-text ${block.css}`;
  if (PLAIN.test(block.css)) element.textContent = block.text;
  else (FOLDED.test(block.css) ? folded : prose)(element, block.text);
}, ALWAYS);

register("table", (element, block) => {
  const isName = (at) => at === 0 && block.rowheads;
  const about = (value) => ({ class: typeof value === "number" ? "number" : undefined, ...(block.tokens ? modelText() : {}) });
  const cell = (value, at) => h(isName(at) ? "th" : "td", about(value), String(value));
  const head = h("thead", {}, h("tr", {}, block.head.map((text) => h("th", { scope: "col" }, text))));
  const body = h("tbody", {}, block.rows.map((row) => h("tr", {}, row.map(cell))));
  const table = h("div", { class: "pg-scroll" }, h("table", {}, head, body)), open = element.querySelector("details")?.open;
  if (block.folded) element.replaceChildren(h("details", { open }, h("summary", {}, block.title), table));
  else element.replaceChildren(...(block.title ? [h("h3", {}, block.title)] : []), table);
  const thing = () => ({ name: block.id, title: block.title, step: stepOf(element), of: originOf(element), table: () => block });
  const save = saveButtons(thing, ["csv"]);
  relabelSave(save, block.title, ["csv"]);
  element.append(save);
});

register("code", (element, block) => {
  const open = element.querySelector("details")?.open ?? block.lit.length > 0; // lines that stand out are to be seen
  const line = (text, at) => [at ? "\n" : "", block.lit.includes(at + 1) ? h("mark", {}, text) : text];
  const name = h("summary", {}, say("code_of", { name: block.name }), h("span", { class: "pg-place", translate: "no" }, block.place));
  const source = h("code", {}, block.source.trimEnd().split("\n").flatMap(line));
  element.replaceChildren(h("details", { open }, name, h("pre", {}, source)));
  const pre = element.querySelector("pre"), mark = pre.querySelector("mark"); // the line that stands out is in sight
  if (mark) pre.scrollTop = mark.getBoundingClientRect().top - pre.getBoundingClientRect().top - 40;
});

register("progress", (element, { label, done, all }) => {
  element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, label), h("progress", { max: all, value: done })));
});

register("later", (element, block, panel) => {
  element.style.minHeight = `${block.tall}px`;
  if (element.dataset.asked !== block.key && !(isActive() && element.ariaBusy === "true")) fetchLater(element, block, panel);
}, ALWAYS);

/** Title, caption, plot, what saves it and, folded away, the numbers as a table. */
function partsOfFigure(element, id) {
  const numbers = h("div", {});
  // filled before it opens, so that it is never empty on screen, and emptied when it is closed, so that it is never old
  const fill = () => numbers.replaceChildren(asTable(element.pgFigure));
  const table = h("details", { class: "pg-table" }, h("summary", { onclick: () => table.open || fill() }, say("as_table")), numbers);
  table.addEventListener("toggle", () => (table.open ? numbers.firstChild || fill() : numbers.replaceChildren()));
  const plot = h("div", { class: "pg-plot", id: `pg-figure-${id}`, role: "img", translate: "no" });
  const thing = () => {
    const { title, caption, saved, live } = element.pgBlock, step = live ? cursor.step || page.live.step : stepOf(element);
    const [drawing, numbers] = [() => plotDrawing(plot, element.pgFigure), () => tableOf(element.pgFigure)];
    return { name: id, title, caption, saved, step, of: originOf(element), drawing, table: numbers };
  };
  return [h("h3", {}), h("p", { class: "pg-caption" }), plot, saveButtons(thing, ["png", "svg", "csv", "npz"]), table];
}

/** The step that the panel around an element shows. */
const stepOf = (element) => element.closest(".pg-panel")?.dataset.step ?? "";

/** A link to a file, which is told of where it can't be made. */
function follow(event) {
  event.preventDefault();
  saveFrom(event.currentTarget.href, "sentences");
}

/** Fetches a part that takes longer than the rest of its panel: once the rest is shown, and again when its key is another one. While a run trains
 * that is at every look: then one question is answered before the next is asked, and nothing fades. */
async function fetchLater(element, block, panel) {
  const { query } = panel; // the cursor may have moved on, and what comes belongs to what is shown
  element.dataset.asked = block.key;
  element.setAttribute("aria-busy", "true");
  element.classList.toggle("stale", !isActive());
  if (!element.childElementCount) element.replaceChildren(h("p", { class: "pg-waiting" }, block.label));
  for (let more = true; more; ) {
    const answer = await read(`panel/${block.panel}`, query, `later ${block.id}`);
    if (!answer || element.dataset.asked !== block.key) return; // a newer question is on its way
    await render(element, blocksOf(answer), panel);
    if (element.dataset.asked !== block.key) return;
    element.classList.remove("stale");
    more = answer.more && element.offsetParent; // leaving the tab stops it; coming back goes on
    if (answer.error || (answer.more && !more)) element.dataset.asked = "";
  }
  element.setAttribute("aria-busy", "false");
}

/** Brings an element into sight, once it is drawn; `unfolds` the numbers that it folds. */
export function bring(selector, block = "center", unfolds = false, tries = 50) {
  const element = document.querySelector(selector);
  if (!element?.offsetParent) return void (tries && setTimeout(() => bring(selector, block, unfolds, tries - 1), 200));
  const fold = unfolds && element.querySelector(".pg-number-row + details");
  if (fold) fold.open = true;
  element.scrollIntoView({ block });
}

// ---- tokens -----------------------------------------------------------------------------------------------------------------------------

/** Tokens as chips. Wrong ones are underlined with a wave and marked ✗, so that colour is never the only sign. */
export function chips(tokens, side) {
  const chip = (token, at) => {
    const { given: isGiven, copied } = token;
    const marks = { unknown: token.known === false, wrong: token.right === false, right: token.right === true, given: isGiven, copied };
    const names = Object.keys(marks).filter((name) => marks[name]);
    const words = token.p === undefined ? say("token_id", { id: token.id }) : say("token_id_p", { id: token.id, p: token.p.toFixed(3) });
    const dataset = { id: token.id, ...(side ? { token: `${side}-${at}` } : {}) };
    const title = marks.unknown ? say("unknown_token") : copied ? say("copied_token") : words;
    return h("span", { class: ["pg-chip", ...names].join(" "), tabindex: "-1", dataset, title, ...modelText(side) }, token.text);
  };
  return tokens.map(chip);
}
