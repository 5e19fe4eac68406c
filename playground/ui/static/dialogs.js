// Small dialogs that a click opens: the link to this view, the keys of the page, the visitor's own key, and how to use the run from code.
// @ts-check

import { address, change, cursor, move, page, personal, sentenceText } from "./store.js";
import { button, childrenOf, copyButton, copyText, h, isEnter, notice, onTyped, read, routeUrl, say, send } from "./dom.js";
import { embedding } from "./embed.js";
import { isFrozen } from "./server.js";
import { listTerms } from "./glossary.js";
import { command } from "./actions.js";
import { keySwitch } from "./single_keys.js";
import { tellTabs, token, useToken } from "./storage.js";

const TYPED = ["text", "prefix", "must", "must_not", "force", "corrupted"]; // fields with words of a sentence

/** The address to give away: it says the sentence on screen, also an example that was not typed, unless the sentences are private. Inside a
 * Space's frame the page's own address is not the one people see. */
export function shareLink() {
  const query = address(), hidden = isPrivate(page.card) ? TYPED : [];
  if (sentenceText()) query.set("text", sentenceText());
  for (const name of [...personal, ...hidden, "present"]) query.delete(name); // who reads it guesses anew, and has no hall to show it to
  return pageAddress() + (String(query) && `?${query}`);
}

/** Where the page is found: at the Space's own address, when there is one. */
export const pageAddress = () => (page.boot.host ? `https://${page.boot.host}/` : location.origin + location.pathname);

