"""Pictures as plotly.js draws them: tokens literally, nothing cut off or over one another, nothing on the console."""

from __future__ import annotations

import json
from pathlib import Path

import plotly
import pytest

from playground.features.shared.figures import attention, tokens
from playground.features.shared.figures.theme import Style
from tests.browser.audit import TOUCHING
from tests.browser.steps import eventually
from tests.figures.gallery import HARD, gallery, labels

# With this object Plotly believes that MathJax is there: a "$" left in a label would be taken for a formula.
PAGE = """<!doctype html><meta charset="utf-8"><body style="margin:0"><script>window.MathJax = {version: "3.2.0"}</script>"""
DRAW = """async (json) => {
  document.querySelectorAll("div").forEach((old) => { Plotly.purge(old); old.remove(); });
  for (const [name, figure] of Object.entries(JSON.parse(json))) {
    const place = document.createElement("div");
    place.id = name;
    document.body.append(place);
    await Plotly.react(place, figure.data, figure.layout, {responsive: true, displayModeBar: false});
  }
}"""
CUT = """() => [...document.querySelectorAll("svg text")].flatMap((text) => {
  const box = text.getBoundingClientRect(), frame = text.closest(".js-plotly-plot").getBoundingClientRect();
  const out = box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  return box.width && out ? [text.closest(".js-plotly-plot").id + ": " + text.textContent] : [];
})"""
HOVER = """([id, q, k]) => {
  const plot = document.getElementById(id), { xaxis, yaxis } = plot._fullLayout;
  Plotly.Fx.hover(plot, {xpx: xaxis.d2p(k), ypx: yaxis.d2p(q)}, "xy");
  return [...plot.querySelectorAll(".hovertext .nums")].map((text) => text.textContent).join("");
}"""


@pytest.fixture(scope="module")
def plain(browser):
    """A page with nothing but Plotly, and what it says."""
    page = browser.new_page(viewport={"width": 720, "height": 800})
    page.console = []
    page.on("console", lambda message: page.console.append(message.text))
    page.on("pageerror", lambda error: page.console.append(str(error)))
    page.set_content(PAGE)
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"))
    yield page
    page.close()


def draw(page, width, **figures):
    page.console.clear()
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(DRAW, json.dumps(figures))


@pytest.mark.night
@pytest.mark.parametrize(
    ("length", "width", "language"), [(9, 360, "en"), (1, 360, "zh"), (18, 360, "zh"), (9, 1100, "zh"), (40, 720, "en")]
)
def test_no_label_is_cut_off_or_lies_on_another(plain, length, width, language):
    draw(plain, width, **gallery(length, width, hard=False, labels=labels(language)))
    assert plain.evaluate(CUT) == []
    assert plain.evaluate(TOUCHING) == []
    assert plain.console == []


def shortened(name: str) -> str:
    return tokens.visible(name) if len(name) <= tokens.MAX_LABEL_CHARACTERS else "<img␣src=x␣on…"


def hovers(plain, q, k, text):
    """Waits until the box beside the pointer says so: Plotly answers the mouse at most every 50 ms."""
    eventually(plain, lambda: plain.evaluate(HOVER, ["matrix", q, k]), lambda now: now == text)


def test_tokens_stand_on_axes_and_in_hovers_literally(plain):
    """Covers all that Plotly would take for HTML, TeX or a template of its own."""
    draw(plain, 360, **gallery(len(HARD), 360, labels=labels("en"), dark=True))
    assert plain.evaluate(CUT) == []
    count = len(HARD) - 1
    names = [name for name in HARD if name != "\ud800"]  # which JSON can't carry to the browser
    mask = [[k <= q for k in range(count)] for q in range(count)]
    weights = [[float(k == q) for k in range(count)] for q in range(count)]
    draw(plain, 720, matrix=attention.matrix(weights, names, names, mask=mask, kind="decoder", style=Style(labels("en"))))
    ticks = plain.evaluate("() => [...document.querySelectorAll('#matrix .ytick text')].map((text) => text.textContent)")
    assert ticks == [shortened(name) for name in names]
    for q in range(count):
        row = shortened(names[q])
        hovers(plain, q, q, f"query {row}, key {row}weight 1.000")
    hovers(plain, 1, 3, "query <b>x</b>, key %{x}masked: weight exactly 0")
    assert plain.evaluate("() => document.querySelectorAll('img').length") == 0
    assert plain.console == []
