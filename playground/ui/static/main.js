// Starts the page: reads the words and the runs, draws what is always there, then the open tab; and lends Gradio's listeners a hand.
// @ts-check

import { FIELDS, change, cursor, languageTag, move, page, settle, subscribe } from "./store.js";
import { isDark, notice, read, ready } from "./dom.js";
import { follow } from "./live.js";
import { drawHeader, drawSentence, readCard, refreshSentence } from "./top.js";
import { drawReplay, play, turn } from "./replay.js";
import { drawRunButtons } from "./actions.js";
import { relabel } from "./knobs.js";
import { openTab } from "./tabs.js";
import { forget } from "./answers.js";
import { refresh } from "./panels.js";
import { openGlossary, openHelp } from "./dialogs.js";
import { redrawReading, refreshPreview } from "./reading.js";
import { isSwitchedOff } from "./single_keys.js";
import { scrollToTop } from "./space_frame.js";
import { hearTabs, rememberOwn } from "./storage.js";
import "./announce.js";
import "./course.js";
import "./deal.js";
import "./dock.js";
import "./figure.js";
import "./keyboard.js";
import "./present.js";
import "./room_chip.js";
import "./scrollers.js";

// What Gradio's listeners call (see ui/bridge.py).
export { control, train } from "./actions.js";
export { arrived, asked, knobsChanged, meet, settings } from "./knobs.js";
export { readInputs, takeReading } from "./reading.js";

const place = (id) => document.getElementById(id);

async function startOver() {
  const boot = await read("boot", { ...Object.fromEntries(new URLSearchParams(location.search)), run: cursor.run });
  if (!boot) return;
  if (boot.error) return notice(boot.error, "error");
  rememberOwn(Boolean(boot.last));
  settle(boot.ignored, boot.last || boot.first);
  change({ boot });
  if (boot.notice) notice(boot.notice, "error");
  document.documentElement.lang = languageTag();
  for (const [name, value] of Object.entries(boot.colours)) document.documentElement.style.setProperty(`--pg-${name}`, value);
  await Promise.all([`pg-panel-${cursor.tab}`, "pg-head", "pg-sentence-bar", "pg-replay-bar", "pg-run-buttons"].map(ready));
  if (place("pg-reading")) redrawReading();
  await openRun();
  if (cursor.glossary) openGlossary();
}

async function openRun() {
  const id = cursor.run;
  document.body.dataset.playground = "opening";
  forget();
  follow(id);
  const card = await readCard();
  if (card?.error) {
    notice(card.error, "error");
    if (cursor.run !== page.boot.first) return move({ run: page.boot.first }, { instead: true });
  }
  if (card?.mine) rememberOwn(true);
  drawHeader(place("pg-head"), await readRuns());
  drawSentence(place("pg-sentence-bar"));
  drawReplay(place("pg-replay-bar"));
  drawRunButtons(place("pg-run-buttons"));
  await ready(`pg-panel-${cursor.tab}`); // a tab is made when it is first opened
  await Promise.all([refreshSentence(), refresh()]);
  if (cursor.run === id) document.body.dataset.playground = "ready";
  document.body.dataset.shown = ""; // nothing is to be seen, or pressed, before its first picture is there
}

async function readRuns() {
  const runs = await read("runs", {});
  return runs && !runs.error ? runs : { mine: [], shipped: [] };
}

subscribe(FIELDS, async (changed) => {
  if (changed.has("tab")) openTab();
  if (["tab", "lab", "lesson", "notes"].some((name) => changed.has(name))) scrollToTop(); // wherever the one before was left
  if (changed.has("glossary") && cursor.glossary) openGlossary();
  if (changed.has("lang")) {
    relabel();
    await startOver();
  } else if (changed.has("run")) await openRun();
  else if (changed.has("tab")) ready(`pg-panel-${cursor.tab}`).then(() => refresh());
});

subscribe(["reply"], async () => {
  if (!page.reply.again) return;
  await readCard();
  drawHeader(place("pg-head"), await readRuns());
});

hearTabs(async () => page.card && drawHeader(place("pg-head"), await readRuns()));

// The theme may change under us.
let wasDark = isDark();
new MutationObserver(() => {
  if (wasDark === isDark()) return; // another class
  wasDark = isDark();
  refresh();
  refreshPreview();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

// Keys: space plays the replay, arrows move along it and through the tokens, numbers choose heads, ? says so.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isSwitchedOff(event)) return;
  if (event.target.closest?.("input, textarea, select, button, summary, [contenteditable], [role=tab], [role=slider], [role=listbox], dialog")) return;
  const row = (by) => move({ q: cursor.q === "" ? 0 : Math.max(0, Number(cursor.q) + by) });
  const keys = {
    " ": play, ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), ArrowUp: () => row(-1), ArrowDown: () => row(1), "?": openHelp,
  };
  const act = keys[event.key] ?? (/^[1-8]$/.test(event.key) ? () => move({ head: event.key, layer: cursor.layer || 1, follow: "off" }) : null);
  if (!act) return;
  event.preventDefault();
  act();
});

ready("pg-reading").then(redrawReading);
openTab();
startOver();
