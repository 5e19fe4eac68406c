// Curves, filled from a run's history. While it trains: one light path a line, drawn over the axes of the Plotly figure and extended point
// by point as the points come. Plotly's own lines are hidden meanwhile, and back when the run rests.
// @ts-check

import { draw } from "./picture.js";
import { nameParent } from "./live.js";
import { count as shownCount, say, svg, update, updateAttributes } from "./dom.js";

const TRAIL = [150, 700]; // milliseconds by which a line is behind the points that have come: at least, and at most
const ENTRY = 18; // px of a line of the legend
const FRAME = 45; // milliseconds between two drawings, on average: twenty a second, also where a browser draws one of them a little late

/**
 * How many of the points a line has reached at `now`: it goes on evenly from where it was when the newest came.
 * @param {{ from: number, to: number, since: number, trail: number }} way
 * @param {number} now
 */
export function reached({ from, to, since, trail }, now) {
  return trail > 0 ? from + (to - from) * Math.min(1, Math.max(0, now - since) / trail) : to;
}

/**
 * How long a line is on its way to points that came so many milliseconds after those before them: a little longer than until the next may
 * come, so that it never stands still in between. It forgets a long wait slowly.
 * @param {number} gap
 * @param {number} before the trail so far
 */
export const trailAfter = (gap, before) => Math.min(TRAIL[1], Math.max(TRAIL[0], 1.2 * gap, 0.95 * before));

/** When a drawing counts as made: on its beat, so that one that came late doesn't put off all that follow. */
export const onBeat = (now, last) => (now - last < 2 * FRAME ? last + FRAME : now);

/** The path of a line that only grows, in pixels, for as long as its scale is the same. A value that is null leaves a gap. */
export class Path {
  /** @param {{ x: (value: number) => number, y: (value: number) => number }} scale */
  constructor(scale) {
    this.scale = scale;
    this.count = 0; // of the points that are in it
    this.text = "";
    this.column = []; // the last points, which share a column of pixels and are not in the text yet
  }

  /**
   * The path along the first `count` points, never fewer than before. Of a count that is not whole, the last piece leads towards the next.
   * @param {(number | null)[]} xs
   * @param {(number | null)[]} ys
   * @param {number} count
   */
  upTo(xs, ys, count) {
    const whole = Math.min(Math.floor(count), xs.length), part = count - whole;
    const isPoint = (at) => at >= 0 && at < xs.length && (ys[at] ?? null) !== null;
    const point = (x, y, begins) => ({ x: this.scale.x(x), y: this.scale.y(y), begins });
    for (; this.count < whole; this.count += 1) if (isPoint(this.count)) this.add(point(xs[this.count], ys[this.count], !isPoint(this.count - 1)));
    const between = (values) => values[whole - 1] + (values[whole] - values[whole - 1]) * part;
    const tip = part > 0 && isPoint(whole - 1) && isPoint(whole) ? [point(between(xs), between(ys), false)] : [];
    return this.text + written([...fewest(this.column), ...tip]);
  }

  add(point) {
    const here = (other) => Math.floor(2 * other.x) === Math.floor(2 * point.x); // half a pixel
    if (this.column.length && (point.begins || !here(this.column[0]))) {
      this.text += written(fewest(this.column));
      this.column = [];
    }
    this.column.push(point);
  }
}

const written = (points) => points.map(({ x, y, begins }) => `${begins ? "M" : "L"}${x.toFixed(2)},${y.toFixed(2)}`).join("");

/** Of the points of one column those that can be seen: the first, the lowest, the highest and the last. */
function fewest(column) {
  if (column.length <= 4) return column;
  const heights = column.map(({ y }) => y), extremes = [Math.min(...heights), Math.max(...heights)].map((y) => heights.indexOf(y));
  return [...new Set([0, ...extremes.sort((a, b) => a - b), column.length - 1])].map((at) => column[at]);
}

