"""Browsers for people who come and go. A new visitor finds nothing of those before but what was fetched and compiled: half of the time that
a page takes to open is spent on that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.server import PATIENCE

DESK = {"width": 1280, "height": 900}


class Visitors:
    """Lends a context to one visitor at a time. `browser` says which one runs: it may have been started anew."""

    def __init__(self, browser: Callable[[], Browser]) -> None:
        self._browser = browser
        self._free: dict[tuple, list[BrowserContext]] = defaultdict(list)
        self._kinds: dict[BrowserContext, tuple] = {}

    def come(self, url: str, viewport: dict[str, int] = DESK, **options: object) -> Page:
        """An empty page of a visitor whom the site at `url`, where relative addresses begin, has never seen."""
        options = {"base_url": url, "locale": "en-US", **options}
        kind = (self._browser(), *sorted(options.items()))
        free = self._free[kind]
        context = free.pop() if free else self._browser().new_context(**options)
        context.set_default_timeout(1000 * PATIENCE)
        self._kinds[context] = kind
        page = context.new_page()
        page.set_viewport_size(viewport)
        site = urlsplit(url)
        forget = context.new_cdp_session(page)
        forget.send("Storage.clearDataForOrigin", {"origin": f"{site.scheme}://{site.netloc}", "storageTypes": "all"})
        forget.detach()
        return page

    def leave(self, context: BrowserContext) -> None:
        """Closes all pages of a visitor."""
        for page in context.pages:
            page.close()
        kind = self._kinds.pop(context)
        if kind[0].is_connected():
            self._free[kind].append(context)
