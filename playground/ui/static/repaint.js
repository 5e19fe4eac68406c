// Drawings in the colours of a light page, whichever the page has: a slide and a sheet of paper are white. Only computes.
// @ts-check

const HEX = /#[0-9a-f]{6}\b/gi;
const NEAR = 6; // of 255, in any channel: a mixture of two neighbours of a scale, rounded

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const hexOf = (values) => `#${values.map((value) => Math.round(value).toString(16).padStart(2, "0")).join("")}`;
const mixed = (from, to, share) => from.map((value, at) => value + (to[at] - value) * share);

/** Where a colour lies on a scale: the number of the stop before it and the share of the way to the next; null when it isn't one of it. */
function placeOn(scale, colour) {
  for (let at = 0; at < scale.length - 1; at += 1) {
    const [from, to] = [channels(scale[at]), channels(scale[at + 1])], way = to.map((value, n) => value - from[n]);
    const along = way.reduce((sum, value, n) => sum + value * (colour[n] - from[n]), 0) / way.reduce((sum, value) => sum + value * value, 0);
    const share = Math.min(1, Math.max(0, along));
    if (mixed(from, to, share).every((value, n) => Math.abs(value - colour[n]) < NEAR)) return { at, share };
  }
  return null;
}

/**
 * Every colour of a text that is one of `from`, as `to` has it; others stay.
 * @param {string} text
 * @param {import("./page").Palette} from
 * @param {import("./page").Palette} to
 */
export function repainted(text, from, to) {
  const all = ({ sequential, diverging, single }) => [...sequential, ...diverging, ...single];
  const known = new Map();
  all(from).forEach((hex, at) => known.set(hex, all(to)[at]));
  const turned = (hex) => {
    for (const scale of ["sequential", "diverging"]) {
      const place = placeOn(from[scale], channels(hex));
      if (place) return hexOf(mixed(channels(to[scale][place.at]), channels(to[scale][place.at + 1]), place.share));
    }
    return hex;
  };
  return text.replace(HEX, (hex) => {
    const colour = hex.toLowerCase();
    if (!known.has(colour)) known.set(colour, turned(colour));
    return known.get(colour);
  });
}
