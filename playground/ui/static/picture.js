// Figures on the page: drawn by one Plotly, kept when they change, and telling which cell is under the pointer.

import { assetUrl, h, minus, say } from "./dom.js";
import { cursor, move } from "./state.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset", scrollZoom: false, typesetMath: false, showTips: false };
let loading = null;

/** The one Plotly of the page, fetched once from this server. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: assetUrl("plotly.js") });
    const before = window.Plotly;
    script.onload = () => {
      const mine = window.Plotly;
      if (before) window.Plotly = before;
      resolve(mine);
    };
    script.onerror = () => {
      loading = null; // the next figure tries again
      reject(new Error("plotly.js did not come"));
    };
    document.head.append(script);
  });
  return loading;
}

const waiting = new Map(); // place -> what to draw there next; a newer figure takes the place of an older one
const LIVE_SHARE = 0.1; // of the browser's time is for figures that change by themselves: it may stand on the machine that trains
let drawing = false, called = false, rest = 0;
const near = (place) => {
  const box = place.getBoundingClientRect();
  return place.offsetParent !== null && box.bottom > -200 && box.top < innerHeight + 200;
};

/**
 * Draws `figure` into `place`, or changes what is there; zoom and hover survive. Resolves when it, or a newer one, is on screen, or at once
 * when its place is not: it is then drawn when it comes into view. `live` figures, which change by themselves, take turns in their share
 * of the browser's time.
 */
export function draw(place, figure, live = false) {
  return new Promise((resolve) => {
    const changes = live && Boolean(place.dataset.points); // the first time is no change: nobody waits for a picture to begin with
    waiting.set(place, { figure, live: changes, tell: [...(waiting.get(place)?.tell ?? []), resolve] });
    if (!called) queueMicrotask(work); // once for all figures of an update: where they stand is dear to ask
    called = true;
  });
}

const told = (job) => job.tell.splice(0).forEach((tell) => tell());
const letGo = () => waiting.forEach((job, place) => near(place) || told(job)); // nobody waits for what is out of sight

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
    waiting.delete(place);
    try {
      await put(place, job.figure);
    } catch (error) {
      reportError(error); // one figure that fails keeps no other from being drawn
    } finally {
      if (job.live) rest = performance.now() + (1 / LIVE_SHARE - 1) * (performance.now() - now);
      told(job);
    }
    await new Promise((go) => setTimeout(go)); // let clicks and keys through between two figures
  }
}
addEventListener("scroll", work, { passive: true, capture: true });
addEventListener("resize", work);

async function put(place, figure) {
  const Plotly = await plotly();
  if (!place.isConnected) return;
  const layout = { ...structuredClone(figure.layout), autosize: true }; // Plotly writes a zoom into what it is given
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) delete layout.transition;
  await Plotly.react(place, figure.data, layout, CONFIG);
  if (!place.dataset.wired) wire(place);
  place.dataset.points = String(figure.data.reduce((sum, trace) => sum + (trace.x?.length ?? trace.z?.length ?? 0), 0));
}

function wire(place) {
  place.dataset.wired = "yes";
  const cell = (event) => {
    const point = event.points?.[0];
    const meta = point?.fullData?.meta ?? point?.data?.meta ?? {};
    const about = place.layout?.meta ?? {};
    const at = (place) => about.at?.[place] ?? place; // the columns may be a window of more
    return about.cells || meta.cells ? { q: Math.round(point.y), k: at(Math.round(point.x)), part: about.kind ?? meta.kind, sides: about.sides, fields: about.fields ?? ["q", "k"] } : null;
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
    const field = event.points?.[0]?.fullData?.meta?.field; // of the cursor: a click on a point chooses it
    if (field) return move({ [field]: event.points[0].customdata });
    const step = event.points?.[0]?.data?.meta?.x === "step" ? event.points[0].x : null;
    if (step !== null) place.dispatchEvent(new CustomEvent("pg-step", { bubbles: true, detail: step }));
  });
}

let pointed = null; // the cell under the pointer

/** Lights up the tokens of one cell wherever they stand; null lights up the pinned cell again. */
export function point(cell) {
  pointed = cell;
  highlight();
}

