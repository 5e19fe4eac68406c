// The lines of the map: what goes around a sublayer, what leaves the memory, and on pointing where a stage comes from.
// @ts-check

import { svg } from "../../ui/static/dom.js";

const HUES = ["encoder", "decoder", "cross"];

/** The tile of a stage, or the folded layer it is in. */
const find = (map, address) => map.tiles.get(address) ?? map.tiles.get(address.split(".").slice(0, 2).join("."));

/** Draws the lines of a map anew where something stands elsewhere. */
export function drawArrows(map) {
  const grid = map.element.children[1], drawing = grid.querySelector("svg");
  const around = grid.getBoundingClientRect();
  if (!around.width) return;
  const larger = around.width / grid.offsetWidth; // than it is laid out: a presenter's page is enlarged
  drawing.setAttribute("width", around.width / larger);
  drawing.setAttribute("height", around.height / larger);
  map.box = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const [x, y] = [around.left, around.top], distances = { left: left - x, right: right - x, top: top - y, bottom: bottom - y };
    const box = Object.fromEntries(Object.entries(distances).map(([side, pixels]) => [side, pixels / larger]));
    return { ...box, x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
  };
  const paths = pathsOf(map, getComputedStyle(grid).gridTemplateColumns.split(" ").length > 1);
  const text = JSON.stringify(paths);
  if (drawing.pgText !== text) {
    drawing.pgText = text;
    drawing.replaceChildren(...HUES.map(head), ...paths.map(([d, hue, more]) => arrow(d, hue, more)));
  }
  pointBack(map, null);
}

/** The head of an arrow. */
const head = (hue) =>
  svg("marker", {
    id: `pg-arrow-${hue}`, class: `hue-${hue}`, viewBox: "0 0 8 8", refX: "7", refY: "4", markerUnits: "userSpaceOnUse",
    markerWidth: "9", markerHeight: "9", orient: "auto-start-reverse",
  }, svg("path", { d: "M0 0L8 4L0 8z" }));

const arrow = (d, hue, more = "") => svg("path", { d, class: `${more} hue-${hue}`, "marker-end": `url(#pg-arrow-${hue})` });

/**
 * [path, hue, class] of every line, in pixels of the grid: together they lead from the tokens to the next token. On a `wide` screen
 * encoder and decoder stand side by side.
 */
function pathsOf(map, wide) {
  const residuals = new Set(map.block.lines.filter(({ kind }) => kind === "residual").map(({ start, end }) => `${start} ${end}`));
  const paths = [...ofTokens(map)];
  for (const [address, tile] of map.tiles) {
    const { inputs, part } = tile.pgTile;
    if (tile.dataset.kind === "fold") paths.push(...intoFold(map, tile, part));
    for (const input of inputs) {
      const from = find(map, input);
      if (!from || from === tile || from === tile.previousElementSibling) continue; // an arrow between neighbours is there already
      if (address === "memory") paths.push([wide ? straight(map, from, tile) : "", part]);
      else if (input === "memory") paths.push([fromMemory(map, tile, wide), "cross"]);
      else paths.push([route(map, from, tile, within(address, input), wide), part, residuals.has(`${input} ${address}`) ? "around" : ""]);
    }
  }
  return paths.filter(([path]) => path);
}

const lineOf = (element) => element.closest(".pg-map-line");
const columnOf = (line) => [...line.parentElement.querySelectorAll(`:scope > .pg-map-line.${line.classList[1]}`)];
/** The tokens above the first tiles, and below the last. */
function* ofTokens(map) {
  for (const [part, side, address] of [["encoder", "src", "src.ids"], ["decoder", "fed", "tgt.ids"]]) {
    const tokens = map.element.querySelector(`[data-line="${part} ${side}"]`), tile = map.tiles.get(address);
    if (tokens && tile) yield [`M${map.box(tile).x} ${map.box(tokens).bottom - 4}V${map.box(tile).top - 1}`, part];
  }
  const tokens = map.element.querySelector('[data-line="decoder tgt"]'), tile = map.tiles.get("probabilities");
  if (tokens && tile) yield [`M${map.box(tile).x} ${map.box(tile).bottom}V${map.box(tokens).top + 2}`, "decoder"];
}

