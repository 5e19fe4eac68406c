// One panel a tab: the server says in a few kinds of blocks what stands in it, and here they become elements, reused when they change.

import { cursor, isDark, maxText, move, onMove } from "./state.js";
import { debounce, h, notice, read, routeUrl, say } from "./dom.js";
import { asTable, draw, highlight, thumbnail } from "./picture.js";
import { isActive, onUpdate, run } from "./live.js";
import { chips, currentCard, sentenceText, refreshSentence } from "./top.js";
import { fillCurve, fillNumbers, fillProbes } from "./learning.js";
import { command, pointAt } from "./actions.js";
import { drawLines } from "./lines.js";
import { drawCalibration, drawCards, record } from "./labs.js";
import { drawForget, drawLessons, drawNotes, drawPoints, drawSteps } from "./lessons.js";
import { drawLanes } from "./lanes.js";
import { prose } from "./glossary.js";
import { drawCells, drawCompare, drawSwitches } from "./whatif.js";
import { drawMap } from "./map.js";
import { drawPick, drawSheet, drawWorksheet } from "./sheet.js";

const LEFT_OUT = new Set(["lang", "tab", "glossary"]);
const PLAIN = /pg-heading|pg-error|map-formula/; // text that is no prose
const shown = new Map(); // panel name -> what the server last said
const answers = new Map(); // parameters -> answer, while nothing trains: looking back and forth costs nothing
let refreshEvery = 1000, lastRefresh = 0, late = 0;
let drawnFor = {}; // the parameters of the answer that is being drawn
let latest = 0, settled = 0; // the number of the newest refresh, and of the newest that is over
let released = Promise.resolve(); // nothing changes under a finger: a button replaced between press and release would lose the click

const hosts = () => [...document.querySelectorAll(".pg-panel")];
const hostOf = (name) => hosts().find((host) => host.dataset.panel === name);

function parameters(changes = {}) {
  const query = { dark: isDark() ? "1" : "", width: String(Math.round((hostOf(cursor.tab)?.clientWidth || 700) / 20) * 20) };
  for (const [name, value] of Object.entries({ ...cursor, text: sentenceText(), ...changes })) if (!LEFT_OUT.has(name) && value !== "") query[name] = value;
  return query;
}

/** Reads and draws the panel of the open tab, which is busy until it shows what was asked for last. */
export async function refresh(changes = {}) {
  const name = cursor.tab, host = hostOf(name);
  if (!host || !cursor.run) return;
  if (currentCard() && currentCard().id !== cursor.run) return; // another run is being opened: its first sentence isn't known yet
  const number = ++latest;
  lastRefresh = performance.now();
  host.setAttribute("aria-busy", "true");
  try {
    await show(name, host, changes, () => number === latest);
  } finally {
    if (number === latest) {
      settled = number;
      host.setAttribute("aria-busy", "false");
    }
  }
}

async function show(name, host, changes, isLatest) {
  const query = parameters(changes), key = `${name} ${cursor.lang} ${new URLSearchParams(query)}`;
  if (!host.childElementCount) host.replaceChildren(h("p", { class: "pg-waiting" }, say("loading")));
  const answer = (!isActive() && answers.get(key)) || (await read(`panel/${name}`, query, `panel ${name}`));
  await released;
  if (!answer || !isLatest()) return; // an answer that was kept may have overtaken one that was on its way
  if (!answer.error && !answer.more && !isActive()) {
    answers.set(key, answer);
    if (answers.size > 60) answers.delete(answers.keys().next().value);
  }
  refreshEvery = answer.refresh_ms ?? refreshEvery;
  shown.set(name, answer);
  drawnFor = query;
  await render(host, answer.error ? [{ kind: "text", id: "error", css: "pg-error", text: answer.error }] : answer.blocks);
  if (!isLatest()) return;
  Object.assign(host.dataset, { run: query.run, step: String(answer.step ?? "") });
  host.dataset.drawn = String(Number(host.dataset.drawn ?? 0) + 1);
  highlight();
  if (answer.pause) await new Promise((resume) => setTimeout(resume, answer.pause));
  if (answer.more && isLatest()) await show(name, host, changes, isLatest); // a longer work goes on as long as somebody asks
}

export const forget = () => answers.clear();

// ---- blocks to elements --------------------------------------------------------------------------------------------------------------

