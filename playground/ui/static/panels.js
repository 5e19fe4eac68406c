// One panel a tab: the server says in blocks what stands in it, and it is asked again when what it depends on changes.
// @ts-check

import { FIELDS, change, cursor, page, sentenceText, subscribe } from "./store.js";
import { AGAIN, debounce, h, isDark, say } from "./dom.js";
import { askFor, blocksOf, forget, readAhead } from "./answers.js";
import { grey, highlight, spent, turn } from "./picture.js";
import { drawCurve, fillCurve } from "./pen.js";
import { heldHead, isActive, isGrowing, isTooEarly, parentOfRun, shownStep } from "./live.js";
import { nextStop } from "./replay.js";
import { refreshSentence, sentenceQuery, showSentence } from "./sentence.js";
import { render } from "./render.js";
import { windowHeight } from "./space_frame.js";
import { awaits } from "./room_question.js";
import { answersOf } from "./checks.js";
import { reasonHeight } from "./dock.js";

const LEFT_OUT = new Set(["lang", "tab", "glossary", "api", "plain"]);
let lastRefresh = 0, late = 0, awaited = "", drawnOf = ""; // what the panel on screen was asked of
let latest = 0, settled = 0; // the number of the newest refresh, and of the newest that is over
let released = Promise.resolve(); // nothing changes under a finger: a button replaced between press and release would lose the click

const hosts = () => [...document.querySelectorAll(".pg-panel")];
const hostOf = (name) => hosts().find((host) => host.dataset.panel === name);

/** State of the run that a panel may show: until it changes there is nothing new to request. */
function shownState() {
  const { id, status, picture, step, live } = page.live;
  return JSON.stringify([id, status, picture ?? step, live]);
}

function parameters(changes = {}) {
  const pixels = (length, unit) => String(Math.round(length / unit) * unit);
  const isNew = cursor.tab === "training" && !document.body.hasAttribute("data-toured");
  const line = (isNew && parseFloat(getComputedStyle(document.body).getPropertyValue("--what"))) || 0, tall = windowHeight() - line - reasonHeight();
  const query = { dark: isDark() ? "1" : "", width: pixels(hostOf(cursor.tab)?.clientWidth || 700, 20), height: pixels(tall - 2, 4) };
  for (const [name, value] of Object.entries({ ...cursor, text: sentenceText(), ...changes })) {
    if (!LEFT_OUT.has(name) && value !== "") query[name] = value;
  }
  if (heldHead()) query.held = heldHead();
  awaited = awaits();
  if (awaited) query.awaits = awaited;
  if (page.room && cursor.tab === "board") query.room = page.room.code;
  const answers = cursor.tab === "course" ? answersOf(cursor.lesson || "after") : ""; // the list of lessons tells the result of both rounds
  if (answers) query.checked = answers;
  return query;
}

/** Reads and draws the panel of the open tab, which is busy until it shows what was asked for last. */
export async function refresh(changes = {}) {
  const name = cursor.tab, host = hostOf(name);
  if (!host || !cursor.run) return;
  if (page.card && page.card.id !== cursor.run) return; // another run is being opened: its first sentence isn't known yet
  const number = ++latest;
  lastRefresh = performance.now();
  drawnOf = "";
  host.setAttribute("aria-busy", "true");
  try {
    await show(name, host, changes, () => number === latest);
  } finally {
    if (number === latest) {
      settled = number;
      host.setAttribute("aria-busy", "false");
      readNextStop();
    }
  }
}

function readNextStop() {
  if (!page.playing) return;
  const step = nextStop();
  readAhead(`panel/${cursor.tab}`, parameters({ step }));
  readAhead("panel/sentence", sentenceQuery(step));
}

