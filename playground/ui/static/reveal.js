// What a hall is not to see yet: of the teacher's question what was guessed and what is right, of the board what came of the runs. R or a
// button reveals it, and R hides the board's again. How the page looks meanwhile is in present.css.
// @ts-check

import { cursor, move, page, subscribe } from "./store.js";
import { button, ready, say } from "./dom.js";
import { awaits, revealHere } from "./room_question.js";

/** What is hidden now: the answer to a "question", the end of the "board", or nothing. */
function hidden() {
  if (cursor.present !== "1" || !page.room) return "";
  if (cursor.tab === "board") return cursor.revealed ? "" : "board";
  return page.room.teacher && awaits() ? "question" : "";
}

/** Reveals what is hidden; the end of the board is hidden again by the same key. */
export function reveal() {
  if (cursor.tab === "board") move({ revealed: cursor.revealed ? "" : "on" });
  else if (hidden()) revealHere();
}

async function draw() {
  document.body.toggleAttribute("data-asking", hidden() === "question");
  if (!page.boot) return;
  const frame = await ready("pg-frame"), before = document.getElementById("pg-present-reveal");
  if (!hidden()) return void before?.remove();
  const words = say("present_reveal");
  if (before?.title === words) return;
  before?.remove();
  frame.append(button({ id: "pg-present-reveal", title: words, onclick: reveal }, words));
}
subscribe(["present", "tab", "room", "boot", "revealed", "lab", "lesson", "lang"], draw);
