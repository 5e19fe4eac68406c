// The key that makes runs one's own, shown to be carried to another browser, and entered there.
// @ts-check

import { change } from "./store.js";
import { button, copyText, h, isEnter, notice, say, send } from "./dom.js";
import { tellTabs, token, useToken } from "./storage.js";

/** Shows this browser's key, and takes another's. `open` puts it into a dialog. */
export function openKey(open) {
  const shown = h("input", { id: "pg-key", type: "password", readonly: true, autocomplete: "off", value: token, "aria-label": say("my_key") });
  const show = button({ id: "pg-key-show", "aria-pressed": "false", onclick: reveal }, say("my_key_show"));
  const copy = button({ id: "pg-key-copy", onclick: copied }, say("copy"));
  const about = { type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": "pg-key-said" };
  const field = h("input", { id: "pg-key-other", ...about });
  const said = h("p", { id: "pg-key-said", class: "pg-error", role: "alert" });

  function reveal() {
    const isHidden = shown.type === "password";
    shown.type = isHidden ? "text" : "password";
    show.setAttribute("aria-pressed", String(isHidden));
  }
  async function copied() {
    if (shown.type === "password") reveal(); // what is hidden can't be copied in every browser
    await copyText(shown);
    notice(say("my_key_copied"));
  }
  async function take() {
    const key = field.value.trim().toLowerCase(), answer = await send({ action: "take_key", run: "", key });
    if (answer.error) return void (said.textContent = answer.error);
    useToken(key);
    dialog.close();
    notice(answer.notice);
    change({ reply: { again: true } }); // whose runs these are is read anew
    tellTabs();
  }
  field.addEventListener("keydown", (event) => isEnter(event) && take());
  const dialog = open(say("my_key"),
    h("p", {}, say("my_key_help")), h("div", { class: "pg-line" }, shown, show, copy),
    h("label", { for: "pg-key-other" }, say("my_key_other")),
    h("div", { class: "pg-line" }, field, button({ id: "pg-key-use", onclick: take }, say("my_key_use"))), said);
}
