"""The first second: what stands first stays where it is, and little is fetched."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from playground.features import registry
from playground.ui.page import build_frozen_page
from playground.words import LANGUAGES, say
from tests.browser.server import PATIENCE, ROOT, Server, files
from tests.browser.steps import PHONE, eventually, has_status, ready, words

pytestmark = pytest.mark.night

NOWHERE = "about:blank"  # so that what is watched is a first visit, and no other is broken off for it
MOST_BYTES = 1_000_000  # of a first visit, everything included, over the line
PLACES = {"#pg-first h3": "h3", "#pg-first .figure p": ".pg-caption", "#pg-first .still:visible": ".pg-plot"}
WATCH = """window.moved = 0;
  const add = (entries) => entries.getEntries().forEach((entry) => entry.hadRecentInput || (window.moved += entry.value));
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });"""
SIZES = "[...document.querySelectorAll('#pg-head h1, .pg-panel :is(p, h3, b)')].map((one) => getComputedStyle(one).fontSize)"


@pytest.mark.parametrize(("size", "language", "scheme"), [((1440, 900), "en-US", "light"), ((390, 844), "zh-CN", "dark")])
def test_nothing_jumps(browser, server, visit, size, language, scheme):
    """The first screen, seen while none of Gradio's scripts has come, stands where the page stands a moment later."""
    screen = {"viewport": dict(zip(("width", "height"), size, strict=True)), "locale": language, "color_scheme": scheme}
    early = browser.new_context(base_url=server.url, **screen).new_page()
    early.route("**/assets/*.js", lambda route: route.abort())
    early.goto("", wait_until="commit")
    expect(early.locator("#pg-first h3")).to_be_visible()
    stood = {first: early.locator(first).first.bounding_box() for first in PLACES}
    early.context.close()
    ready(page := visit("", meet=id, **screen))
    expect(page.locator("#pg-first")).to_be_hidden()
    for first, place in PLACES.items():
        assert page.locator(f'[data-block="figure learn-cross"] {place}').first.bounding_box() == pytest.approx(stood[first], abs=2), first
    legend, bar = (page.locator(place).bounding_box() for place in ("#pg-figure-learn-cross .legend", "#pg-place-tabs"))
    assert size[0] > 900 or legend["y"] + legend["height"] <= bar["y"], "the legend lies above the bottom bar"


def watched(visit, size: tuple[int, int], path: str = "") -> Page:
    page = visit(NOWHERE, meet=id, viewport=dict(zip(("width", "height"), size, strict=True)))
    page.add_init_script(WATCH)
    page.goto(path)
    return ready(page) or page


@pytest.mark.parametrize("tab", ["translate&method=beam", "interventions", "evaluation", "labs&lab=softmax&guess=grows&present=1"])
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_what_comes_later_has_its_room(visit, size, tab):
    page = watched(visit, size, f"?tab={tab}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.moved") < 0.01
    assert {*page.evaluate(SIZES)} <= {"13px", "14px", "20px"}
    assert page.locator("#pg-result[data-cut], .pg-compare-line [data-more]").count() == 2 * (tab == "interventions" and size[0] < 900)


@pytest.mark.parametrize("size", [(1440, 900), (1366, 768), (1920, 1080), (2560, 1440), (1024, 768), (390, 844)])
def test_nothing_moves_by_itself_from_the_first_look_to_the_end_of_a_training(visit, size):
    page = watched(visit, size)
    expect(page.locator("body" if size[0] == 1024 else "body:has(#pg-result:not([data-cut]))")).to_have_attribute("data-knobs", "ready")
    page.locator("#pg-train-now" if size[0] <= 900 else "#pg-train").click()
    expect(page.locator("#pg-run optgroup[label=Yours]")).to_have_count(1)
    has_status(page, "done")
    expect(page.locator("[data-block='outcome outcome']")).to_contain_text("exact match")
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
    page.route("**/page.js", lambda route: held.append(route))
    page.goto("", wait_until="commit")
    page.locator("#pg-first button").click()
    expect(page.locator("#pg-first button")).to_have_text(say("en", "page.status_preparing"))
    for route in held:
        route.continue_()
    page.unroute("**/page.js")
    expect(page.locator("#pg-run optgroup[label=Yours]")).to_have_count(1)


WRONG = {  # a script that runs before the page's own, addresses that don't answer
    "old": "CSS.supports = () => false", "missing": "**/page.js", "controls": "**/gradio_api/{queue,run}/**", "frame": "", "file": "",
}  # fmt: skip


@pytest.mark.parametrize("why", WRONG)
def test_a_page_that_can_not_be_drawn_says_why(browser, server, tmp_path, why):
    page, file = browser.new_context(locale="zh-CN").new_page(), tmp_path / "index.html"
    page.add_init_script(WRONG[why] if why == "old" else "")
    page.route(WRONG[why] or NOWHERE, lambda route: route.fulfill(status=404))
    file.write_text(build_frozen_page("asset", "modules.js", "", registry.PLACES, [], LANGUAGES))
    page.goto({"file": file.as_uri(), "frame": f"{server.url}gradio_api/playground/boot"}.get(why, server.url), wait_until="commit")
    if why == "frame":
        page.set_content(f'<iframe sandbox="allow-scripts" src="{server.url}"></iframe>')
    note = (page.frame_locator("iframe") if why == "frame" else page).locator("#pg-start-note")
    expect(note).to_contain_text(say("zh", f"page.start_{why}", path="/"))
    page.context.close()


