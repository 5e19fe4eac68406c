"""`python -m tests.browser.sweep`: what axe-core, the sizes of targets and the edges of texts say of every tab, as a table: light and dark,
on a desk and on a telephone. The stories check the same of fewer pages; this is read before and after work on the page's looks.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from playground.ui.panels import TABS
from tests.browser import axe, cut
from tests.browser.conftest import Chromium, ready
from tests.browser.server import Server
from tests.browser.steps import drawn, link
from tests.browser.test_axe import unfolded
from tests.browser.test_targets import CROWDED
from tests.browser.visitors import PATIENCE

THEMES, SIZES = ("light", "dark"), ((1280, 900), (390, 844))
SHOWN = tuple(tab for tab in TABS if tab != "board")  # which is there in a room


def found_in(page: Page, tab: str) -> dict[str, list[str]]:
    """What is wrong with a tab as it stands, by who says it. Texts are looked at first: unfolded, more of it may be wide."""
    panel = page.locator(f"#pg-panel-{tab}")
    drawn(panel)
    texts, targets = cut.faults(page), page.evaluate(CROWDED)
    unfolded(page, tab)
    return {"axe": [" | ".join(fault) for fault in axe.faults(page)], "targets": targets, "texts": texts}


def sweep(chromium: Chromium, url: str, run: str, lang: str) -> Iterator[tuple[str, str, int, dict[str, list[str]]]]:
    """(tab, theme, width, what was found) of every page."""
    for theme, (width, height) in product(THEMES, SIZES):
        page = chromium.browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
        for tab in SHOWN:
            page.goto(url + link(run=run, tab=tab, lang=lang, __theme=theme))
            ready(page)
            yield tab, theme, width, found_in(page, tab)
        page.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.sweep", description=__doc__)
    parser.add_argument("--url", help="of a playground that runs; one is started where none is given")
    parser.add_argument("--run", default="german_english")
    parser.add_argument("--lang", default="en")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, chromium = Server(Path(folder)), Chromium(playwright)
        expect.set_options(timeout=PATIENCE)
        if not options.url:
            server.start()
        counts, told = {}, []
        try:
            for tab, theme, width, found in sweep(chromium, options.url or server.url, options.run, options.lang):
                counts[tab, theme, width] = " ".join(str(len(faults)) for faults in found.values())
                told += [f"{tab}, {theme}, {width}: {who}: {fault}" for who, faults in found.items() for fault in faults]
        finally:
            chromium.browser.close()
            server.stop()
    pages = list(product(THEMES, (width for width, _ in SIZES)))
    print("axe, targets, texts |", " | ".join(f"{theme} {width}" for theme, width in pages))
    print(*("--- |" for _ in pages), "---")
    for tab in SHOWN:
        print(tab, "|", " | ".join(counts[(tab, *where)] for where in pages))
    print(*told, sep="\n")


if __name__ == "__main__":
    main()
