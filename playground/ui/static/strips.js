// Lines longer than their place. One that scrolls sideways in a narrow window fades where there is more, with what is chosen in sight; of the
// sentence in the frame the last tokens are left out, which is marked, and of how far a run is the last parts.
// @ts-check

import { inFrame, ready, say } from "./dom.js";

const STRIPS = "#pg-frame .pg-strip, .pg-row.controls .pg-segments, #pg-panel-masks .pg-segments, .pg-compare-line .pg-tokens, .pg-cell-row, #pg-result";
const FADE = 32; // px, of an edge, as in narrow.css
const WATCHED = ["data-drawn", "data-tab", "aria-selected"]; // what else may change them
const narrow = matchMedia("(max-width: 900px)");

/** The sides of a line on which it goes on beyond what is in sight. */
export const hidden = ({ scrollLeft, clientWidth, scrollWidth }) =>
  [scrollLeft > 1 ? "left" : "", scrollLeft + clientWidth < scrollWidth - 1 ? "right" : ""].filter(Boolean).join(" ");

/** @param {HTMLElement} strip */
function mark(strip) {
  const more = hidden(strip);
  if ((strip.dataset.more ?? "") !== more) strip.dataset.more = more;
}

/** Marks every line that there is, with what is chosen in sight. */
function look() {
  if (!narrow.matches) return;
  for (const strip of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(STRIPS))) {
    if (!strip.clientWidth) continue; // of a place or a tab that isn't open
    const chosen = strip.querySelector("[aria-selected=true], [aria-pressed=true]");
    if (chosen && strip.dataset.shown !== chosen.textContent) reveal(strip, chosen); // once: then the visitor may scroll on
    mark(strip);
  }
}

function reveal(strip, chosen) {
  strip.dataset.shown = chosen.textContent;
  const { left, right } = chosen.getBoundingClientRect(), around = strip.getBoundingClientRect();
  if (left < around.left + FADE || right > around.right - FADE) strip.scrollLeft += (left + right - around.left - around.right) / 2;
}

const soon = inFrame(look);
document.addEventListener("scroll", ({ target }) => target instanceof HTMLElement && target.matches(STRIPS) && mark(target), true);
new MutationObserver(soon).observe(document.body, { subtree: true, attributes: true, attributeFilter: WATCHED });
addEventListener("resize", soon);

/** Whether tokens of the source were left out: they have wrapped, and their second line isn't seen. */
function measure() {
  const place = document.getElementById("pg-result"), source = place?.querySelector(".pg-tokens");
  place?.toggleAttribute("data-cut", Boolean(source) && source.scrollHeight > source.clientHeight + 8);
  look();
}

/** Hides the parts of the status that have wrapped: there is no room for them in its one line. */
function leaveOut() {
  const parts = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#pg-status > span"));
  for (const part of parts) part.toggleAttribute("data-out", part.offsetTop > parts[0].offsetTop);
}

const CHANGES = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["hidden"] };

/** Measures what stands in a place of the frame whenever that changes, or is hidden or shown, or its width changes. */
async function watch(id, look) {
  const place = await ready(id), later = inFrame(look);
  new MutationObserver(later).observe(place, CHANGES);
  new ResizeObserver(later).observe(place);
}
watch("pg-sentence-bar", measure);
watch("pg-head", leaveOut);
for (const names of ["pg-place-tabs", "pg-inner-tabs"]) watch(names, look); // they come to stand there at times when all else is there

// ---- by keyboard ------------------------------------------------------------------------------------------------------------------------

const SCROLLERS = [".pg-scroll", ".pg-table>div", ".pg-code>details>pre"].join();
const CONTROLS = ["a[href]", "button:not([tabindex='-1'])", "input", "select", "[tabindex='0']"].join(); // who goes through these scrolls with them

/** The words over it, or those that open it. */
function nameOf(place) {
  const title = place.closest("details")?.querySelector("summary") ?? place.closest(".pg-block")?.querySelector("h3");
  return title?.textContent || say("scrolls");
}

function markScrollers() {
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(SCROLLERS))) {
    const isLarger = place.scrollHeight > place.clientHeight + 1 || place.scrollWidth > place.clientWidth + 1;
    if (isLarger && !place.querySelector(CONTROLS)) {
      place.tabIndex = 0;
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", nameOf(place));
    } else if (place.hasAttribute("tabindex")) for (const name of ["tabindex", "role", "aria-label"]) place.removeAttribute(name);
  }
}

const markScrollersSoon = inFrame(markScrollers);
new MutationObserver(markScrollersSoon).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-drawn", "aria-busy"] });
/** A table is filled when it is first opened. */
const filled = ({ target }) => /** @type {Element} */ (target).closest?.(".pg-table, .pg-code");
new MutationObserver((changes) => changes.some(filled) && markScrollersSoon()).observe(document.body, { subtree: true, childList: true });
document.addEventListener("toggle", markScrollersSoon, true);
addEventListener("resize", markScrollersSoon);
