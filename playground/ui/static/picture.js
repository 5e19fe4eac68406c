// Figures on the page: drawn by one Plotly, kept when they change, and telling which cell is under the pointer.
// @ts-check

import { h, isResting, minus, plotlyUrl, say } from "./dom.js";
import { change, cursor, move } from "./store.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset", scrollZoom: false, typesetMath: false, showTips: false };
let loading = null;

/** The one Plotly of the page, fetched once from this server. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: plotlyUrl });
    const before = window.Plotly;
    script.onload = () => {
      const ours = window.Plotly;
      if (before) window.Plotly = before;
      resolve(ours);
    };
    script.onerror = () => {
      loading = null; // the next figure tries again
      reject(new Error("plotly.js did not come"));
    };
    document.head.append(script);
  });
  return loading;
}

/** Greys all that is about a run, since another one is opened: no picture stands under another run's name. Each block that is drawn anew is
 * itself again. */
export function grey(on = true) {
  const blocks = document.querySelectorAll(".pg-panel .pg-block:not(.pg-row):not(.pg-later), #pg-result");
  for (const block of blocks) block.classList.toggle("stale", on);
}

const waiting = new Map(); // place -> what to draw there next; a newer figure takes the place of an older one
const LIVE_SHARE = 0.1; // of the browser's time is for figures that change by themselves: it may stand on the machine that trains
const MAX_REST = 1500; // milliseconds: a busy machine is slow to draw, and still shows that a training goes on
let drawing = false, called = false, rest = 0;
const near = (place) => {
  const box = place.getBoundingClientRect();
  return place.offsetParent !== null && box.bottom > -200 && box.top < innerHeight + 200;
};

/**
 * Draws `figure` into `place`, or changes what is there; zoom and hover survive. Resolves when it, or a newer one, is on screen, or at once
 * when its place is not: it is then drawn when it comes into view. `live` figures, which change by themselves, take turns in their share
 * of the browser's time. `then` is called when this very figure is drawn.
 */
export function draw(place, figure, live = false, then = () => {}) {
  return new Promise((resolve) => {
    const changes = live && Boolean(place.dataset.points); // the first time is no change: a first picture comes at once
    waiting.set(place, { figure, then, run: cursor.run, live: changes, tell: [...(waiting.get(place)?.tell ?? []), resolve] });
    if (!called) queueMicrotask(work); // once for all figures of an update: where they stand is dear to ask
    called = true;
  });
}

let frameRest = 0; // until then no frame is asked for; the curves, which have a pace of their own, don't wait for it
const isTurn = () => !drawing && performance.now() >= frameRest;
const restAfter = (milliseconds) => performance.now() + Math.min(MAX_REST, (1 / LIVE_SHARE - 1) * milliseconds);

/** Resolves when the next frame of a training may be drawn. */
export async function turn() {
  while (!isTurn()) await new Promise((go) => setTimeout(go, Math.max(frameRest - performance.now(), 4)));
}

/** So many milliseconds went into a frame. */
export const spent = (milliseconds) => void (frameRest = restAfter(milliseconds));

/** Draws a figure before anything else happens: the figures of one frame change together. One that is out of sight waits until it isn't. */
export async function drawNow(place, figure, then = () => {}) {
  if (!place.dataset.points || !near(place)) return draw(place, figure, true, then);
  return show(place, { figure, then, run: cursor.run, tell: waiting.get(place)?.tell ?? [] });
}

const resolveAll = (job) => job.tell.splice(0).forEach((tell) => tell());

/** Draws what is to be drawn there, which is grey no more, unless another run was opened meanwhile. */
async function show(place, job) {
  waiting.delete(place);
  try {
    await put(place, job.figure);
    if (job.run === cursor.run) place.closest(".pg-figure")?.classList.remove("stale");
    job.then();
  } catch (error) {
    reportError(error); // one figure that fails keeps no other from being drawn
  } finally {
    resolveAll(job);
  }
}

const letGo = () => waiting.forEach((job, place) => near(place) || resolveAll(job)); // a place out of sight keeps no caller waiting

async function work() {
  called = false;
  letGo();
  if (drawing) return;
  drawing = true;
  for (;;) {
    letGo(); // a picture that was drawn may have pushed another one out of sight
    const ready = [...waiting].filter(([place]) => near(place));
    const now = performance.now();
    const next = ready.find(([, job]) => !job.live) ?? (now >= rest ? ready[0] : null);
    if (!next) {
      drawing = false;
      if (ready.length) setTimeout(work, rest - now + 1);
      return;
    }
    const [place, job] = next;
    await show(place, job);
    if (job.live) rest = restAfter(performance.now() - now);
    await new Promise((go) => setTimeout(go)); // let clicks and keys through between two figures
  }
}
addEventListener("scroll", work, { passive: true, capture: true });
addEventListener("resize", work);
addEventListener("beforeprint", () => waiting.forEach((job, place) => place.offsetParent && show(place, job))); // on paper all is in sight

