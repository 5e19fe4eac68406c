"""A real Chromium, headless, for what only a browser can tell."""

from __future__ import annotations

import shutil
from typing import Any

from benchmarks.suite import Missing

INSTALL = "no Chromium was found: apt-get install chromium, or python -m playwright install chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Kept in every page from its first moment: when the first picture stood, and when everything in view did (milliseconds since 1970).
WATCH = """
window.benchmark = {};
const benchmarkLook = setInterval(() => {
  const drawn = document.querySelector(".pg-plot[data-points]:not([data-points='0'])");
  if (drawn) window.benchmark.picture ??= Date.now();
  if (document.body?.dataset.playground !== "ready") return;
  window.benchmark.ready = Date.now();
  if (drawn) clearInterval(benchmarkLook);
}, 10);
"""


class Browser:
    """Open while the `with` block lasts. Raises Missing when there is none."""

    def __enter__(self) -> Browser:
        try:
            from playwright.sync_api import Error, sync_playwright
        except ImportError:
            raise Missing("playwright is missing: pip install -r requirements-dev.txt") from None
        self._playwright = sync_playwright().start()
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        try:
            self._browser = self._playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except Error:
            self._playwright.stop()
            raise Missing(INSTALL) from None
        self.version = self._browser.version
        return self

    def __exit__(self, *problem: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def visitor(self) -> Any:
        """Returns a new visitor with an empty cache: Playwright's context. Closing it closes its pages."""
        context = self._browser.new_context(viewport={"width": 1400, "height": 900}, locale="en-US")
        context.add_init_script(WATCH)
        return context


def open_page(context: Any, url: str) -> tuple[Any, dict[str, float]]:
    """A page with its pictures drawn, and {"picture", "ready"}: when that was, in seconds since 1970."""
    page = context.new_page()
    page.goto(url, wait_until="commit")
    page.wait_for_function("window.benchmark?.ready && window.benchmark.picture", timeout=60_000)
    return page, {name: value / 1000 for name, value in page.evaluate("window.benchmark").items()}
