"""Pictures as plotly.js draws them: tokens literally, nothing cut off, nothing on the console."""

import json
from pathlib import Path

import plotly
import pytest

from playground.figures import attention, bars, tokens
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
  const by = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom].map(Math.round);
  return box.width && out ? [text.closest(".js-plotly-plot").id + ": " + text.textContent + " by " + by] : [];
})"""
TOUCHING = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap((plot) =>
  ["xtick", "ytick"].flatMap((axis) => {
    const boxes = [...plot.querySelectorAll("." + axis + " text")].map((text) => [text.getBoundingClientRect(), text.textContent]);
    const touch = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
    const later = (i) => boxes.slice(i + 1).filter(([box]) => touch(boxes[i][0], box));
    return boxes.flatMap(([, name], i) => later(i).map(([, other]) => plot.id + ": " + name + " | " + other));
  }))"""
HOVER = """async ([id, q, k]) => {
  const plot = document.getElementById(id), layout = plot._fullLayout;
  Plotly.Fx.hover(plot, {xpx: layout.xaxis.d2p(k), ypx: layout.yaxis.d2p(q)}, "xy");
  await new Promise((done) => setTimeout(done, 120));  // Plotly answers the mouse at most every 50 ms
  return [...plot.querySelectorAll(".hovertext .nums")].map((text) => text.textContent).join("");
}"""


@pytest.fixture(scope="module")
def page(chromium):
    """Nothing but Plotly, and what it says."""
    page = chromium.browser.new_page(viewport={"width": 720, "height": 800})
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.set_content(PAGE)
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"))
    yield page
    page.close()


def draw(page, width, **figures):
    page.said.clear()
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(DRAW, json.dumps(figures))


@pytest.mark.sample
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("length", "width"),
    [(1, 360), (9, 360), (18, 360), (9, 1100), *(pytest.param(*size, marks=pytest.mark.night) for size in ((40, 720), (250, 1100)))],
)
def test_no_label_is_cut_off_or_lies_on_another(page, language, length, width):
    draw(page, width, **gallery(length, width, hard=False, labels=labels(language)))
    assert page.evaluate(CUT) == []
    assert page.evaluate(TOUCHING) == []
    assert page.said == []


def test_hard_tokens_fit_as_well(page):
    draw(page, 360, **gallery(len(HARD), 360, labels=labels("en"), dark=True))
    assert page.evaluate(CUT) == []
    assert page.said == []


def test_tokens_stand_on_the_axes_literally(page):
    names = [token for token in HARD if token != "\ud800"]
    draw(page, 720, top=bars.top_tokens(names, [0.01] * len(names), width=720))
    shown = page.evaluate("() => [...document.querySelectorAll('#top .ytick text')].map((text) => text.textContent)")
    assert shown == [tokens.visible(name) if len(name) <= tokens.MAX_LABEL_CHARACTERS else "<img␣src=x␣on…" for name in names]
    assert page.evaluate("() => document.querySelectorAll('img').length") == 0
    assert page.said == []


def test_the_hover_box_shows_tokens_literally_even_where_ticks_are_thinned_out(page):
    count = 120
    names = [HARD[i % 11] for i in range(count)]  # without the surrogate, which JSON can't carry to the browser
    mask = [[k <= q for k in range(count)] for q in range(count)]
    weights = [[float(k == q) for k in range(count)] for q in range(count)]
    draw(page, 720, matrix=attention.matrix(weights, names, names, mask=mask, kind="decoder", labels=labels("en")))
    for q, k in ((0, 0), (1, 1), (13, 2), (24, 23), (119, 118)):
        said = page.evaluate(HOVER, ["matrix", q, k])
        row, column = (tokens.visible(names[i]) if len(names[i]) <= tokens.MAX_LABEL_CHARACTERS else "<img␣src=x␣on…" for i in (q, k))
        assert said == f"query {row}, key {column}attention weight {weights[q][k]:.3f}"
    said = page.evaluate(HOVER, ["matrix", 1, 3])
    assert said == "query <b>x</b>, key %{x}: maskedattention weight exactly 0"
    assert page.said == []