/** Lights up the tokens of the cell under the pointer, or of the pinned one, also when they have just been written anew. */
export function highlight() {
  const here = pointed ?? (cursor.q !== "" ? { q: cursor.q, k: cursor.k, part: cursor.part } : null);
  for (const chip of document.querySelectorAll("[data-token]")) chip.classList.remove("asks", "answers");
  if (!here) return;
  // a row alone may be chosen: then nothing answers
  const [asks, answers] = here.sides ?? [here.part === "encoder" ? "src" : "tgt", here.part === "decoder" ? "fed" : "src"];
  const light = (token, role) => {
    for (const chip of document.querySelectorAll(`[data-token="${token}"]`)) if ((chip.closest("[data-role]")?.dataset.role ?? role) === role) chip.classList.add(role);
  };
  light(`${asks}-${here.q}`, "asks");
  light(`${answers}-${here.k}`, "answers");
}

/** A small picture of one head: the same values and the same colours as the large one. Masked cells are hatched. */
export function thumbnail(canvas, values, mask, colours) {
  const rows = values.length, columns = values[0]?.length ?? 0;
  const size = Math.max(2, Math.min(12, Math.floor(96 / Math.max(rows, columns, 1))));
  canvas.width = columns * size;
  canvas.height = rows * size;
  const pen = canvas.getContext("2d");
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const seen = !mask || mask[row]?.[column] !== 0;
      pen.fillStyle = seen ? colours.scale[Math.round(values[row][column] * (colours.scale.length - 1))] : colours.masked;
      pen.fillRect(column * size, row * size, size, size);
      if (seen) continue;
      pen.strokeStyle = colours.hatch;
      pen.beginPath();
      pen.moveTo(column * size, (row + 1) * size);
      pen.lineTo((column + 1) * size, row * size);
      pen.stroke();
    }
}

const table = (...rows) => h("table", { oncopy: copied }, ...rows);

/** What is copied from a table goes into a spreadsheet, which takes only a hyphen for a minus. */
function copied(event) {
  event.clipboardData.setData("text/plain", String(getSelection()).replaceAll("−", "-"));
  event.preventDefault();
}

/** The numbers of a figure as a table, for a screen reader or for anyone who wants to copy them. */
export function asTable(figure) {
  const axis = figure.layout ?? {};
  const label = (ax, value) => {
    const at = ax?.tickvals?.indexOf(value) ?? -1;
    return at >= 0 ? ax.ticktext[at] : String(value);
  };
  const given = axis.meta?.table; // {head, rows}, from figures whose coordinates mean nothing to a reader
  if (given) return table(h("tr", {}, given.head.map((text) => h("th", { scope: "col" }, text))), given.rows.map((row) => h("tr", {}, row.map((value) => h("td", {}, String(value))))));
  const decode = (text) => new DOMParser().parseFromString(String(text), "text/html").documentElement.textContent;
  const heat = figure.data.find((trace) => trace.type === "heatmap");
  if (heat) {
    const { rows = [], columns: names = [] } = axis.meta ?? {}; // every token, also those whose tick label found no room
    const columns = heat.z[0]?.map((_, at) => names[at] ?? decode(label(axis.xaxis, at))) ?? [];
    const head = h("tr", {}, h("th", {}), columns.map((text) => h("th", { scope: "col" }, text)));
    return table(head, heat.z.map((row, at) => h("tr", {}, h("th", { scope: "row" }, rows[at] ?? decode(label(axis.yaxis, at))), row.map((value, column) => h("td", {}, value === null ? (axis.meta?.none ?? (String(axis.meta?.secret) === `${at},${column}` ? "?" : say("masked"))) : minus(value.toFixed(3)))))));
  }
  const rows = figure.data.filter((trace) => trace.x?.length).flatMap((trace) => Array.from(trace.x, (x, at) => [trace.name ?? "", x, trace.y?.[at]]));
  const some = rows.length > 400 ? rows.filter((_, at) => at % Math.ceil(rows.length / 400) === 0) : rows;
  return table(some.map((row) => h("tr", {}, row.map((value) => h("td", {}, typeof value === "number" ? minus(String(+value.toPrecision(5))) : decode(value ?? ""))))));
}
