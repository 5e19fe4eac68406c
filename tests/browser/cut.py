"""What can't be read, found by measure: text cut off in a box that doesn't scroll or beyond the window, short words that are broken, and
controls over one another."""

from __future__ import annotations

from playwright.sync_api import Page

# What may be shorter than its text: a control's value, what somebody named, and the source, which stands in the field beside it as well.
MAY_BE_CUT = (
    "select, option, input, textarea, svg, .pg-unseen, .pg-cell-frame, .pg-plot, .pg-run-line, .pg-run-name, .pg-many button, "
    ".visually-hidden, #pg-result .pg-tokens:not(.out)"
)

CUT = """(may) => {
  const style = (element) => getComputedStyle(element), found = [];
  const scrolls = (element, axis) => ["auto", "scroll"].includes(style(element)[`overflow${axis}`]);
  const around = (element) => element === document.body ? [] : [element, ...around(element.parentElement)];
  for (const element of document.querySelectorAll("#pg-frame *, #pg-body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join("");
    if (!text || element.closest(may) || !element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(element);
    const { left, right, bottom, width } = range.getBoundingClientRect(), boxes = around(element);
    if (!width || boxes.some((one) => scrolls(one, "X"))) continue;
    const cutter = boxes.find((one) => style(one).overflowX === "hidden"), box = cutter?.getBoundingClientRect();
    const why = box && (right > box.right + 1.5 || left < box.left - 1.5) ? "cut"
      : box && style(cutter).overflowY === "hidden" && bottom > box.bottom + 4 ? "cut below"
      : right > innerWidth + 1 || left < -1 ? "outside" : "";
    if (why) found.push(`${why}: ${text.slice(0, 60)} (${element.id || element.className || element.tagName})`);
  }
  return found;
}"""

# One word that goes on in the next line without a hyphen, though it is short: its box is too narrow.
BROKEN = """() => {
  const texts = document.createTreeWalker(document.getElementById("pg-body"), NodeFilter.SHOW_TEXT), found = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const word = node.data.trim(), range = document.createRange();
    if (!/^[a-z]{3,14}$/i.test(word) || !node.parentElement.checkVisibility()) continue;
    range.selectNodeContents(node);
    if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(`broken: ${word}`);
  }
  return found;
}"""

# Words of a figure that stand beyond its edge, where nobody sees them.
OFF = """() => [...document.querySelectorAll(".pg-plot")].flatMap((plot) => {
  const box = plot.getBoundingClientRect();
  const isOff = ({ left, right }) => right - left > 1 && (right > box.right + 1.5 || left < box.left - 1.5);
  const isShown = (one) => one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
  const words = [...plot.querySelectorAll("svg text")].filter((one) => isShown(one) && isOff(one.getBoundingClientRect()));
  return words.map((one) => `beyond the edge of ${plot.id}: ${one.textContent}`);
})"""

OVER = """() => {
  const named = "button, select, input, summary, output, .pg-verdict, .pg-status, [role=tab]";
  const parts = "#pg-head, #pg-place-tabs, #pg-tools, #pg-sentence-bar, #pg-inner-tabs, #pg-replay-bar";
  const inFrame = [...document.querySelectorAll(`:is(${parts}) :is(${named})`)];
  const shown = inFrame.filter((one) => !one.closest("details") && one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }));
  const name = (one) => one.id || one.textContent, boxes = shown.map((one) => one.getBoundingClientRect());
  const overlap = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]) > 2;
  return shown.flatMap((one, at) => shown.slice(at + 1).filter((other, by) => {
    const a = boxes[at], b = boxes[at + 1 + by];
    return a.width && b.width && overlap(a, b, "left", "right") && overlap(a, b, "top", "bottom");
  }).map((other) => `${name(one)} and ${name(other)} lie over one another`));
}"""


def faults(page: Page) -> list[str]:
    """Every text that can't be read as it stands, also in a figure, and every pair of controls of the frame that lie over one another."""
    return page.evaluate(CUT, MAY_BE_CUT) + page.evaluate(BROKEN) + page.evaluate(OFF) + page.evaluate(OVER)
