// The parts of the paper's figure 1: which one is on screen where the cursor is, and where a click on one leads. Only computes.
// @ts-check

/** @type {(figure: import("./page").ModelFigure) => import("./page").Part[]} */
export const partsOf = ({ encoder, memory, decoder }) => [encoder, decoder].flatMap((stack) =>
  [...stack.input, ...stack.sublayers.flatMap(({ parts }) => parts), ...stack.end]).concat(memory);

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
