// The lines of the map: what goes around a sublayer, what leaves the memory, and on pointing where a stage comes from.
// @ts-check

import { svg } from "./dom.js";

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
    drawing.replaceChildren(...HUES.map(head), ...paths.map(([d, hue]) => arrow(d, hue)));
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

/** [path, hue] of every line, in pixels of the grid. On a `wide` screen encoder and decoder stand side by side. */
function pathsOf(map, wide) {
  const { box } = map, paths = [];
  const memory = map.tiles.get("memory");
  const bus = memory && (wide ? box(memory.parentElement).right - 6 : 5); // the memory's line runs down here
  for (const line of map.block.lines) {
    const from = find(map, line.start), to = find(map, line.end);
    if (!from || !to || from === to) continue;
    const a = box(from), b = box(to), folded = to.dataset.kind === "fold";
    const above = b.top - 6; // between the tiles and what stands over them
    if (line.kind === "residual") {
      const rail = box(to.parentElement).left - 10;
      if (!folded) paths.push([`M${a.x} ${a.bottom}V${a.bottom + 6}H${rail}V${above}H${b.x}V${b.top - 1}`, line.hue]);
    } else {
      const start = wide ? `M${a.right} ${a.y}H${bus}` : `M${a.left} ${a.y}H${bus}`;
      paths.push([folded ? `${start}V${b.y}H${b.left - 1}` : `${start}V${above}H${b.x}V${b.top - 1}`, line.hue]);
    }
  }
  const source = find(map, map.block.memory.tiles[0].inputs[0]);
  if (memory && source && wide) paths.push([`M${box(source).right} ${box(source).y}H${box(memory).left - 1}`, "encoder"]);
  return paths;
}

/** Lines from what a stage is computed from: of the `tile` that is pointed at, else of the open one. */
export function pointBack(map, tile) {
  if (!map?.box) return;
  const drawing = map.element.querySelector(".pg-map-lines");
  drawing.querySelectorAll(".feeds").forEach((path) => path.remove());
  for (const one of map.tiles.values()) one.classList.remove("feeding");
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
function bend(a, b, beside) {
  if (beside) return `M${a.right} ${a.y}L${b.left} ${b.y}`;
  if (a.top < b.top) return `M${a.x} ${a.bottom}C${a.x} ${a.bottom + 18} ${b.x} ${b.top - 18} ${b.x} ${b.top - 1}`;
  return `M${a.right} ${a.y}C${a.right + 30} ${a.y} ${b.left - 30} ${b.y} ${b.left} ${b.y}`;
}
