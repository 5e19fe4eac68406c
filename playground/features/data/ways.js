// Where own sentences come from: files, pasted text or a data set of the Hub, of which one is open. And what is to be said while there
// are none.
// @ts-check

import { page, subscribe } from "../../ui/static/store.js";
import { button, h, ready, say } from "../../ui/static/dom.js";

const WAYS = ["files", "text", "hub"];
let open = WAYS[0];

/** The way that is open: what stands in the others doesn't count. */
export const way = () => open;

function choose(name) {
  open = name;
  drawWays();
}

async function drawWays() {
  const host = await ready("pg-ways"), option = (name) => button({ "aria-pressed": String(name === open), onclick: () => choose(name) }, say(`way_${name}`));
  const again = host.contains(document.activeElement);
  document.body.dataset.way = open;
  document.body.style.setProperty("--pg-drop", JSON.stringify(say("own_files")));
  host.replaceChildren(h("div", { class: "pg-segments", role: "group", "aria-label": say("ways") }, WAYS.map(option)));
  if (again) host.querySelector("[aria-pressed=true]")?.focus();
}

/** Gradio's place for files is called what is written on it; it is made anew when files are taken away. */
const nameFiles = () => document.querySelector("#pg-files button.upload-container")?.setAttribute("aria-label", say("own_files"));
ready("pg-files").then((files) => {
  nameFiles();
  new MutationObserver(nameFiles).observe(files, { childList: true, subtree: true });
});

/** Nothing offered fails: there is something to train on, or the button waits and says for what. */
async function drawUse() {
  const use = await ready("pg-train-own"), reason = await ready("pg-nothing-read");
  use.disabled = !page.uploaded;
  reason.textContent = page.uploaded ? "" : say("nothing_read_yet");
}

subscribe(["boot"], drawWays);
subscribe(["boot"], nameFiles);
subscribe(["boot", "uploaded"], drawUse);
