// A calculation sheet: how one number came to be, with its terms as ways back through the model; or as a question.

import { cursor, move } from "./state.js";
import { h, minus, routeUrl } from "./dom.js";
import { caption } from "./glossary.js";

/** The calculation of the chosen cell. While it is secret, its last line is a question. */
export function drawSheet(element, block) {
  const { words } = block;
  const held = element.contains(document.activeElement) && document.activeElement.className;
  const scrolled = element.querySelector(".pg-terms")?.scrollTop ?? 0;
  const label = (one) => one.to
    ? h("button", { type: "button", class: "pg-walk", title: `${one.title}. ${words.walk}`, "aria-label": `${one.text}: ${one.title}. ${words.walk}`, dataset: { stage: one.to.stage }, onclick: () => move({ window: "", ...one.to }) }, one.text)
    : h("span", { title: one.title }, one.text);
  const value = (text) => h("span", { class: "pg-value" }, minus(text));
  const side = (one, text) => (one ? [label(one), " ", text && value(text)] : "");
  const rows = block.terms.map((term) => h("tr", {}, h("td", {}, side(term.left, term.left_value)), h("td", { class: "pg-sign" }, term.right ? block.sign : ""), h("td", {}, side(term.right, term.right_value)), h("td", { class: "number" }, h("span", { class: "pg-part" }, minus(term.part)))));
  const terms = rows.length ? h("div", { class: "pg-terms", tabindex: "0", role: "region", "aria-label": words.terms }, h("table", {}, h("thead", {}, h("tr", {}, [block.head[0], "", block.head[1], block.head[2]].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows))) : "";
  const leads = block.leads.length ? h("p", { class: "pg-leads" }, block.leads.map((lead) => h("span", { class: "pg-lead" }, label(lead.label), " = ", value(lead.value)))) : "";
  const last = block.steps.length - 1;
  const steps = h("ol", { class: "pg-steps" }, block.steps.map((step, at) => h("li", { class: at === last ? "last" : "" }, h("span", { class: "pg-why" }, step.why), h("code", {}, minus(step.text), step.text && " = ", h("b", { class: at === last ? "pg-answer" : "" }, minus(step.result))))));
  const hide = block.asks && h("button", { type: "button", class: "pg-hide", "aria-pressed": String(block.secret), onclick: () => move({ hide: block.secret ? "" : "on" }) }, block.secret ? words.show : words.hide);
  element.replaceChildren(h("h3", {}, block.title), terms, leads, steps, h("div", { class: "pg-line" }, block.secret ? guess(block) : h("span", { class: "pg-equals" }, block.equals), hide));
  const box = element.querySelector(".pg-terms");
  if (box) box.scrollTop = scrolled;
  if (held === "pg-hide") (element.querySelector(".pg-guess") ?? element.querySelector(".pg-hide"))?.focus(); // who hides wants to write
}

/** A line in which the student writes a number, and hears whether it is right, too high or too low. */
function guess(block) {
  const said = h("output", { class: "pg-said" });
  const input = h("input", { type: "text", inputmode: "decimal", class: "pg-guess", autocomplete: "off", "aria-label": block.words.guess, placeholder: block.words.guess });
  const check = () => {
    const given = Number(input.value.trim().replaceAll("−", "-").replace(",", "."));
    const far = given - block.answer, near = Math.max(0.01 * Math.abs(block.answer), 0.0005);
    const how = input.value.trim() === "" || Number.isNaN(given) ? "no_number" : Math.abs(far) <= near ? "right" : far < 0 ? "higher" : "lower";
    said.textContent = block.words[how];
    said.className = `pg-said ${how}`;
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && check());
  return h("span", { class: "pg-guessing" }, input, h("button", { type: "button", onclick: check }, block.words.check), said);
}

/** Choosing a cell by its names. */
export function drawPick(element, block) {
  const held = [...element.querySelectorAll("select")].indexOf(document.activeElement);
  const options = (list, chosen, empty) => [h("option", { value: "" }, empty), ...list.map(({ value, label }) => h("option", { value: String(value), selected: value === chosen }, label))];
  const rows = block.rows.map((label, value) => ({ value, label }));
  const row = h("select", { "aria-label": block.words.row }, options(rows, block.row, block.words.row));
  const col = h("select", { "aria-label": block.words.column }, options(block.columns, block.col, block.words.column));
  const settle = () => row.value !== "" && col.value !== "" && move({ window: "", row: row.value, col: col.value });
  row.onchange = col.onchange = settle;
  element.replaceChildren(h("span", { class: "pg-label" }, block.words.label), h("div", { class: "pg-line" }, row, col));
  [row, col][held]?.focus(); // the arrow keys go on from here
}

/** A seed, and the two printable sheets it makes. */
export function drawWorksheet(element, block) {
  const { words } = block;
  const seed = h("input", { type: "number", min: "0", max: "999999", step: "1", value: element.querySelector("input")?.value ?? "1", id: "pg-seed" });
  const kind = h("select", { id: "pg-kind" }, block.kinds.map(({ value, label }) => h("option", { value, selected: value === block.value }, label)));
  const open = (text, key, id) => h("a", { class: "pg-link-button", id, target: "_blank", rel: "noopener", dataset: { key } }, text);
  const links = [open(words.open, "0", "pg-paper"), open(words.key, "1", "pg-paper-key")];
  const aim = () => links.forEach((link) => (link.href = routeUrl("worksheet", { seed: String(Math.max(0, Math.floor(Number(seed.value) || 0))), kind: kind.value, key: link.dataset.key, lang: cursor.lang })));
  for (const control of [seed, kind]) control.addEventListener("input", aim);
  aim();
  element.replaceChildren(h("h3", {}, words.title), caption(words.about), h("div", { class: "pg-line" }, h("label", {}, words.attention, " ", kind), h("label", {}, words.seed, " ", seed), ...links));
}
