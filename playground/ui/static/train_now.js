// On a telephone, where the settings are in a drawer: Train with the settings as they are; in its place Stop while a run trains, and Resume
// of one that the server left in the middle.
// @ts-check

import { page, subscribe } from "./store.js";
import { button, say, update, updateAttributes } from "./dom.js";
import { isActive } from "./live.js";
import { command } from "./actions.js";

const keyNow = () => (!page.card?.mine ? "train" : isActive() ? "stop" : page.live.status === "interrupted" ? "resume" : "train");

function act() {
  const key = keyNow();
  if (key === "train") document.getElementById("pg-train")?.click(); // Gradio knows the settings
  else void command(key);
}

function fill(place) {
  const key = keyNow();
  update(place.dataset, { act: key });
  update(place, { textContent: say(`${key}_now`) });
  updateAttributes(place, { "aria-label": say(key) });
}

export function trainNow() {
  const place = button({ id: "pg-train-now", onclick: act });
  fill(place);
  return place;
}

subscribe(["live", "card"], () => {
  const place = document.getElementById("pg-train-now");
  if (place) fill(place);
});
