"""axe-core on a page: every rule of WCAG 2.2 A and AA that it knows, those it holds to be experimental too."""

from __future__ import annotations

from functools import cache

import pytest
from playwright.sync_api import Page

from tests.browser.server import ROOT

SOURCE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
# [[rule, element, why], …] of what is wrong. Colours that change need a moment: they are looked at when no animation runs.
LOOK = """async (place) => {
  await new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100)); // what was opened is told
  const changing = document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations < 9);
  await Promise.allSettled(changing.map((one) => one.finished));
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const rules = Object.fromEntries(axe.getRules(values).map(({ ruleId }) => [ruleId, { enabled: true }]));
  const context = place ?? document;
  const { violations } = await axe.run(context, { runOnly: { type: "tag", values }, rules, resultTypes: ["violations"] });
  const why = (node) => [...node.any, ...node.all, ...node.none].map(({ message }) => message).join(" ");
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html.slice(0, 160), why(node)]));
}"""


@cache
def source() -> str:
    """axe's script; skips the test where the tools of package.json aren't installed."""
    if not SOURCE.exists():
        pytest.skip("axe-core isn't installed: run `npm ci`")
    return SOURCE.read_text()


def faults(page: Page, place: str | None = None) -> list[tuple[str, str, str]]:
    """What axe finds wrong with the page as it stands: (rule, the element's beginning, why). Looks at the whole page, unless it is told at
    which place."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(source())
    return [tuple(found) for found in page.evaluate(LOOK, place)]
