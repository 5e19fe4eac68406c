// Blocks to elements, reused when they change: how each kind is drawn. What the fields of a kind mean is said in the kinds.py of its feature.
// @ts-check

import { cursor, move, page } from "./store.js";
import { childrenOf, h, modelText, read, routeUrl, same, saveFrom, say } from "./dom.js";
import { blocksOf } from "./answers.js";
import { asTable, draw, drawNow } from "./picture.js";
import { tableOf } from "./csv.js";
import { originOf, plotDrawing, relabelSave, saveButtons } from "./downloads.js";
import { isActive, isGrowing, parentOfRun, shownStep } from "./live.js";
import { chips } from "./chips.js";
import { fillCurve } from "./curves.js";
import { drawCurve } from "./pen.js";
import { drawProbes, fillNumbers, fillOutcome } from "./learning.js";
import { drawButton, drawChoice, drawField, drawMany, drawSlider } from "./controls.js";
import { drawLines } from "./lines.js";
import { drawCalibration, drawCards, record } from "./labs.js";
import { drawTour } from "./tour.js";
import { drawAnswers, drawCheck } from "./checks.js";
import { drawForget, drawLessons, drawNotes, drawPoints, drawSteps } from "./lessons.js";
import { drawLanes } from "./lanes.js";
import { drawBoard } from "./experiment.js";
import { prose } from "./glossary.js";
import { drawHeads } from "./heads.js";
import { drawQuestion } from "./room_question.js";
import { drawCells, drawCompare, drawSwitches } from "./interventions.js";
import { drawMap } from "./map.js";
import { drawModelView } from "./modelview.js";
import { drawDisagreements, drawOutputs, drawRuns } from "./runs.js";
import { drawPick, drawSheet, drawWorksheet } from "./sheet.js";

const PLAIN = /pg-heading|pg-error|map-formula/; // text that is no prose

/**
 * What a block may have to know of the panel it stands in: the parameters that were asked with, how to show a look at others, and whether
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
    const found = old.get(`${block.kind} ${block.id}`);
    const css = ["css" in block && block.css, "live" in block && block.live && "pg-live"].filter(Boolean).join(" ");
    return found ?? h("div", { class: `pg-block pg-${block.kind} ${css}`, dataset: { block: `${block.kind} ${block.id}` } });
  });
  for (const child of childrenOf(host)) if (!elements.includes(child)) child.remove();
  elements.forEach((element, at) => { // what stays isn't moved: that would take its focus
    if (host.children[at] !== element) host.insertBefore(element, host.children[at] ?? null);
  });
  await Promise.all(blocks.map((block, at) => {
    if (block.kind !== "figure") elements[at].classList.remove("stale"); // a figure is stale until it is drawn
    return KINDS[block.kind](elements[at], /** @type {any} */ (block), panel);
  }));
}

/** Draws a block where it is another one than the element shows. */
const changed = (drawBlock) => (element, block, panel) => void (same(element, block) || drawBlock(element, block, panel));

