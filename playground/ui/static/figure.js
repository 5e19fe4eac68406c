// The paper's figure 1 as this run's model is configured, at the left of the place "inside": each part is a way to where it is shown, and
// the part that is on screen is lit.
// @ts-check

import { blocksOf } from "./answers.js";
import { FIELDS, cursor, move, page, subscribe } from "./store.js";
import { h, ready, svg } from "./dom.js";
import { ownDrawing, relabelSave, saveButtons } from "./downloads.js";
import { WIDTH, layOut, lines, partsOf, shownParts, target } from "./figure_layout.js";

const LINE = 13; // px from one line of a text to the next
const wide = matchMedia("(min-width: 1001px)"); // as in frame.css
let last = ""; // the part that the keyboard was on

// ---- the drawing -------------------------------------------------------------------------------------------------------------------

function drawFigure(host) {
  const { figure } = page.card, plan = layOut(figure);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${plan.height}`, width: WIDTH, height: plan.height, role: "group", "aria-label": figure.label });
  drawing.append(
    svg("defs", {}, ...["encoder", "decoder", "cross"].map(head)),
    ...plan.frames.flatMap(frame),
    ...plan.lines.map(({ kind, hue, points }) =>
      svg("path", { d: `M${points.join("L")}`, class: `${kind} hue-${hue}`, "marker-end": kind === "shared" ? null : `url(#pg-head-${hue})` })),
    svg("text", { x: plan.next.x, y: plan.next.y, class: "next" }, figure.next),
    ...partsOf(figure).map((part) => box(part, plan.boxes.get(part.name))),
  );
  drawing.addEventListener("keydown", walk);
  const thing = () => ({ name: "model", title: figure.label, caption: figure.differences, drawing: () => ownDrawing(drawing) });
  const save = saveButtons(thing, ["png", "svg"]);
  relabelSave(save, figure.label, ["png", "svg"]);
  const fold = h("details", { open: wide.matches }, h("summary", {}, figure.open), drawing, h("p", {}, figure.differences), save);
  host.setAttribute("aria-label", figure.label);
  host.replaceChildren(fold);
  light(host);
}

const head = (hue) => svg("marker", {
  id: `pg-head-${hue}`, class: `hue-${hue}`, viewBox: "0 0 8 8", refX: "7", refY: "4", markerUnits: "userSpaceOnUse", markerWidth: "8",
  markerHeight: "8", orient: "auto",
}, svg("path", { d: "M0 0L8 4L0 8z" }));

/** A layer, as often as it is there. */
function frame({ x, y, width, height, hue, layers }) {
  const behind = Math.min(layers, 4) - 1;
  const copy = (_, at) => svg("rect", { class: `frame hue-${hue}`, x, y: y - 3 * (behind - at), width, height, rx: 7 });
  return [...Array.from({ length: behind + 1 }, copy), svg("text", { x: x + 8, y: y + 14, class: "layers" }, `N=${layers}`)];
}

/** A part as a button; where there is nothing to be shown of it, as a picture. */
function box(part, { x, y, width, height }) {
  const mask = part.kind.startsWith("mask"), text = mask ? [] : lines(part.text, part.kind === "tokens" ? 2 * width : width - 4);
  const first = y + height / 2 - ((text.length - 1) * LINE) / 2 + 4;
  const act = part.shows.length ? { role: "button", tabindex: "-1" } : { role: "img" };
  const name = mask ? part.about : `${text.join(" ")}: ${part.about}`; // begins with the visible text, for voice control
  return svg("g", { ...act, class: `part hue-${part.hue} ${part.kind}`, "data-part": part.name, "aria-label": name },
    svg("title", {}, part.about),
    svg("rect", { x, y, width, height, rx: 4 }),
    ...(mask ? [picture(part, x + 4, y + height / 2 - 7)] : []),
    ...text.flatMap((line, at) => [" ", svg("text", { x: x + width / 2, y: first + at * LINE }, line)]));
}

const HIDDEN = { mask_causal: "M0 0H14V14z", mask_prefix: "M7 0H14V14L7 7z", mask_padding: "M9 0H14V14H9z" };

/** A small mask: what lies ahead, that of the target, or the last columns, is hidden. */
const picture = (part, x, y) => svg("g", { transform: `translate(${x} ${y})`, class: "grid" },
  svg("rect", { width: 14, height: 14 }), svg("path", { d: HIDDEN[part.kind] }));

/** The stage that a stop of the tour has opened. */
const stageOfStop = () => (cursor.stop ? blocksOf(page.panels.map ?? { blocks: [] }).find(({ kind }) => kind === "map")?.open ?? "" : "");

/** Lights what is on screen up. Of all parts one can be reached by Tab: that on which the keyboard was, else the one that is lit. */
function light(host) {
  if (!page.card) return;
  const parts = [...host.querySelectorAll(".part")], lit = new Set(shownParts(page.card.figure, { ...cursor, stage: cursor.stage || stageOfStop() }));
  for (const part of parts) {
    part.classList.toggle("lit", lit.has(part.dataset.part));
    if (lit.has(part.dataset.part)) part.setAttribute("aria-current", "true");
    else part.removeAttribute("aria-current");
  }
  stopAt(host, parts.find((part) => part.dataset.part === last) ?? parts.find((part) => part.classList.contains("lit")));
}

function stopAt(host, wanted) {
  const buttons = [...host.querySelectorAll(".part[role=button]")], stop = buttons.includes(wanted) ? wanted : buttons[0];
  for (const part of buttons) part.setAttribute("tabindex", part === stop ? "0" : "-1");
}

// ---- using it ----------------------------------------------------------------------------------------------------------------------

function open(part, host) {
  const known = partsOf(page.card.figure).find(({ name }) => name === part.dataset.part);
  if (!known.shows.length) return;
  last = known.name;
  stopAt(host, part);
  if (!wide.matches) host.querySelector("details").open = false;
  move(target(known, cursor));
}

/** Arrow keys go to the nearest part in their direction. */
function walk(event) {
  const here = event.target.closest(".part"), host = event.target.closest("#pg-figure");
  if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
  const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
  const press = event.key === "Enter" || event.key === " ";
  if (!x && !y && !press) return;
  event.preventDefault();
  event.stopPropagation(); // the page's own keys move the replay
  if (press) return open(here, host);
  const middle = (part) => (({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2])(part.getBoundingClientRect());
  const from = middle(here);
  const far = (part) => {
    const [dx, dy] = middle(part).map((at, axis) => at - from[axis]), along = dx * x + dy * y, aside = Math.abs(dx * y) + Math.abs(dy * x);
    return along > 1 && (x || aside < 60) ? along + 3 * aside : Infinity;
  };
  const [next] = [...host.querySelectorAll(".part[role=button]")].sort((a, b) => far(a) - far(b));
  if (far(next) === Infinity) return;
  last = next.dataset.part;
  stopAt(host, next);
  next.focus();
}

ready("pg-figure").then((host) => {
  host.addEventListener("click", (event) => event.target.closest(".part") && open(event.target.closest(".part"), host));
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && !wide.matches && host.firstChild) host.querySelector("details").open = false;
  });
  wide.addEventListener("change", () => page.card && drawFigure(host));
  subscribe(["card"], () => page.card && drawFigure(host));
  subscribe([...FIELDS, "panels"], () => light(host));
  if (page.card) drawFigure(host);
});
