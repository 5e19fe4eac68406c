// What is seen on the page, told to those who can't see it. Of a training: that it begins, each quarter of the way, and what it came to.
// @ts-check

import { page, subscribe } from "./store.js";
import { h, say } from "./dom.js";
import { isGrowing } from "./live.js";
import { statusLine } from "./status.js";

const QUARTERS = 4;
let place = null; // there before anything is said: what is new with its words in it is read by few screen readers
let was = { id: "", isWorking: false };
let quarter = 0; // how many of them were told

subscribe(["boot"], () => {
  if (!place) document.body.append((place = h("div", { id: "pg-announced", class: "pg-unseen", role: "status" })));
});

/** Says one sentence aloud. */
export const announce = (text) => place && (place.textContent = text);

/** The quarters of its steps that a run has behind it. */
const quartersDone = ({ step, steps }) => (steps ? Math.floor((QUARTERS * step) / steps) : 0);

function begin() {
  quarter = quartersDone(page.live);
  announce(say("started", { name: page.card.title }));
}

subscribe(["live", "card", "frame"], () => {
  const { boot, card, live: run } = page;
  if (!boot || !place || card?.id !== run.id) return;
  const isWorking = boot.statuses.working.includes(run.status), isTold = was.id === run.id && was.isWorking;
  if (isTold && !isWorking && isGrowing()) return; // its last picture is on its way
  if (isTold && boot.statuses.over.includes(run.status)) announce(say("training_over", { status: statusLine() }));
  else if (isWorking && !isTold) begin();
  else if (isWorking && quartersDone(run) > quarter && quartersDone(run) < QUARTERS) {
    quarter = quartersDone(run);
    announce(say("training_part", { percent: String((100 * quarter) / QUARTERS) }));
  }
  was = { id: run.id, isWorking };
});
