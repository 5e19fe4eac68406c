"""A browser, a server, and pages that fail their test on the first sign of trouble."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, Playwright, expect, sync_playwright

from tests.browser.server import PATIENCE, ROOT, Server

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync "
    "--num-raster-threads=1 --disable-partial-raster --disable-threaded-animation --disable-threaded-scrolling --disable-checker-imaging"
)
DESK = {"width": 1280, "height": 900}
SCREENSHOTS = ROOT / "test-output" / "browser"
FAILED = pytest.StashKey[bool]()  # of a story: whether it did


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            item.add_marker(pytest.mark.flaky(reruns=1))  # a browser is a program of its own; a test that needed its second try is an R


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()
    assert "Traceback" not in server.logged(), server.logged()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium from the PATH, or Playwright's own."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=1000 * PATIENCE)
        browser = playwright.chromium.launch(executable_path=find_browser(playwright), args=QUIET.split())
        yield browser
        browser.close()


def find_browser(playwright: Playwright) -> str:
    for path in (*map(shutil.which, NAMES), playwright.chromium.executable_path):
        if path and Path(path).exists():
            return path
    pytest.skip("no Chromium here: install one with `apt-get install chromium` or `playwright install chromium`")


class Visitors:
    """Lends a page to one visitor at a time. A new one finds only what was fetched and compiled, which takes most of the time."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = defaultdict(list)
        self._kinds: dict[Page, str] = {}
        self.troubles: dict[Page, Trouble] = {}

    def come(self, url: str, viewport: dict[str, int] = DESK, **options: object) -> Page:
        """An empty page of a visitor whom the site at `url`, where relative addresses begin, has never seen. It moves as little as the page
        can, which a fourth of the browser's work is spent on; a story about motion wants "no-preference"."""
        kind = f"{url} {sorted(options.items())}"
        if self._free[kind]:
            page = self._free[kind].pop()
        else:
            page = self._browser.new_context(base_url=url, **{"locale": "en-US", "reduced_motion": "reduce", **options}).new_page()
            page.set_default_timeout(1000 * PATIENCE)
            self._kinds[page], self.troubles[page] = kind, Trouble(page, url)
        page.set_viewport_size(viewport)
        site, forget = urlsplit(url), page.context.new_cdp_session(page)
        forget.send("Storage.clearDataForOrigin", {"origin": f"{site.scheme}://{site.netloc}", "storageTypes": "all"})
        forget.detach()
        return page

    def leave(self, page: Page, is_as_new: bool = False) -> None:
        """Makes room for the next visitor. A page to which more was done than to open it is given to no other."""
        if not is_as_new or page.context.pages != [page]:
            page.context.close()
            return
        page.unroute_all()
        page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.mouse.move(0, 0)
        self._free[self._kinds[page]].append(page)


@pytest.fixture(scope="package")
def visitors(browser: Browser) -> Visitors:
    return Visitors(browser)


class Trouble:
    """The faults of a page: complaints, failures to load, and requests to another host. One that loses its server may complain."""

    def __init__(self, page: Page, url: str) -> None:
        self.faults: list[str] = []
        self.loses_server = False
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("crash", lambda: self.faults.append("the page crashed"))
        page.on("request", lambda request: self._requested(request.url, urlsplit(url).netloc))
        page.on("console", lambda message: message.type == "error" and self._complained(f"console: {message.text}"))
        page.on("dialog", self._opened)
        page.on("response", lambda answer: answer.status >= 400 and self._complained(f"{answer.status} for {answer.url}"))
        page.on("requestfailed", lambda request: self._failed(request.url, request.failure or ""))

    def _complained(self, complaint: str) -> None:
        if not self.loses_server:
            self.faults.append(complaint)

    def _requested(self, url: str, host: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != host:
            self.faults.append(f"a request to another host: {url}")

    def _opened(self, dialog: Dialog) -> None:
        self._complained(f"an unexpected dialogue: {dialog.message}")
        dialog.dismiss()

    def _failed(self, url: str, why: str) -> None:
        if "ERR_ABORTED" not in why:  # the page gives up what it no longer needs: an older picture, a stream that is over
            self._complained(f"{why} for {url}")


def screenshot(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def ready(page: Page) -> None:
    """Until the page shows a run and the visitor's settings are theirs."""
    expect(page.locator("body")).to_have_attribute("data-playground", "ready")


@contextmanager
def pages(visitors: Visitors, url: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """open(path, **context) -> a page of a new visitor at this site, opened at `path` and ready, or met otherwise; `before` has it empty.

    Fails the test when any of its pages was in trouble. When it failed, the last state of each page is a screenshot.
    """
    opened = {}  # each page, and whether nothing was done to it but to open it

    def open(
        path: str = "", meet: Callable[[Page], object] = ready, before: Callable[[Page], object] = id, loses_server: bool = False,
        base_url: str = url, **options: object,
    ) -> Page:  # fmt: skip
        page = visitors.come(base_url, **options)
        visitors.troubles[page].loses_server = loses_server
        opened[page] = before is id and meet is not id
        before(page)
        page.goto(path, wait_until="commit")
        meet(page)
        return page

    yield open
    failed, faults = request.node.stash.get(FAILED, False), []
    for at, (page, is_as_new) in enumerate(opened.items()):
        if failed and not page.is_closed():
            screenshot(page, f"{request.node.name}{f'-{at + 1}' if at else ''}")
        faults += visitors.troubles[page].faults
        visitors.leave(page, is_as_new and not failed and not faults)
    assert not faults, "\n".join(faults)


@pytest.fixture
def visit(visitors: Visitors, server: Server, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    with pages(visitors, server.url, request) as open:
        yield open
    if request.node.stash.get(FAILED, False):  # what it trains would hold up its second try
        server.stop()
        server.start()


@pytest.fixture
def come(visit: Callable[..., Page], server: Server) -> Iterator[Callable[..., Page]]:
    """The same for pages that may lose their server, which runs again afterwards: what they complain of then is no trouble."""
    yield partial(visit, loses_server=True)
    server.start()
