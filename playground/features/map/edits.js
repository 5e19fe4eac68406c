// The line in which a number is typed over: the chosen cell, or a learned number of its calculation. The cursor holds all edits.
// @ts-check

import { cursor, maxText, move } from "../../ui/static/store.js";
import { button, h, isEnter, minus, replaceChildren, update } from "../../ui/static/dom.js";
import { register } from "../../ui/static/render.js";
import { typedNumber } from "./sheet.js";

register("editor", (element, block) => {
  if (!element.firstChild) build(element);
  const select = /** @type {HTMLSelectElement} */ (element.querySelector("select")), input = /** @type {HTMLInputElement} */ (element.querySelector("input"));
  const [first] = block.targets, had = element.pgEditor?.targets[0].place === first.place ? select.value : first.place;
  element.pgEditor = block;
  const option = ({ place, label }) => h("option", { value: place, selected: place === had }, label);
  replaceChildren(select, ...block.targets.map(option));
  update(element.querySelector(".pg-label"), { textContent: block.words.label });
  update(element.querySelector(".pg-why"), { textContent: block.words.hint });
  select.setAttribute("aria-label", block.words.label);
  input.setAttribute("aria-label", block.words.number);
  element.querySelectorAll("button").forEach((each, at) => update(each, { textContent: [block.words.set, block.words.random][at] }));
  aim(element);
});

const targetOf = (element) => element.pgEditor.targets.find(({ place }) => place === element.querySelector("select").value) ?? element.pgEditor.targets[0];

/** Shows the number that is aimed at, whose matrix can be randomised if it was learned. */
function aim(element) {
  const { value, matrix } = targetOf(element);
  const input = element.querySelector("input"), random = element.querySelectorAll("button")[1];
  input.placeholder = minus(value);
  random.hidden = !matrix;
  random.title = matrix;
}

function build(element) {
  const verdict = h("output", { class: "pg-said" }), select = h("select", { onchange: () => aim(element) });
  const input = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", class: "pg-guess" });
  const tell = (text) => update(verdict, { textContent: text });
  const put = (edit) => {
    const [place] = edit.split("="), remaining = cursor.edits.split(";").filter((each) => each && each.split("=")[0] !== place);
    const edits = [...remaining, edit].join(";");
    if (remaining.length === element.pgEditor.most || edits.length > maxText) return tell(element.pgEditor.words.many);
    tell("");
    input.value = "";
    move({ edits });
  };
  const set = () => {
    const numbers = input.value.trim().split(/\s+/).map(typedNumber);
    if (!numbers.every((number) => Math.abs(number) <= element.pgEditor.most_value)) { // also of NaN
      tell(element.pgEditor.words.no_number);
      return input.select();
    }
    put(`${targetOf(element).place}=${numbers.map((number) => String(Number(number.toPrecision(9)))).join(",")}`);
  };
  const randomise = () => put(`${targetOf(element).matrix}=r${Math.floor(Math.random() * 1e6)}`);
  input.addEventListener("keydown", (event) => isEnter(event) && set());
  element.pgAim = (place) => {
    select.value = place;
    aim(element);
    input.focus();
  };
  element.append(h("div", { class: "pg-line" }, h("span", { class: "pg-label" }), select, input, button({ onclick: set }), button({ onclick: randomise })),
    h("p", { class: "pg-why" }), verdict);
}
