"""The first second: the first screen stands where the page stands a moment later, nothing moves, and little is fetched."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ready

NOWHERE = "about:blank"  # so that what is watched is a first visit, and no other is broken off for it
MOST_BYTES = 1_000_000  # of a first visit, everything included, over the line
GRID = ("#pg-first .still > svg:visible", "#pg-figure-learn-cross .nsewdrag")
SAME_PLACE = {  # of the first screen, of the page; and how many px they may be apart
    "title": ("#pg-first h3", '[data-block="figure learn-cross"] h3', 1),
    "caption": ("#pg-first p", '[data-block="figure learn-cross"] .pg-caption', 1),
    "picture": ("#pg-first .still:visible", "#pg-figure-learn-cross", 2),
    "grid": (*GRID, 5),
    "place": ("#pg-first .places .lit", "#pg-pg-place-train-button, #pg-place-tabs [role=tab][aria-selected=true]", 2),
    "sentence": ("#pg-first .text", "#pg-sentence-bar > .pg-line", 2),
    "token": ("#pg-first .chip >> visible=true >> nth=0", "#pg-result .pg-chip >> visible=true >> nth=0", 2),
}
WATCH = """
  window.moved = 0;
  const add = (seen) => seen.getEntries().forEach((entry) => (window.moved += entry.value));
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
"""


def boxes(page: Page, at: int) -> dict[str, dict[str, float]]:
    return {name: page.locator(said[at]).first.bounding_box() for name, said in SAME_PLACE.items()}


IS_SEEN = "(title) => getComputedStyle(title).clipPath === 'none'"  # and not only heard


def before(page: Page) -> None:
    """The page as it is while none of Gradio's scripts has come."""
    expect(page.locator("#pg-first h3")).to_be_visible()


@pytest.mark.night
@pytest.mark.parametrize(
    ("width", "height", "language", "scheme"), [(1440, 900, "en-US", "light"), (1366, 768, "en-US", "dark"), (390, 844, "zh-CN", "dark")]
)
def test_nothing_jumps(browser, server, visit, width, height, language, scheme):
    screen = {"viewport": {"width": width, "height": height}, "locale": language, "color_scheme": scheme}
    early = browser.new_context(base_url=server.url, **screen).new_page()
    early.route("**/assets/*.js", lambda route: route.abort())
    early.goto("", wait_until="commit")
    before(early)
    expect(early.locator("#pg-first.dark")).to_have_count(int(scheme == "dark"))  # which a script after it says
    stood, titled = boxes(early, 0), early.locator("#pg-first h1").evaluate(IS_SEEN)
    early.context.close()

    page = visit(NOWHERE, meet=lambda page: None, **screen)
    page.add_init_script(WATCH)
    page.goto("")
    ready(page)
    expect(page.locator("#pg-first")).to_be_hidden()
    for name, box in boxes(page, 1).items():
        most = SAME_PLACE[name][2]
        for side in ("x", "y", *(("width", "height") if name != "token" else ())):
            assert abs(box[side] - stood[name][side]) <= most, f"{name}: {stood[name]} became {box}"
    assert page.locator("#pg-head h1").evaluate(IS_SEEN) == titled == (width > 1300)
    assert page.evaluate("window.moved") < 0.1


@pytest.mark.night
def test_a_first_visit_fetches_less_than_a_megabyte(visit):
    """Counted, not timed: what came over the line until the page stands still."""
    page = visit(NOWHERE, meet=lambda page: None)
    line, bytes = page.context.new_cdp_session(page), []
    line.send("Network.enable")
    line.send("Network.clearBrowserCache")
    line.on("Network.loadingFinished", lambda event: bytes.append(event["encodedDataLength"]))
    page.goto("")
    ready(page)
    page.wait_for_timeout(500)
    assert len(bytes) > 50  # they were counted
    assert sum(bytes) < MOST_BYTES
    assert page.evaluate("Object.keys(window.Plotly.PlotSchema.get().traces).sort().join()") == "bar,heatmap,scatter"


@pytest.mark.night
def test_who_comes_back_to_a_run_of_their_own_sees_no_other_one_first(visit):
    page = visit()
    page.evaluate("localStorage.setItem('playground-own-run', '{}')")
    page.route("**/assets/*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto("")
    expect(page.locator("#pg-first")).to_have_count(0)


@pytest.mark.night
def test_the_controls_hold_what_the_link_says(visit):
    """Not what the page's script, which may be there before Gradio, has written into the address since: the run that it shows first."""
    page = visit(locale="zh-CN")
    expect(page.locator("#knob-steps input")).to_have_value("85")
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
