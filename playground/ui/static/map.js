// The map: the model as one drawing. Encoder left, decoder right, each stage a small picture on a button; the open one unfolds in place.

import { cursor, move } from "./state.js";
import { h } from "./dom.js";
import { chips } from "./top.js";

const COLUMNS = ["encoder", "memory", "decoder"];
let drawn = null; // the map on the page: { element, block, tiles }

/** Draws the map, or changes what is there: small pictures are repainted, elements are kept. `render` fills the open stage with blocks. */
export async function drawMap(element, block, render) {
  if (!element.firstChild) build(element);
  const had = document.activeElement?.closest?.(".pg-tile, .pg-fold")?.dataset.address;
  const before = element.pgMap?.block;
  const map = (element.pgMap = drawn = { element, block, tiles: element.pgMap?.tiles ?? new Map() });
  const [trail, grid] = element.children;
  element.classList.toggle("open", Boolean(block.open));
  drawTrail(trail, block);
  grid.setAttribute("aria-label", block.label);
  place(map, grid);
  if (had) map.tiles.get(had)?.focus({ preventScroll: true });
  const detail = grid.querySelector(".pg-open");
  await render(detail, block.blocks);
  drawLines(map);
  if ((before?.open ?? "") !== block.open) settle(map, before?.open);
}

function build(element) {
  const lines = h("svg", { class: "pg-map-lines", "aria-hidden": "true" });
  const grid = h("div", { class: "pg-map-grid", role: "group" }, lines, h("div", { class: "pg-open", role: "region" }));
  element.append(h("nav", { class: "pg-here" }), grid);
  grid.addEventListener("keydown", walk);
  for (const type of ["pointerover", "focusin"]) grid.addEventListener(type, (event) => light(event.target.closest?.(".pg-tile")));
  for (const type of ["pointerleave", "focusout"]) grid.addEventListener(type, () => light(null));
  new ResizeObserver(() => element.offsetParent && element.pgMap && drawLines(element.pgMap)).observe(grid);
}

/** “You are here”: every piece that is a place leads back to it. */
function drawTrail(trail, block) {
  trail.setAttribute("aria-label", block.words.here);
  const stage = document.querySelector(".pg-stage");
  const sticky = stage && getComputedStyle(stage).position === "sticky";
  trail.style.top = `${sticky ? stage.offsetHeight : 0}px`;
  const pieces = block.here.map((piece, at) => [
    at ? h("span", { class: "pg-sep", "aria-hidden": "true" }, piece.aside ? " · " : " › ") : "",
    piece.stage === undefined || (piece.stage === "" && !cursor.stage) ? h("span", { class: piece.aside ? "aside" : "" }, piece.text) : h("button", { type: "button", onclick: () => move({ stage: piece.stage }) }, piece.text),
  ]);
  const go = (name, by, sign) => h("button", { type: "button", class: "pg-go", "aria-label": block.words[name], title: block.words[name], onclick: () => step(by) }, sign);
  const tools = block.open ? [go("previous", -1, "←"), go("next", 1, "→"), h("button", { type: "button", class: "pg-go", "aria-label": block.words.close, title: block.words.close, onclick: close }, "×")] : [];
  const text = JSON.stringify([block.here, block.open]) + cursor.stage;
  if (trail.pgText === text) return;
  trail.pgText = text;
  trail.replaceChildren(h("span", { class: "pg-path" }, pieces.flat()), h("span", { class: "pg-gos" }, tools));
}

// ---- the grid: three columns whose lines share their rows, so that the open stage can lie across all of them ---------------------------

function place(map, grid) {
  const { block } = map, detail = grid.querySelector(".pg-open"), svg = grid.querySelector("svg");
  const columns = { encoder: block.encoder, memory: [block.memory], decoder: block.decoder };
  const old = new Map([...grid.querySelectorAll(":scope > .pg-map-line")].map((line) => [line.dataset.line, line]));
  const children = [], tiles = new Map();
  let open = null;
  for (const column of COLUMNS)
    columns[column].forEach((line, at) => {
      const row = column === "memory" ? block.encoder.length : at + 1;
      const name = `${column} ${line.side ?? line.stage ?? line.tiles[0].address}`;
      const element = old.get(name) ?? h("div", { class: `pg-map-line ${column} is-${line.kind}`, dataset: { line: name } });
      element.style.setProperty("--row", row);
      element.classList.toggle("abreast", column !== "decoder" && row === block.encoder.length);
      fill(element, line, map, tiles);
      children.push(element);
      if (line.kind === "tiles" && line.tiles.some((tile) => tile.address === block.open)) {
        open = row;
        children.push(detail);
      }
    });
  for (const element of children) if (element !== detail) element.style.setProperty("--moved", open !== null && Number(element.style.getPropertyValue("--row")) > open ? 1 : 0);
  if (open === null) children.push(detail);
  else detail.style.setProperty("--row", open + 1);
  detail.hidden = open === null;
  if (open !== null) detail.setAttribute("aria-label", tiles.get(block.open).getAttribute("aria-label"));
  const all = [svg, ...children];
  if (all.length !== grid.children.length || all.some((element, at) => grid.children[at] !== element)) grid.replaceChildren(...all);
  map.tiles = tiles;
  const near = new Set([block.open, ...(tiles.get(block.open)?.pgTile.inputs ?? [])]);
  for (const [address, tile] of tiles) tile.classList.toggle("near", near.has(address));
}

