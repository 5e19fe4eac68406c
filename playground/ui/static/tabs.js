// The places of the page and the tabs in them. The cursor says which is open. Their names stand in the frame as buttons of our own; those of
// Gradio, which open its panels, stay where Gradio puts them, between the knobs and the panels, and are hidden there (see frame.css).
// @ts-check

import { PLACES, cursor, move, page, subscribe } from "./store.js";
import { button, childrenOf, h, ready, same, say, updateAttributes } from "./dom.js";

const PASSING_MS = 2000; // a tab that a place opened with and that is left sooner was only on the way: Back skips it
const lastTabs = {}; // place -> the tab that was open in it last
let passed = { tab: "", until: 0 }; // the tab that a place opened with
const placeOf = (tab) => Object.keys(PLACES).find((place) => PLACES[place].includes(tab));
const isOpen = (gradioTab) => gradioTab.getAttribute("aria-selected") === "true";

/** Fields of what was opened from a tab's list: pressed again, its name brings the list back. */
const LISTS = { course: { lesson: "", notes: "" }, labs: { lab: "" } };

/** The tab that a name in the frame opens; that of a place opens the one that was open there last. */
const tabOf = ({ dataset: { place, tab } }) => tab ?? lastTabs[place] ?? PLACES[place][0];

function choose(event) {
  const tab = tabOf(event.currentTarget), from = cursor.tab;
  if (tab === from) return move(LISTS[tab] ?? {});
  const isInside = placeOf(tab) === placeOf(from);
  move({ tab }, { instead: isInside && passed.tab === from && event.timeStamp < passed.until });
  passed = { tab: isInside ? "" : tab, until: event.timeStamp + PASSING_MS };
}

/** Arrows go from name to name, as in any list of tabs. */
function walk(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const names = childrenOf(event.currentTarget).filter((name) => name.offsetParent), here = names.indexOf(event.target);
  const next = names[(here + by + names.length) % names.length];
  event.preventDefault();
  next.focus();
  move({ tab: tabOf(next) });
}

/** Writes the names of all places, or of the tabs of one, into a host in the frame. */
function drawNames(host, kind, names, chosen) {
  const nameOf = (name) => button({ id: `pg-to-${kind}-${name}`, role: "tab", dataset: { [kind]: name }, onclick: choose }, say(`${kind}_${name}`));
  const list = () => h("div", { class: "pg-tablist", role: "tablist", onkeydown: walk }, names.map(nameOf));
  if (!same(host, names)) host.replaceChildren(h("div", { class: "pg-strip" }, list()));
  for (const name of host.querySelectorAll("[role=tab]")) {
    const isChosen = name.dataset[kind] === chosen;
    updateAttributes(name, { "aria-selected": isChosen, "aria-controls": `pg-${kind}-${name.dataset[kind]}` });
    if (isChosen) name.scrollIntoView({ block: "nearest", inline: "nearest" }); // in a narrow window the names scroll sideways
  }
}

const HIDES = { course: ["replay"], labs: ["replay", "run"], board: ["replay", "run"] }; // parts of the frame that are of no use in a tab

/** Brings the tab of the cursor to the front. Gradio makes a place when it is first opened, and its tabs with it. */
async function openTab() {
  const { tab } = cursor, place = placeOf(tab);
  if (!place) return; // a link with an unknown tab: main.js comes again once the cursor has dropped it
  lastTabs[place] = tab;
  Object.assign(document.body.dataset, { place, tab, hides: (HIDES[tab] ?? []).join(" ") });
  if (page.boot) {
    drawNames(await ready("pg-place-tabs"), "place", Object.keys(PLACES), place);
    drawNames(await ready("pg-inner-tabs"), "tab", PLACES[place], tab);
  }
  for (const id of [`pg-place-${place}-button`, `pg-tab-${tab}-button`]) {
    const gradioTab = await ready(id);
    if (cursor.tab !== tab) return;
    if (!isOpen(gradioTab)) gradioTab.click();
  }
}
subscribe(["tab", "boot"], openTab);
openTab();

// Gradio opens the first tab of a place that is new, at times after ours.
const opened = new MutationObserver((changes) => {
  const isOther = ({ id }) => id.startsWith("pg-tab-") && id !== `pg-tab-${cursor.tab}-button`;
  if (changes.some(({ target }) => target instanceof HTMLElement && isOther(target) && isOpen(target))) openTab();
});
ready("pg-places").then((around) => opened.observe(around, { subtree: true, attributes: true, attributeFilter: ["aria-selected"] }));
