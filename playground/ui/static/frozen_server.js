// A frozen page: there is no server, its answers lie beside it as files (see playground/freeze). What only a server can do is refused in one
// sentence. It takes the place of server.js.
// @ts-check

import { h, say } from "./dom.js";
import { page } from "./store.js";
import { repainted } from "./repaint.js";

const BASE = new URL("../../../..", import.meta.url).href; // this file is asset/<version>/ui/static/frozen_server.js
export const isFrozen = true;

const files = new Map();
/** Reads the answers of a script in this folder, once: for a page that is opened as a file, a browser loads scripts alone. Answers
 * are packed, since plain web servers send files as they are. */
function file(name) {
  const read = async () => {
    await new Promise((resolve, reject) => document.head.append(h("script", { src: new URL(`${name}.js`, BASE).href, onload: resolve, onerror: reject })));
    const packed = Uint8Array.from(atob(/** @type {any} */ (globalThis).playgroundAnswers[name]), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  if (!files.has(name)) files.set(name, read());
  return files.get(name);
}

const refusal = (key) => ({ error: say(key), key: `page.${key}` });

/** Answers like a route. Words that the page doesn't know yet are in the first answer of all. */
export async function ask(address, { signal } = /** @type {RequestInit} */ ({})) {
  const { pathname, searchParams } = new URL(address), path = decodeURI(pathname.slice(new URL(BASE).pathname.length));
  const answer = await answered(path, Object.fromEntries(searchParams));
  if (signal?.aborted) throw signal.reason;
  return new Response(JSON.stringify(answer), { headers: { "Content-Type": "application/json" } });
}

async function answered(path, query) {
  const frozen = await file("frozen"), words = frozen.page[query.lang] ?? frozen.page.en, [kind, name] = path.split("/");
  if (kind === "boot") return { ...words.boot, ignored: query.run && query.run !== frozen.run ? ["run"] : [] };
  if (kind === "runs") return words.runs;
  if (kind === "run") return words.card;
  if (kind !== "panel") return refusal("frozen_needs_server");
  const { beside: second, ...wanted } = { ...frozen.defaults, ...query };
  const answer = (part) => panel(part, frozen.panels[part], wanted, frozen.defaults);
  return second ? { ...(await answer(name)), sentence: await answer(second) } : answer(name);
}

async function panel(name, grids, wanted, defaults) {
  if (!grids) return { step: null, uses: [], blocks: [note("frozen_needs_server", "pg-about")] };
  const { at, found: places } = nearest(grids, wanted, defaults), { axes, refused, pins } = grids[at];
  if (axes.some(({ fields }, n) => fields[0] === "text" && places[n].at < 0)) return refusal("frozen_sentence");
  const [first, ...rest] = places.map(({ at: place }) => Math.max(place, 0));
  const { shared, answers } = await file(`answers/${name}-${at}-${first}`);
  const answer = JSON.stringify(whole(answers[rest.join()], shared)), { light, dark } = page.boot.palettes;
  const painted = JSON.parse(wanted.dark === "1" ? repainted(answer, light, dark) : answer);
  if (!painted.blocks) return painted;
  const texts = new Set((await file("frozen")).panels.sentence.flatMap((grid) => grid.axes).flatMap(({ values }) => values.map(([value]) => value)));
  painted.blocks = withoutDeadEnds(painted.blocks, texts);
  const isOther = (fields) => fields.some((field) => painted.uses.includes(field) && wanted[field] !== defaults[field]);
  if (isOther(refused) || !places.every(({ isExact }) => isExact)) return { ...painted, blocks: [note("frozen_needs_server"), ...painted.blocks] };
  return isOther(pins) ? { ...painted, blocks: [...painted.blocks, note("frozen_pin")] } : painted;
}

/** Blocks in which what leads to sentences other than these is text, or not there. */
export const withoutDeadEnds = (blocks, texts) => blocks.flatMap((block) => {
  if (block.blocks) return { ...block, blocks: withoutDeadEnds(block.blocks, texts) };
  if (block.to?.text && !texts.has(block.to.text)) return { kind: "text", id: block.id, css: "pg-caption", text: block.label };
  if (block.field !== "text" || !block.options) return block;
  const options = block.options.filter(({ value }) => texts.has(value));
  return options.length ? { ...block, options } : [];
});

/** A sentence beside the nearest answer there is. */
const note = (key, css = "pg-warning") => ({ kind: "text", id: "frozen", css, text: say(key) });

/** The grid that has the answer, else one that has all of it but what belongs to a pinned cell, else the first of those that know most of
 * what is asked, whose answer is to another question; and the places on its axes. */
export function nearest(grids, wanted, defaults) {
  const fits = grids.map(({ axes, refused, pins }) => {
    const places = axes.map((axis) => place(axis, wanted)), isSame = (field) => wanted[field] === defaults[field];
    const known = places.filter(({ isExact }) => isExact).length;
    return { found: places, known, isHere: known === places.length && refused.every(isSame), isPinned: pins.every(isSame) };
  });
  const most = Math.max(...fits.map(({ known }) => known)), isBest = [({ isHere, isPinned }) => isHere && isPinned, ({ isHere }) => isHere];
  const [at] = [...isBest, ({ known }) => known === most].map((is) => fits.findIndex(is)).filter((n) => n >= 0);
  return { at, found: fits[at].found };
}

/** The place on an axis that a question is about, or the nearest to it, -1 where there is none; and whether it is as good as that very place. */
export function place({ fields, values }, wanted) {
  const [first] = fields, near = (value) => Math.abs(Number(value) - Number(wanted[first]));
  const exact = values.findIndex((value) => fields.every((field, at) => value[at] === wanted[field]));
  if (exact >= 0) return { at: exact, isExact: true };
  if ((first === "step" && wanted.step !== "") || first === "width") {
    const numbers = values.flatMap(([value], at) => (value === "" ? [] : [at]));
    return { at: numbers.reduce((best, at) => (near(values[at][0]) < near(values[best][0]) ? at : best), numbers[0] ?? 0), isExact: true };
  }
  return { at: fields.length > 1 ? values.findIndex(([value]) => value === wanted[first]) : -1, isExact: false };
}

/** An answer with what it shares with others put in. */
export function whole(value, shared) {
  if (Array.isArray(value)) return value.map((item) => whole(item, shared));
  if (value === null || typeof value !== "object") return value;
  if ("$" in value) return whole(shared[value.$], shared);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, whole(item, shared)]));
}

export const checkServer = () => {}; // it is always there

/** Streams the last update of a run. */
export function listen() {
  /** @type {any} */
  const stream = { readyState: EventSource.OPEN, addEventListener: () => {}, close: () => void (stream.readyState = EventSource.CLOSED) };
  file("frozen").then(({ live }) => stream.onmessage?.({ data: JSON.stringify(live) }));
  return stream;
}