/**
 * All that decides on the axes of a figure, as text. They have to be drawn anew when it changes.
 * @param {import("./blocks").Plotly} figure
 */
function axesOf({ data, layout }) {
  const { datarevision, ...fixed } = layout;
  const bounds = (values) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return [Math.min(low, 0), high, low === high]; // they begin at zero; around a single value Plotly leaves more room
  };
  const boundsOf = (side) => layout[`${side}axis`]?.autorange && data.map((trace) => bounds(trace[side]));
  return JSON.stringify([fixed, boundsOf("x"), boundsOf("y")]);
}

/** The marks of Plotly at a point, `r` being half their size. */
const MARKERS = {
  circle: (r) => `m${r},0a${r},${r} 0 1,1 ${-2 * r},0a${r},${r} 0 1,1 ${2 * r},0z`,
  diamond: (r) => `m${1.3 * r},0l${-1.3 * r},${1.3 * r}l${-1.3 * r},${-1.3 * r}l${1.3 * r},${-1.3 * r}z`,
};

/** Plotly's patterns of a line of this width. */
function dashes({ dash, width }) {
  const unit = Math.max(width, 3);
  return dash === "dash" ? `${3 * unit},${3 * unit}` : dash === "dot" ? `${unit},${unit}` : null;
}

/** The lines of one figure. */
class Pen {
  /** @param {HTMLElement} plot whose axes Plotly has drawn */
  constructor(plot) {
    this.plot = plot;
    this.layer = svg("svg", { class: "pg-pen", "aria-hidden": "true" });
    this.lines = [];
    this.run = this.looks = "";
    /** @type {import("./blocks").Plotly} */
    this.figure = { data: [], layout: {} };
    this.last = this.due = 0; // when it was drawn, and the frame that is asked for
    this.at = Infinity; // the step that is marked; none
  }

  /** The points that are there now: what is drawn goes on from where it is. Lines of another run begin anew. */
  take(figure) {
    const now = performance.now(), { uirevision } = figure.layout, looks = JSON.stringify(figure.data.map(({ line, marker }) => [line, marker]));
    if (this.run !== uirevision || this.looks !== looks) this.begin(figure);
    Object.assign(this, { figure, looks, run: uirevision });
    this.lines.forEach((line, at) => {
      const count = figure.data[at].x.length, position = reached(line.way, now), { trail, since } = line.way;
      const from = line.way.to === 0 || position > count ? count : position; // points of before the first drawing come at once
      if (line.way.to !== count) line.way = { from, to: count, since: now, trail: this.still ? 0 : trailAfter(since ? now - since : 0, trail) };
    });
    this.wake();
  }

  begin(figure) {
    const lineOf = ({ line, marker }) => {
      const stroke = { fill: "none", stroke: line.color, "stroke-width": line.width, "stroke-miterlimit": 2 };
      const path = svg("path", { ...stroke, ...(dashes(line) ? { "stroke-dasharray": dashes(line) } : {}) });
      return { path, marks: marker && svg("path", { fill: marker.color }), way: { from: 0, to: 0, since: 0, trail: 0 }, scaled: "", along: null };
    };
    this.lines = figure.data.map(lineOf);
    this.step = svg("g", { class: "pg-pen-step", visibility: "hidden" }, svg("path"), svg("text", { y: 9 }));
    this.box = svg("svg", {}, ...this.lines.flatMap(({ path, marks }) => (marks ? [path, marks] : [path])), this.step);
    this.layer.replaceChildren(this.box);
  }

