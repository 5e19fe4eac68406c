"""The first second: what stands first stays where it is, and little is fetched."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from playground.ui.page import build_frozen_page
from playground.words import say
from tests.browser.conftest import ready
from tests.browser.steps import has_status

pytestmark = pytest.mark.night

NOWHERE = "about:blank"  # so that what is watched is a first visit, and no other is broken off for it
MOST_BYTES = 1_000_000  # of a first visit, everything included, over the line
PLACES = {"title": ("#pg-first h3", "h3"), "caption": ("#pg-first p", ".pg-caption"), "picture": ("#pg-first .still:visible", ".pg-plot")}
WATCH = """
  window.moved = 0;
  const add = (entries) => entries.getEntries().forEach((entry) => entry.hadRecentInput || (window.moved += entry.value));
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
"""


@pytest.mark.parametrize(("size", "language", "scheme"), [((1440, 900), "en-US", "light"), ((390, 844), "zh-CN", "dark")])
def test_nothing_jumps(browser, server, visit, size, language, scheme):
    """The first screen, seen while none of Gradio's scripts has come, stands where the page stands a moment later."""
    screen = {"viewport": dict(zip(("width", "height"), size, strict=True)), "locale": language, "color_scheme": scheme}
    early = browser.new_context(base_url=server.url, **screen).new_page()
    early.route("**/assets/*.js", lambda route: route.abort())
    early.goto("", wait_until="commit")
    expect(early.locator("#pg-first h3")).to_be_visible()
    stood = {name: early.locator(first).first.bounding_box() for name, (first, _) in PLACES.items()}
    early.context.close()
    page: Page = visit("", meet=id, **screen)
    ready(page)
    expect(page.locator("#pg-first")).to_be_hidden()
    for name, (_, place) in PLACES.items():
        box = page.locator(f'[data-block="figure learn-cross"] {place}').first.bounding_box()
        assert box == pytest.approx(stood[name], abs=2), name


@pytest.mark.parametrize("size", [(1440, 900), (1366, 768), (1920, 1080), (2560, 1440), (1024, 768), (390, 844)])
def test_nothing_moves_by_itself_from_the_first_look_to_the_end_of_a_training(visit, size):
    page: Page = visit(NOWHERE, meet=id, viewport=dict(zip(("width", "height"), size, strict=True)))
    page.add_init_script(WATCH)
    page.goto("")
    ready(page)
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    page.locator("#pg-train-now" if size[0] <= 900 else "#pg-train").click()
    expect(page.locator("#pg-run optgroup[label=Yours]")).to_have_count(1)
    has_status(page, "done")
    expect(page.locator("[data-block='outcome outcome']")).to_contain_text("Exact match")
    assert page.evaluate("window.moved") < 0.01


def test_a_first_visit_fetches_less_than_a_megabyte(visit):
    """Counts the bytes over the line until the page stands still."""
    page = visit(NOWHERE, meet=id)
    line, sizes = page.context.new_cdp_session(page), []
    line.send("Network.enable")
    line.send("Network.clearBrowserCache")
    line.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto("")
    ready(page)
    page.wait_for_load_state("networkidle")
    assert len(sizes) > 50  # they were counted
    assert sum(sizes) < MOST_BYTES


def test_train_can_be_pressed_before_its_controls_are_there(visit):
    page, held = visit(NOWHERE, meet=id), []
    page.route("**/page.js", held.append)
    page.goto("", wait_until="commit")
    page.locator("#pg-first button").click()
    expect(page.locator("#pg-first button")).to_have_text(say("en", "page.status_preparing"))
    page.unroute("**/page.js")
    for route in held:
        route.continue_()
    expect(page.locator("#pg-run optgroup[label=Yours]")).to_have_count(1)


WRONG = {  # a script that runs before the page's own, addresses that don't answer
    "old": "CSS.supports = () => false", "missing": "**/page.js", "controls": "**/gradio_api/{queue,run}/**", "frame": "", "file": "",
}  # fmt: skip


@pytest.mark.parametrize("why", WRONG)
def test_a_page_that_can_not_be_drawn_says_why(browser, server, tmp_path, why):
    page, file = browser.new_context(locale="zh-CN").new_page(), tmp_path / "index.html"
    page.add_init_script(WRONG[why] if why == "old" else "")
    page.route(WRONG[why] or NOWHERE, lambda route: route.fulfill(status=404))
    file.write_text(build_frozen_page("asset", "modules.js"))
    page.goto({"file": file.as_uri(), "frame": f"{server.url}gradio_api/playground/boot"}.get(why, server.url), wait_until="commit")
    if why == "frame":
        page.set_content(f'<iframe sandbox="allow-scripts" src="{server.url}"></iframe>')
    note = (page.frame_locator("iframe") if why == "frame" else page).locator("#pg-start-note")
    expect(note).to_contain_text(say("zh", f"page.start_{why}", path="/"))
    page.context.close()
