// The rule that finds text outside the language files, on scripts that have some and on scripts that have none.

import { describe, it } from "node:test";
import { RuleTester } from "eslint";

import strays from "./lint/strays.js";

RuleTester.describe = describe;
RuleTester.it = it;

new RuleTester().run("strays", strays, {
  invalid: [
    'element.textContent = "Reading the model";',
    "element.textContent = `${count} tokens`;",
    'h("p", {}, "loss");',
    'h("p", {}, h("b", {}, "Loss"));',
    'h("p", {}, run.mine ? "yours" : "");',
    'h("button", { type: "button", title: "close" }, "×");',
    'h("button", { "aria-label": open ? "Close it" : say("open") });',
    'element.setAttribute("aria-label", "close");',
    "element.title = 'Click to pin';",
    "notice(`Run ${name} is gone`);",
    'h("p", {}, `· ${say("b", { c: "Two words" })}`);',
    'const text = /[/"]/.test(name) ? "It is one" : "";',
    'const text = "正在读取";',
    'const text = name ?? "Nobody";',
  ].map((code) => ({ code, errors: [{ messageId: "stray" }] })),
  valid: [
    "// Reads the panel and draws it.\n/* Two words. */",
    'import { one } from "./two words.js";',
    'h("p", { class: "pg-caption pg-label" }, say("about"));',
    'svg("path", { d: "M6 4l10 6-10 6z" });',
    'element.querySelector("details summary");',
    'element.className = `pg-block pg-text ${block.class ?? ""}`;',
    'const found = text.replace(/\\{(\\w+)\\} and "more"/g, "");',
    'throw new Error("this never happens");',
    'h("span", { style: `left: ${x}px; color: red` });',
    'const words = { "two words": 1 };',
    'const again = ["Enter", " "].includes(event.key) || event.key === "Escape";',
    'const answer = await read(`panel/${name}`, query, `panel ${name}`);',
    { code: 'h("button", {}, "中文");', options: [{ allow: ["中文"] }] },
  ],
});
