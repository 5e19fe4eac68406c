// On a telephone, where the settings are in a drawer: Train with the settings as they are, and Stop in its place while a run trains.
// @ts-check

import { page, subscribe } from "./store.js";
import { button, say, update, updateAttributes } from "./dom.js";
import { isActive } from "./live.js";
import { command } from "./actions.js";

const canStop = () => Boolean(page.card?.mine) && isActive();
const act = () => (canStop() ? void command("stop") : document.getElementById("pg-train")?.click()); // Gradio knows the settings

function fill(place) {
  const key = canStop() ? "stop" : "train";
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
