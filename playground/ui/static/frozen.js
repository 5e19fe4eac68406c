// What Gradio does for the page where it is served: the tabs, and their words in the visitor's language. Only a frozen page has this script.
// @ts-check

import { subscribe } from "./store.js";
import { say } from "./dom.js";

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

subscribe(["boot"], () => {
  document.title = say("title");
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.body.classList.toggle("dark", new URLSearchParams(location.search).get("__theme") === "dark" || dark.matches);
dark.addEventListener("change", paint);
paint();