/** @type {{ [Kind in keyof import("./blocks").Blocks]: (element: HTMLElement, block: import("./blocks").Blocks[Kind], panel: Panel) => unknown }} */
const KINDS = {
  row: (element, block, panel) => render(element, block.blocks, panel),

  async figure(element, block, { isFrame }) {
    if (!element.firstChild) element.append(...partsOfFigure(element, block.id));
    const [title, caption, plot, save, table] = childrenOf(element);
    const label = () => {
      const { title: name, caption: said, hint, saved } = /** @type {import("./blocks").FigureBlock} */ (element.pgBlock);
      element.pgLang = cursor.lang;
      title.textContent = name;
      title.hidden = !name;
      prose(caption, `${said} ${hint}`.trim());
      table.firstChild.textContent = say("as_table");
      plot.setAttribute("aria-label", `${name} ${said}`);
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
    const shown = () => {
      plot.pgShown = figure;
      if (element.pgFigure === figure) label();
    };
    if (!plot.dataset.points || element.pgLang !== cursor.lang) label();
    plot.style.minHeight = `${figure.layout.height ?? 240}px`;
    if (block.live) drawCurve(plot, figure, grows, shownStep());
    else if (isNew) plot.pgDrawn = isFrame ? drawNow(plot, figure, shown) : draw(plot, figure, isActive(), shown);
    if (!(block.live && isFrame)) await plot.pgDrawn; // a curve has a pace of its own
    if (element.pgBlock === block && (block.live || plot.pgShown === element.pgFigure)) label();
  },

  heads: changed(drawHeads),

  chips(element, block) {
    if (same(element, block)) return;
    const tokens = (line) => h("span", { class: "pg-tokens", dataset: line.role ? { role: line.role } : {} }, chips(line.tokens, line.side));
    const row = (line) => h("div", { class: "pg-chipline" }, h("span", { class: "pg-label" }, line.label), tokens(line));
    element.replaceChildren(...block.lines.map(row));
    if (!block.pick) return;
    element.querySelectorAll(`[data-token^="${block.pick}-"]`).forEach((chip, at) => {
      chip.classList.add("pick");
      chip.onclick = () => move({ q: at });
    });
  },

  downloads(element, block) {
    if (same(element, block)) return;
    const href = (file) => routeUrl(block.path, { lang: cursor.lang, ...file.query });
    const link = (file) => [" ", h("a", { href: href(file), download: "", onclick: follow }, file.label)];
    element.replaceChildren(h("span", { class: "pg-label" }, block.label), ...block.files.flatMap(link));
  },

  text(element, block) {
    element.className = `pg-block pg-text ${block.css}`;
    if (PLAIN.test(block.css)) element.textContent = block.text;
    else prose(element, block.text);
  },

  table(element, block) {
    if (same(element, block)) return;
    const isName = (at) => at === 0 && block.rowheads;
    const broken = (text) => text.split(/(?<=\|)/).flatMap((part, at) => (at ? [h("wbr"), part] : [part])); // as in signatures of sacrebleu
    const about = (value) => ({ class: typeof value === "number" ? "number" : undefined, ...(block.tokens ? modelText() : {}) });
    const cell = (value, at) => h(isName(at) ? "th" : "td", about(value), broken(String(value)));
    const head = h("thead", {}, h("tr", {}, block.head.map((text) => h("th", { scope: "col" }, text))));
    const body = h("tbody", {}, block.rows.map((row) => h("tr", {}, row.map(cell))));
    const table = h("div", { class: "pg-scroll" }, h("table", {}, head, body)), open = element.querySelector("details")?.open;
    if (block.folded) element.replaceChildren(h("details", { open }, h("summary", {}, block.title), table));
    else element.replaceChildren(...(block.title ? [h("h3", {}, block.title)] : []), table);
    const thing = () => ({ name: block.id, title: block.title, step: stepOf(element), of: originOf(element), table: () => block });
    const save = saveButtons(thing, ["csv"]);
    relabelSave(save, block.title, ["csv"]);
    element.append(save);
  },

  code(element, block) {
    if (same(element, block)) return;
    const open = element.querySelector("details")?.open ?? block.lit.length > 0; // lines that stand out are to be seen
    const line = (text, at) => [at ? "\n" : "", block.lit.includes(at + 1) ? h("mark", {}, text) : text];
    const name = h("summary", {}, say("code_of", { name: block.name }), h("span", { class: "pg-place", translate: "no" }, block.place));
    const source = h("code", {}, block.source.trimEnd().split("\n").flatMap(line));
    element.replaceChildren(h("details", { open }, name, h("pre", {}, source)));
    const pre = element.querySelector("pre"), mark = pre.querySelector("mark"); // the line that stands out is in sight
    if (mark) pre.scrollTop = mark.getBoundingClientRect().top - pre.getBoundingClientRect().top - 40;
  },

  choice: drawChoice,
  many: drawMany,
  slider: drawSlider,
  field: drawField,
  button: drawButton,

  progress: changed((element, { label, done, all }) => {
    element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, label), h("progress", { max: all, value: done })));
  }),

  later(element, block, panel) {
    if (element.dataset.asked !== block.key && !(isActive() && element.ariaBusy === "true")) fetchLater(element, block, panel);
  },

  lines: changed(drawLines),
  modelview: changed(drawModelView),
  map: (element, block, panel) => drawMap(element, block, (host, blocks) => render(host, blocks, panel)),
  sheet: changed(drawSheet),
  pick: changed(drawPick),
  worksheet: changed(drawWorksheet),
  lanes: changed(drawLanes),
  switches: drawSwitches,
  compare: changed(drawCompare),
  cells: changed(drawCells),
  cards: drawCards,
  record,
  check: changed(drawCheck),
  answers: (element, block, panel) => drawAnswers(element, block, (host, blocks) => render(host, blocks, panel)),
  calibration: drawCalibration,
  question: (element, block, panel) => drawQuestion(element, block, (host, blocks) => render(host, blocks, panel)),
  lessons: drawLessons,
  steps: drawSteps,
  points: changed(drawPoints),
  notes: changed(drawNotes),
  forget: drawForget,
  tour: changed(drawTour),
  runs: changed(drawRuns),
  board: changed(drawBoard),
  outputs: changed(drawOutputs),
  disagreements: changed(drawDisagreements),
  numbers: fillNumbers,
  outcome: fillOutcome,
  probes: changed(drawProbes),
};

/** Title, caption, plot, what saves it and, folded away, the numbers as a table. */
function partsOfFigure(element, id) {
  const numbers = h("div", {});
  // filled before it opens, so that nobody sees it empty, and emptied when it is closed, so that nobody sees an old one
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

/** What takes longer than the rest of its panel: asked when the rest is shown, and again when its key is another one. While a run trains
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
    more = answer.more && element.offsetParent; // whoever left the tab has stopped it; who comes back asks on
    if (answer.error || (answer.more && !more)) element.dataset.asked = "";
  }
  element.setAttribute("aria-busy", "false");
}
