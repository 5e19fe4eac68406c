// What is larger than its place can be scrolled by keyboard: it is a stop for Tab then, and has a name.
// @ts-check

import { inFrame, say } from "./dom.js";

const SCROLLERS = [".pg-scroll", ".pg-table>div", ".pg-code>details>pre"].join();
const CONTROLS = ["a[href]", "button:not([tabindex='-1'])", "input", "select", "[tabindex='0']"].join(); // who goes through these scrolls with them

/** The words over it, or those that open it. */
function nameOf(place) {
  const title = place.closest("details")?.querySelector("summary") ?? place.closest(".pg-block")?.querySelector("h3");
  return title?.textContent || say("scrolls");
}

function look() {
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(SCROLLERS))) {
    const isLarger = place.scrollHeight > place.clientHeight + 1 || place.scrollWidth > place.clientWidth + 1;
    if (isLarger && !place.querySelector(CONTROLS)) {
      place.tabIndex = 0;
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", nameOf(place));
    } else if (place.hasAttribute("tabindex")) for (const name of ["tabindex", "role", "aria-label"]) place.removeAttribute(name);
  }
}

const soon = inFrame(look);
new MutationObserver(soon).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-drawn", "aria-busy"] });
/** A table is filled when it is first opened. */
const filled = ({ target }) => /** @type {Element} */ (target).closest?.(".pg-table, .pg-code");
new MutationObserver((changes) => changes.some(filled) && soon()).observe(document.body, { subtree: true, childList: true });
document.addEventListener("toggle", soon, true);
addEventListener("resize", soon);
