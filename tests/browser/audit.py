"""One look at a page as it stands: what a person could not read, press or tell from its ground."""

from functools import cache

import pytest
from playwright.sync_api import Page

from tests.browser.server import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
LEAST = 11  # px of a text: the ends of a colour bar

# [[rule, element, why], …]: every rule of WCAG 2.2 A and AA that axe-core knows, contrast too, and those it holds to be experimental.
# Colours that change need a moment: they are looked at when no animation runs.
LOOK = """async (place) => {
  await new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100)); // what was opened is told
  const changing = document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations < 9);
  await Promise.allSettled(changing.map((one) => one.finished));
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const rules = Object.fromEntries(axe.getRules(values).map(({ ruleId }) => [ruleId, { enabled: true }]));
  const context = place ?? document;
  const { violations } = await axe.run(context, { runOnly: { type: "tag", values }, rules, resultTypes: ["violations"] });
  const why = (node) => [...node.any, ...node.all, ...node.none].map(({ message }) => message).join(" ");
  const findings = violations.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html.slice(0, 160), why(node)]));
  return findings.filter(([id, , reason]) => id !== "target-size" || !reason.includes("obscured")); // what a bar covers can be scrolled
}"""

# What may be shorter than its text: a control's value, a name that was given, and the source, which stands in the field beside it as well.
MAY_BE_CUT = (
    "select, option, input, textarea, svg, .pg-unseen, .pg-cell-frame, .pg-plot, .pg-run-line, .pg-run-name, .pg-many button, "
    ".visually-hidden, #pg-result .pg-tokens:not(.out)"
)

CUT = """(may) => {
  const style = (element) => getComputedStyle(element), findings = [];
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
    if (why) findings.push(`${why}: ${text.slice(0, 60)} (${element.id || element.className || element.tagName})`);
  }
  return findings;
}"""

# Words of a figure that stand beyond its edge, where they are not seen.
OFF = """() => [...document.querySelectorAll(".pg-plot")].flatMap((plot) => {
  const box = plot.getBoundingClientRect();
  const isOff = ({ left, right }) => right - left > 1 && (right > box.right + 1.5 || left < box.left - 1.5);
  const isShown = (one) => one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
  const words = [...plot.querySelectorAll("svg text")].filter((one) => isShown(one) && isOff(one.getBoundingClientRect()));
  return words.map((one) => `beyond the edge of ${plot.id}: ${one.textContent}`);
})"""

# Controls of the frame that lie over one another.
OVER = """() => {
  const named = "button, select, input, summary, output, .pg-verdict, .pg-status, [role=tab]";
  const parts = "#pg-head, #pg-place-tabs, #pg-tools, #pg-sentence-bar, #pg-inner-tabs, #pg-replay-bar";
  const inFrame = [...document.querySelectorAll(`:is(${parts}) :is(${named})`)];
  const visible = inFrame.filter((one) => !one.closest("details") && one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }));
  const name = (one) => one.id || one.textContent, boxes = visible.map((one) => one.getBoundingClientRect());
  const overlap = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]) > 2;
  return visible.flatMap((one, at) => visible.slice(at + 1).filter((other, by) => {
    const a = boxes[at], b = boxes[at + 1 + by];
    return a.width && b.width && overlap(a, b, "left", "right") && overlap(a, b, "top", "bottom");
  }).map((other) => `${name(one)} and ${name(other)} lie over one another`));
}"""

# Buttons in the window that lie under something else than a bar or what a click opened.
COVERED = """() => [...document.querySelectorAll("#pg-body button:not(.pg-scroll *)")].flatMap((one) => {
  const { left, top, width, height } = one.getBoundingClientRect(), at = document.elementFromPoint(left + width / 2, top + height / 2);
  const isCovered = at && width && one.checkVisibility({ checkVisibilityCSS: true }) && !one.contains(at) && !at.contains(one);
  const above = "#pg-frame, #pg-dock, #pg-rail, dialog, #pg-notices, .pg-popover, .pg-rest, [class*=bar]";
  return isCovered && !at.closest(above) ? [`${one.textContent} lies under ${at.className}`] : [];
})"""

