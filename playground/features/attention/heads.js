// Every head of one kind of attention as a small picture, a line for each layer.
// @ts-check

import { move } from "../../ui/static/store.js";
import { button, h, say } from "../../ui/static/dom.js";
import { thumbnail } from "../../ui/static/thumbnails.js";
import { register } from "../../ui/static/kinds.js";

register("heads", (element, block, panel) => {
  const row = (heads, layer) => {
    const style = `grid-template-columns: repeat(${Math.min(heads.length, 4)}, minmax(0, 1fr))`;
    const small = heads.map((weights, head) => smallHead(block, weights, layer, head, panel));
    return h("div", { class: "pg-layer" },
      h("span", { class: "pg-layer-name" }, say("layer", { layer: layer + 1 })), h("div", { class: "pg-thumbs", style }, small));
  };
  element.replaceChildren(h("p", { class: "pg-label" }, block.label), h("div", { class: "pg-layers" }, block.weights.map(row)));
});

/** One head as a button; pointing at it shows it large. */
function smallHead(block, weights, layer, head, panel) {
  const canvas = h("canvas", {});
  thumbnail(canvas, weights, block.mask, block.colours);
  const [name, number] = block.names?.[layer]?.[head] ?? ["", ""];
  const place = say("layer_head", { layer: layer + 1, head: head + 1 }), here = { layer: layer + 1, head: head + 1, follow: "off" };
  const written = [head + 1, name, number].filter(Boolean).join(" "); // what stands on it comes first in its name
  const words = { "aria-label": `${written}, ${place}`, title: `${place} · ${name} ${number}` };
  const leave = () => panel.preview(null);
  const acts = { onclick: () => move(here), onmouseenter: () => panel.preview(here), onmouseleave: leave, onfocus: leave };
  const chosen = String(layer === block.layer && head === block.head);
  return button({ class: "pg-thumb", "aria-pressed": chosen, dataset: { layer, head }, ...words, ...acts },
    canvas, h("span", {}, String(head + 1)), " ", h("small", {}, h("span", {}, name), " ", h("b", {}, number)));
}
