// The line that shows this view in the page of a course: an iframe, perhaps as the presenter's view, with settings that hold and groups of
// them that are hidden, without a room.
// @ts-check

import { asText, page } from "./store.js";
import { copyButton, h, say } from "./dom.js";

const TAG = "iframe", HEIGHT = 720; // px: the frame, one picture and its settings

/** The settings that differ from their defaults, and the task: what an exercise fixes. */
function exercise() {
  const { boot, knobs } = page;
  const names = boot.knobs.filter((name) => name === "task" || (knobs[name] !== null && asText(knobs[name]) !== asText(boot.defaults[name])));
  return new Map(names.map((name) => [name, asText(knobs[name])]));
}

/** "Put this in my course", of a link to this view; a page without settings has none to fix. */
export function embedding(link, hasSettings) {
  const box = (id, text, checked = false) => {
    const input = /** @type {HTMLInputElement} */ (h("input", { id, type: "checkbox", checked, onchange: write }));
    return { input, label: h("label", {}, input, " ", text) };
  };
  const present = box("pg-embed-present", say("present")), fix = box("pg-embed-fix", say("embed_fix"));
  const groups = Object.keys(page.boot.groups).map((group) => ({ group, ...box(`pg-embed-${group}`, say(`room_group_${group}`), true) }));
  const height = /** @type {HTMLInputElement} */ (h("input", { id: "pg-embed-height", type: "number", min: "300", value: String(HEIGHT), oninput: write }));
  const field = h("textarea", { id: "pg-embed-line", rows: "4", readonly: true, "aria-label": say("embed") });
  function write() {
    const there = new URL(link), settings = fix.input.checked ? exercise() : new Map();
    const visible = groups.filter(({ input }) => input.checked).map(({ group }) => group);
    for (const [name, value] of settings) there.searchParams.set(name, value);
    if (settings.size) there.searchParams.set("fixed", [...settings.keys()].join());
    if (visible.length < groups.length) there.searchParams.set("controls", visible.join() || "-");
    if (present.input.checked) there.searchParams.set("present", "1");
    const frame = { src: there.href, title: say("title"), width: "100%", height: height.value || HEIGHT, style: "border:0", allow: "clipboard-write" };
    const quoted = (value) => `"${String(value).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`;
    field.value = `<${TAG} ${Object.entries(frame).map(([name, value]) => `${name}=${quoted(value)}`).join(" ")}></${TAG}>`;
  }
  write();
  const controls = h("fieldset", {}, h("legend", {}, say("room_fix_controls")), groups.map(({ label }) => label));
  return h("details", { id: "pg-embed" }, h("summary", {}, say("embed")), field, copyButton(field),
    h("p", {}, h("label", {}, say("embed_height"), " ", height), " ", present.label, " ", hasSettings ? fix.label : ""),
    ...(hasSettings ? [controls, h("p", { class: "pg-caption" }, say("embed_host"))] : []));
}
