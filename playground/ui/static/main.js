// Starts the page: reads the words and the runs, draws what is always there, then the open tab; and lends Gradio's listeners a hand.
// @ts-check

import { FIELDS, LANGUAGES, change, cursor, languageTag, linkSettings, move, page, settle, subscribe } from "./store.js";
import { AGAIN, isDark, notice, open, read, ready } from "./dom.js";
import { follow } from "./live.js";
import "./waking.js";
import { drawFoot, drawHeader, readCard } from "./header.js";
import { drawSentence, refreshSentence } from "./sentence.js";
import { drawReplay } from "./replay.js";
import { drawRunButtons } from "./actions.js";
import { relabel } from "./knobs.js";
import "./tabs.js";
import "./bars.js";
import { forget } from "./answers.js";
import { refresh } from "./panels.js";
import { plotly } from "./picture.js";
import { closeCode, openCode, openGlossary } from "./dialogs.js";
import { redrawReading, refreshPreview } from "../../features/data/reading.js";
import { scrollToTop } from "./space_frame.js";
import { hearTabs, rememberOwn, rememberedSentence } from "./storage.js";
import "./status.js";
import "./course.js";
import "./dock.js";
import "./controls.js";
import "./figure.js";
import "./features.js";
import "./keyboard.js";
import "./lessons.js";
import "./plain.js";
import "./present.js";
import "./room_dialog.js";
import "./room_fixed.js";
import "./room_plan.js";
import "./strips.js";

// What Gradio's listeners call (see ui/listeners.py).
export { control, train } from "./actions.js";
export { arrived, listenerInputs as asked, askedForTask, knobsChanged, meet, settings } from "./knobs.js";
export { readInputs, takeReading, trainOwn } from "../../features/data/reading.js";

const place = (id) => document.getElementById(id);

async function startOver() {
  const boot = await read("boot", { ...Object.fromEntries(new URLSearchParams(location.search)), run: cursor.run });
  if (!boot) return;
  if (boot.error) return boot.away ? null : notice(boot.error, "error"); // without words: first_watch.js says that nothing comes
  rememberOwn(Boolean(boot.last));
  if (!cursor.run && !linkSettings.length) change({ taking: boot.last });
  const run = boot.course.find(({ name }) => name === cursor.lesson)?.to.run ?? (boot.last || boot.first); // of a link to a lesson, what it is about
  settle(boot.ignored, run, rememberedSentence(run));
  change({ boot });
  if (boot.notice) notice(boot.notice, "error");
  Object.assign(document.documentElement, { lang: languageTag(), dir: LANGUAGES[cursor.lang]?.direction ?? "ltr" });
  for (const [name, value] of Object.entries(boot.colours)) document.documentElement.style.setProperty(`--pg-${name}`, value);
  await Promise.all([`pg-panel-${cursor.tab}`, "pg-head", "pg-sentence-bar", "pg-replay-bar", "pg-run-buttons"].map(ready));
  if (place("pg-reading")) redrawReading();
  await openRun();
  if (cursor.glossary) openGlossary();
  if (cursor.api) openCode();
}

/** The card of the run on screen. While the server is away the page waits for it, and keeps the run. */
async function readCardAtLast() {
  const id = cursor.run;
  let card = await readCard();
  while (card?.away && cursor.run === id) {
    notice(card.error, "error");
    await new Promise((resume) => setTimeout(resume, AGAIN));
    if (cursor.run === id) card = await readCard();
  }
  return card?.away ? null : card;
}

async function openRun() {
  const id = cursor.run;
  document.body.dataset.playground = "opening";
  forget();
  follow(id);
  const card = await readCardAtLast();
  if (cursor.run !== id) return; // another run was chosen meanwhile, which opens itself
  if (card?.error) {
    notice(card.error, "error");
    if (cursor.run !== page.boot.first) return move({ run: page.boot.first }, { instead: true });
  }
  if (card?.mine) rememberOwn(true);
  await refreshHeader();
  drawSentence(place("pg-sentence-bar"));
  drawReplay(place("pg-replay-bar"));
  drawRunButtons(place("pg-run-buttons"));
  drawFoot(place("pg-foot"));
  if (!place("pg-first")) document.body.dataset.shown ??= "frame"; // the frame is there, and what is under it says that it comes
  await open(`pg-panel-${cursor.tab}`); // a tab is made when it is first opened
  await Promise.all([refreshSentence(), refresh()]);
  if (cursor.run === id) document.body.dataset.playground = "ready";
  document.body.dataset.shown = ""; // in place of the first screen, with the same picture
}

/** Draws the header with the runs as they are now; a later call draws it instead. */
async function refreshHeader() {
  const runs = await read("runs", {});
  if (runs) drawHeader(place("pg-head"), runs.error ? { mine: [], other: [], shipped: [] } : runs);
}

subscribe(FIELDS, async (changed) => {
  if (["tab", "lab", "lesson", "notes"].some((name) => changed.has(name))) scrollToTop(); // wherever the one before was left
  if (changed.has("glossary") && cursor.glossary) openGlossary();
  if (changed.has("api")) (cursor.api ? openCode : closeCode)();
  if (changed.has("lang")) {
    relabel();
    await startOver();
  } else if (changed.has("run")) await openRun();
  else if (changed.has("tab")) open(`pg-panel-${cursor.tab}`).then(() => refresh());
});

subscribe(["reply"], async () => {
  if (!page.reply.again) return;
  forget();
  if (cursor.tab === "runs") refresh(); // its table names every run, and may have been asked for just before
  await readCard();
  await refreshHeader();
});

subscribe(["knobs"], () => plotly().catch(() => {})); // the largest file comes after all that Train needs; the first figure says when it is missing

hearTabs(() => page.card && refreshHeader());

// The theme may change under us.
let wasDark = isDark();
new MutationObserver(() => {
  if (wasDark === isDark()) return; // another class
  wasDark = isDark();
  refresh();
  refreshPreview();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

ready("pg-reading").then(() => page.boot && redrawReading()); // before that there are no words
startOver();
