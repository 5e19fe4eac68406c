// A calculation sheet: how one number came to be, with its terms as ways back through the model; or as a question.
// @ts-check

import { cursor, move, page, sentenceText } from "../../ui/static/store.js";
import { button, h, isEnter, minus, readPage, replaceChildren, routeUrl } from "../../ui/static/dom.js";
import { caption } from "../../ui/static/glossary.js";
import { register } from "../../ui/static/render.js";
import { doneOf } from "../../ui/static/course.js";

const value = (text) => h("span", { class: "pg-value" }, minus(text));

/** The calculation of the chosen cell. While it is secret, its last line is a question; while it is closed, only a button opens it. */
register("sheet", (element, block) => {
  const { words } = block;
  if (block.closed && element.dataset.shown !== cursor.stop && !doneOf("tour").includes(cursor.stop)) {
    const open = () => {
      element.dataset.shown = cursor.stop;
      element.pgRedraw();
      element.querySelector("h3").focus();
    };
    return element.replaceChildren(h("h3", {}, block.title), button({ class: "pg-hide", onclick: open }, words.show));
  }
  const held = element.contains(document.activeElement) && document.activeElement.className;
  const scrolled = element.querySelector(".pg-terms")?.scrollTop ?? 0;
  const terms = block.terms.length ? termTable(block) : "";
  const lead = ({ label, value: number }) => h("span", { class: "pg-lead" }, wayTo(label, words), " = ", value(number));
  const leads = block.leads.length ? h("p", { class: "pg-leads" }, block.leads.map(lead)) : "";
  const last = block.steps.length - 1;
  const step = ({ why, text, result }, at) => {
    const sum = h("code", {}, minus(text), text && " = ", h("b", { class: at === last ? "pg-answer" : "" }, minus(result)));
    return h("li", { class: at === last ? "last" : "" }, h("span", { class: "pg-why" }, why), sum);
  };
  const steps = h("ol", { class: "pg-sums" }, block.steps.map(step));
  const turn = { class: "pg-hide", "aria-pressed": String(block.secret), onclick: () => move({ hide: block.secret ? "" : "on" }) };
  const hide = block.asks && button(turn, block.secret ? words.show : words.hide);
  const end = block.secret ? guess(block) : h("span", { class: "pg-equals" }, block.equals);
  element.replaceChildren(h("h3", { tabindex: "-1" }, block.title), terms, leads, steps, h("div", { class: "pg-line" }, end, hide));
  const box = element.querySelector(".pg-terms");
  if (box) box.scrollTop = scrolled;
  if (held === "pg-hide") (element.querySelector(".pg-guess") ?? element.querySelector(".pg-hide"))?.focus(); // who hides wants to write
  if (element.dataset.cell !== block.title && !block.still) element.scrollIntoView({ block: "nearest" }); // where it has no room beside the picture
  element.dataset.cell = block.title;
}, { on: ["progress"] });

/** The name of a number; where the model computed it, a button that leads there; where it was learned, one to type it over if that is possible here. */
function wayTo({ text, title, to, edit }, words) {
  const type = edit && document.querySelector(".pg-editor")?.pgAim;
  if (!to && type) return button({ class: "pg-walk", title, onclick: () => type(edit) }, text);
  if (!to) return h("span", { title }, text);
  const about = { class: "pg-walk", title: `${title}. ${words.walk}`, "aria-label": `${text}: ${title}. ${words.walk}`, dataset: { stage: to.stage } };
  return button({ ...about, onclick: () => move({ window: "", ...to }) }, text);
}

/** A row for every term of the sum. */
function termTable({ terms, head, sign, words }) {
  const side = (way, text) => h("td", {}, way ? [wayTo(way, words), " ", text && value(text)] : "");
  const row = ({ left, left_value: first, right, right_value: second, part }) =>
    h("tr", {}, side(left, right || first !== part ? first : ""), // what is only added up is written once
      h("td", { class: "pg-sign" }, right ? sign : ""), side(right, second),
      h("td", { class: "number" }, h("span", { class: "pg-part" }, minus(part))));
  const names = h("tr", {}, [head[0], sign, head[1], words.count ? `${head[2]} · ${words.count}` : head[2]].map((text) => h("th", { scope: "col" }, text)));
  const about = { class: "pg-terms", tabindex: "0", role: "region", "aria-label": words.terms };
  return h("div", about, h("table", {}, h("thead", {}, names), h("tbody", {}, terms.map(row))));
}

