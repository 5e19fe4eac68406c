// The slow step moves as its numbers do: what the forward pass computes unfolds in the order of reading, what the backward pass finds
// against it, and along the residual stream from the last layer up to the first. Every moment is read from its beginning.
// @ts-check

import { cursor } from "../../ui/static/store.js";
import { ready } from "../../ui/static/dom.js";

const MS = 650; // that the eye is led
const FORWARD = { maskPosition: "left", maskSize: "0 100%" }, BACKWARD = { maskPosition: "right", maskSize: "0 100%" };
const UPWARD = { maskPosition: "bottom", maskSize: "100% 0" };
/** Where a picture begins to be seen, at each moment. The optimiser has no direction.
 * @type {Record<string, Keyframe>} */
const BEGINS = { loss: FORWARD, logits: BACKWARD, stream: UPWARD, scores: BACKWARD, gradient: BACKWARD, after: FORWARD };
let before = "";

/** Goes back to where a moment begins, under the row that stays in sight, when it was scrolled past.
 * @type {(panel: HTMLElement) => void} */
function toItsBeginning(panel) {
  const row = panel.querySelector("[data-block='row moments']"), first = row?.nextElementSibling;
  if (!first) return;
  const { bottom, height } = row.getBoundingClientRect();
  panel.style.setProperty("--moments", `${height}px`);
  if (first.getBoundingClientRect().top < bottom) first.scrollIntoView({ block: "start", behavior: "instant" });
}

/** Shows a moment that was just chosen from its beginning, and unfolds its picture; one that is drawn anew stays still. */
async function watch() {
  const panel = await ready("pg-panel-step");
  new MutationObserver(() => {
    const now = cursor.moment || "loss", came = before;
    before = now;
    if (!came || came === now) return;
    toItsBeginning(panel);
    const picture = panel.querySelector("[data-block='row sides'] .pg-figure"), begins = BEGINS[now];
    if (!begins || !picture || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const mask = { maskImage: "linear-gradient(#000, #000)", maskRepeat: "no-repeat" }; // what is masked can be clicked already
    picture.animate([{ ...mask, ...begins }, { ...mask, ...begins, maskSize: "100% 100%" }], { duration: MS, easing: "ease-in-out" });
  }).observe(panel, { attributeFilter: ["data-drawn"] });
}

watch();
