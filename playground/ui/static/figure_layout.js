// The layout of the paper's figure 1 in pixels, and which of its parts is on screen: only computes. It is drawn from below, as in the
// paper; y counts from the top.
// @ts-check

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ kind: string, hue: string, points: number[][] }} Line corners of a line; all but the `shared` ones end in an arrow */

const BOX = 84, MASK = 22, HIGH = 24, TALL = 36; // px of a box, of a mask beside it; of one line of text and of two
const ARROW = 14, TOUCH = 2, EDGE = 8, NAME = 16; // px between boxes: with an arrow, without; inside the frame of a layer, and for its N=2
export const WIDTH = 217;
const COLUMNS = { encoder: { x: 11, rail: 5, frame: 1 }, decoder: { x: 117, rail: 207, frame: 113 } };
const GUTTER = 106; // where the memory's line goes to the decoder
const FRAME = 101;

/**
 * Boxes by the names of their parts, the lines between them, and the frames of the layers.
 * @param {import("./blocks").ModelFigure} figure
 */
export function layOut(figure) {
  /** @type {{ boxes: Map<string, Box>, lines: Line[], frames: (Box & { hue: string, layers: number })[], next: { x: number, y: number } }} */
  const plan = { boxes: new Map(), lines: [], frames: [], next: { x: 0, y: 0 } };
  const encoder = column(plan, figure.encoder, "encoder"), decoder = column(plan, figure.decoder, "decoder");
  const end = figure.memory ? place(plan, figure.memory, encoder, "encoder", ARROW) : encoder;
  if (figure.memory) toCross(plan);
  else join(plan, encoder, figure.decoder);
  shared(plan, figure.shared);
  const top = decoder.y - ARROW - 4;
  arrow(plan, "decoder", [[decoder.x, decoder.y], [decoder.x, top]]);
  plan.next = { x: decoder.x, y: top - 4 };
  return fromTheTop(plan, Math.min(top, end.y) - 18);
}

const isMask = (part) => part.kind.startsWith("mask");
const arrow = (plan, hue, points, kind = "flow") => void plan.lines.push({ kind, hue, points });

/** One stack, from below. Returns the middle of the upper edge of what came last. */
function column(plan, stack, name) {
  let at = { x: COLUMNS[name].x + BOX / 2, y: 0 };
  for (const [number, part] of stack.input.entries()) at = place(plan, part, at, name, number ? ARROW : 0);
  if (!stack.sublayers.length) return at;
  const below = at;
  at = { ...at, y: at.y - ARROW + EDGE };
  for (const sublayer of stack.sublayers) at = drawSublayer(plan, sublayer, at, name);
  const frame = { x: COLUMNS[name].frame, y: at.y - EDGE - NAME, width: FRAME, height: below.y - ARROW + EDGE - at.y + EDGE + NAME };
  plan.frames.push({ ...frame, hue: name, layers: stack.layers });
  at = { ...at, inside: at.y, y: frame.y };
  for (const [number, part] of stack.end.entries()) at = place(plan, part, at, name, number && part.kind === "softmax" ? TOUCH : ARROW);
  return at;
}

/** The parts of a sublayer, one on the other; its input goes around it into the last. */
function drawSublayer(plan, { parts, residual }, below, name) {
  const { rail } = COLUMNS[name], visible = parts.filter((part) => !isMask(part));
  let at = below;
  for (const [number, part] of visible.entries()) at = place(plan, part, at, name, number ? TOUCH : ARROW);
  for (const part of parts.filter(isMask)) {
    const { x, y, width, height } = plan.boxes.get(visible.find((part) => part.kind.endsWith("attention")).name);
    plan.boxes.set(part.name, { x: x + width + TOUCH, y, width: MASK, height });
  }
  if (residual) {
    const last = plan.boxes.get(visible.at(-1).name), edge = rail < last.x ? last.x : last.x + last.width;
    const start = below.y - ARROW / 2, end = last.y + last.height / 2;
    arrow(plan, visible.at(-1).hue, [[below.x, start], [rail, start], [rail, end], [edge, end]], "residual");
  }
  return at;
}

/** One box on what is `below` it. Returns the middle of its upper edge. */
function place(plan, part, below, name, gap) {
  const attention = part.kind.endsWith("attention"), height = attention ? TALL : HIGH, y = below.y - gap - height;
  plan.boxes.set(part.name, { x: COLUMNS[name].x, y, width: attention ? BOX - MASK - TOUCH : BOX, height });
  if (gap === ARROW) arrow(plan, part.hue, [[below.x, below.inside ?? below.y], [below.x, y + height]]);
  return { x: below.x, y };
}

