// Gradio's part of a served page: the tabs, and their words in the visitor's language. Only a frozen page has this script.
// @ts-check

import { address, subscribe } from "./store.js";
import { h, say } from "./dom.js";

/** Shows one tab of its list and hides the others. */
function show(button) {
  for (const other of button.parentElement.children) {
    const isThis = other === button;
    other.setAttribute("aria-selected", String(isThis));
    document.getElementById(other.getAttribute("aria-controls")).hidden = !isThis;
  }
}

document.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest?.("[role=tab]");
  if (button) show(button);
});

const { live } = document.body.dataset;
/** The way to what is shown on the page with a server, where there is one. */
const toLive = () => {
  const link = /** @type {HTMLAnchorElement} */ (h("a", { class: "pg-to-live", href: live, target: "_blank", rel: "noopener" }, say("frozen_live")));
  const lead = () => void (link.search = `?${address()}`);
  for (const event of ["pointerdown", "focus", "click"]) link.addEventListener(event, lead);
  lead();
  return link;
};

/** Refusals get a link to the page with a server, where that can be done. */
const REFUSED = ["[data-block$=frozen]", ".pg-error", ".pg-notice.error>span"].join();
const refused = new MutationObserver(() => {
  for (const element of document.querySelectorAll(REFUSED)) if (!element.querySelector(".pg-to-live")) element.append(" ", toLive());
});
if (live) refused.observe(document.body, { childList: true, subtree: true });

subscribe(["boot"], () => {
  document.title = say("title");
  document.getElementById("pg-to-live").replaceChildren(...(live ? [toLive()] : []));
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.body.classList.toggle("dark", new URLSearchParams(location.search).get("__theme") === "dark" || dark.matches);
dark.addEventListener("change", paint);
paint();
