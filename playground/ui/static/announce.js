// The end of a training, said once to those who can't see it.
// @ts-check

import { page, subscribe } from "./store.js";
import { h, say } from "./dom.js";

let place = null; // there before anything is said: what is new with its words in it is read by few screen readers
let was = { id: "", isWorking: false };

subscribe(["boot"], () => {
  if (!place) document.body.append((place = h("div", { id: "pg-announced", class: "pg-unseen", role: "status" })));
});

subscribe(["live"], () => {
  const { boot, live: run } = page;
  if (!boot || !place) return;
  const now = { id: run.id, isWorking: boot.statuses.working.includes(run.status) };
  if (was.id === now.id && was.isWorking && boot.statuses.over.includes(run.status)) {
    place.textContent = say("training_over", { status: document.getElementById("pg-status")?.textContent ?? "" });
  } else if (now.isWorking) place.textContent = "";
  was = now;
});
