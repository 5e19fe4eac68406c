// Every head small, on one canvas over the buttons that choose them. A picture turns into the next one, at twenty frames a second; the first head
// that is chosen grows into the large picture, and the others make room for it.
// @ts-check

import { cursor, move, page, subscribe } from "../../ui/static/store.js";
import { button, h, say, updateAttributes } from "../../ui/static/dom.js";
import { isGrowing } from "../../ui/static/live.js";
import { gridOf, kindOf } from "../../ui/static/picture.js";
import { register } from "../../ui/static/render.js";

/** @typedef {import("../../ui/static/blocks").HeadsBlock} HeadsBlock */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box in px of the window */

const FRAME = 45; // milliseconds between two drawings, at least
const TURN = 450; // milliseconds in which a picture turns into the next
const GROWTH = 900, LANDED = 0.75; // milliseconds in which a head grows into the large picture; the share of them after which that is shown
const PATIENCE = 2000; // milliseconds that the large picture may take to be drawn
const SHADES = 256, HATCHED = 4; // px of a cell that is large enough for a hatch

const mix = (from, to, share) => from + (to - from) * share;
/** @type {(from: Box, to: Box, share: number) => Box} */
export const mixBoxes = (from, to, share) => /** @type {Box} */ (Object.fromEntries(
  ["x", "y", "width", "height"].map((name) => [name, mix(from[name], to[name], share)])));
const soft = (share) => share * share * (3 - 2 * share);
const shareOf = (now, since, whole) => (isCalm() ? 1 : Math.min(1, Math.max(0, (now - since) / whole)));
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The box around all boxes. @type {(boxes: Box[]) => Box} */
export function around(boxes) {
  const x = Math.min(...boxes.map((box) => box.x)), y = Math.min(...boxes.map((box) => box.y));
  return { x, y, width: Math.max(...boxes.map((box) => box.x + box.width)) - x, height: Math.max(...boxes.map((box) => box.y + box.height)) - y };
}

/** The heads of one block, wherever in its panel the block stands. */
export class Crowd {
  canvas = h("canvas", { class: "pg-heads-canvas", "aria-hidden": "true" });
  cells = document.createElement("canvas"); // one head, a pixel for each cell
  /** @type {HeadsBlock} */
  block;
  /** @type {HTMLElement} */
  element;
  /** @type {import("../../ui/static/render").Panel} */
  panel;
  /** @type {HTMLElement} */
  layers;
  /** @type {Uint8ClampedArray} */
  shades;
  /** @type {Box[]} where each head was drawn last */
  places = [];
  /** @type {{ since: number, begun: number, places: Box[], head: number } | null} while the heads are on their way; the head that grows, or -1 */
  way = null;
  /** @type {number[][]} */ from = []; // the weights of each head that are turning into…
  /** @type {number[][]} */ to = []; // …these
  shape = "";
  form = "";
  scale = "";
  since = 0;
  last = 0;
  due = 0;
  sizes = new ResizeObserver(() => this.wake());

  /** Shows a block in an element, which may be another one than before. */
  take(element, block, panel) {
    const { weights, layer, head } = block, heads = weights.flat(), isSettled = layer !== null, before = this.block;
    const shape = [cursor.run, weights.length, heads.length, heads[0]?.length, heads[0]?.[0]?.length].join(), isSame = shape === this.shape;
    const now = performance.now(), from = isSame ? this.weightsAt(now) : null;
    this.to = heads.map((rows) => rows.flat());
    this.from = from ?? this.to;
    Object.assign(this, { block, panel, shape, since: now });
    this.fill(element);
    this.colour();
    const isMoved = isSame && before && (before.layer !== null) !== isSettled && this.places.length === heads.length;
    if (isMoved && !isCalm()) this.way = { since: now, begun: now, places: this.places, head: isSettled ? layer * weights[0].length + head : -1 };
    this.wake();
  }

  weightsAt(now) {
    const share = shareOf(now, this.since, TURN);
    return share === 1 ? this.to : this.to.map((weights, at) => weights.map((weight, cell) => mix(this.from[at][cell], weight, share)));
  }

