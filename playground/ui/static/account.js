// Signing in with Hugging Face and pushing the run on screen to a repository of one's own, in the menu of the run.
// @ts-check

import { cursor, page, subscribe } from "./store.js";
import { button, h, isEnter, labelled, notice, same, say, send, update } from "./dom.js";
import { isFramed } from "./space_frame.js";

const LOOK = 1000; // milliseconds between two looks at a push
const place = h("div", { id: "pg-account" });
let account = null; // as the server describes it

/** The proof that a sign-in ended here, taken out of the address at once: with this visitor's token it signs in. */
const proof = new URLSearchParams(location.hash.slice(1));
if (proof.has("state")) history.replaceState(history.state, "", location.pathname + location.search);

/** The place for it, "" where the server doesn't offer it. It asks when it is opened. */
export const accountPlace = () => (page.boot.sign_in ? place : "");
export const openAccount = () => page.boot.sign_in && !account && ask("look");

async function ask(action, values = {}) {
  const answer = await send({ action, run: cursor.run, ...values }, "account");
  if (answer.error) notice(answer.error, "error");
  if ("user" in answer) {
    account = answer;
    draw();
    if (account.push?.busy) setTimeout(() => ask("look"), LOOK);
  }
  return answer;
}

async function signIn() {
  const { address } = await ask("begin", { back: location.search.slice(1) });
  if (address) location.assign(address);
}

/** Draws the form only for another run or account: typed text stays. */
function draw() {
  const { user, push } = account;
  if (!same(place, [user, page.card?.id])) place.replaceChildren(...(user ? form() : [signInButton()]), h("div", { id: "pg-push-state", role: "status" }));
  const state = document.getElementById("pg-push-state") ?? place.lastElementChild;
  if (same(state, push)) return;
  const stop = button({ id: "pg-push-stop", onclick: () => ask("stop") }, say("stop"));
  const link = push?.address && h("a", { id: "pg-pushed", href: push.address, target: "_blank", rel: "noopener" }, push.address);
  state.replaceChildren(...(push ? [push.text, " ", link || (push.busy ? stop : "")] : []));
  for (const control of place.querySelectorAll("#pg-push, #pg-sign-out")) update(control, { disabled: Boolean(push?.busy) });
}

/** In a frame browsers keep the cookies of another site back: there the page opens in a window of its own, which signs in. */
function signInButton() {
  const link = () => h("a", { id: "pg-sign-in", href: location.href, target: "_blank", rel: "noopener" }, `${say("sign_in")}: ${say("own_window_open")}`);
  return isFramed ? link() : button({ id: "pg-sign-in", onclick: signIn }, say("sign_in"));
}

function form() {
  const name = /** @type {HTMLInputElement} */ (h("input", { id: "pg-push-name", type: "text", maxlength: "96", value: page.card.name }));
  const tick = /** @type {HTMLInputElement} */ (h("input", { id: "pg-push-public", type: "checkbox" }));
  const push = () => ask("push", { name: name.value.trim(), public: tick.checked });
  name.addEventListener("keydown", (event) => isEnter(event) && push());
  return [
    labelled("push_name", name), h("label", {}, tick, say("push_public")),
    button({ id: "pg-push", "aria-describedby": "pg-push-about", onclick: push }, say("push")), h("small", { id: "pg-push-about" }, say("push_about")),
    button({ id: "pg-sign-out", class: "pg-quiet", onclick: () => ask("leave") }, say("sign_out", { user: account.user })),
  ];
}

subscribe(["card"], async () => {
  if (account) draw();
  if (!page.boot?.sign_in || !page.card || !proof.has("state")) return;
  const { code, state } = Object.fromEntries(proof);
  proof.delete("state");
  await ask("finish", { code, state });
  /** @type {HTMLDetailsElement} */ (document.getElementById("pg-run-about")).open = true;
});
