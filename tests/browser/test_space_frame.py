"""The app as a Space's page shows it: in a frame of another site that is as tall as its content; the page around it scrolls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from playground.words import say
from tests.browser.conftest import PATIENCE
from tests.browser.server import ROOT, Server
from tests.browser.steps import eventually, words

RESIZER = ROOT / "node_modules" / "iframe-resizer" / "js" / "iframeResizer.min.js"  # whose other half Gradio brings along
WINDOW = {"width": 1280, "height": 800}
OUTER = """<!doctype html><title>A Space</title><meta name="viewport" content="width=device-width"><body style="margin: 0">
<header style="height: 64px">somebody / playground</header>
<iframe id="app" src="{app}" style="width: 100%; height: 600px; border: 0; display: block" allow="clipboard-write"></iframe>
<script src="/resizer.js"></script><script>iFrameResize({{ checkOrigin: false }}, "#app")</script>"""

# What a browser does that keeps nothing for frames of other sites.
BLOCKED = """if (self !== top)
  Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError") } })"""


@pytest.fixture(scope="module")
def outside(server: Server) -> Iterator[str]:
    """The address of a page of another site that frames the app: 127.0.0.1 is to localhost as huggingface.co is to hf.space."""
    if not RESIZER.exists():
        pytest.skip("iframe-resizer isn't installed: run `npm ci`")
    page = OUTER.format(app=f"http://localhost:{server.port}/?run=german_english&lang=en").encode()

    class Outside(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script = self.path == "/resizer.js"
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript" if script else "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(RESIZER.read_bytes() if script else page)

        def log_message(self, *what: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}/"
    http.shutdown()
    http.server_close()


@pytest.fixture
def framed(browser: Browser, outside: str) -> Iterator[Callable[..., tuple[Page, FrameLocator]]]:
    """framed(**context) -> (the page around, the app in it), ready."""
    contexts, errors = [], []

    def open(script: str = "", **options: object) -> tuple[Page, FrameLocator]:
        context = browser.new_context(**{"viewport": WINDOW, "locale": "en-US", **options})
        context.set_default_timeout(PATIENCE)
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


@pytest.mark.night
def test_notices_dialogs_and_the_bar_are_in_sight(framed):
    """At the top, in the middle and at the end of the page; and nothing of it makes the page around jump or grow."""
    page, app = framed()
    tall = height(page)
    for at in (0, 300, int(tall) + 64 - WINDOW["height"]):
        scroll(page, at)
        in_sight(page, app.locator("#pg-sentence"))
        in_sight(page, app.locator("#pg-place-compare-button"))
        in_sight(page, app.locator("#pg-tab-data-button"))
        in_sight(page, app.locator("#pg-train"))
        app.locator("#pg-share").click()
        in_sight(page, app.locator("#pg-dialog"))
        app.locator("#pg-copy-link").click()
        in_sight(page, app.locator("#pg-notices .pg-notice").last)
        app.locator("#pg-dialog header button").click()
        app.locator("#pg-help").click()
        in_sight(page, app.locator("#pg-dialog"))
        app.locator("#pg-dialog header button").click()
        assert page.evaluate("scrollY") == at
    page.wait_for_timeout(1000)
    assert abs(height(page) - tall) < 80


@pytest.mark.night
def test_a_new_tab_begins_at_its_beginning(framed):
    page, app = framed()
    scroll(page, 400)
    app.locator("#pg-place-compare-button").click()
    eventually(page, lambda: page.evaluate("scrollY"), lambda now: now < 100)


@pytest.mark.night
def test_what_is_presented_fills_the_window_and_the_page_comes_back(framed):
    page, app = framed()
    scroll(page, 300)
    app.locator("#pg-help").click()
    app.locator("#pg-present").click()
    in_sight(page, app.locator("#pg-frame"))
    eventually(page, lambda: height(page), lambda pixels: pixels <= WINDOW["height"])
    app.locator("#pg-present-leave").click()
    eventually(page, lambda: height(page), lambda pixels: pixels > WINDOW["height"])
    scroll(page, 300)
    in_sight(page, app.locator("#pg-sentence"))


@pytest.mark.night
def test_on_a_telephone_the_places_and_the_notices_are_at_its_bottom(framed):
    page, app = framed(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    scroll(page, 500)
    in_sight(page, app.locator("#pg-place-lessons-button"))
    app.locator("#pg-help").click()
    in_sight(page, app.locator("#pg-dialog"))


@pytest.mark.night
def test_where_nothing_is_kept_a_window_of_its_own_is_offered(framed):
    """One sentence and a link to where one looks; it stays until it is closed."""
    blocked = (
        "if (self !== top) Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })"
    )
    page, app = framed(script=blocked)
    note = app.locator("#pg-notices .pg-notice")
    expect(note).to_contain_text(words("page.own_window"))
    in_sight(page, note)
    with page.expect_popup() as opened:
        note.get_by_role("link", name=say("en", "page.own_window_open")).click()
    expect(opened.value.locator("body")).to_have_attribute("data-playground", "ready")
    assert "run=german_english" in opened.value.url
    expect(opened.value.locator("#pg-own-window")).to_have_count(0)
