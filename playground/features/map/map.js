// The map: the model as one drawing. Encoder left, decoder right, each stage a small picture on a button; the open one unfolds in place.
// @ts-check

import { cursor, move } from "../../ui/static/store.js";
import { button, childrenOf, h, svg, update, updateAttributes } from "../../ui/static/dom.js";
import { chips, register, render } from "../../ui/static/render.js";
import { drawArrows, pointBack } from "./arrows.js";
import { miniature } from "../../ui/static/thumbnails.js";
import { isTouring } from "../../ui/static/course.js";
import { lead } from "./tour.js";

const COLUMNS = ["encoder", "memory", "decoder"];
const TILES = 6; // in a line, at least: so wide are they everywhere
/** @type {{ element: HTMLElement, block: import("../../ui/static/blocks").MapBlock, tiles: Map<string, HTMLElement>, box?: Function } | null} */
let drawn = null; // the map on the page; `tiles` are its buttons by the addresses of their stages

/** Draws the map, or changes what is there: small pictures are repainted, elements are kept. */
register("map", async (element, block, panel) => {
  if (!element.firstChild) build(element);
  const had = document.activeElement?.closest?.(".pg-tile, .pg-fold")?.dataset.address;
  const before = element.pgMap?.block, cameFrom = before?.open && element.pgMap.tiles.get(before.open);
  const map = (element.pgMap = drawn = { element, block, tiles: element.pgMap?.tiles ?? new Map() });
  const [trail, grid] = element.children;
  element.classList.toggle("open", Boolean(block.open));
  drawTrail(trail, block);
  grid.setAttribute("aria-label", block.label);
  place(map, grid);
  if (had) map.tiles.get(had)?.focus({ preventScroll: true });
  const detail = grid.querySelector(".pg-open");
  await render(detail, block.blocks, panel);
  drawArrows(map);
  if ((before?.open ?? "") === block.open) return;
  settle(map, before?.open);
  if (isTouring()) lead(grid, cameFrom, map.tiles.get(block.open));
}, { always: true });

function build(element) {
  const lines = svg("svg", { class: "pg-map-lines", "aria-hidden": "true" });
  const grid = h("div", { class: "pg-map-grid", role: "group" }, lines, h("div", { class: "pg-open", role: "region" }));
  element.append(h("nav", { class: "pg-here" }), grid);
  grid.addEventListener("keydown", walk);
  for (const type of ["pointerover", "focusin"]) grid.addEventListener(type, (event) => pointBack(drawn, event.target.closest?.(".pg-tile")));
  for (const type of ["pointerleave", "focusout"]) grid.addEventListener(type, () => pointBack(drawn, null));
  new ResizeObserver(() => element.offsetParent && element.pgMap && drawArrows(element.pgMap)).observe(grid);
}

/** Pixels of what stays at the top of the window. */
function frameHeight() {
  const frame = document.getElementById("pg-frame");
  return frame && getComputedStyle(frame).position === "sticky" ? frame.offsetHeight : 0;
}

/** Pixels of a stop of the tour, where it stays there as well. */
function tourHeight() {
  const tour = document.querySelector("#pg-panel-map .pg-tour");
  return isTouring() && tour && getComputedStyle(tour).position === "sticky" ? /** @type {HTMLElement} */ (tour).offsetHeight : 0;
}

/** “You are here”: every piece that is a place leads back to it. */
function drawTrail(trail, block) {
  trail.setAttribute("aria-label", block.words.here);
  trail.hidden = !cursor.stage; // of the tour the stop says where one is
  trail.style.top = `${frameHeight() + tourHeight()}px`;
  const pieces = block.here.map(({ text, aside, stage }, at) => [
    at ? h("span", { class: "pg-sep", "aria-hidden": "true" }, aside ? " · " : " › ") : "",
    stage === undefined ? h("span", { class: aside ? "aside" : "" }, text) : button({ onclick: () => move({ stage }) }, text),
  ]);
  const go = (name, act, sign) => button({ class: "pg-go", "aria-label": block.words[name], title: block.words[name], onclick: act }, sign);
  const tools = block.open ? [go("previous", () => step(-1), "←"), go("next", () => step(1), "→"), go("close", close, "×")] : [];
  const text = JSON.stringify([block.here, block.open]) + cursor.stage;
  if (trail.pgText === text) return;
  trail.pgText = text;
  trail.replaceChildren(h("span", { class: "pg-path" }, pieces.flat()), h("span", { class: "pg-gos" }, tools));
}

// ---- the grid: three columns whose lines share their rows, so that the open stage can lie across all of them ---------------------------