function fill(element, line, map, tiles) {
  if (line.kind === "tiles") {
    const row = titled(element, line, "pg-tiles");
    const known = new Map([...row.children].map((tile) => [tile.dataset.address, tile]));
    const wanted = line.tiles.map((tile) => known.get(tile.address) ?? makeTile(tile));
    if (wanted.length !== row.children.length || wanted.some((tile, at) => row.children[at] !== tile)) row.replaceChildren(...wanted);
    line.tiles.forEach((tile, at) => {
      fillTile(wanted[at], tile, map.block);
      tiles.set(tile.address, wanted[at]);
    });
    return;
  }
  if (line.kind === "fold") {
    if (!element.firstChild) element.append(h("button", { type: "button", class: `pg-fold hue-${line.hue}`, dataset: { address: line.stage, kind: "fold" }, onclick: () => move({ stage: line.stage }) }, h("canvas", {}), h("span", {})));
    const button = element.firstChild;
    button.lastChild.textContent = line.text;
    button.setAttribute("aria-expanded", "false");
    paint(button.firstChild, line.tile.mini, map.block.colours);
    tiles.set(line.stage, button);
    button.pgTile = { inputs: [] };
    return;
  }
  const row = titled(element, line, "pg-line");
  const text = JSON.stringify(line);
  if (row.pgText === text) return;
  row.pgText = text;
  row.replaceChildren(h("span", { class: "pg-label" }, line.label), h("span", { class: "pg-tokens" }, chips(line.tokens, line.side)));
}

/** The row of a line, under its title. */
function titled(element, line, name) {
  if (!element.firstChild) element.append(h("h4", {}), h("div", { class: name }));
  const [title, row] = element.children;
  title.textContent = line.title?.text ?? "";
  title.className = `hue-${line.title?.hue}`;
  title.hidden = !line.title;
  return row;
}

function makeTile(tile) {
  return h("button", { type: "button", class: `pg-tile hue-${tile.part}${tile.square ? " square" : ""}${tile.follows ? " follows" : ""}`, dataset: { address: tile.address }, onclick: () => (cursor.stage === tile.address ? close() : move({ stage: tile.address })) },
    h("canvas", {}), h("b", {}), h("small", {}));
}

function fillTile(element, tile, block) {
  const [canvas, name, shape] = element.children;
  if (name.textContent !== tile.name) name.textContent = tile.name;
  if (shape.textContent !== tile.shape) shape.textContent = tile.shape;
  const [down, across] = tile.mini.blocks;
  const label = down * across > 1 ? `${tile.label} · ${block.words.blocks.replace("{size}", `${down} × ${across}`)}` : tile.label;
  element.setAttribute("aria-label", label);
  element.setAttribute("aria-expanded", String(block.open === tile.address));
  element.title = label;
  element.pgTile = tile;
  paint(canvas, tile.mini, block.colours);
}

/** Bytes to colours: the same scale as the large picture's, masked cells hatched. */
function paint(canvas, mini, colours) {
  const key = mini.data + mini.scale + colours.masked;
  if (canvas.pgKey === key) return;
  canvas.pgKey = key;
  const bytes = Int8Array.from(atob(mini.data), (letter) => letter.charCodeAt(0));
  const size = Math.max(1, Math.min(12, Math.floor(144 / Math.max(mini.columns, mini.rows))));
  canvas.width = mini.columns * size;
  canvas.height = mini.rows * size;
  const pen = canvas.getContext("2d"), scale = colours[mini.scale];
  const stops = scale.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const mix = (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), low = Math.floor(at), high = Math.min(low + 1, stops.length - 1);
    return `rgb(${stops[low].map((value, channel) => Math.round(value + (at - low) * (stops[high][channel] - value))).join()})`;
  };
  bytes.forEach((value, at) => {
    const x = (at % mini.columns) * size, y = Math.floor(at / mini.columns) * size;
    pen.fillStyle = value === -128 ? colours.masked : mix(mini.scale === "signed" ? (value / 127 + 1) / 2 : value / 127);
    pen.fillRect(x, y, size, size);
    if (value !== -128) return;
    pen.strokeStyle = colours.hatch;
    pen.beginPath();
    pen.moveTo(x, y + size);
    pen.lineTo(x + size, y);
    pen.stroke();
  });
}

// ---- lines: what goes around a sublayer, what leaves the memory, and on pointing where a stage comes from ---------------------------

