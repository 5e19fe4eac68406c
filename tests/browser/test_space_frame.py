"""The app as a Space's page shows it: in a frame of another site that is as tall as its content; the page around it scrolls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from playground.words import say
from tests.browser.server import PATIENCE, ROOT, Server, files
from tests.browser.steps import PHONE, eventually, words

pytestmark = pytest.mark.night
RESIZER = ROOT / "node_modules" / "iframe-resizer" / "js" / "iframeResizer.min.js"  # whose other half Gradio brings along
WINDOW = {"width": 1280, "height": 800}
OUTER = """<!doctype html><meta charset="utf-8"><title>A Space</title>
<meta name="viewport" content="width=device-width"><body style="margin: 0">
<header style="height: 64px">team / playground</header>
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
        if script:
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


def height(page: Page) -> float:
    return page.locator("#app").bounding_box()["height"]


def scroll(page: Page, to: int) -> None:
    """Scrolls as soon as the frame is tall enough for it."""
    eventually(page, lambda: page.evaluate(f"(scrollTo(0, {to}), scrollY)"), lambda now: now == to)


def in_sight(page: Page, thing: Locator) -> None:
    """Waits until all of a thing in the frame lies in the window, wherever that was scrolled."""
    eventually(
        page, thing.bounding_box, lambda box: box and box["y"] >= -1 and box["y"] + box["height"] <= page.viewport_size["height"] + 1
    )


def test_what_opens_is_in_sight_wherever_the_page_around_is_scrolled(framed):
    """Notices, dialogs and the bar at the top, in the middle and at the end; nothing of it makes the page around jump."""
    page, app = framed()
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
    eventually(page, lambda: height(page), lambda pixels: pixels > WINDOW["height"])
    scroll(page, 300)
    in_sight(page, app.locator("#pg-sentence"))
    app.locator("#pg-to-place-compare").click()  # a new tab begins at its beginning
    eventually(page, lambda: page.evaluate("scrollY"), lambda now: now < 100)


def test_where_nothing_is_kept_a_window_of_its_own_is_offered(framed):
    """On a telephone, in a browser that keeps nothing for frames of other sites: one sentence and a link to where one looks."""
    blocked = (
        "if (self !== top) Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })"
    )
    page, app = framed(script=blocked, **PHONE)
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