  // ---- the buttons --------------------------------------------------------------------------------------------------------------------

  fill(element) {
    const { weights, tall, label, names, layer, head } = this.block, form = weights.map((row) => row.length).join();
    if (this.element !== element || this.form !== form) {
      Object.assign(this, { element, form });
      this.layers = h("div", { class: "pg-layers" }, weights.map((row, at) => this.row(row.length, at)), this.canvas);
      element.replaceChildren(h("p", { class: "pg-label" }), this.layers);
      this.sizes.disconnect();
      this.sizes.observe(element);
    }
    element.dataset.mode = tall ? "all" : "small";
    element.firstChild.textContent = label;
    const rows = weights[0]?.[0]?.length ?? 1, columns = weights[0]?.[0]?.[0]?.length ?? 1, across = weights[0]?.length ?? 1;
    element.style.cssText = `--ratio: ${columns / rows}; --layers: ${weights.length}; --heads: ${across}; --tall: ${tall}px`;
    for (const small of element.querySelectorAll(".pg-thumb")) {
      const [at, of] = [Number(small.dataset.layer), Number(small.dataset.head)], [name, number] = names?.[at]?.[of] ?? ["", ""];
      const place = say("layer_head", { layer: at + 1, head: of + 1 }), written = [of + 1, number, name].filter(Boolean).join(" ");
      const about = { title: `${place} · ${name} ${number}`, "aria-label": `${written}, ${place}` }; // what stands on it comes first in its name
      updateAttributes(small, { ...about, "aria-pressed": at === layer && of === head, "data-named": Boolean(name) });
      const [, , words] = small.children, [second, first] = words.children;
      first.textContent = name;
      second.textContent = number;
    }
  }

  row(count, layer) {
    const small = Array.from({ length: count }, (_, head) => this.button(layer, head));
    return h("div", { class: "pg-layer" }, h("span", { class: "pg-layer-name" }, say("layer", { layer: layer + 1 })), h("div", { class: "pg-thumbs" }, small));
  }

  /** One head as a button; pointing at it shows it large, unless the picture changes by itself. */
  button(layer, head) {
    const here = { layer: layer + 1, head: head + 1, follow: "off" };
    const leave = () => this.panel.preview(null), enter = () => this.block.layer !== null && !isGrowing() && this.panel.preview(here);
    return button({ class: "pg-thumb", dataset: { layer, head }, onclick: () => move(here), onmouseenter: enter, onmouseleave: leave, onfocus: leave },
      h("i", { class: "pg-spot" }), h("span", {}, String(head + 1)), " ", h("small", {}, h("b", {}), " ", h("span", {})));
  }

  // ---- the pictures -------------------------------------------------------------------------------------------------------------------

  /** The colours of all weights, four bytes each. */
  colour() {
    const { colours } = this.block, key = JSON.stringify(colours);
    if (this.scale === key) return;
    this.scale = key;
    const strip = document.createElement("canvas"), pen = strip.getContext("2d");
    strip.width = SHADES + 1;
    strip.height = 1;
    const gradient = pen.createLinearGradient(0, 0, SHADES, 0);
    colours.scale.forEach((colour, at, all) => gradient.addColorStop(at / (all.length - 1), colour));
    for (const [x, fill] of /** @type {const} */ ([[0, gradient], [SHADES, colours.masked]])) {
      pen.fillStyle = fill;
      pen.fillRect(x, 0, SHADES, 1);
    }
    this.shades = pen.getImageData(0, 0, SHADES + 1, 1).data;
  }

  /** Draws before long, and goes on for as long as something moves. */
  wake() {
    this.due ||= requestAnimationFrame((now) => {
      this.due = 0;
      if (now - this.last < FRAME && !this.way) return this.wake();
      this.last = now;
      this.draw(now);
      if (this.way || now - this.since < TURN) this.wake();
    });
  }

