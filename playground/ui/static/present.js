// The presenter's view: the first picture of the open tab fills the screen with its caption, which stands in the column that the picture
// leaves free; below it, where there is room, the other heads, or how the model came to it. P comes and goes, Escape goes, Q shows the
// link's code, R what a hall was not to see yet. What it looks like is in present.css; that the server then draws for the whole screen is in
// features/shared/view.py.
// @ts-check

import { cursor, move, page, subscribe } from "./store.js";
import { button, h, ready, say } from "./dom.js";
import { refresh } from "./panels.js";
import { openShare } from "./dialogs.js";
import { openRoom } from "./room_dialog.js";
import { isForThePage } from "./single_keys.js";
import { awaits, revealHere } from "./room_question.js";

const LARGER = 1.5; // times: what is presented is drawn for a page so much smaller
const HINT = 4000; // milliseconds for which the keys are told
const PICTURES = [".pg-figure", ".pg-lines", ".pg-map", ".pg-lanes", ".pg-heads"].join();
const SECOND = [".pg-heads", ".pg-live"].join(), AIR = 16; // what belongs beside it; px above and below that

const isPresenting = () => cursor.present === "1";
const isShown = (element) => element.getClientRects().length > 0;
const panel = () => document.getElementById(`pg-panel-${cursor.tab}`);

/** How many times larger than drawn a picture of this height is shown where there is `room`; one that is too high even so is scrolled. */
export const enlarged = (height, room) => Math.max(1, Math.min(LARGER, room / height));

function fit() {
  // column and legend: px that the figure keeps free, see features/shared/figures
  const picture = /** @type {HTMLElement | null} */ (document.querySelector(".pg-presented"));
  const plot = /** @type {any} */ (picture?.querySelector(".pg-plot")), { beside: column = 0, legend = 0 } = plot?.layout?.meta ?? {};
  picture?.classList.toggle("pg-beside", column > 0);
  const style = document.body.style, heightOf = (id) => document.getElementById(id)?.getBoundingClientRect().height ?? 0;
  const frame = heightOf("pg-frame"), line = heightOf("pg-now"); // what there is to do in a room stands at the lower edge
  const room = innerHeight - frame - line;
  style.setProperty("--present-frame", `${frame}px`);
  style.setProperty("--now-line", `${line}px`);
  style.setProperty("--present", String(picture ? enlarged(column ? plot.offsetHeight : picture.offsetHeight, room) : LARGER));
  style.setProperty("--beside", `${column}px`);
  style.setProperty("--legend", `${legend}px`);
  fitSecond(picture, column, legend);
}

/** Shows what belongs beside the picture between its caption and its legend, if there is room for all of it. */
function fitSecond(picture, column, legend) {
  const second = /** @type {HTMLElement | null} */ (document.querySelector(".pg-second"));
  if (!second) return;
  const [title, caption] = picture.children, height = title.offsetHeight + caption.scrollHeight + legend + 3 * AIR;
  const fits = column > 0 && second.offsetHeight + height <= picture.querySelector(".pg-plot").offsetHeight;
  second.classList.toggle("pg-no-room", !fits);
}

const sizes = new ResizeObserver(fit);

/** Chooses the picture, whenever the panel was drawn. */
function choose() {
  const last = document.querySelector(".pg-presented"), isSmall = last?.dataset.mode === "small"; // of all heads one has become the picture
  if (isSmall) last.classList.remove("pg-presented");
  const before = isSmall ? null : last, pictures = [...(panel()?.querySelectorAll(PICTURES) ?? [])];
  const now = isPresenting() ? pictures.find((picture) => picture === before || isShown(picture)) ?? null : null;
  if (now === before) return;
  before?.classList.remove("pg-presented", "pg-beside");
  document.querySelector(".pg-second")?.classList.remove("pg-second", "pg-no-room");
  now?.classList.add("pg-presented");
  const second = now?.matches(".pg-figure") ? panel().querySelector(SECOND) : null;
  if (second && second !== now) second.classList.add("pg-second", "pg-no-room");
  sizes.disconnect();
  if (now) for (const element of [now, document.getElementById("pg-frame")]) sizes.observe(element); // the output may take another line
  fit();
  dispatchEvent(new Event("resize")); // for Plotly, which looks at the width of its place only then
}

/** The way out for those who have no keyboard at hand. */
function drawLeave() {
  const leave = document.getElementById("pg-present-leave"), words = say("present_leave");
  if (!isPresenting()) return leave?.remove();
  leave?.remove();
  const way = button({ id: "pg-present-leave", "aria-label": words, title: words, onclick: () => move({ present: "" }) }, "×");
  ready("pg-frame").then((frame) => frame.append(way));
}

/** The keys, for a moment. */
function tellKeys() {
  document.getElementById("pg-present-keys")?.remove();
  if (!isPresenting()) return;
  const hint = h("p", { id: "pg-present-keys", role: "status" }, say("present_keys"));
  document.body.append(hint);
  setTimeout(() => hint.remove(), HINT + 1000);
}

function show() {
  if (document.body.hasAttribute("data-present") !== isPresenting()) tellKeys();
  document.body.toggleAttribute("data-present", isPresenting());
  drawLeave();
  choose();
}

subscribe(["present"], () => {
  if (isPresenting()) /** @type {HTMLElement | null} */ (document.activeElement)?.blur(); // else a key would move what can't be seen
  show();
  fit();
  refresh();
});
subscribe(["boot"], show);
subscribe(["tab"], choose);
new MutationObserver(() => (choose(), fit())).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-drawn"] });
addEventListener("resize", fit);

const leave = () => move({ present: "" });
/** In a room its code, by which a class comes in; else that of the link. */
const showCode = () => (page.room?.teacher ? openRoom() : openShare());
/** Keys of the presenter's view, and P everywhere. */
export const ACTS = { p: () => move({ present: isPresenting() ? "" : "1" }), Escape: leave, q: showCode, r: reveal };

document.addEventListener("keydown", (event) => {
  if (!isForThePage(event)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!ACTS[key] || (key !== "p" && !isPresenting())) return;
  event.preventDefault();
  ACTS[key]();
});

// ---- hidden until revealed --------------------------------------------------------------------------------------------------------------

/** Returns the hidden thing: the answer to a "question", the end of the "board", or nothing. */
function hidden() {
  if (cursor.present !== "1" || !page.room) return "";
  if (cursor.tab === "board") return cursor.revealed ? "" : "board";
  return page.room.teacher && awaits() ? "question" : "";
}

/** Reveals what is hidden; the end of the board is hidden again by the same key. */
export function reveal() {
  if (cursor.tab === "board") {
    if (awaits() && !cursor.revealed) revealHere();
    move({ revealed: cursor.revealed ? "" : "on" });
  } else if (hidden()) revealHere();
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
