// On a narrow screen the settings lie over the page when they are asked for: in a drawer with a name and a way to close it.
// @ts-check

import { subscribe } from "./store.js";
import { button, h, ready, say } from "./dom.js";

const opener = () => document.getElementById("pg-drawer");

/** Opens and closes the drawer. Where a control in it had the focus, the button that opens it has it then. */
export function showKnobs(isShown) {
  const isLeft = !isShown && document.getElementById("pg-knobs")?.contains(document.activeElement);
  document.body.dataset.drawer = isShown ? "knobs" : "";
  opener()?.setAttribute("aria-expanded", String(isShown));
  if (isLeft) opener()?.focus();
}

/** The button in the frame. */
export const drawerButton = () =>
  button({ id: "pg-drawer", "aria-controls": "pg-knobs", "aria-expanded": String(isOpen()), onclick: toggle }, say("knobs"));

const isOpen = () => document.body.dataset.drawer === "knobs";

function toggle() {
  showKnobs(!isOpen());
  if (isOpen()) document.getElementById("pg-drawer-close")?.focus();
}

subscribe(["boot"], async () => {
  const head = await ready("pg-drawer-head");
  const about = { id: "pg-drawer-close", "aria-label": say("close"), title: say("close"), onclick: () => showKnobs(false) };
  head.replaceChildren(h("h2", {}, say("knobs")), button(about, "×"));
});

// Before anything else hears of it: what is open in the drawer, a menu of Gradio's, closes first.
document.addEventListener("keydown", (event) => {
  const isSeen = isOpen() && document.getElementById("pg-drawer-close")?.getClientRects().length;
  if (event.key !== "Escape" || !isSeen || document.querySelector("dialog[open], #pg-knobs [role=combobox][aria-expanded=true]")) return;
  event.preventDefault();
  event.stopPropagation();
  showKnobs(false);
  opener()?.focus();
}, true);