/** Makes `host` hold exactly these blocks, in this order. A block with a known id changes in place. */
export async function render(host, blocks) {
  const old = new Map([...host.children].map((child) => [child.dataset.block, child]));
  const elements = blocks.map((block) => {
    const found = old.get(`${block.kind} ${block.id}`);
    if (found) return found;
    return h("div", { class: `pg-block pg-${block.kind} ${block.css ?? ""}`, dataset: { block: `${block.kind} ${block.id}` } });
  });
  for (const child of [...host.children]) if (!elements.includes(child)) child.remove();
  elements.forEach((element, at) => host.children[at] === element || host.insertBefore(element, host.children[at] ?? null)); // what stays isn't moved: that would take its focus
  await Promise.all(blocks.map((block, at) => KINDS[block.kind](elements[at], block)));
}

/** A file that can't be made is told of, not saved. */
async function fetched(event) {
  event.preventDefault();
  const answer = await fetch(event.currentTarget.href);
  if (answer.headers.get("Content-Type")?.startsWith("application/json")) return notice((await answer.json()).error, "error");
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "sentences";
  const address = URL.createObjectURL(await answer.blob());
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

const same = (element, block) => {
  const text = JSON.stringify(block) + cursor.lang;
  if (element.pgText === text) return true;
  element.pgText = text;
  return false;
};

const KINDS = {
  row: (element, block) => render(element, block.blocks),

  async figure(element, block) {
    if (!element.firstChild) {
      // filled before it opens, so that nobody sees it empty, and emptied when it is closed, so that nobody sees an old one
      const fill = () => table.lastChild.replaceChildren(asTable(element.pgFigure));
      const table = h("details", { class: "pg-table" }, h("summary", { onclick: () => table.open || fill() }, say("as_table")), h("div", {}));
      table.addEventListener("toggle", () => (table.open ? table.lastChild.firstChild || fill() : table.lastChild.replaceChildren()));
      element.append(h("h3", {}), h("div", { class: "pg-plot", id: `pg-figure-${block.id}`, role: "img" }), h("p", { class: "pg-caption" }), table);
    }
    const [title, plot, caption, table] = element.children;
    const label = () => {
      title.textContent = block.title ?? "";
      title.hidden = !block.title;
      prose(caption, block.caption ?? "");
      table.firstChild.textContent = say("as_table");
      plot.setAttribute("aria-label", `${block.title ?? ""} ${block.caption ?? ""}`);
    };
    element.pgBlock = block;
    if (!plot.dataset.points) label(); // later the words change with the picture, so that no picture stands under another one's title
    const figure = block.live ? fillCurve(block.figure) : block.figure;
    if (!block.live) figure.layout.uirevision = `${cursor.run} ${cursor.text}`; // another sentence lets go of a zoom, nothing else does
    element.pgFigure = figure;
    element.pgSkeleton = block.live ? block.figure : null;
    plot.style.minHeight = `${figure.layout.height ?? 240}px`;
    if (!same(plot, figure)) plot.pgDrawn = draw(plot, figure, isActive());
    await plot.pgDrawn;
    if (element.pgBlock !== block) return;
    label();
    if (table.open) table.lastChild.replaceChildren(asTable(element.pgFigure));
  },

  heads(element, block) {
    if (same(element, block)) return;
    const rows = block.weights.map((heads, layer) =>
      h("div", { class: "pg-layer" }, h("span", { class: "pg-layer-name" }, say("layer", { layer: layer + 1 })), h("div", { class: "pg-thumbs", style: `grid-template-columns: repeat(${Math.min(heads.length, 4)}, minmax(0, 1fr))` }, heads.map((weights, head) => {
        const canvas = h("canvas", {});
        thumbnail(canvas, weights, block.mask, block.colours);
        const [name, number] = block.names?.[layer]?.[head] ?? ["", ""];
        const place = say("layer_head", { layer: layer + 1, head: head + 1 });
        const chosen = layer === block.layer && head === block.head;
        return h("button", { type: "button", class: "pg-thumb", "aria-label": place, "aria-description": `${name} ${number}`, "aria-pressed": String(chosen), title: `${place} · ${name} ${number}`, dataset: { layer, head },
          onclick: () => move({ layer: layer + 1, head: head + 1 }),
          onmouseenter: () => preview({ layer: layer + 1, head: head + 1 }), onmouseleave: () => preview(null), onfocus: () => preview(null) },
        canvas, h("span", {}, String(head + 1)), h("small", {}, h("span", {}, name), " ", h("b", {}, number)));
      }))),
    );
    element.replaceChildren(h("p", { class: "pg-label" }, block.label), h("div", { class: "pg-layers" }, rows));
  },

  chips(element, block) {
    if (same(element, block)) return;
    element.replaceChildren(...block.lines.map((line) => h("div", { class: "pg-chipline" }, h("span", { class: "pg-label" }, line.label), h("span", { class: "pg-tokens", dataset: line.role ? { role: line.role } : {} }, chips(line.tokens, line.side)))));
    if (block.pick) element.querySelectorAll(`[data-token^="${block.pick}-"]`).forEach((chip, at) => { chip.classList.add("pick"); chip.onclick = () => move({ q: at }); });
  },

  lines: (element, block) => same(element, block) || drawLines(element, block),

  downloads(element, block) {
    if (same(element, block)) return;
    element.replaceChildren(h("span", { class: "pg-label" }, block.label), ...block.files.flatMap((file) => [" ", h("a", { href: routeUrl(block.path, { lang: cursor.lang, ...file.query }), download: "", onclick: fetched }, file.label)]));
  },

  text(element, block) {
    element.className = `pg-block pg-text ${block.css}`;
    if (PLAIN.test(block.css)) element.textContent = block.text;
    else prose(element, block.text);
  },

  table(element, block) {
    if (same(element, block)) return;
    const cell = (value, at) => h(at === 0 && block.rowheads ? "th" : "td", { class: typeof value === "number" ? "number" : undefined }, String(value));
    const table = h("div", { class: "pg-scroll" }, h("table", {}, h("thead", {}, h("tr", {}, block.head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, block.rows.map((row) => h("tr", {}, row.map(cell))))));
    if (block.folded) element.replaceChildren(h("details", { open: element.querySelector("details")?.open }, h("summary", {}, block.title), table));
    else element.replaceChildren(...(block.title ? [h("h3", {}, block.title)] : []), table);
  },

  code(element, block) {
    if (same(element, block)) return;
    const open = element.querySelector("details")?.open ?? Boolean(block.lit?.length); // lines that stand out are to be seen
    element.replaceChildren(h("details", { open }, h("summary", {}, say("code_of", { name: block.name }), h("span", { class: "pg-place" }, block.place)), h("pre", {}, h("code", {}, block.source.trimEnd().split("\n").flatMap((line, at) => [at ? "\n" : "", block.lit?.includes(at + 1) ? h("mark", {}, line) : line])))));
  },

  choice(element, block) {
    if (same(element, block)) return;
    const take = (value, button) => {
      if (!block.knob) return move({ [block.field]: value, ...block.resets });
      for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
      element.pgText = ""; // what the server says of it is drawn in any case
      command("live", { knob: block.knob, value });
    };
    element.replaceChildren(h("span", { class: "pg-label", id: `pg-choice-${block.id}` }, block.label), h("div", { class: "pg-segments", role: "group", "aria-labelledby": `pg-choice-${block.id}` },
      block.options.map((option) => h("button", { type: "button", "aria-pressed": String(option.value === block.value), disabled: Boolean(block.off), dataset: { value: option.value }, class: option.hue ? `hue-${option.hue}` : "", onclick: (event) => take(option.value, event.currentTarget) }, option.label))));
  },

  many(element, block) {
    if (same(element, block)) return;
    const toggle = (value) => move({ [block.field]: (block.value.includes(value) ? block.value.filter((other) => other !== value) : [...block.value, value]).join(",") });
    element.replaceChildren(h("span", { class: "pg-label" }, block.label), h("div", { class: "pg-many", role: "group", "aria-label": block.label },
      block.options.map((option) => h("button", { type: "button", "aria-pressed": String(block.value.includes(option.value)), onclick: () => toggle(option.value) }, option.label))));
  },

  slider(element, block) {
    const input = element.querySelector("input");
    if (input && document.activeElement === input) return;
    if (same(element, block)) return;
    const shown = (value) => String(Number(value) + block.first); // what is counted from 0 is shown from 1
    const shownValue = h("output", {}, shown(block.value));
    const settle = debounce((value) => move({ [block.field]: value }), 120);
    element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, block.label), h("input", { type: "range", min: String(block.low), max: String(block.high), step: String(block.step), value: String(block.value), oninput: (event) => { shownValue.textContent = shown(event.target.value); settle(event.target.value); } }), shownValue));
  },

  field(element, block) {
    const input = element.querySelector("input");
    if (input && document.activeElement === input) return;
    if (same(element, block) && input.value === block.value) return; // what was typed is drawn by nobody
    const settle = debounce((value) => move({ [block.field]: value }), 300);
    element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, block.label), h("input", { type: "text", value: block.value, placeholder: block.hint, maxlength: String(maxText), autocomplete: "off", spellcheck: "false", oninput: (event) => settle(event.target.value) })));
  },

  button(element, block) {
    if (same(element, block)) return;
    const act = { draw: () => move({ draw: Number(cursor.draw || 0) + 1 }), reference: () => move({ target: cursor.target === "reference" ? "output" : "reference" }), knob: () => pointAt(block.knob), command: () => command(block.command, block.values), move: () => move(block.to) }[block.act];
    element.replaceChildren(h("button", { type: "button", onclick: act }, block.label));
  },

  map: (element, block) => drawMap(element, block, render),
  sheet: (element, block) => void (same(element, block) || drawSheet(element, block)),
  pick: (element, block) => void (same(element, block) || drawPick(element, block)),
  worksheet: (element, block) => void (same(element, block) || drawWorksheet(element, block)),
  lanes: (element, block) => void (same(element, block) || drawLanes(element, block)),
  switches: (element, block) => drawSwitches(element, block),
  compare: (element, block) => void (same(element, block) || drawCompare(element, block)),
  cells: (element, block) => void (same(element, block) || drawCells(element, block)),
  progress: (element, block) => void (same(element, block) || element.replaceChildren(h("label", {}, h("span", { class: "pg-label" }, block.label), h("progress", { max: block.all, value: block.done })))),
  later: (element, block) => void (element.dataset.asked === block.key || (isActive() && element.ariaBusy === "true") || fetchLater(element, block)),
  cards: (element, block) => drawCards(element, block),
  record: (element, block) => record(element, block),
  calibration: (element) => drawCalibration(element),
  lessons: (element, block) => drawLessons(element, block),
  steps: (element, block) => drawSteps(element, block),
  points: (element, block) => void (same(element, block) || drawPoints(element, block)),
  notes: (element, block) => void (same(element, block) || drawNotes(element, block)),
  forget: (element) => drawForget(element),
  numbers: (element, block) => fillNumbers(element, block),
  probes: (element, block) => fillProbes(element, block),
};