async function put(place, figure) {
  const Plotly = await plotly();
  if (!place.isConnected) return;
  const layout = { ...structuredClone(figure.layout), autosize: true }; // Plotly writes a zoom into what it is given
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) delete layout.transition;
  const before = grids(place).map((image) => image.cloneNode());
  const drawn = Plotly.react(place, figure.data, layout, CONFIG);
  fade(before, grids(place)); // before the new one is painted
  await drawn;
  if (!place.dataset.wired) wire(place);
  place.dataset.points = String(figure.data.reduce((sum, trace) => sum + (trace.x?.length ?? trace.z?.length ?? 0), 0));
}

const FADE = 280; // milliseconds
const grids = (place) => [...place.querySelectorAll(".heatmaplayer image:not(.pg-fading)")];

/** Lets the colours of a grid turn into the new ones: the old picture lies over the new one and goes away. Another size is no motion. */
function fade(before, after) {
  if (before.length !== after.length || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const lies = (image) => ["x", "y", "width", "height"].map((name) => image.getAttribute(name)).join();
  after.forEach((image, at) => {
    const old = before[at];
    if (lies(old) !== lies(image) || old.getAttribute("href") === image.getAttribute("href")) return;
    old.classList.add("pg-fading");
    image.closest(".hm").after(old); // in its group Plotly would take it for its own
    old.animate([{ opacity: 1 }, { opacity: 0 }], { duration: FADE, fill: "forwards" }).onfinish = () => old.remove();
  });
}

function wire(place) {
  place.dataset.wired = "yes";
  const cell = (event) => {
    const here = event.points?.[0];
    const meta = here?.fullData?.meta ?? here?.data?.meta ?? {};
    const about = place.layout?.meta ?? {};
    if (!about.cells && !meta.cells) return null;
    const column = Math.round(here.x), k = about.at?.[column] ?? column; // the columns may be a window of more
    const row = Math.round(here.y), q = about.down?.[row] ?? row; // and so may the rows
    return { q, k, part: about.kind ?? meta.kind, sides: about.sides, fields: about.fields ?? ["q", "k"] };
  };
  place.on("plotly_hover", (event) => point(cell(event)));
  place.on("plotly_unhover", () => point(null));
  place.on("plotly_click", (event) => {
    const here = cell(event);
    if (here) {
      const [row, column] = here.fields; // of the cursor: which cell is pinned
      const again = String(here.q) === cursor[row] && String(here.k) === cursor[column];
      return move({ [row]: again ? "" : here.q, [column]: again ? "" : here.k });
    }
    const { field, to } = event.points?.[0]?.fullData?.meta ?? {}; // of the cursor: a click on a point chooses it, and goes there
    if (field) return move({ [field]: event.points[0].customdata, ...to });
    const step = event.points?.[0]?.data?.meta?.x === "step" ? event.points[0].x : null;
    if (step !== null) move({ step });
  });
}

let pointed = null; // the cell under the pointer

/** Lights up the tokens of one cell wherever they stand; null lights up the pinned cell again. */
export function point(cell) {
  pointed = cell;
  highlight();
}

/** The kind of attention that the open tab's pictures are of. */
export const kindOf = () => (cursor.tab === "attention" ? cursor.part : "cross");

/** Where in the window the cells of a panel's large picture are, or its threads; null while it isn't drawn. */
export function gridOf(panel) {
  const plots = /** @type {any[]} */ ([...(panel?.querySelectorAll(".pg-plot[data-points]") ?? [])]);
  const plot = plots.find(({ layout, offsetParent }) => layout?.meta?.cells && offsetParent);
  if (!plot) return panel?.querySelector(".pg-strands")?.getBoundingClientRect() ?? null;
  const { left, top, width } = plot.getBoundingClientRect(), { xaxis, yaxis } = plot._fullLayout, zoom = width / plot.offsetWidth; // a presenter's
  return { x: left + xaxis._offset * zoom, y: top + yaxis._offset * zoom, width: xaxis._length * zoom, height: yaxis._length * zoom };
}

/** Frames the row and the column under the pointer in the grids of their kind, wherever the pointer is. */
function frame() {
  for (const band of document.querySelectorAll(".pg-band")) band.remove();
  if (!pointed) return;
  for (const place of document.querySelectorAll(".pg-plot[data-points]")) {
    const { layout, _fullLayout: { xaxis, yaxis } = {} } = /** @type {any} */ (place), { cells, kind, at, down } = layout?.meta ?? {};
    if (!cells || kind !== pointed.part || !xaxis) continue;
    const band = (axis, number, window, across) => {
      const cell = window ? window.indexOf(number) : number, [first, last] = [cell - 0.5, cell + 0.5].map((edge) => axis._offset + axis.l2p(edge));
      if (cell < 0 || first < axis._offset - 1 || last > axis._offset + axis._length + 1) return;
      const [left, top, width, height] = across ? [first, yaxis._offset, last - first, yaxis._length] : [xaxis._offset, first, xaxis._length, last - first];
      const style = Object.entries({ left, top, width, height }).map(([side, length]) => `${side}:${length}px`).join(";");
      place.append(h("i", { class: "pg-band", style }));
    };
    if (typeof pointed.q === "number") band(yaxis, pointed.q, down, false);
    if (typeof pointed.k === "number") band(xaxis, pointed.k, at, true);
  }
}

document.addEventListener("pointerover", (event) => {
  const [side, at] = /** @type {Element} */ (event.target).closest?.("[data-token]")?.dataset.token.split("-") ?? [];
  if (!side || isResting(event)) return;
  point(side === "tgt" ? { q: Number(at), k: null, part: kindOf() } : { q: null, k: Number(at), part: kindOf() });
});
document.addEventListener("pointerout", ({ target }) => /** @type {Element} */ (target).closest?.("[data-token]") && point(null));

/** Lights up the tokens of the cell under the pointer, or of the pinned one, which no stop of the tour asks for; also when they have just been
 * written anew. */
export function highlight() {
  change({ pointed });
  frame();
  const here = pointed ?? (cursor.q !== "" && !(cursor.stop && cursor.tab === "map") ? { q: cursor.q, k: cursor.k, part: cursor.part } : null);
  for (const chip of document.querySelectorAll("[data-token]")) chip.classList.remove("query", "key");
  if (!here) return;
  // a row alone may be chosen: then there is no key
  const [query, key] = here.sides ?? [here.part === "encoder" ? "src" : "tgt", here.part === "decoder" ? "fed" : "src"];
  const light = (token, role) => {
    for (const chip of document.querySelectorAll(`[data-token="${token}"]`)) {
      if ((chip.closest("[data-role]")?.dataset.role ?? role) === role) chip.classList.add(role);
    }
  };
  light(`${query}-${here.q}`, "query");
  light(`${key}-${here.k}`, "key");
}

const table = (...rows) => h("table", { oncopy: copied, translate: "no" }, ...rows);

/** Copies from a table with a hyphen for each minus, as spreadsheets need it. */
function copied(event) {
  event.clipboardData.setData("text/plain", String(getSelection()).replaceAll("−", "-"));
  event.preventDefault();
}

/** The numbers of a figure as a table, for a screen reader, and to be copied. */
export function asTable(figure) {
  const layout = figure.layout ?? {}, givenTable = layout.meta?.table; // {head, rows}, where coordinates mean nothing to a reader
  const cell = (value) => h("td", {}, typeof value === "number" ? minus(String(value)) : String(value));
  if (givenTable) return table(row(givenTable.head.map(heading)), givenTable.rows.map((cells) => row(cells.map(cell))));
  const heat = figure.data.find((trace) => trace.type === "heatmap");
  if (heat) return heatTable(heat.z, layout);
  const points = figure.data.filter((trace) => trace.x?.length).flatMap((trace) => Array.from(trace.x, (x, at) => [trace.name ?? "", x, trace.y?.[at]]));
  const some = points.length > 400 ? points.filter((_, at) => at % Math.ceil(points.length / 400) === 0) : points;
  const written = (value) => (typeof value === "number" ? minus(String(Number(value.toPrecision(5)))) : decode(value ?? ""));
  const of = (axis) => decode(axis?.title?.text ?? "") || say("table_value");
  const named = [say("table_series"), of(layout.xaxis), of(layout.yaxis)].map(heading);
  return table(row(named), some.map((values) => row(values.map((value) => h("td", {}, written(value))))));
}

const row = (cells) => h("tr", {}, cells);
const heading = (text) => h("th", { scope: "col" }, text);
const decode = (text) => new DOMParser().parseFromString(String(text), "text/html").documentElement.textContent;

/** Cells with the names of their rows and columns. */
function heatTable(z, layout) {
  const names = heatNames(z, layout);
  const written = (value, at, column) => (value === null ? names.hidden(at, column) : minus(value.toFixed(3)));
  const line = (values, at) =>
    row([h("th", { scope: "row" }, names.row(at)), ...values.map((value, column) => h("td", {}, written(value, at, column)))]);
  return table(row([h("th", {}), ...(z[0] ?? []).map((_, at) => heading(names.column(at)))]), z.map(line));
}

/** The name of a value on an axis. */
export function tickName(axis, value) {
  const at = axis?.tickvals?.indexOf(value) ?? -1;
  return at >= 0 && axis.ticktext ? decode(axis.ticktext[at]) : typeof value === "string" ? decode(value) : value;
}

/** The names of a grid's rows and columns, and what stands where there is no number. */
export function heatNames(z, layout) {
  const { rows = [], columns = [], none, secret } = layout.meta ?? {}; // every token, also those whose tick label found no room
  return {
    row: (at) => rows[at] ?? tickName(layout.yaxis, at),
    column: (at) => columns[at] ?? tickName(layout.xaxis, at),
    hidden: (at, column) => none ?? (String(secret) === `${at},${column}` ? "?" : say("masked")),
  };
}
