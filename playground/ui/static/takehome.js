// Taking the run on screen home: a zip with its model, and all one needs to use it elsewhere.
// @ts-check

import { cursor, page, subscribe } from "./store.js";
import { button, h, routeUrl, saveFrom, say } from "./dom.js";

/** Fills its place among what is said about the run; whose sentences are their own may take them along. */
export function drawTakeHome() {
  const place = document.getElementById("pg-take"), { card } = page;
  if (!place || !card) return;
  const own = card.mine && card.settings.task === "own", key = JSON.stringify([card.id, own, cursor.lang]);
  if (place.dataset.key === key) return; // a tick stays as it is
  place.dataset.key = key;
  const tick = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "pg-take-sentences" }));
  const take = button({ id: "pg-take-home", "aria-describedby": "pg-take-about", onclick: () => fetchZip(take, card.id, tick.checked) }, say("take_home"));
  place.replaceChildren(take, own ? h("label", {}, tick, say("take_sentences")) : "", h("small", { id: "pg-take-about" }, say("take_about")));
}

/** Opens the menu of the run where its button stands. */
export function showTakeHome() {
  /** @type {HTMLDetailsElement} */ (document.getElementById("pg-run-about")).open = true;
  document.getElementById("pg-take-home").focus();
}

async function fetchZip(take, run, sentences) {
  take.disabled = true;
  take.textContent = say("taking");
  await saveFrom(routeUrl(`takeaway/${encodeURIComponent(run)}`, { lang: cursor.lang, ...(sentences ? { sentences: "on" } : {}) }), "model.zip");
  take.disabled = false;
  take.textContent = say("take_home");
}
subscribe(["card"], drawTakeHome);
