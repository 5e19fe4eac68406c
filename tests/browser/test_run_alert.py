"""What went wrong with a run is said over no control: whoever reads it can press Resume."""

from __future__ import annotations

import pytest

from playground.words import LANGUAGES, say
from tests.browser.steps import link

SIZES = ((390, 844), (1280, 900))
SAY = """(text) => {
  const alert = document.getElementById("pg-run-alert");
  alert.textContent = text;
  alert.hidden = false;
}"""
# The controls of which a part lies under the alert, or over it.
TOUCHED = """() => {
  const boxOf = (one) => one.getBoundingClientRect(), alert = boxOf(document.getElementById("pg-run-alert"));
  const meets = ({ left, right, top, bottom }) => left < alert.right && right > alert.left && top < alert.bottom && bottom > alert.top;
  const controls = [...document.querySelectorAll("button, input, select, summary, a, [role=tab]")].filter((one) => one.checkVisibility());
  return controls.filter((one) => boxOf(one).width && meets(boxOf(one))).map((one) => one.id || one.outerHTML.slice(0, 80));
}"""


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_went_wrong_lies_over_no_control(visit, language):
    for width, height in SIZES:
        page = visit(link({"lang": language}), viewport={"width": width, "height": height})
        page.evaluate(SAY, say(language, "runs.interrupted", step=0))
        alert = page.locator("#pg-run-alert").bounding_box()
        assert 20 < alert["height"] < 90
        assert alert["x"] >= 0
        assert alert["x"] + alert["width"] <= width
        assert page.evaluate(TOUCHED) == []
        if width == 390:
            page.locator("#pg-drawer").click()
        page.locator("#pg-train").click(trial=True)  # in the drawer as well