/** A number as people write it, with a comma, a true minus or in percent; NaN for what is none. */
export function typedNumber(text) {
  const [, digits, percent] = text.trim().replaceAll("−", "-").replace(",", ".").match(/^(.+?)\s*(%?)$/) ?? [];
  return digits === undefined ? NaN : Number(digits) / (percent ? 100 : 1);
}

/** A line in which the student writes a number, and hears whether it is right, too high or too low. */
function guess(block) {
  const verdict = h("output", { class: "pg-said" });
  const about = { "aria-label": block.words.guess, placeholder: block.words.guess };
  const input = h("input", { type: "text", inputmode: "decimal", class: "pg-guess", autocomplete: "off", ...about });
  const check = () => {
    const number = typedNumber(input.value);
    const far = number - block.answer, near = Math.max(0.01 * Math.abs(block.answer), 0.0005);
    const how = Number.isNaN(number) ? "no_number" : Math.abs(far) <= near ? "right" : far < 0 ? "higher" : "lower";
    verdict.textContent = block.words[how];
    verdict.className = `pg-said ${how}`;
  };
  input.addEventListener("keydown", (event) => isEnter(event) && check());
  return h("span", { class: "pg-guessing" }, input, button({ onclick: check }, block.words.check), verdict);
}

/** Choosing a cell by its names. */
register("pick", (element, block) => {
  const option = (number, label, chosen) => h("option", { value: String(number), selected: number === chosen }, label);
  const options = (list, chosen, empty) => [h("option", { value: "" }, empty), ...list.map((choice) => option(choice.value, choice.label, chosen))];
  const rows = block.rows.map((label, at) => ({ value: at, label }));
  const row = h("select", { "aria-label": block.words.row }, options(rows, block.row, block.words.row));
  const col = h("select", { "aria-label": block.words.column }, options(block.columns, block.col, block.words.column));
  const settle = () => row.value !== "" && col.value !== "" && move({ window: "", row: row.value, col: col.value });
  row.onchange = col.onchange = settle;
  replaceChildren(element, h("span", { class: "pg-label" }, block.words.label), h("div", { class: "pg-line" }, row, col));
});

/** A seed, and the two printable sheets it makes. */
register("worksheet", (element, block) => {
  const { words } = block;
  const number = { type: "number", min: "0", max: "999999", step: "1", value: element.querySelector("input")?.value ?? "1" };
  const seed = h("input", { ...number, id: "pg-seed" });
  const option = (choice) => h("option", { value: choice.value, selected: choice.value === block.value }, choice.label);
  const kind = h("select", { id: "pg-kind" }, block.kinds.map(option));
  const open = (text, key, id) => h("a", { class: "pg-link-button", id, target: "_blank", rel: "noopener", dataset: { key }, onclick: openOwn }, text);
  const links = [open(words.open, "0", "pg-paper"), open(words.key, "1", "pg-paper-key")];
  const aim = () => {
    const { run, step, target } = cursor, number = Math.max(0, Math.floor(Number(seed.value) || 0));
    const sheet = { seed: String(number), kind: kind.value, run, step, text: sentenceText(), target };
    for (const link of links) link.href = routeUrl("worksheet", { ...sheet, key: link.dataset.key, lang: cursor.lang });
  };
  for (const control of [seed, kind]) control.addEventListener("input", aim);
  aim();
  const line = h("div", { class: "pg-line" }, h("label", {}, words.attention, " ", kind), h("label", {}, words.seed, " ", seed), ...links);
  element.replaceChildren(h("h3", {}, words.title), caption(words.about), line);
});

/** Opens a sheet that only the run's owner can read: this browser's key goes along, which no address carries. */
function openOwn(event) {
  const { card } = page, address = event.currentTarget.href;
  if (!card?.mine || !card.settings.own || card.sentences_shared) return;
  event.preventDefault();
  write(/** @type {Window} */ (window.open("", "_blank")), address);
}

/** Writes the sheet at an address into a window, and those that its form asks for. */
async function write(paper, address) {
  const text = await readPage(address);
  paper.document.open();
  paper.document.write(text.replace(/(?=asset\/[^"]+worksheet\.css)/, routeUrl("").slice(0, -1))); // the window has no address of its own
  paper.document.close();
  const form = paper.document.querySelector("form");
  if (!form) return;
  form.onsubmit = (event) => {
    event.preventDefault();
    write(paper, routeUrl("worksheet", Object.fromEntries(new FormData(form))));
  };
}
