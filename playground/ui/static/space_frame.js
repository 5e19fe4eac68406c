// On a Space's page the app stands in a frame that is as tall as its content: the page around it scrolls, not the frame, so nothing in it
// can stick to the window. Here the frame learns which part of it is in sight, and space_frame.css places notices, dialogs and the bar there.
// The page around says it by iframe-resizer, which Gradio loads into every frame.
// @ts-check

import { change, page, subscribe } from "./store.js";
import { debounce, h, notice, say } from "./dom.js";
import { isStorageOpen } from "./storage.js";

const LEAST = 400; // px in sight, below which the bar would cover too much: it goes with the page then
export const isFramed = globalThis.parent !== globalThis.self;
let outside = { top: 0, below: 0, window: 0 };

/**
 * The part of a frame that is in sight: pixels of the frame that lie above it and below it, and its height.
 * @param {{ iframeHeight: number, clientHeight: number, offsetTop: number, scrollTop: number }} info of iframe-resizer
 */
function partInSight({ iframeHeight, clientHeight, offsetTop, scrollTop }) {
  const top = Math.min(Math.max(0, scrollTop - offsetTop), iframeHeight);
  const bottom = Math.min(Math.max(top, scrollTop + clientHeight - offsetTop), iframeHeight);
  return { top, below: iframeHeight - bottom, height: bottom - top, window: clientHeight };
}

function place(info) {
  const { top, below, height, window } = (outside = partInSight(info));
  change({ isPlaced: true });
  const isTall = (top > 0 || below > 0) && !document.body.hasAttribute("data-present");
  document.body.toggleAttribute("data-tall-frame", isTall);
  const sizes = { top, below, height, window, bar: height < LEAST ? 0 : top };
  for (const [name, pixels] of Object.entries(sizes)) document.documentElement.style.setProperty(`--seen-${name}`, `${Math.round(pixels)}px`);
}

/** The height of what can be in sight at once: of the window, also where the frame in it is taller or about to grow. */
export const windowHeight = () => (!document.body.hasAttribute("data-present") && outside.window) || innerHeight;

/** Gradio makes the frame as tall as its content, but gives up when that grew a few times: what is left over is asked for here. */
function grow() {
  const { scrollHeight } = document.documentElement;
  if (window.parentIFrame && !document.body.hasAttribute("data-present") && scrollHeight > innerHeight + 2) window.parentIFrame.size(scrollHeight);
}

/** Has the page around say what is in sight: now, and whenever it is scrolled or changes its size. */
function listen() {
  window.parentIFrame?.getPageInfo(false); // it would else say everything once more for each time it was asked
  window.parentIFrame?.getPageInfo(place);
}

/** Scrolls to the beginning of the page, inside a frame or not. */
export function scrollToTop() {
  if (outside.top > 0) window.parentIFrame?.scrollToOffset(0, 0);
  else scrollTo({ top: 0 });
}

/** Makes the frame as large as the window while presenting: Gradio does so while this is set. It listens in our place then. */
function present() {
  if (!window.parentIFrame) return;
  const isPresenting = document.body.hasAttribute("data-present");
  if (isPresenting) document.documentElement.dataset.gradioCover = "";
  else if ("gradioCover" in document.documentElement.dataset) {
    delete document.documentElement.dataset.gradioCover;
    setTimeout(listen, 500); // once Gradio no longer does
  }
  if (isPresenting) document.body.removeAttribute("data-tall-frame");
}

/** Says once that this browser keeps nothing for a frame, and where it does. */
function offerWindow() {
  if (isStorageOpen || document.getElementById("pg-own-window")) return;
  const link = h("a", { id: "pg-own-window", target: "_blank", rel: "noopener", href: location.href }, say("own_window_open"));
  link.addEventListener("click", () => (link.href = location.href)); // which says where one looks now
  notice(say("own_window"), "stays", link);
}

if (isFramed) {
  if (window.parentIFrame) listen();
  else addEventListener("message", function first() { // the resizer's first word makes parentIFrame
    if (!window.parentIFrame) return;
    removeEventListener("message", first);
    listen();
  });
  addEventListener("resize", debounce(() => !document.body.hasAttribute("data-present") && listen(), 60)); // of the frame
  subscribe(["boot"], () => page.boot && offerWindow());
  new ResizeObserver(debounce(grow, 300)).observe(document.body);
  const drawings = { subtree: true, attributes: true, attributeFilter: ["data-drawn"] };
  new MutationObserver(debounce(grow, 300)).observe(document.body, drawings);
  new MutationObserver(present).observe(document.body, { attributes: true, attributeFilter: ["data-present"] });
}