  /**
   * A vertical line at the step of all that stands beside the curve, which may be ahead of it. At once: the line is part of that moment.
   * @param {number} [at]
   */
  mark(at = this.at) {
    this.at = at;
    const full = /** @type {any} */ (this.plot)._fullLayout, isThere = full?.xaxis && Number.isFinite(at);
    updateAttributes(this.step, { visibility: isThere ? "visible" : "hidden" });
    if (!isThere) return;
    const [line, text] = [...this.step.children], { range: [low, high], _length: width } = full.xaxis, x = ((at - low) / (high - low)) * width;
    updateAttributes(line, { d: `M${x.toFixed(2)},0V${full.yaxis._length}` });
    const isLeft = x > width - 90; // there is no room at the right
    updateAttributes(text, { x: x + (isLeft ? -5 : 5), "text-anchor": isLeft ? "end" : "start" });
    update(text, { textContent: say("measured_at", { step: shownCount(at) }) });
    update(this.step.dataset, { step: String(at) });
  }

  /** Whether nothing may move by itself. */
  get still() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  wake() {
    this.due ||= requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    this.due = 0;
    if (!this.plot.classList.contains("pg-light")) return;
    if (now - this.last < FRAME) return this.wake();
    this.last = onBeat(now, this.last);
    this.draw(now);
    if (this.lines.some(({ way }) => reached(way, now) < way.to)) this.wake();
  }

  draw(now) {
    const { _fullLayout: full } = /** @type {any} */ (this.plot), host = this.plot.querySelector(".svg-container");
    if (!full || !host) return;
    if (this.layer.parentNode !== host) host.append(this.layer);
    const { xaxis, yaxis } = full, place = { x: xaxis._offset, y: yaxis._offset, width: xaxis._length, height: yaxis._length };
    const scaled = String([xaxis.range, yaxis.range, xaxis._length, yaxis._length]);
    const free = this.figure.data.some((trace) => trace.cliponaxis === false);
    updateAttributes(this.box, { ...place, overflow: free ? "visible" : "hidden" });
    const along = ({ range: [low, high], _length: length }) => (value) => ((value - low) / (high - low)) * length;
    const x = along(xaxis), up = along(yaxis), scale = { x, y: (value) => yaxis._length - up(value) };
    this.lines.forEach((line, at) => {
      const { x: xs, y: ys, marker } = this.figure.data[at], count = reached(line.way, now);
      if (line.scaled !== scaled || line.along.count > count) Object.assign(line, { scaled, along: new Path(scale) });
      updateAttributes(line.path, { d: line.along.upTo(xs, ys, count) });
      const mark = (value, i) => (ys[i] === null ? "" : `M${scale.x(value)},${scale.y(ys[i])}${MARKERS[marker.symbol](marker.size / 2)}`);
      if (line.marks) updateAttributes(line.marks, { d: xs.slice(0, Math.floor(count)).map(mark).join("") });
    });
    this.mark();
    this.plot.dataset.points = String(this.lines.reduce((sum, { way }) => sum + Math.floor(reached(way, now)), 0));
  }

  rest() {
    cancelAnimationFrame(this.due);
    this.due = 0;
    this.layer.remove();
    this.plot.classList.remove("pg-light");
  }
}

const pens = new WeakMap(); // plot -> its pen

/**
 * Shows a curve: while its run trains as light paths over the axes, which are drawn when they have to be; else by Plotly alone.
 * @param {HTMLElement} plot
 * @param {import("./blocks").Plotly} figure
 * @param {boolean} grows whether its run trains
 * @param {number} at the step of what stands beside it, if that is known
 * @returns {Promise<void>} when what takes time is drawn
 */
export function drawCurve(plot, figure, grows, at) {
  if (!grows) {
    const key = JSON.stringify(figure);
    if (plot.pgText === key) return plot.pgDrawn ?? Promise.resolve();
    plot.pgText = key;
    plot.pgDrawn = draw(plot, figure, false, () => pens.get(plot)?.rest());
    return plot.pgDrawn;
  }
  const axes = axesOf(figure), pen = pens.get(plot) ?? new Pen(plot), isOther = pen.run !== figure.layout.uirevision;
  pens.set(plot, pen);
  pen.take(figure);
  pen.mark(at);
  if (plot.pgText === axes && !plot.matches(":hover")) return plot.pgDrawn ?? Promise.resolve(); // its hover text is of what Plotly knows
  plot.pgText = axes;
  const named = figure.data.map((trace) => (trace.x.length ? trace : { ...trace, x: [null], y: [null] })); // else the legend leaves it out
  plot.pgDrawn = draw(plot, { ...figure, data: named }, !isOther, () => {
    plot.classList.add("pg-light");
    pen.wake();
  });
  return plot.pgDrawn;
}