/** What takes longer than the rest of its panel: asked when the rest is shown, and again when its key is another one. While a run trains
 * that is at every look: then one question is answered before the next is asked, and nothing fades. */
async function fetchLater(element, block) {
  const query = drawnFor; // the cursor may have moved on, and what comes belongs to what is shown
  element.dataset.asked = block.key;
  element.setAttribute("aria-busy", "true");
  element.classList.toggle("stale", !isActive());
  if (!element.childElementCount) element.replaceChildren(h("p", { class: "pg-waiting" }, block.label));
  for (let more = true; more; ) {
    const answer = await read(`panel/${block.panel}`, query, `later ${block.id}`);
    if (!answer || element.dataset.asked !== block.key) return; // a newer question is on its way
    await render(element, answer.error ? [{ kind: "text", id: "error", css: "pg-error", text: answer.error }] : answer.blocks);
    if (element.dataset.asked !== block.key) return;
    element.classList.remove("stale");
    more = answer.more && element.offsetParent; // whoever left the tab has stopped it; who comes back asks on
    if (answer.error || (answer.more && !more)) element.dataset.asked = "";
  }
  element.setAttribute("aria-busy", "false");
}

/** Shows another head (or step) in the large picture while the pointer is over its small one; null goes back. */
const preview = debounce((changes) => refresh(changes ?? {}), 70);