/** A dialog with these contents, in the place of any that is open. */
export function open(title, ...content) {
  document.getElementById("pg-dialog")?.remove();
  const close = button({ class: "pg-quiet", "aria-label": say("close"), onclick: () => dialog.close() }, "×");
  const dialog = h("dialog", { id: "pg-dialog", "aria-label": title }, h("header", {}, h("h2", {}, title), close), ...content.filter(Boolean));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Whether an address means the reader's own machine. */
const isOnlyHere = (address) => /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(new URL(address).hostname);

/** A link to this machine, as others in its network reach it. */
function onNetwork(link, address) {
  const there = new URL(link);
  there.hostname = address;
  return there.href;
}

/** A link as others open it, and what is to be said about that: in this machine's network, or nowhere yet; then this `again` is pressed. */
export function forOthers(here, again = say("share")) {
  const { lan } = page.boot, isHere = isOnlyHere(here);
  const link = isHere && lan.address ? onNetwork(here, lan.address) : here;
  const why = lan.listens ? "share_find" : "share_only_here";
  const warning = isHere && !lan.address && h("p", { class: "pg-only-here", role: "alert" }, say(why, { again }));
  const network = isHere && lan.address && h("p", { id: "pg-network" }, say("share_network"));
  return { link, hint: warning || network };
}

/** Whether a run learned from sentences that don't go with its link: without them it opens only settings and curves for others. */
export const isPrivate = (card) => card?.settings.task === "own" && !card.sentences_shared;

/** The link to this view, and `more` below it. */
export function openShare(...more) {
  const { link, hint } = forOthers(shareLink());
  const field = h("input", { id: "pg-link", type: "text", readonly: true, value: link, "aria-label": say("share_link") });
  const short = link.length <= 1500;
  const code = () => h("img", { id: "pg-qr", alt: say("share_qr"), src: routeUrl("qr", { text: link }) });
  const picture = isFrozen ? "" : short ? code() : h("p", {}, say("share_too_long"));
  const line = h("div", { class: "pg-line" }, field, copyButton(field, "pg-copy-link"));
  const about = h("p", { id: "pg-share-what" }, say(isPrivate(page.card) ? "share_help_private" : "share_help"));
  open(say("share"), hint, about, withSentences(() => openShare(...more)), line, picture, embedding(link, !isFrozen), ...more);
  field.select();
}

/** Whether one's own sentences go with the link to a run that learned from them; it is another link then, and shown by `again`. */
function withSentences(again) {
  const { card } = page;
  if (!card?.mine || card.settings.task !== "own") return "";
  const share = async () => {
    tick.disabled = true;
    await command("share_sentences", { shared: tick.checked });
    change({ card: { ...card, sentences_shared: tick.checked } });
    if (tick.isConnected) again();
    document.getElementById("pg-share-sentences")?.focus();
  };
  const about = { type: "checkbox", id: "pg-share-sentences", "aria-describedby": "pg-share-about", onchange: share };
  const tick = /** @type {HTMLInputElement} */ (h("input", about));
  tick.checked = card.sentences_shared;
  return h("div", {}, h("label", {}, tick, " ", say("share_sentences")), h("p", { id: "pg-share-about", class: "pg-caption" }, say("share_sentences_help")));
}

/** The glossary and other ways, `more` first among them; and the keys, which are folded where there is no keyboard. */
export function openHelp(...more) {
  const named = (keys) => keys.flatMap((key) => [h("kbd", {}, key === "space" ? say("key_space") : key), " "]);
  const rows = HELP.map(({ shown: keys, text }) => h("tr", {}, h("th", {}, named(keys)), h("td", {}, say(text))));
  const glossary = button({ id: "pg-glossary", onclick: () => move({ glossary: "all" }) }, say("glossary"));
  const present = button({ id: "pg-present", onclick: () => (dialog.close(), move({ present: "1" })) }, say("present"));
  const key = button({ id: "pg-my-key", onclick: () => openKey(open) }, say("my_key"));
  const code = button({ onclick: () => move({ api: "1" }) }, say("code"));
  const plain = button({ id: "pg-to-plain", onclick: () => (dialog.close(), move({ plain: "1" })) }, say("plain"));
  const line = h("p", { class: "pg-line pg-help" }, glossary, ...more, present, plain, code, key);
  const about = { class: "pg-help-keys", open: matchMedia("(any-pointer: fine)").matches };
  const keys = h("details", about, h("summary", {}, say("keys")), h("table", { class: "pg-keys" }, rows), keySwitch());
  const dialog = open(say("help"), h("p", {}, say("help_text")), line, h("p", {}, say("plain_about")), keys);
}

/** All terms, from A to Z, and a field that finds some of them in any language; the one that the cursor names comes into sight. */
export function openGlossary() {
  const order = new Intl.Collator(document.documentElement.lang, { ignorePunctuation: true });
  const entry = ({ id, name, forms, also, shape, text }) => {
    const otherForms = forms.filter((form) => form !== name).join(" · "), search = [...forms, ...also].join("\n").toLowerCase();
    const title = h("dt", {}, name, shape ? h("code", {}, shape) : "", otherForms ? h("small", {}, otherForms) : "");
    return h("div", { id: `pg-term-${id}`, dataset: { search } }, title, h("dd", {}, text));
  };
  const sorted = [...listTerms()].sort((first, other) => order.compare(first.name, other.name));
  const list = h("dl", { class: "pg-glossary" }, sorted.map(entry)), label = say("glossary_find");
  const field = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: label, "aria-label": label }));
  const isFound = ({ dataset }) => dataset.search.includes(field.value.trim().toLowerCase());
  onTyped(field, () => childrenOf(list).forEach((element) => element.toggleAttribute("hidden", !isFound(element))));
  const dialog = open(say("glossary"), h("p", {}, say("glossary_about", { count: sorted.length })), field, list);
  dialog.addEventListener("close", () => move({ glossary: "" }));
  document.getElementById(`pg-term-${cursor.glossary}`)?.scrollIntoView({ block: "center" });
}

export function openRename(label, act) {
  const field = h("input", { id: "pg-label", type: "text", maxlength: "60", value: label, "aria-label": say("rename") });
  const save = () => {
    dialog.close();
    act(field.value);
  };
  field.addEventListener("keydown", (event) => isEnter(event) && save());
  const line = h("div", { class: "pg-line" }, field, button({ id: "pg-rename-yes", onclick: save }, say("rename")));
  const dialog = open(say("rename"), h("p", {}, say("rename_help")), line);
  field.select();
}

export function openDelete(title, act) {
  const yes = () => {
    dialog.close();
    act();
  };
  const cancel = button({ id: "pg-delete-no", autofocus: true, onclick: () => dialog.close() }, say("cancel"));
  const line = h("div", { class: "pg-line pg-answers" }, cancel, button({ id: "pg-delete-yes", class: "pg-danger", onclick: yes }, say("delete")));
  const dialog = open(say("delete"), h("p", {}, say("delete_help", { title })), line);
}

