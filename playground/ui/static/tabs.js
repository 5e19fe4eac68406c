// The places of the page and the tabs in them, which are Gradio's: the cursor says which is open, and a click on one moves the cursor. Their
// names stand in the frame, among what they are seen beside, and not where Gradio puts them: before the panels, after the knobs.
// @ts-check

import { PLACES, cursor, move } from "./store.js";
import { childrenOf, ready } from "./dom.js";

const PASSING = 2000; // milliseconds: whoever goes on sooner from the tab that a place opened with was only on the way, and Back skips it
const last = {}; // place -> the tab that was open in it last
let passed = { tab: "", until: 0 }; // the tab that a place opened with
const placeOf = (tab) => Object.keys(PLACES).find((place) => PLACES[place].includes(tab));
const isOpen = (button) => button.getAttribute("aria-selected") === "true";

/** The tab that a button of Gradio's opens; that of a place opens the one that was open there last. */
function tabOf(button) {
  const [, kind, name] = /^pg-(tab|place)-(\w+)-button$/.exec(button?.getAttribute("id") ?? "") ?? [];
  return kind === "place" ? last[name] ?? PLACES[name][0] : name;
}

// Before Gradio hears of it, so that the cursor is first. What Gradio opens by itself, early or late, is nobody's choice.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[role=tab]"), tab = event.isTrusted && tabOf(button), from = cursor.tab;
  if (!tab || tab === from) return;
  const isInside = placeOf(tab) === placeOf(from);
  move({ tab }, { instead: isInside && passed.tab === from && event.timeStamp < passed.until });
  passed = { tab: isInside ? "" : tab, until: event.timeStamp + PASSING };
}, true);

/** Brings the names of a place's tabs into the frame, where those of other places are hidden; and those of the places themselves. */
function standInFrame(place) {
  for (const [from, to] of [["pg-places", "pg-place-tabs"], [`pg-tabs-${place}`, "pg-inner-tabs"]]) {
    const host = document.getElementById(from), names = host && childrenOf(host).find((one) => one.matches(".tab-wrapper"));
    if (!names) continue; // they stand there already, or Gradio has yet to make them
    names.dataset.of = from;
    document.getElementById(to).append(names);
  }
  for (const names of childrenOf(document.getElementById("pg-inner-tabs"))) names.hidden = names.dataset.of !== `pg-tabs-${place}`;
}

/** Brings the tab of the cursor to the front, wherever Gradio is. A place is made when it is first opened, and its tabs with it. */
export async function openTab() {
  const { tab } = cursor, place = placeOf(tab);
  if (!place) return; // a link names a tab that there isn't: main.js comes again when it was let go of
  last[place] = tab;
  Object.assign(document.body.dataset, { place, tab });
  for (const id of [`pg-place-${place}-button`, `pg-tab-${tab}-button`]) {
    const [button] = await Promise.all([id, "pg-inner-tabs"].map(ready)); // at times Gradio makes its tabs before the frame
    if (cursor.tab !== tab) return;
    standInFrame(place);
    if (!isOpen(button)) button.click();
    button.scrollIntoView({ block: "nearest", inline: "nearest" }); // in a narrow window the tabs scroll sideways
  }
}

// Gradio opens the first tab of a place that is new, at times after ours.
const opened = new MutationObserver((changes) => {
  const button = changes.map(({ target }) => target).find((target) => isOpen(/** @type {Element} */ (target)) && tabOf(target));
  if (button && placeOf(tabOf(button)) === placeOf(cursor.tab)) openTab();
});
for (const id of ["pg-places", "pg-place-tabs", "pg-inner-tabs"]) {
  ready(id).then((around) => opened.observe(around, { subtree: true, attributes: true, attributeFilter: ["aria-selected"] }));
}

// Arrows go from tab to tab, as in any list of tabs.
document.addEventListener("keydown", (event) => {
  const here = /** @type {Element} */ (event.target).closest?.("[role=tab]"), by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by || !tabOf(here)) return;
  const all = [...here.parentElement.querySelectorAll("[role=tab]")], next = all[(all.indexOf(here) + by + all.length) % all.length];
  event.preventDefault();
  next.focus();
  move({ tab: tabOf(next) });
});