// ---- what makes them change -------------------------------------------------------------------------------------------------------

onMove((changed) => {
  if (["lang", "run", "tab"].some((name) => changed.has(name))) return; // main.js sees to it
  const uses = shown.get(cursor.tab)?.uses;
  if (!uses || uses.some((name) => changed.has(name))) refresh();
});

onUpdate(() => {
  for (const element of document.querySelectorAll(".pg-figure")) {
    if (!element.pgSkeleton || !element.offsetParent) continue;
    element.pgFigure = fillCurve(element.pgSkeleton);
    draw(element.querySelector(".pg-plot"), element.pgFigure, isActive()); // the end is drawn at once
    element.querySelector(".pg-plot").pgText = null;
  }
  document.querySelectorAll(".pg-numbers").forEach((element) => fillNumbers(element));
  document.querySelectorAll(".pg-probes").forEach((element) => fillProbes(element));
  if (cursor.step !== "" || !run.status) return;
  clearTimeout(late);
  const wait = latest === settled ? lastRefresh + refreshEvery - performance.now() : refreshEvery;
  const both = () => {
    if (latest !== settled) return void (late = setTimeout(both, 100)); // a slow answer would be given up for the next one, again and again
    forget();
    refresh();
    refreshSentence();
  };
  if (wait <= 0 && isActive()) both();
  else late = setTimeout(both, Math.max(wait, 60)); // the last change of a run that has just ended is shown as well
});

addEventListener("pointerdown", (event) => {
  if (!event.target.closest?.(".pg-panel :is(button, summary, td, .pg-chip)")) return;
  released = new Promise((release) => {
    addEventListener("pointerup", () => setTimeout(release), { once: true, capture: true });
    setTimeout(release, 1000); // a press that ends elsewhere, in a menu of the browser for one, is never told
  });
}, true);

document.addEventListener("pg-step", (event) => move({ step: event.detail }));
