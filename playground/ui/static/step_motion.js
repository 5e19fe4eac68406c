// The slow step moves as its numbers do: what the forward pass computes unfolds in the order of reading, what the backward pass finds
// against it, and along the residual stream from the last layer up to the first.
// @ts-check

import { cursor } from "./store.js";
import { ready } from "./dom.js";

const MS = 650; // that the eye is led
const FORWARD = "inset(0 100% 0 0)", BACKWARD = "inset(0 0 0 100%)", UPWARD = "inset(100% 0 0 0)";
/** What of a picture is hidden at first, at each moment. The optimiser has no direction.
 * @type {Record<string, string>} */
const HIDDEN = { loss: FORWARD, logits: BACKWARD, stream: UPWARD, scores: BACKWARD, gradient: BACKWARD, after: FORWARD };
let before = "";

/** Unfolds the picture of a moment that somebody goes to; one that is drawn anew stays still. */
async function watch() {
  const panel = await ready("pg-panel-step");
  new MutationObserver(() => {
    const now = cursor.moment || "loss", came = before;
    before = now;
    const picture = panel.querySelector("[data-block='row sides'] .pg-figure"), hidden = HIDDEN[now];
    if (!came || came === now || !hidden || !picture || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    picture.animate([{ clipPath: hidden }, { clipPath: "inset(0 0 0 0)" }], { duration: MS, easing: "ease-in-out" });
  }).observe(panel, { attributeFilter: ["data-drawn"] });
}

watch();
