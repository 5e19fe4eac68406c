// A drawing as a picture that can stand alone, on a slide or on paper: on white, its title above it, below it the caption and what it is of.
// @ts-check

import { svg } from "./dom.js";

const EDGE = 16, LEAST = 420; // px around it, and how wide it is at least: a caption needs room
const TEXT = "#1f2933", QUIET = "#5b6675";
const family = () => getComputedStyle(document.body).fontFamily;
const pen = document.createElement("canvas").getContext("2d");

/** A text in lines that fit, cut at spaces and between Chinese letters. */
function wrapped(text, width, font) {
  pen.font = font;
  const lines = [""];
  for (const piece of text.split(/(?<=\s)|(?<=[\u2e80-\uffef])/)) {
    if (lines.at(-1) && pen.measureText((lines.at(-1) + piece).trimEnd()).width > width) lines.push("");
    lines[lines.length - 1] += piece;
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}

/** Lines below one another, the first at `top`. */
function paragraph(text, top, width, { size, weight = 400, fill = TEXT }) {
  const high = Math.round(size * 1.45), lines = wrapped(text, width, [weight, `${size}px`, family()].join(" "));
  const line = (words, at) => svg("text", { x: EDGE, y: top + high * at + size, "font-size": size, "font-weight": weight, fill }, words);
  return { lines: lines.map(line), bottom: top + high * lines.length };
}

/**
 * @param {{ element: SVGSVGElement, width: number, height: number }} drawing
 * @param {{ title: string, caption: string, source: string }} about
 * @returns {{ text: string, width: number, height: number }} an SVG file and its size in px
 */
export function poster({ element, width, height }, { title, caption, source }) {
  const wide = Math.max(Math.round(width), LEAST), middle = EDGE + (wide - width) / 2;
  const above = paragraph(title, EDGE, wide, { size: 16, weight: 600 }), top = above.bottom + (title ? 8 : 0);
  const below = paragraph(caption, top + height + 10, wide, { size: 13 });
  const origin = paragraph(source, below.bottom + 4, wide, { size: 12, fill: QUIET });
  const whole = { width: wide + 2 * EDGE, height: Math.ceil(origin.bottom) + EDGE };
  for (const [name, value] of Object.entries({ x: middle, y: top, width, height })) element.setAttribute(name, String(value));
  const sheet = svg("svg", { xmlns: "http://www.w3.org/2000/svg", ...whole, viewBox: `0 0 ${whole.width} ${whole.height}`, "font-family": family() },
    svg("title", {}, title), svg("desc", {}, `${caption} ${source}`), svg("rect", { ...whole, fill: "#ffffff" }),
    ...above.lines, element, ...below.lines, ...origin.lines);
  return { text: new XMLSerializer().serializeToString(sheet), ...whole };
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight",
  "font-style", "text-anchor", "text-decoration-line", "visibility", "white-space"];

/**
 * One of our own drawings with its look written into it, as a light page has it: it is looked at outside of the dark body, and the colours
 * that it brings itself are `lightened`.
 * @param {any} drawing
 * @param {(text: string) => string} lightened
 */
export function standalone(drawing, lightened) {
  const copy = drawing.cloneNode(true);
  copy.style.cssText = lightened(copy.style.cssText);
  let outer = copy;
  for (let above = drawing.parentElement; above && above !== document.body; above = above.parentElement) {
    const shell = above.cloneNode(false);
    shell.append(outer);
    outer = shell;
  }
  outer.style.cssText += "position: absolute; left: -9999px;";
  document.documentElement.append(outer);
  const looks = [copy, ...copy.querySelectorAll("*")].map((part) => {
    const computed = getComputedStyle(part);
    return [part, Object.fromEntries(STYLES.map((name) => [name, computed.getPropertyValue(name)]))];
  });
  outer.remove();
  for (const [part, look] of looks) {
    part.removeAttribute("class");
    part.removeAttribute("style");
    for (const [name, value] of Object.entries(look)) part.setAttribute(name, /^(color|rgba?)\(/.test(value) ? plain(value) : value);
  }
  return copy;
}

/** A colour as every program reads it: one pixel of it. */
function plain(colour) {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
  return alpha === 255 ? `#${[red, green, blue].map((value) => value.toString(16).padStart(2, "0")).join("")}`
    : `rgba(${red}, ${green}, ${blue}, ${(alpha / 255).toFixed(3)})`;
}

/** A PNG of an SVG file, twice as large. */
export async function pixels({ text, width, height }) {
  const image = new Image(), address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