RESIZER = ROOT / "node_modules" / "iframe-resizer" / "js" / "iframeResizer.min.js"  # whose other half Gradio brings along
WINDOW = {"width": 1280, "height": 800}
ASKED = "() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).searchParams.get('height')).findLast(Boolean)"
OUTER = """<!doctype html><meta charset="utf-8"><title>A Space</title><meta name="viewport" content="width=device-width">
<body style="margin: 0"><header style="height: 64px">team / playground</header>
<iframe id="app" src="{app}" style="width: 100%; height: 600px; border: 0; display: block" allow="clipboard-write"></iframe>
<script src="/resizer.js"></script><script>iFrameResize({{ checkOrigin: false }}, "#app")</script>"""


@pytest.fixture(scope="module")
def outside(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page of another site that frames the app: 127.0.0.1 is to localhost as huggingface.co is to hf.space."""
    if not RESIZER.exists():
        pytest.skip("iframe-resizer isn't installed: run `npm ci`")
    folder = tmp_path_factory.mktemp("outside")
    (folder / "index.html").write_text(OUTER.format(app=f"http://localhost:{server.port}/?run=german_english&lang=en"))
    (folder / "resizer.js").write_bytes(RESIZER.read_bytes())
    with files(folder) as url:
        yield url


def height(page: Page) -> float:
    return page.locator("#app").bounding_box()["height"]


@pytest.fixture
def framed(browser: Browser, outside: str) -> Iterator[Callable[..., tuple[Page, FrameLocator]]]:
    """framed(**context) -> (the page around, the app in it), ready."""
    contexts, errors = [], []

    def open(script: str = "", **options: object) -> tuple[Page, FrameLocator]:
        context = browser.new_context(**{"viewport": WINDOW, "locale": "en-US", **options})
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(script)
        page.goto(outside)
        app = page.frame_locator("#app")
        expect(app.locator("body")).to_have_attribute("data-playground", "ready")
        eventually(page, lambda: height(page), lambda pixels: pixels > WINDOW["height"])  # it is as tall as its content
        return page, app

    yield open
    for context in contexts:
        context.close()
    assert not errors


def scroll(page: Page, to: int) -> None:
    """Scrolls as soon as the frame is tall enough for it."""
    eventually(page, lambda: page.evaluate(f"(scrollTo(0, {to}), scrollY)"), lambda now: now == to)


def in_sight(page: Page, thing: Locator) -> None:
    """Waits until all of a thing in the frame lies in the window, wherever that was scrolled."""
    eventually(page, thing.bounding_box, lambda box: box and -1 <= box["y"] <= page.viewport_size["height"] + 1 - box["height"])


def test_what_opens_is_in_sight_wherever_the_page_around_is_scrolled(framed):
    """Notices, dialogs and the bar at the top, in the middle and at the end; nothing of it makes the page around jump."""
    page, app = framed()
    eventually(page, lambda: int(app.locator("html").evaluate(ASKED)), lambda pixels: pixels == WINDOW["height"] - 24)  # not the frame's
    for at in (0, 300, int(height(page)) + 64 - WINDOW["height"]):
        scroll(page, at)
        for place in ("#pg-sentence", "#pg-to-place-compare", "#pg-to-tab-data", "#pg-train"):
            in_sight(page, app.locator(place))
        app.locator("#pg-share").click()
        in_sight(page, app.locator("#pg-dialog"))
        app.locator("#pg-copy-link").click()
        in_sight(page, app.locator("#pg-notices .pg-notice").last)
        app.locator("#pg-dialog header button").click()
        assert page.evaluate("scrollY") == at
    scroll(page, 300)
    app.locator("#pg-help").click()
    app.locator("#pg-present").click()  # what is presented fills the window, and the page comes back
    in_sight(page, app.locator("#pg-frame"))
    eventually(page, lambda: height(page), lambda pixels: pixels <= WINDOW["height"])
    app.locator("#pg-present-leave").click()
    scroll(page, 300)
    in_sight(page, app.locator("#pg-sentence"))
    app.locator("#pg-to-place-compare").click()  # a new tab begins at its beginning
    eventually(page, lambda: page.evaluate("scrollY"), lambda now: now < 100)


def test_where_nothing_is_kept_a_window_of_its_own_is_offered(framed):
    """On a telephone, in a browser that keeps nothing for frames of other sites: one sentence and a link to where one looks."""
    blocked = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })"
    page, app = framed(script=f"if (self !== top) {blocked}", **PHONE)
    note = app.locator("#pg-notices .pg-notice")
    expect(note).to_contain_text(words("page.own_window"))
    in_sight(page, note)
    with page.expect_popup() as opened:
        note.get_by_role("link", name=say("en", "page.own_window_open")).click()
    expect(opened.value.locator("body")).to_have_attribute("data-playground", "ready")
    assert "run=german_english" in opened.value.url
    expect(opened.value.locator("#pg-own-window")).to_have_count(0)
    scroll(page, 500)
    in_sight(page, app.locator("#pg-to-place-lessons"))