function place(map, grid) {
  const { block } = map, detail = grid.querySelector(".pg-open"), lines = grid.querySelector("svg");
  const columns = { encoder: block.encoder, memory: block.memory ? [block.memory] : [], decoder: block.decoder };
  const old = new Map([...grid.querySelectorAll(":scope > .pg-map-line")].map((line) => [line.dataset.line, line]));
  const children = [], tiles = new Map();
  let open = null;
  grid.style.setProperty("--lines", String(Math.max(block.encoder.length, block.decoder.length)));
  for (const column of COLUMNS) {
    const named = new Set(); // lines that are named alike need their names once
    columns[column].forEach((line, at) => {
      const row = column === "memory" ? block.encoder.length : at + 1;
      const name = `${column} ${line.side ?? line.stage ?? line.tiles[0].address}`;
      const element = old.get(name) ?? h("div", { class: `pg-map-line ${column} is-${line.kind}`, dataset: { line: name } });
      element.style.setProperty("--row", row);
      element.classList.toggle("abreast", column !== "decoder" && row === block.encoder.length);
      element.classList.toggle("whole", !block.memory && row > block.encoder.length);
      const names = line.tiles?.map(({ name }) => name).join();
      element.classList.toggle("again", named.has(names));
      named.add(names);
      fill(element, line, map, tiles);
      children.push(element);
      if (line.kind === "tiles" && line.tiles.some((tile) => tile.address === block.open)) {
        open = row;
        children.push(detail);
      }
    });
  }
  const below = (element) => open !== null && Number(element.style.getPropertyValue("--row")) > open;
  for (const element of children) if (element !== detail) element.style.setProperty("--moved", below(element) ? 1 : 0);
  if (open === null) children.push(detail);
  else detail.style.setProperty("--row", open + 1);
  detail.hidden = open === null;
  if (open !== null) detail.setAttribute("aria-label", tiles.get(block.open).title);
  const all = [lines, ...children];
  if (all.length !== grid.children.length || all.some((element, at) => grid.children[at] !== element)) grid.replaceChildren(...all);
  map.tiles = tiles;
  map.element.classList.toggle("edited", [...tiles.values()].some(({ pgTile }) => pgTile.changed));
  const near = new Set([block.open, ...(tiles.get(block.open)?.pgTile.inputs ?? [])]);
  for (const [address, tile] of tiles) {
    tile.classList.toggle("near", near.has(address));
    tile.classList.toggle("changed", Boolean(tile.pgTile.changed));
  }
}

function fill(element, line, map, tiles) {
  if (line.kind === "tiles") {
    const row = titled(element, line, "pg-tiles");
    const known = new Map([...row.children].map((tile) => [tile.dataset.address, tile]));
    const wanted = line.tiles.map((tile) => known.get(tile.address) ?? makeTile(tile));
    row.style.setProperty("--count", String(Math.max(TILES, wanted.length)));
    if (wanted.length !== row.children.length || wanted.some((tile, at) => row.children[at] !== tile)) row.replaceChildren(...wanted);
    line.tiles.forEach((tile, at) => {
      fillTile(wanted[at], tile, map.block);
      tiles.set(tile.address, wanted[at]);
    });
    return;
  }
  if (line.kind === "fold") {
    const about = { class: `pg-fold hue-${line.hue}`, dataset: { address: line.stage, kind: "fold" } };
    if (!element.firstChild) element.append(button({ ...about, onclick: () => move({ stage: line.stage }) }, h("canvas", {}), h("span", {})));
    const fold = element.firstChild;
    update(fold.lastChild, { textContent: line.text });
    updateAttributes(fold, { "aria-expanded": "false" });
    miniature(fold.firstChild, line.tile.mini, map.block.colours);
    tiles.set(line.stage, fold);
    fold.pgTile = { inputs: [], part: line.hue, changed: line.tile.changed };
    return;
  }
  const row = titled(element, line, "pg-line");
  const text = JSON.stringify(line);
  if (row.pgText === text) return;
  row.pgText = text;
  row.replaceChildren(line.label && h("span", { class: "pg-label" }, line.label), h("span", { class: "pg-tokens" }, chips(line.tokens, line.side)));
}

/** The row of a line, under its title. */
function titled(element, line, name) {
  if (!element.firstChild) element.append(h("h4", {}), h("div", { class: name }));
  const [title, row] = element.children;
  if (title.textContent !== (line.title?.text ?? "")) title.replaceChildren(...pieces(line.title?.text ?? ""));
  update(title, { className: `hue-${line.title?.hue}`, hidden: !line.title });
  return row;
}

/** The pieces of a title, which stand one below the other where it stands beside its tiles. */
const pieces = (text) => text.split(/(?= · )/).map((piece) => h("span", {}, ...(piece.startsWith(" · ") ? [h("i", {}, " · ")] : []), piece.replace(" · ", "")));

