"""What went wrong with a run is said over no control: whoever reads it can press Resume."""

from __future__ import annotations

import pytest

from playground.words import LANGUAGES, say
from tests.browser.steps import link

SIZES = ((390, 844), (1280, 900))
# Says it, and where it stands: {"left", "right", "height", "touched": the controls of which a part lies under it, or over it}.
SAID = """(text) => {
  const alert = document.getElementById("pg-run-alert");
  Object.assign(alert, { textContent: text, hidden: false });
  const boxOf = (one) => one.getBoundingClientRect(), { left, right, top, bottom, height } = boxOf(alert);
  const meets = (box) => box.width && box.left < right && box.right > left && box.top < bottom && box.bottom > top;
  const controls = [...document.querySelectorAll("button, input, select, summary, a")].filter((one) => one.checkVisibility());
  return { left, right, height, touched: controls.filter((one) => meets(boxOf(one))).map((one) => one.id || one.outerHTML.slice(0, 80)) };
}"""


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_went_wrong_lies_over_no_control(visit, language):
    for width, height in SIZES:
        page = visit(link({"lang": language}), viewport={"width": width, "height": height})
        said = page.evaluate(SAID, say(language, "runs.interrupted", step=0))
        assert said["touched"] == []
        assert 20 < said["height"] < 90
        assert said["left"] >= 0
        assert said["right"] <= width
