// What an upload was understood as: the first pairs, the report line by line, and how to go on.

import { h, say } from "./dom.js";

export function drawReading(host, reading) {
  if (!host) return;
  if (!reading) return host.replaceChildren();
  const pairs = reading.rows.map((row) => h("tr", {}, h("td", { class: "number" }, String(row.line)), h("td", { dir: "auto" }, row.source), h("td", { dir: "auto" }, row.target)));
  host.replaceChildren(
    h("h3", {}, say("reading_title", { name: reading.name })),
    h("ul", { class: "pg-report" }, reading.report.map((sentence) => h("li", {}, sentence))),
    h("div", { class: "pg-scroll" }, h("table", { class: "pg-preview" }, h("thead", {}, h("tr", {}, h("th", {}, say("line")), h("th", {}, say("source")), h("th", {}, say("target")))), h("tbody", {}, pairs))),
    h("p", { class: "pg-caption" }, reading.next),
  );
  host.dataset.pairs = String(reading.pairs);
}
