// The bars that are fixed to the lower edge: each stands on those before it, and what ends the page, or lies above them, keeps their height
// free. In other windows most of them stand elsewhere.
// @ts-check

import { ready } from "./dom.js";

const BARS = ["pg-place-tabs", "pg-room", "pg-now", "pg-unknown", "pg-dock"]; // from the edge up

/** Measures the bars once: `--below` is the height of those under one, `--bars` of all. A bar inside another is not as wide as the page. */
export function stack() {
  const { clientWidth, style } = document.documentElement;
  let height = 0;
  for (const bar of BARS.map((id) => document.getElementById(id)).filter(Boolean)) {
    bar.style.setProperty("--below", `${height}px`);
    if (getComputedStyle(bar).position === "fixed" && bar.offsetWidth >= clientWidth) height += bar.offsetHeight;
  }
  style.setProperty("--bars", `${height}px`);
}

const sizes = new ResizeObserver(stack);
for (const id of BARS) ready(id).then((bar) => sizes.observe(bar));
addEventListener("resize", stack);