const straight = (map, from, to) => `M${map.box(from).right} ${map.box(from).y}H${map.box(to).left - 1}`;

/** From what stands above a folded layer down to it. */
function intoFold(map, fold, hue) {
  const line = lineOf(fold), column = columnOf(line), above = column[column.indexOf(line) - 1];
  const from = [...(above?.querySelectorAll(".pg-tile, .pg-fold") ?? [])].at(-1);
  if (!from) return [];
  const a = middle(map, from), b = middle(map, fold), y = b.top - 4;
  return [[`M${a.x} ${a.bottom}V${y}H${b.x}V${b.top - 1}`, hue]];
}

/** The box of a tile; of a folded layer that of its small picture, under which its lines begin and end. */
const middle = (map, element) => (element.dataset.kind === "fold" ? map.box(element.firstChild) : map.box(element));

/** Whether two stages belong to the same sublayer. */
const within = (first, other) => [first, other].map((name) => name.split(".").slice(0, 3).join(".")).every((name, _, [first]) => name === first);

/** From a tile to another below it or further on in its line. What isn't in the next line, or is under a title, goes down beside the tiles. */
function route(map, from, to, isInside, wide) {
  const a = middle(map, from), b = map.box(to);
  if (from.parentElement === to.parentElement && Math.abs(a.top - b.top) < 4) return `M${a.x + 10} ${a.top}V${a.top - 3}H${b.x}V${b.top - 1}`;
  const column = columnOf(lineOf(from)), next = column[column.indexOf(lineOf(from)) + 1];
  const y = isInside || !next || !wide ? a.bottom + 1 : map.box(next.querySelector(".pg-tile, .pg-fold") ?? next).top - 7;
  if ((next === lineOf(to) && wide) || isInside) return `M${a.x} ${a.bottom}V${y}H${b.x}V${b.top - 1}`;
  return `M${a.x} ${a.bottom}V${y}H${map.box(to.parentElement).left - 10}V${b.top - 4}H${b.x}V${b.top - 1}`;
}

/** From the memory to keys from above and to values from the left: its line runs down between encoder and decoder. */
function fromMemory(map, to, wide) {
  const memory = map.tiles.get("memory"), a = map.box(memory), b = map.box(to);
  const bus = wide ? map.box(memory.parentElement).right + 9 : 5, start = wide ? `M${a.right} ${a.y}H${bus}` : `M${a.left} ${a.y}H${bus}`;
  if (to === to.parentElement.firstElementChild) {
    const above = map.box(lineOf(to).previousElementSibling?.querySelector(".pg-tiles") ?? lineOf(to)), side = b.left - 5;
    return `${start}V${above.top - 3}H${side}V${b.top + 12}H${b.left - 1}`;
  }
  return `${start}V${b.top - 11}H${b.x}V${b.top - 1}`;
}

/** Lines from what a stage is computed from: of the `tile` that is pointed at, else of the open one. */
export function pointBack(map, tile) {
  if (!map?.box) return;
  const drawing = map.element.querySelector(".pg-map-lines");
  drawing.querySelectorAll(".feeds").forEach((path) => path.remove());
  for (const tile of map.tiles.values()) tile.classList.remove("feeding");
  const here = tile ?? map.tiles.get(map.block.open);
  if (!here?.pgTile) return;
  for (const address of here.pgTile.inputs) {
    const from = find(map, address);
    if (!from || from === here) continue;
    from.classList.add("feeding");
    if (from === here.previousElementSibling) continue; // an arrow between them is there already
    drawing.append(arrow(bend(map.box(from), map.box(here), from.parentElement === here.parentElement), here.pgTile.part, "feeds"));
  }
}

/** The way from one tile to another: straight beside it, curved from above, around when it comes from below. */
function bend(a, b, isBeside) {
  if (isBeside) return `M${a.right} ${a.y}L${b.left} ${b.y}`;
  if (a.top < b.top) return `M${a.x} ${a.bottom}C${a.x} ${a.bottom + 18} ${b.x} ${b.top - 18} ${b.x} ${b.top - 1}`;
  return `M${a.right} ${a.y}C${a.right + 30} ${a.y} ${b.left - 30} ${b.y} ${b.left} ${b.y}`;
}
