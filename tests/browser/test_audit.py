"""Every tab, all that folds out and opens over it: readable, large enough, by WCAG 2.2; three sizes, light and dark, both languages."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import plotly
import pytest
from playwright.sync_api import Page, expect

from playground.features.registry import PLACES
from playground.features.shared.figures import attention, tokens
from playground.features.shared.figures.theme import Style
from tests.browser.audit import CROWDED, TOUCHING, audit
from tests.browser.steps import about_the_run, drawn, eventually, link, press_tab, ready
from tests.figures.gallery import HARD, gallery, labels

SIZES = ((390, 844), (1366, 768), (1920, 1080))
RUN = {"run": "german_english", "text": "der Mann sieht die Frau"}
# More to see of a place than the first view of its tabs.
VIEWS = {
    "train": ({"glossary": "all"}, {"api": 1}),
    "inside": ({"tab": "map", "stage": "decoder.1.cross_attention.weights", "row": 1, "col": 2}, {"tab": "attention", "present": 1}),
    "use": (), "lessons": ({"tab": "labs", "lab": "order"}, {"tab": "course", "lesson": "attention"}),
    "compare": ({"tab": "runs", "runs": "sort,reverse"},),
}  # fmt: skip
DIALOGS = (("#pg-share",), ("#pg-help",), ("#pg-help", "#pg-my-key"))
CASES = [(place, at, n) for at, place in enumerate(VIEWS) for n in range(len(SIZES))]


def unfolded(page: Page, tab: str) -> None:
    """All tables, code and controls of a tab, opened."""
    panel = page.locator(f"#pg-panel-{tab}")
    drawn(panel)
    expect(panel.locator(".stale, [aria-busy=true]")).to_have_count(0)  # what takes longer than the rest is there too
    panel.locator("details").evaluate_all("all => all.forEach((one) => (one.open = true))")


def dialogs(page: Page) -> Iterator[str]:
    """Yields the dialogs that open over the page, the settings, and the acts of a run's owner."""
    for presses in DIALOGS:
        for press in presses:
            page.locator(press).click()
        expect(page.locator("#pg-dialog")).to_be_visible()
        yield f"dialog {presses[-1]}"
        page.keyboard.press("Escape")
        expect(page.locator("#pg-dialog")).to_have_count(0)
    about_the_run(page)
    page.locator("#pg-mine").click()
    expect(page.locator("#pg-notices .pg-notice")).to_be_visible()
    page.reload()
    ready(page)
    about_the_run(page)
    expect(page.locator("#pg-rename")).to_be_visible()
    yield "a run of one's own"
    page.locator("#pg-delete").click()
    yield "dialog delete"
    page.keyboard.press("Escape")
    if page.locator("#pg-drawer").is_visible():
        page.locator("#pg-drawer").click()
    for more in page.locator("#pg-knobs .pg-more > button").all():
        more.click()
    page.locator("#pg-knobs").evaluate("one => one.scrollTo(0, 0)")  # what the row above covers is no fault
    yield "all settings"


def views(page: Page, place: str, **more: object) -> Iterator[tuple[str, str | None]]:
    """Brings up one state of a place after another: (its name, where it differs from the one before if not all over)."""
    tabs = [tab for tab in PLACES[place] if tab != "board"]  # which is there in a room
    page.goto(link(**RUN, tab=tabs[0], **more))
    ready(page)
    for tab in tabs:
        press_tab(page, tab)
        unfolded(page, tab)
        yield tab, None if tab == tabs[0] else f"#pg-panel-{tab}"
        page.locator(f"#pg-panel-{tab}").evaluate("one => one.replaceChildren()")  # axe walks through what is hidden as well
    for view in VIEWS[place]:
        page.goto(link(**RUN | more | view))
        ready(page)
        if "tab" in view:
            unfolded(page, view["tab"])
        yield str(view), None
    if place == "train":
        page.goto(link(**RUN, **more))
        ready(page)
        yield from ((name, None) for name in dialogs(page))


@pytest.mark.night
@pytest.mark.parametrize(("place", "at", "n"), CASES, ids=[f"{place}-{SIZES[n][0]}" for place, _, n in CASES])
def test_nothing_is_wrong_at_any_place_of_any_size(visit: Callable[..., Page], place: str, at: int, n: int):
    """Light and dark, English and Chinese alternate, so that every place has both of each."""
    width, height = SIZES[n]
    page = visit(link(**RUN), viewport={"width": width, "height": height})
    theme, lang = ("light", "dark")[(at + n) % 2], ("en", "zh")[(at + n // 2) % 2]
    faults = [f"{name}: {fault}" for name, where in views(page, place, __theme=theme, lang=lang) for fault in audit(page, where)]
    assert not faults, "\n".join(faults)


def test_nothing_is_wrong_with_the_first_page(visit: Callable[..., Page]):
    page = visit(link(**RUN), viewport={"width": 1366, "height": 768})
    unfolded(page, "training")
    assert audit(page) == []
    page.evaluate("""() => document.querySelector("main").insertAdjacentHTML("afterbegin", '<p style="position: relative; z-index: 99">' +
      '<button style="width: 12px; height: 12px; padding: 0"></button>'.repeat(2) + "</p>")""")
    assert len(page.evaluate(CROWDED)) >= 2  # such as these are found


@pytest.mark.night
def test_every_tab_fits_into_a_window_that_is_enlarged_four_times(visit: Callable[..., Page]):
    page = visit(link(), viewport={"width": 320, "height": 512})
    for tab in (tab for tabs in PLACES.values() for tab in tabs if tab != "board"):
        press_tab(page, tab)
        drawn(page.locator(f"#pg-panel-{tab}"))
        eventually(page, lambda tab=tab: (tab, page.evaluate("document.documentElement.scrollWidth")), lambda width: width[1] <= 320)


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