async function show(name, host, changes, isLatest) {
  const query = parameters(changes);
  if (!host.childElementCount) host.replaceChildren(h("p", { class: "pg-waiting" }, say("loading")));
  const isFrame = isGrowing() && !Object.keys(changes).length, isLast = !isActive();
  if (isFrame) await turn();
  if (!isLatest()) return;
  const state = shownState();
  const answer = await askFor("panel", `panel/${name}`, isFrame ? { ...query, beside: "sentence" } : query);
  await released;
  if (!answer || !isLatest()) return; // an answer that was kept may have overtaken one that was on its way
  if (isFrame && cursor.step === "" && isTorn(answer)) return;
  if (answer.held && !Object.keys(changes).length) change({ held: { run: query.run, head: answer.held, early: isActive() && !answer.settled } });
  change({ panels: { ...page.panels, [name]: answer } });
  const isEarly = isTooEarly(answer) && host.querySelector(".pg-block") !== null;
  host.toggleAttribute("data-early", isEarly);
  if (isEarly) return void (host.dataset.early = answer.error); // in place of what stands there, which is of another run
  const began = performance.now(); // a frame is drawn in one go: half of it is never on screen
  await render(host, blocksOf(answer), { query, preview, isFrame: isFrame || page.playing > 0 });
  if (!isLatest()) return;
  if (answer.sentence) showSentence(answer.sentence, isLast);
  else if (isFrame) await refreshSentence();
  if (isFrame) spent(performance.now() - began);
  Object.assign(host.dataset, { run: query.run, step: String(answer.step ?? ""), of: answer.of ?? "" });
  host.dataset.drawn = String(Number(host.dataset.drawn ?? 0) + 1);
  highlight();
  if (!answer.error) drawnOf = state;
  if (answer.away) setTimeout(() => isLatest() && refresh(changes), AGAIN);
  if (answer.pause) await new Promise((resume) => setTimeout(resume, answer.pause));
  if (answer.more && isLatest()) await show(name, host, changes, isLatest); // a longer computation goes on as long as the page asks
}

/** Whether panel and sentence are of two steps, between which the server made a newer picture: the next frame has both of one. What training
 * recorded has steps of its own. */
const isTorn = ({ step, recorded, sentence }) => !recorded && sentence?.step !== undefined && (step ?? sentence.step) !== sentence.step;

/** Shows another head (or step) in the large picture while the pointer is over its small one; null goes back. */
const preview = debounce((changes) => refresh(changes ?? {}), 70);

// ---- what makes them change -------------------------------------------------------------------------------------------------------

subscribe(["run"], () => {
  settled = ++latest; // what is on its way is about the run before
  grey();
});

subscribe(FIELDS, (changed) => {
  if (["lang", "run", "tab"].some((name) => changed.has(name))) return; // main.js sees to it
  const uses = page.panels[cursor.tab]?.uses;
  const moves = isActive() ? ["text", "step", ...(uses ?? [])] : uses; // while a run trains the sentence comes with the panel
  if (!moves || moves.some((name) => changed.has(name))) refresh();
});

subscribe(["playing"], readNextStop);
subscribe(["room"], () => awaits() !== awaited && refresh());
subscribe(["checked", "isPlaced"], () => refresh());

let dealt = ""; // what the board of a class is about
subscribe(["room"], () => {
  const now = JSON.stringify(page.room && [page.room.code, page.room.activities]);
  if (cursor.tab === "board" && now !== dealt) {
    forget();
    refresh();
  }
  dealt = now;
});

subscribe(["live", "frame"], () => {
  if (!page.live.status) return; // nothing is known yet: what stands there stays
  for (const element of document.querySelectorAll(".pg-figure")) {
    if (!element.pgSkeleton || !(element.checkVisibility?.() ?? element.offsetParent)) continue; // the newer one lays nothing out
    const grows = isGrowing();
    element.pgFigure = fillCurve(element.pgSkeleton, page.live, grows ? "" : cursor.step, parentOfRun());
    drawCurve(element.querySelector(".pg-plot"), element.pgFigure, grows, shownStep()); // the end is drawn at once
  }
});

subscribe(["live"], () => {
  if (!page.live.status || cursor.step !== "") return;
  clearTimeout(late);
  const refreshEvery = page.panels[cursor.tab]?.refresh_ms ?? 1000;
  const wait = latest === settled ? lastRefresh + refreshEvery - performance.now() : refreshEvery;
  const both = () => {
    if (latest !== settled) return void (late = setTimeout(both, 100)); // a slow answer would be given up for the next one, again and again
    if (drawnOf === shownState()) return;
    forget();
    refresh();
    if (!isGrowing()) refreshSentence(); // else it comes with the panel
  };
  if (wait <= 0 && isActive()) both();
  else late = setTimeout(both, Math.max(wait, 60)); // the last change of a run that has just ended is shown as well
});

let wide = innerWidth; // a telephone's window is lower while its own bars are there: that is no reason to draw anew
addEventListener("resize", debounce(() => {
  if (wide === innerWidth) return;
  wide = innerWidth;
  refresh();
}, 300));

addEventListener("pointerdown", (event) => {
  if (!event.target.closest?.(".pg-panel :is(button, summary, td, .pg-chip)")) return;
  released = new Promise((release) => {
    addEventListener("pointerup", () => setTimeout(release), { once: true, capture: true });
    setTimeout(release, 1000); // a press that ends elsewhere, in a menu of the browser for one, is never told
  });
}, true);