/** From the memory into every cross-attention, which needs it for its keys and values; or into the GRU of a model without one. */
function toCross(plan) {
  const memory = plan.boxes.get("memory"), cross = plan.boxes.get("decoder.cross_attention") ?? plan.boxes.get("decoder.gru");
  if (!cross) return;
  const from = memory.y + memory.height / 2, to = cross.y + cross.height / 2;
  const points = [[memory.x + memory.width, from], [GUTTER, from], [GUTTER, to], [cross.x, to]];
  arrow(plan, "cross", points, "memory");
}

/** From the source's embedding into the one stack of a decoder-only model, where it reads the target as well. */
function join(plan, from, { input, sublayers }) {
  const first = input.find(({ kind }) => kind === "positions") ?? sublayers[0].parts.find(({ kind }) => kind.endsWith("attention"));
  const to = plan.boxes.get(first.name), middle = to.y + to.height / 2;
  arrow(plan, "encoder", [[from.x, from.y], [from.x, middle], [to.x, middle]]);
}

/** Matrices that are one: the embeddings of both sides, and that of the output. */
function shared(plan, which) {
  const src = plan.boxes.get("src.embedding"), tgt = plan.boxes.get("tgt.embedding"), linear = plan.boxes.get("logits");
  const middle = ({ y, height }) => y + height / 2, right = tgt.x + tgt.width;
  const edge = WIDTH - 3, around = [[right, middle(tgt)], [edge, middle(tgt)], [edge, middle(linear)], [right, middle(linear)]];
  if (which !== "none") arrow(plan, "decoder", around, "shared");
  if (which === "all") arrow(plan, "decoder", [[src.x + src.width, middle(src)], [tgt.x, middle(tgt)]], "shared");
}

const LATIN = 6.3, HAN = 12.5; // px, of a letter of a box

/** A text in lines that fit, cut at spaces and after hyphens; a Chinese word that is too long, in its middle. */
export function lines(text, width) {
  const size = (piece) => [...piece].reduce((sum, letter) => sum + (letter > "\u2e80" ? HAN : LATIN), 0);
  const halves = (piece) => [piece.slice(0, piece.length / 2), piece.slice(piece.length / 2)];
  const pieces = text.split(/(?<=[ -])(?=\S)/).flatMap((piece) => (/^[\u2e80-\uffef]+$/.test(piece) && size(piece) > width ? halves(piece) : piece));
  const rows = [""];
  for (const piece of pieces) {
    if (rows.at(-1) && size(rows.at(-1) + piece.trimEnd()) > width) rows.push("");
    rows[rows.length - 1] += piece;
  }
  return rows.map((line) => line.trimEnd());
}

/** The same with y from the top of the drawing. */
function fromTheTop(plan, top) {
  const bottom = Math.max(...[...plan.boxes.values()].map(({ y, height }) => y + height));
  for (const box of [...plan.boxes.values(), ...plan.frames, plan.next]) box.y -= top;
  for (const line of plan.lines) line.points = line.points.map(([x, y]) => [x, y - top]);
  return { ...plan, height: bottom - top + 2 };
}

// ---- which part is on screen ------------------------------------------------------------------------------------------------------------

/** @type {(figure: import("./blocks").ModelFigure) => import("./blocks").Part[]} */
export const partsOf = ({ encoder, memory, decoder }) => [encoder, decoder].flatMap((stack) =>
  [...stack.input, ...stack.sublayers.flatMap(({ parts }) => parts), ...stack.end]).concat(memory ?? []);

/** The names of the parts that are on screen where the cursor is. On the map that is the one the open stage belongs to. */
export function shownParts(figure, where) {
  const parts = partsOf(figure);
  if (where.tab === "map") {
    const address = where.stage.replace(/\.\d+(?=\.)/, ""), begins = (stage) => `${address}.`.startsWith(`${stage}.`);
    const owner = (part) => Math.max(0, ...part.stages.filter(begins).map((stage) => stage.length));
    const nearest = Math.max(...parts.map(owner));
    return nearest ? parts.filter((part) => owner(part) === nearest).map(({ name }) => name) : [];
  }
  const fits = (fields) => Object.entries(fields).every(([name, value]) => where[name] === value);
  return parts.filter(({ shows }) => shows.some(fits)).map(({ name }) => name);
}

/** Where a click on a part leads: on the map to the layer that is open there already. */
export function target(part, where) {
  const to = { ...part.shows[0] };
  const [stack, layer] = where.stage.split(".");
  if (to.stage?.startsWith(`${stack}.0.`) && /^\d+$/.test(layer)) to.stage = to.stage.replace(".0.", `.${layer}.`);
  return to;
}