function drawLines(map) {
  const grid = map.element.children[1], svg = grid.querySelector("svg");
  const around = grid.getBoundingClientRect();
  if (!around.width) return;
  svg.setAttribute("width", around.width);
  svg.setAttribute("height", around.height);
  const box = (element) => {
    const found = element.getBoundingClientRect();
    return { left: found.left - around.left, right: found.right - around.left, top: found.top - around.top, bottom: found.bottom - around.top, x: (found.left + found.right) / 2 - around.left, y: (found.top + found.bottom) / 2 - around.top };
  };
  const wide = getComputedStyle(grid).gridTemplateColumns.split(" ").length > 1;
  const paths = [];
  const memory = map.tiles.get("memory");
  const bus = memory && (wide ? box(memory.parentElement).right - 6 : 5); // the memory's line runs down here
  for (const line of map.block.lines) {
    const from = find(map, line.start), to = find(map, line.end);
    if (!from || !to || from === to) continue;
    const a = box(from), b = box(to), row = box(to.parentElement);
    const above = b.top - 6; // between the tiles and what stands over them
    if (line.kind === "residual") {
      if (to.dataset.kind === "fold") continue;
      const rail = row.left - 10;
      paths.push([`M${a.x} ${a.bottom}V${a.bottom + 6}H${rail}V${above}H${b.x}V${b.top - 1}`, line.hue]);
    } else {
      const start = wide ? `M${a.right} ${a.y}H${bus}` : `M${a.left} ${a.y}H${bus}`;
      paths.push([to.dataset.kind === "fold" ? `${start}V${b.y}H${b.left - 1}` : `${start}V${above}H${b.x}V${b.top - 1}`, line.hue]);
    }
  }
  const source = find(map, map.block.memory.tiles[0].inputs[0]);
  if (memory && source && wide) {
    const a = box(source), b = box(memory);
    paths.push([`M${a.right} ${a.y}H${b.left - 1}`, "encoder"]);
  }
  const shape = (d, hue, more = "") => h("path", { d, class: `hue-${hue} ${more}`, "marker-end": `url(#pg-arrow-${hue})` });
  const text = JSON.stringify(paths);
  map.box = box;
  if (svg.pgText === text) return light(null);
  svg.pgText = text;
  svg.innerHTML = ["encoder", "decoder", "cross"].map((hue) => `<marker id="pg-arrow-${hue}" class="hue-${hue}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker>`).join("");
  svg.append(...paths.map(([d, hue]) => shape(d, hue)));
  light(null);
}

/** The tile of a stage, or the folded layer it is in. */
const find = (map, address) => map.tiles.get(address) ?? map.tiles.get(address.split(".").slice(0, 2).join("."));

/** Lines from what a stage is computed from: of the one that is pointed at, else of the open one. */
function light(tile) {
  const map = drawn;
  if (!map?.box) return;
  const svg = map.element.querySelector(".pg-map-lines");
  svg.querySelectorAll(".feeds").forEach((path) => path.remove());
  for (const one of map.tiles.values()) one.classList.remove("feeding");
  const here = tile ?? map.tiles.get(map.block.open);
  if (!here?.pgTile) return;
  for (const address of here.pgTile.inputs) {
    const from = find(map, address);
    if (!from || from === here) continue;
    from.classList.add("feeding");
    if (from === here.previousElementSibling) continue; // an arrow between them is there already
    const a = map.box(from), b = map.box(here);
    const beside = from.parentElement === here.parentElement;
    const d = beside ? `M${a.right} ${a.y}L${b.left} ${b.y}` : a.top < b.top ? `M${a.x} ${a.bottom}C${a.x} ${a.bottom + 18} ${b.x} ${b.top - 18} ${b.x} ${b.top - 1}` : `M${a.right} ${a.y}C${a.right + 30} ${a.y} ${b.left - 30} ${b.y} ${b.left} ${b.y}`;
    svg.append(h("path", { d, class: `feeds hue-${here.pgTile.part}`, "marker-end": `url(#pg-arrow-${here.pgTile.part})` }));
  }
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
  const lines = [...new Set(all.map((one) => one.parentElement))];
  const line = lines[lines.indexOf(tile.parentElement) + (over ?? 0)];
  const next = by ? all[all.indexOf(tile) + by] : line?.children[Math.min([...tile.parentElement.children].indexOf(tile), line.children.length - 1)];
  next?.focus();
}

/** After a stage was opened or folded: keeps the keyboard where it was, and what was opened in sight. */
function settle(map, before) {
  const tile = map.tiles.get(map.block.open || before);
  const free = document.activeElement === document.body || document.activeElement?.closest(".pg-map");
  if (tile && free && !document.activeElement?.closest(".pg-open input")) tile.focus({ preventScroll: true });
  if (!map.block.open || !tile) return;
  const stage = document.querySelector(".pg-stage"), trail = map.element.firstChild;
  const top = (getComputedStyle(stage).position === "sticky" ? stage.offsetHeight : 0) + trail.offsetHeight + 84; // with the line it comes from
  const at = tile.getBoundingClientRect(), detail = map.element.querySelector(".pg-open").getBoundingClientRect();
  if (at.top < top || detail.top > innerHeight - 260) scrollBy({ top: at.top - top, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || cursor.tab !== "map" || !cursor.stage || event.target.closest?.("dialog, #pg-sentence, #pg-sidebar")) return;
  event.preventDefault();
  close();
});
