// Starts the page: reads the words and the runs, draws what is always there, then the open tab; and lends Gradio's listeners a hand.
// @ts-check

import { cursor, dropFromCursor, languageTag, move, onMove } from "./state.js";
import { read, notice, say, setWords } from "./dom.js";
import { follow, run } from "./live.js";
import { drawReplay, drawHeader, drawSentence, play, readCard, refreshSentence, turn, wireTop } from "./top.js";
import { drawRunButtons, fromTheTop, keepFolded, knobsChanged as takeKnobs, openTab, relabel, setBoot, setMine, setRunSettings } from "./actions.js";
import { setCourse } from "./course.js";
import { forget, refresh } from "./panels.js";
import { openGlossary, openHelp, setHost } from "./dialogs.js";
import { setGlossary } from "./glossary.js";
import { redrawReading, refreshPreview } from "./reading.js";

const place = (id) => document.getElementById(id);
const ready = (id) => new Promise((resolve) => {
  if (place(id)) return resolve(place(id));
  const watch = new MutationObserver(() => place(id) && (watch.disconnect(), resolve(place(id))));
  watch.observe(document.documentElement, { childList: true, subtree: true });
});

// What Gradio's listeners call (see ui/bridge.py).
export { arrived, asked, control, meet, settings, tabOpened, train } from "./actions.js";
export { readInputs, takeReading } from "./reading.js";
export const knobsChanged = (values) => (takeKnobs(values), refreshPreview());

async function startOver() {
  const boot = await read("boot", { ...Object.fromEntries(new URLSearchParams(location.search)), run: cursor.run });
  if (!boot) return;
  if (boot.error) return notice(boot.error, "error");
  dropFromCursor(boot.ignored);
  if (!cursor.run) cursor.run = boot.first;
  if (boot.notice) notice(boot.notice, "error");
  setWords(boot.words);
  setGlossary(boot.glossary);
  setBoot(boot);
  setHost(boot.host);
  document.documentElement.lang = languageTag();
  for (const [name, value] of Object.entries(boot.colours)) document.documentElement.style.setProperty(`--pg-${name}`, value);
  await Promise.all([`pg-panel-${cursor.tab}`, "pg-head", "pg-sentence-bar", "pg-replay-bar", "pg-run-buttons"].map(ready));
  if (place("pg-reading")) redrawReading();
  setCourse(boot.course);
  await openRun();
  if (cursor.glossary) openGlossary();
}

async function openRun() {
  const id = cursor.run;
  document.body.dataset.playground = "opening";
  forget();
  const card = await readCard();
  if (card?.error) {
    notice(card.error, "error");
    const boot = await read("boot", {});
    if (boot && !boot.error && cursor.run !== boot.first) return move({ run: boot.first });
  }
  setMine(Boolean(card?.mine));
  setRunSettings(card?.settings);
  drawHeader(place("pg-head"), await readRuns());
  drawSentence(place("pg-sentence-bar"));
  drawReplay(place("pg-replay-bar"));
  drawRunButtons(place("pg-run-buttons"));
  follow(cursor.run);
  await ready(`pg-panel-${cursor.tab}`); // a tab is made when it is first opened
  await Promise.all([refreshSentence(), refresh()]);
  if (cursor.run === id) document.body.dataset.playground = "ready";
}

async function readRuns() {
  const runs = await read("runs", {});
  return runs && !runs.error ? runs : { mine: [], shipped: [] };
}

onMove(async (changed) => {
  if (changed.has("tab")) openTab();
  else if (["lab", "lesson", "notes"].some((name) => changed.has(name))) fromTheTop();
  if (changed.has("glossary") && cursor.glossary) openGlossary();
  if (changed.has("lang")) {
    relabel();
    await startOver();
  } else if (changed.has("run")) await openRun();
  else if (changed.has("tab")) ready(`pg-panel-${cursor.tab}`).then(() => refresh());
});

// The theme may change under us.
new MutationObserver(() => (refresh(), refreshPreview())).observe(document.body, { attributes: true, attributeFilter: ["class"] });
document.addEventListener("pg-reply", async ({ detail: answer }) => {
  if (answer.again) {
    const card = await readCard();
    setMine(Boolean(card?.mine));
    drawHeader(place("pg-head"), await readRuns());
  }
});

// Keys: space plays the replay, arrows move along it and through the tokens, numbers choose heads, ? says so.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, button, summary, [contenteditable], [role=tab], [role=slider], [role=listbox], dialog")) return;
  const keys = {
    " ": play, ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), "?": openHelp,
    ArrowUp: () => move({ q: Math.max(0, Number(cursor.q || 0) - 1) }), ArrowDown: () => move({ q: cursor.q === "" ? 0 : Number(cursor.q) + 1 }),
  };
  const act = keys[event.key] ?? (/^[1-8]$/.test(event.key) ? () => move({ head: event.key, layer: cursor.layer || 1 }) : null);
  if (!act) return;
  event.preventDefault();
  act();
});

ready("pg-sidebar").then(keepFolded);
ready("pg-reading").then(redrawReading);
wireTop();
startOver();