# Labels of one axis that lie over one another.
TOUCHING = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap((plot) =>
  ["xtick", "ytick"].flatMap((axis) => {
    const boxes = [...plot.querySelectorAll("." + axis + " text")].map((text) => [text.getBoundingClientRect(), text.textContent]);
    const touch = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
    const later = (i) => boxes.slice(i + 1).filter(([box]) => touch(boxes[i][0], box));
    return boxes.flatMap(([, name], i) => later(i).map(([, other]) => plot.id + ": " + name + " | " + other));
  }))"""

# Targets below 24 px (WCAG 2.2, 2.5.8) whose circle of 24 px meets another target, or the circle of another small one. A link in a line of
# text is excepted, and of an input its label counts.
CROWDED = """() => {
  const LEAST = 24;
  const all = "button, a[href], input, select, textarea, summary, [role=tab], [role=button], [role=slider], [role=option]";
  const isSeen = (one, { width, height, left, top }) => {
    if (!width || !height || getComputedStyle(one).visibility === "hidden" || one.closest("[inert]")) return false;
    const at = document.elementFromPoint(left + width / 2, top + height / 2);
    return Boolean(at) && (one.contains(at) || at.contains(one));
  };
  const inText = (one) => getComputedStyle(one).display === "inline" && one.parentElement.textContent.trim() !== one.textContent.trim();
  const findings = new Map();
  for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight / 2) {
    scrollTo(0, top);
    for (const one of document.querySelectorAll(all)) {
      if (findings.has(one) || inText(one) || !isSeen(one, one.getBoundingClientRect())) continue;
      const label = one.matches("input") && one.closest("label"), box = label && label.clientWidth ? label : one;
      const { left, width, height, top: inWindow } = box.getBoundingClientRect(), y = inWindow + scrollY;
      const middle = { x: left + width / 2, y: y + height / 2 }, isFixed = Boolean(one.closest("#pg-frame, #pg-knobs"));
      const small = width < LEAST - 0.5 || height < LEAST - 0.5;
      findings.set(one, { one, left, top: y, right: left + width, bottom: y + height, ...middle, isFixed, small });
    }
  }
  scrollTo(0, 0);
  const boxes = [...findings.values()], clamp = (value, low, high) => Math.max(low, Math.min(value, high));
  const far = ({ x, y }, { left, right, top, bottom }) => Math.hypot(x - clamp(x, left, right), y - clamp(y, top, bottom));
  const isApart = (here, there) => here.isFixed !== there.isFixed || here.one.contains(there.one) || there.one.contains(here.one);
  const meets = (here, there) => !isApart(here, there) && (
    far(here, there) < LEAST / 2 - 0.5 || (there.small && Math.hypot(here.x - there.x, here.y - there.y) < LEAST - 0.5)
  );
  const sizeOf = ({ left, right, top, bottom }) => `${Math.round(right - left)} by ${Math.round(bottom - top)}`;
  const about = (target) => `${sizeOf(target)}: ${target.one.outerHTML.slice(0, 99)}`;
  return boxes.filter((here) => here.small && boxes.some((there) => there !== here && meets(here, there))).map(about);
}"""

# Words that are too small; that go on in the next line without a hyphen, though they are short: their box is too narrow; and words of the
# model that a translator would take for the page's own, or that no language is said of.
WORDS = """(least) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange(), findings = [];
  const tokens = new Set([...document.querySelectorAll(".pg-chip")].map((chip) => chip.textContent).filter((token) => token.length > 2));
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const one = node.parentElement, word = node.data.trim(), size = parseFloat(getComputedStyle(one).fontSize);
    const find = (why) => findings.push(`${why}: ${word.slice(0, 40)} (${one.id || one.getAttribute("class") || one.tagName})`);
    const isAlone = one.textContent.trim() === word; // and no piece of a sentence of the page, between two of its terms
    const isTranslated = isAlone && tokens.has(word) && !one.closest("script, style, select, .pg-plain, [translate=no]");
    if (isTranslated || one.matches(".pg-chip:not([lang])")) find("for translators");
    if (!word || !one.closest("#pg-body") || !one.checkVisibility()) continue;
    range.selectNodeContents(node);
    if (/^[a-z]{3,14}$/i.test(word) && new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) find("broken");
    if (size < least && one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) find(`${size} px`);
  }
  return findings;
}"""

# What is chosen and looks as what is not beside it: once as the page is, once in a contrast theme of the system, which takes colours away.
ALIKE = """() => ["selected", "pressed", "current"].flatMap((name) => {
  const state = `aria-${name}`, seen = (one) => one.checkVisibility({ checkVisibilityCSS: true });
  const names = ["color", "backgroundColor", "borderTopColor", "borderTopStyle", "outlineStyle", "fontWeight", "stroke", "strokeWidth"];
  const styles = (part) => names.map((name) => getComputedStyle(part)[name].replace(/rgba\\([^)]*, 0(\\.[0-4]\\d*)?\\)/, "")); // no tint
  const look = (one) => [one, ...one.querySelectorAll("rect")].map(styles).join();
  const isOther = (one) => (other) => other.tagName === one.tagName && other.getAttribute(state) !== "true" && seen(other);
  const isAlike = (one) => seen(one) && [...one.parentElement.children].filter(isOther(one)).some((other) => look(other) === look(one));
  return [...document.querySelectorAll(`[${state}=true]`)].filter(isAlike).map((one) => `${state} ${one.outerHTML.slice(0, 99)}`);
})"""

WIDE = "() => { const more = document.documentElement.scrollWidth - innerWidth; return more > 0 ? [`${more} px`] : []; }"


@cache
def source() -> str:
    """axe's script; skips the test where the tools of package.json aren't installed."""
    if not AXE.exists():
        pytest.skip("axe-core isn't installed: run `npm ci`")
    return AXE.read_text()


def axe(page: Page, place: str | None = None) -> list[str]:
    """Returns axe's findings on the page, or on one place of it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(source())
    return [" | ".join(finding) for finding in page.evaluate(LOOK, place)]


def audit(page: Page, place: str | None = None) -> list[str]:
    """Every finding, with what it breaks; axe looks at one `place`, where it is told, the others at all of the page."""
    page.emulate_media(forced_colors="active")
    alike = page.evaluate(ALIKE)
    page.emulate_media(forced_colors="none")
    findings = {
        "alike": alike + page.evaluate(ALIKE), "axe": axe(page, place), "cut": page.evaluate(CUT, MAY_BE_CUT),
        "word": page.evaluate(WORDS, LEAST), "wider than the window": page.evaluate(WIDE), "target": page.evaluate(CROWDED),
        "text": [finding for script in (OFF, OVER, COVERED, TOUCHING) for finding in page.evaluate(script)],
    }  # fmt: skip
    return [f"{kind}: {finding}" for kind, ones in findings.items() for finding in ones]
