"""Text that can't be read, found by measure: cut off in a box that doesn't scroll, or beyond the edges of the window."""

from __future__ import annotations

from playwright.sync_api import Page

# What may be shorter than its text: what a person typed or named, whose whole text is a control's value, a title or in a wider window.
MAY_BE_CUT = "select, option, input, textarea, .pg-unseen, .pg-cell-frame, .pg-plot, .pg-run-line, .pg-run-name, .pg-many button, .pg-skip, .visually-hidden"

FIND = """(may) => {
  const found = [], style = (element) => getComputedStyle(element);
  const scrolls = (element, axis) => ["auto", "scroll"].includes(style(element)[`overflow${axis}`]);
  const chain = (element) => element ? [element, ...chain(element.parentElement)] : [];
  for (const element of document.querySelectorAll("#pg-frame *, #pg-body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join("");
    if (!text || element.closest(may) || element.closest("svg") || !element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(element);
    const { left, right, top, bottom, width } = range.getBoundingClientRect();
    if (!width) continue;
    const told = { text: text.slice(0, 60), id: element.id || element.className || element.tagName };
    const around = chain(element);
    const rolls = around.some((one) => scrolls(one, "X") && one !== document.body && one !== document.documentElement);
    const cutter = around.find((one) => style(one).overflowX !== "visible" && style(one).overflowX !== "clip" && !scrolls(one, "X"));
    if (cutter && cutter !== document.body && cutter !== document.documentElement && !rolls) {
      const box = cutter.getBoundingClientRect();
      if (right > box.right + 1.5 || left < box.left - 1.5) found.push({ ...told, why: "cut" });
      else if (!scrolls(cutter, "Y") && style(cutter).overflowY !== "visible" && bottom > box.bottom + 4) found.push({ ...told, why: "cut below" });
    }
    if (!rolls && (right > innerWidth + 1 || left < -1)) found.push({ ...told, why: "outside" });
  }
  return found;
}"""


def cut_texts(page: Page) -> list[dict[str, str]]:
    """Every text that can't be read as it stands: {text, id, why}."""
    return page.evaluate(FIND, MAY_BE_CUT)


COVER = """() => {
  const found = [], fixed = [...document.querySelectorAll("#pg-head *, #pg-sentence-bar *, #pg-replay-bar *, #pg-places [role=tab]")];
  const shown = fixed.filter((one) => one.matches("button, select, input, summary, output, .pg-verdict, .pg-status, .pg-reference, [role=tab]")
    && one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) && one.getBoundingClientRect().width > 0);
  for (const one of shown) for (const other of shown) {
    if (one === other || one.contains(other) || other.contains(one) || one.closest("details") || other.closest("details")) continue;
    if (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) continue;
    const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
    const right = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (right > 2 && down > 2) found.push({ text: `${one.id || one.textContent} / ${other.id || other.textContent}`, id: "", why: "covers" });
  }
  return found;
}"""


def covered(page: Page) -> list[dict[str, str]]:
    """Pairs of what stands in the frame that lie over one another."""
    return page.evaluate(COVER)
