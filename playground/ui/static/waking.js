// A computer that slept: its lines are dead, though the browser may believe in them for minutes. The listeners connect anew.
// @ts-check

import { checkServer } from "./server.js";

const LOOK = 2_000, SLEPT = 15_000; // milliseconds: between two looks at the clock; by which one comes too late
let last = Date.now(); // the time of day: other clocks sleep too

const tell = () => document.dispatchEvent(new Event("pg-waking"));

function look() {
  const now = Date.now(), isLate = now - last > LOOK + SLEPT;
  last = now;
  if (isLate) tell();
  checkServer();
}

setInterval(look, LOOK);
addEventListener("online", tell);