// ---- curves put together from the run's history -----------------------------------------------------------------------------------------

/**
 * A curve with the history filled in: each trace says in its meta which columns it draws. The first shape marks the `step` of the replay,
 * which is "" while the page shows the newest. What a fork has from its `parent` is grey.
 * @param {import("./blocks").Plotly} skeleton
 * @param {import("./page").Run} run
 * @param {string} step
 * @param {import("./page").Parent | null} [parent]
 * @returns {import("./blocks").Plotly}
 */
export function fillCurve(skeleton, run, step, parent = null) {
  const { step: validated, loss, ...shares } = run.validations;
  const columns = { ...run.rows, validation_step: validated, validation_loss: loss, ...shares };
  const pinned = skeleton.data.filter((trace) => !trace.meta); // what names no columns is of the pinned run and has its numbers
  const lines = skeleton.data.filter((trace) => trace.meta);
  const filled = lines.map((trace) => ({ ...trace, x: columns[trace.meta.x] ?? [], y: columns[trace.meta.y] ?? [] }));
  const behind = parent ? filled.map((trace) => past(trace, parent)) : [], named = behind.findLast(({ x }) => x.length);
  const data = [...behind, ...(parent ? filled.map((trace) => own(trace, parent)) : filled), ...pinned];
  const here = { visible: step !== "", x0: Number(step), x1: Number(step) };
  const shapes = (skeleton.layout.shapes ?? []).map((shape, at) => (at === 0 ? { ...shape, ...here } : shape));
  const { xaxis } = skeleton.layout, isFixed = xaxis?.autorange === false && run.steps; // to the steps of a run that may be another
  const layout = /** @type {any} */ ({ ...skeleton.layout, ...(isFixed ? { xaxis: { ...xaxis, range: [0, run.steps] } } : {}) });
  if (named) {
    const room = ENTRY * named.name.split("<br>").length;
    named.showlegend = true;
    Object.assign(layout, { height: layout.height + room, margin: { ...layout.margin, t: layout.margin.t + room } });
  }
  return { data, layout: { ...layout, shapes, datarevision: run.version, uirevision: run.id } }; // zoom stays as long as the run does
}

/** How many rows of a trace are the parent's. */
const early = (trace, parent) => trace.x.filter((step) => step <= parent.until).length;

/** The parent's part of a curve, which stands behind. */
function past(trace, parent) {
  const color = trace.meta?.past_color, end = early(trace, parent), name = nameParent(parent).replaceAll("<", "&lt;").replace(/(.{12,}?) /, "$1<br>");
  const grey = { line: { ...trace.line, color }, ...(trace.marker ? { marker: { ...trace.marker, color } } : {}) };
  return { ...trace, ...grey, x: trace.x.slice(0, end), y: trace.y.slice(0, end), name, showlegend: false, legendrank: 1001 };
}

/** The fork's own part. */
function own(trace, parent) {
  const first = early(trace, parent);
  return { ...trace, x: trace.x.slice(first), y: trace.y.slice(first) };
}

/** A piece of a run's line as the figures draw it. */
export const sample = ({ color, dash }) =>
  svg("svg", { width: "34", height: "10", "aria-hidden": "true" },
    svg("line", { x1: "1", x2: "33", y1: "5", y2: "5", stroke: color, "stroke-width": "2.5", "stroke-dasharray": dash || null }));