function makeTile(tile) {
  const className = `pg-tile hue-${tile.part}${tile.square ? " square" : ""}${tile.follows ? " follows" : ""}`;
  const press = () => (cursor.stage === tile.address ? close() : drawn?.block.open === tile.address || move({ stage: tile.address }));
  return button({ class: className, dataset: { address: tile.address }, onclick: press }, h("canvas", {}), h("b", {}), " ", h("small", {}));
}

function fillTile(element, tile, block) {
  const [canvas, name, shape] = element.children;
  update(name, { textContent: tile.name });
  const isSaid = element.previousElementSibling?.querySelector("small").textContent === tile.shape; // where it is another
  update(shape, { textContent: tile.shape, hidden: isSaid });
  const [down, across] = tile.mini.blocks;
  const label = down * across > 1 ? `${tile.label} · ${block.words.blocks.replace("{size}", `${down} × ${across}`)}` : tile.label;
  const spoken = `${tile.name} ${tile.shape}, ${label}`; // begins with the visible text, for voice control
  updateAttributes(element, { "aria-label": spoken, "aria-expanded": block.open === tile.address, title: label });
  element.pgTile = tile;
  miniature(canvas, tile.mini, block.colours);
}

// ---- moving ----------------------------------------------------------------------------------------------------------------------------

const close = () => move({ stage: drawn?.block.close && cursor.stage !== drawn.block.close ? drawn.block.close : "" });

/** Opens the stage that was computed before or after the open one. */
function step(by) {
  const order = drawn.block.order, at = order.indexOf(drawn.block.open);
  if (order[at + by]) move({ stage: order[at + by] });
}

/** Arrow keys on a tile: left and right in the order of computation, up and down between lines. */
function walk(event) {
  const tile = event.target.closest(".pg-tile, .pg-fold");
  if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const over = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by && !over) return;
  event.preventDefault();
  if (by && drawn.block.open && tile.dataset.address === drawn.block.open) return step(by);
  const all = [...drawn.tiles.values()];
  const lines = [...new Set(all.map((tile) => tile.parentElement))];
  const line = lines[lines.indexOf(tile.parentElement) + (over ?? 0)];
  const here = line ? childrenOf(line) : [], column = childrenOf(tile.parentElement).indexOf(tile);
  const next = by ? all[all.indexOf(tile) + by] : here[Math.min(column, here.length - 1)];
  next?.focus();
}

/** After a stage was opened or folded: keeps the keyboard where it was, and what was opened in sight. */
function settle(map, before) {
  const tile = map.tiles.get(map.block.open || before);
  const free = document.activeElement === document.body || document.activeElement?.closest(".pg-map");
  if (tile && free && !isTouring() && !document.activeElement?.closest(".pg-open input")) tile.focus({ preventScroll: true });
  if (!map.block.open || !tile) return;
  const edge = frameHeight() + tourHeight() + map.element.firstChild.offsetHeight, box = (element) => element.getBoundingClientRect();
  const at = box(tile), detail = map.element.querySelector(".pg-open");
  const top = edge + (isTouring() ? rowBefore(map, tile, edge, detail) : innerHeight < 850 ? 42 : 84); // with the line it comes from
  if (at.top >= top && box(detail).bottom <= innerHeight && !isTouring()) return; // on a tour each stage comes to the top
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  scrollBy({ top: at.top - top, behavior });
}

/** Pixels for the whole row of tiles or tokens before that of an open tile, in its column; those for the title of its own where the picture
 * would not be whole below both. */
function rowBefore(map, tile, edge, detail) {
  const line = tile.closest(".pg-map-line"), margin = getComputedStyle(line.firstChild).position === "absolute" ? 10 : 6, at = tile.getBoundingClientRect();
  const rows = [...map.element.querySelectorAll(`.pg-map-line.${line.classList[1]} :is(.pg-tile, .pg-fold, .pg-tokens)`)];
  const isEarlier = (other) => other.offsetParent && (other.closest(".pg-map-line") !== line || other.offsetTop < tile.offsetTop);
  const earlier = rows.slice(0, rows.indexOf(tile)).reverse().find(isEarlier);
  const picture = (detail.querySelector(".pg-plot") ?? detail).getBoundingClientRect();
  const end = tourHeight() ? innerHeight : document.querySelector("#pg-panel-map .pg-tour").getBoundingClientRect().top;
  const whole = earlier?.matches(".pg-tokens") && earlier.closest(".pg-map-line"); // tokens with the title above them
  const rooms = [whole, earlier, line].filter(Boolean).map((element) => at.top - element.getBoundingClientRect().top + margin);
  return rooms.find((room) => edge + room + picture.bottom - at.top <= end) ?? margin;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || cursor.tab !== "map" || !cursor.stage || event.target.closest?.("dialog, #pg-sentence, #pg-knobs")) return;
  event.preventDefault();
  close();
});