  draw(now) {
    if (!this.element.offsetParent || !this.to.length) return;
    const heads = this.weightsAt(now), spots = [...this.element.querySelectorAll(".pg-spot")].map((spot) => spot.getBoundingClientRect());
    const large = this.way?.head >= 0 ? gridOf(this.element.closest(".pg-panel")) : null;
    if (this.way && this.way.head >= 0 && !large && now < this.way.begun + PATIENCE) this.way.since = now; // its picture is on its way
    const { way } = this, passed = way ? shareOf(now, way.since, GROWTH) : 1, share = soft(Math.min(1, passed / LANDED));
    this.places = way ? spots.map((spot, at) => mixBoxes(way.places[at], spot, share)) : spots;
    const drawn = heads.map((weights, at) => ({ weights, place: this.places[at] }));
    if (large) drawn.push({ weights: heads[way.head], place: mixBoxes(way.places[way.head], large, share) });
    this.element.closest(".pg-panel")?.classList.toggle("pg-arriving", Boolean(way) && way.head >= 0 && share < 1);
    this.paint(drawn);
    if (way && passed === 1) {
      this.way = null;
      this.wake(); // without the head that has grown
    }
  }

  /** @param {{ weights: number[], place: Box }[]} drawn */
  paint(drawn) {
    const { canvas, layers } = this, origin = layers.getBoundingClientRect(), zoom = origin.width / layers.offsetWidth; // a presenter's page is larger
    const box = around(drawn.map(({ place }) => place)), ratio = devicePixelRatio || 1;
    const [width, height] = [box.width, box.height].map((length) => Math.ceil(length * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const sides = [box.x - origin.x + layers.scrollLeft * zoom, box.y - origin.y, box.width, box.height];
    const [left, top, wide, high] = sides.map((length) => `${length / zoom}px`);
    canvas.style.cssText = `width: ${wide}; height: ${high}; transform: translate(${left}, ${top})`; // nothing on the page moves with it
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, -box.x * ratio, -box.y * ratio);
    pen.clearRect(box.x, box.y, box.width, box.height);
    pen.imageSmoothingEnabled = false;
    for (const { weights, place } of drawn) this.paintHead(pen, weights, place);
  }

  paintHead(pen, weights, { x, y, width, height }) {
    const [head] = this.block.weights[0], [rows, columns] = [head.length, head[0].length], { mask, colours } = this.block, { cells } = this;
    if (cells.width !== columns || cells.height !== rows) Object.assign(cells, { width: columns, height: rows });
    const small = cells.getContext("2d"), image = small.createImageData(columns, rows), isMasked = (at) => mask[Math.floor(at / columns)]?.[at % columns] === 0;
    weights.forEach((weight, at) => {
      const shade = isMasked(at) ? SHADES : Math.round(weight * (SHADES - 1));
      image.data.set(this.shades.subarray(4 * shade, 4 * shade + 4), 4 * at);
    });
    small.putImageData(image, 0, 0);
    pen.drawImage(cells, x, y, width, height);
    const [wide, high] = [width / columns, height / rows], { pointed } = page;
    pen.beginPath();
    if (wide >= HATCHED) {
      weights.forEach((_, at) => {
        if (!isMasked(at)) return;
        const [left, top] = [x + (at % columns) * wide, y + Math.floor(at / columns) * high];
        pen.moveTo(left, top + high);
        pen.lineTo(left + wide, top);
      });
    }
    pen.strokeStyle = colours.hatch;
    pen.lineWidth = 1;
    pen.stroke();
    if (!pointed || pointed.part !== kindOf()) return;
    pen.strokeStyle = getComputedStyle(this.element).color;
    const { q = null, k = null } = pointed;
    if (q !== null && q < rows) pen.strokeRect(x, y + q * high, width, high);
    if (k !== null && k < columns) pen.strokeRect(x + k * wide, y, wide, height);
  }
}

/** @type {Map<string, Crowd>} */
const crowds = new Map(); // by the block's id: an element may be made anew while its heads are on their way

register("heads", (element, block, panel) => {
  if (!crowds.has(block.id)) crowds.set(block.id, new Crowd());
  crowds.get(block.id).take(element, block, panel);
});

subscribe(["pointed"], () => crowds.forEach((crowd) => crowd.element.offsetParent && crowd.wake()));
