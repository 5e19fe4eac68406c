// A grid of cells by keyboard: the figure is one stop, arrows move a frame from cell to cell, Enter pins the cell as a click does.
// @ts-check

import { cursor } from "./store.js";
import { h } from "./dom.js";
import { plotly } from "./picture.js";

const PIN = "Enter";
/** @type {Record<string, Cell>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
/** Keys of a figure. */
export const KEYS = [...Object.keys(MOVES), PIN];
const isGrid = (place) => place.matches?.(".pg-plot") && place.layout?.meta?.cells === true;

/** @typedef {[number, number]} Cell row and column; or how many there are of each */

/**
 * @param {any} place
 * @returns {Cell}
 */
function sizes(place) {
  const { rows, columns } = place.layout.meta, z = place.data.find((trace) => trace.type === "heatmap")?.z ?? [[]];
  return [rows?.length ?? z.length, columns?.length ?? z[0].length];
}

/**
 * The cell one further, within the grid.
 * @type {(cell: Cell, step: Cell, sizes: Cell) => Cell}
 */
export const moved = ([row, column], [down, right], [rows, columns]) =>
  [Math.max(0, Math.min(rows - 1, row + down)), Math.max(0, Math.min(columns - 1, column + right))];

/** @returns {Cell} where the frame stands: where it was, else the pinned cell, else the first. */
function here(place) {
  const pinned = /** @type {Cell} */ (cursor.q === "" ? [0, 0] : [Number(cursor.q), Number(cursor.k || 0)]);
  return moved(place.pgCell ?? pinned, [0, 0], sizes(place));
}

/** Draws the frame, and shows what the pointer would be shown there. */
async function look(place, cell) {
  const [row, column] = (place.pgCell = cell), { xaxis, yaxis } = place._fullLayout;
  const [left, right] = [column - 0.5, column + 0.5].map((at) => xaxis._offset + xaxis.d2p(at)).sort((first, other) => first - other);
  const [top, bottom] = [row - 0.5, row + 0.5].map((at) => yaxis._offset + yaxis.d2p(at)).sort((first, other) => first - other);
  const box = { left, top, width: right - left, height: bottom - top };
  const frame = place.querySelector(".pg-cell-frame") ?? place.appendChild(h("div", { class: "pg-cell-frame", role: "status" }));
  Object.assign(frame.style, Object.fromEntries(Object.entries(box).map(([name, pixels]) => [name, `${pixels}px`])));
  (await plotly()).Fx.hover(place, { xval: column, yval: row }, "xy");
  frame.textContent = [...place.querySelectorAll(".hoverlayer .hovertext text")].map((text) => text.textContent).join(" ");
}

function leave(place) {
  place.querySelector(".pg-cell-frame")?.remove();
  plotly().then(({ Fx }) => place.isConnected && Fx.unhover(place, {}));
}

document.addEventListener("focusin", ({ target }) => {
  const place = /** @type {any} */ (target);
  if (isGrid(place) && place.matches(":focus-visible")) look(place, here(place));
});
document.addEventListener("focusout", ({ target }) => isGrid(target) && leave(target));

document.addEventListener("keydown", (event) => {
  const place = /** @type {any} */ (event.target), step = MOVES[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || !isGrid(place) || (!step && event.key !== PIN)) return;
  event.preventDefault();
  event.stopPropagation();
  const [row, column] = here(place);
  if (step) return void look(place, moved([row, column], step, sizes(place)));
  const trace = place._fullData.find(({ type }) => type === "heatmap");
  place.emit("plotly_click", { points: [{ x: column, y: row, fullData: trace, data: trace }] });
}, true);
