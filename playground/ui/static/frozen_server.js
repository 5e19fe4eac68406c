// A frozen page: there is no server, its answers lie beside it as files (see playground/freeze). What only a server can do is refused in one
// sentence. It takes the place of server.js.
// @ts-check

import { say } from "./dom.js";
import { page } from "./store.js";
import { repainted } from "./repaint.js";

const BASE = new URL("../..", import.meta.url).href; // asset/<version>/server.js stands two folders below
export const isFrozen = true;

const files = new Map();
/** A file of this folder, read once. Answers are packed, since plain web servers send files as they are. */
function file(name) {
  const unpacked = (answer) => new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).json();
  const read = async () => {
    const answer = await fetch(new URL(name, BASE));
    return name.endsWith(".pack") ? unpacked(answer) : answer.json();
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
  const frozen = await file("frozen.json"), words = frozen.page[query.lang] ?? frozen.page.en, [kind, name] = path.split("/");
  if (kind === "boot") return { ...words.boot, ignored: query.run && query.run !== frozen.run ? ["run"] : [] };
  if (kind === "runs") return words.runs;
  if (kind === "run") return words.card;
  if (kind === "panel" && frozen.panels[name]) return panel(frozen.panels[name], name, query);
  return refusal("frozen_needs_server");
}

async function panel({ axes, refused, defaults }, name, query) {
  const asked = { ...defaults, ...query }, found = axes.map((axis) => place(axis, asked));
  const text = axes.findIndex(({ fields }) => fields[0] === "text");
  if (found[text] === -1) return refusal("frozen_sentence");
  const nearest = found.map((at) => Math.max(at, 0));
  const { shared, answers } = await file(`answers/${name}${text < 0 ? "" : `-${found[text]}`}.pack`);
  const answer = JSON.stringify(whole(answers[nearest.filter((_, at) => at !== text).join()], shared));
  const { light, dark } = page.boot.palettes;
  const told = JSON.parse(query.dark === "1" ? repainted(answer, light, dark) : answer);
  const isOther = found.includes(-1) || refused.some((field) => asked[field] !== defaults[field]);
  return isOther && told.blocks ? { ...told, blocks: [...needsServer(), ...told.blocks] } : told;
}

/** What stands above the nearest answer there is. */
const needsServer = () => [{ kind: "text", id: "frozen", css: "pg-warning", text: say("frozen_needs_server") }];

/** The place on an axis that a question is about, or the nearest to it; -1 where there is none. */
export function place({ fields, values }, asked) {
  const [first] = fields, near = (value) => Math.abs(Number(value) - Number(asked[first]));
  const exact = values.findIndex((value) => fields.every((field, at) => value[at] === asked[field]));
  if (exact >= 0) return exact;
  if (first === "step" || first === "width") {
    const numbers = values.flatMap(([value], at) => (value === "" ? [] : [at]));
    return numbers.reduce((best, at) => (near(values[at][0]) < near(values[best][0]) ? at : best), numbers[0] ?? 0);
  }
  return fields.length > 1 ? values.findIndex(([value]) => value === asked[first]) : -1;
}

/** An answer with what it shares with others put in. */
export function whole(value, shared) {
  if (Array.isArray(value)) return value.map((item) => whole(item, shared));
  if (value === null || typeof value !== "object") return value;
  if ("$" in value) return whole(shared[value.$], shared);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, whole(item, shared)]));
}

/** What a run's stream says once it is over. */
export function listen() {
  /** @type {any} */
  const stream = { readyState: EventSource.OPEN, addEventListener: () => {}, close: () => void (stream.readyState = EventSource.CLOSED) };
  file("frozen.json").then(({ live }) => stream.onmessage?.({ data: JSON.stringify(live) }));
  return stream;
}