/** How a program uses the run on screen, in a few lines that can be copied. */
export async function openCode() {
  const close = () => move({ api: "" }, { instead: true });
  const query = { run: cursor.run, text: sentenceText(), root: pageAddress() };
  const answer = await read("code", query);
  if (!answer) return;
  if (answer.error) return void (notice(answer.error, "error"), close());
  const section = ({ id, name, about, code }) => {
    const lines = h("pre", { tabindex: "0", "aria-label": name, dataset: { code: id } }, code);
    const copy = async () => {
      getSelection()?.selectAllChildren(lines);
      await navigator.clipboard?.writeText(code).catch(() => document.execCommand("copy")); // a frame without the right to the clipboard
      notice(answer.copied);
    };
    const head = h("div", { class: "pg-line" }, h("h3", {}, name), button({ "aria-label": `${say("copy")} ${name}`, onclick: copy }, say("copy")));
    return h("section", {}, head, h("p", { class: "pg-caption" }, about), lines);
  };
  const dialog = open(say("code"), h("p", {}, answer.about), h("div", { class: "pg-snippets" }, answer.languages.map(section)));
  dialog.dataset.of = "api";
  dialog.addEventListener("close", close);
}

export const closeCode = () => /** @type {HTMLDialogElement | null} */ (document.querySelector('#pg-dialog[data-of="api"]'))?.close();

// ---- keys -------------------------------------------------------------------------------------------------------------------------------

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

/** @type {{ where: "page" | "figure" | "group" | "present" | "room" | "tour", keys: string[], shown: string[], text: string }[]} */
export const HELP = [
  { where: "page", keys: [" "], shown: ["space"], text: "key_play" },
  { where: "page", keys: ["ArrowLeft", "ArrowRight"], shown: ["←", "→"], text: "key_replay" },
  { where: "page", keys: ["ArrowUp", "ArrowDown"], shown: ["↑", "↓"], text: "key_token" },
  { where: "page", keys: [..."12345678"], shown: ["1–8"], text: "key_head" },
  { where: "figure", keys: ARROWS, shown: ["←", "→", "↑", "↓"], text: "key_cell" },
  { where: "figure", keys: ["Enter"], shown: ["Enter"], text: "key_pin" },
  { where: "group", keys: [...ARROWS, "Home", "End"], shown: ["←", "→", "↑", "↓", "Home", "End"], text: "key_group" },
  { where: "present", keys: ["p"], shown: ["P"], text: "key_present" },
  { where: "present", keys: ["q"], shown: ["Q"], text: "key_code" },
  { where: "present", keys: ["r"], shown: ["R"], text: "key_reveal" },
  { where: "present", keys: ["Escape"], shown: ["Esc"], text: "key_escape" },
  { where: "tour", keys: [" ", "ArrowLeft", "ArrowRight"], shown: ["space", "←", "→"], text: "key_tour" },
  { where: "room", keys: ["f"], shown: ["F"], text: "key_follow" },
  { where: "page", keys: ["?"], shown: ["?"], text: "key_help" },
];

// ---- the key that owns runs -------------------------------------------------------------------------------------------------------------

/** Shows this browser's key, and takes another's. `open` puts it into a dialog. */
function openKey(open) {
  const secret = h("input", { id: "pg-key", type: "password", readonly: true, autocomplete: "off", value: token(), "aria-label": say("my_key") });
  const show = button({ id: "pg-key-show", "aria-pressed": "false", onclick: reveal }, say("my_key_show"));
  const copy = button({ id: "pg-key-copy", onclick: copied }, say("copy"));
  const about = { type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": "pg-key-said" };
  const field = h("input", { id: "pg-key-other", ...about });
  const error = h("p", { id: "pg-key-said", class: "pg-error", role: "alert" });

  function reveal() {
    const isHidden = secret.type === "password";
    secret.type = isHidden ? "text" : "password";
    show.setAttribute("aria-pressed", String(isHidden));
  }
  async function copied() {
    if (secret.type === "password") reveal(); // what is hidden can't be copied in every browser
    await copyText(secret, "my_key_copied");
  }
  async function take() {
    const key = field.value.trim().toLowerCase(), answer = await send({ action: "take_key", run: "", key });
    if (answer.error) return void (error.textContent = answer.error);
    useToken(key);
    dialog.close();
    notice(answer.notice);
    change({ reply: { again: true } }); // whose runs these are is read anew
    tellTabs();
  }
  field.addEventListener("keydown", (event) => isEnter(event) && take());
  const dialog = open(say("my_key"),
    h("p", {}, say("my_key_help")), h("div", { class: "pg-line" }, secret, show, copy),
    h("label", { for: "pg-key-other" }, say("my_key_other")),
    h("div", { class: "pg-line" }, field, button({ id: "pg-key-use", onclick: take }, say("my_key_use"))), error);
}
