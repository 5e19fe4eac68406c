"""python -m tests.browser.axe_table: what axe finds at every place of the page, light and dark, on a desk and on a telephone, as a table.

The places are those of test_axe.py, which looks at two of the four. What could not be brought up is a question mark, and said above the
table; the exit code is 1 unless every number is 0.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Error, Page, expect, sync_playwright

from benchmarks.tables import markdown
from tests.browser import axe
from tests.browser.conftest import Chromium, ready
from tests.browser.server import Server
from tests.browser.steps import link
from tests.browser.test_axe import RUN, pages
from tests.browser.visitors import PATIENCE

SCREENS = tuple(itertools.product(("light", "dark"), (1280, 390)))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium, server = Chromium(playwright), Server(Path(folder))
        expect.set_options(timeout=PATIENCE)
        server.start()
        try:
            found = {}
            for theme, width in SCREENS:
                found[theme, width] = look(chromium, server, theme, width)
                tell(f"{theme}, {width} px: {len(found[theme, width])} places looked at")
        finally:
            server.stop()
            chromium.browser.close()
    places = list(dict.fromkeys(place for cells in found.values() for place in cells))
    rows = [[place, *(str(found[screen].get(place, "?")) for screen in SCREENS)] for place in places]
    tell(markdown(["place", *(f"{theme}, {width} px" for theme, width in SCREENS)], rows))
    return int(any(cell != "0" for row in rows for cell in row[1:]))


def look(chromium: Chromium, server: Server, theme: str, width: int) -> dict[str, int]:
    """How many findings each place has on one screen."""
    context = chromium.browser.new_context(base_url=server.url, locale="en-US", viewport={"width": width, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    try:
        page.goto(link(**RUN))
        ready(page)
        return counted(page, theme, lambda place, what: tell(f"{place}, {theme}, {width} px: {what}"))
    finally:
        context.close()


def counted(page: Page, theme: str, say: Callable[[str, str], None]) -> dict[str, int]:
    """The same; `say` is told of each finding, and of the place behind which no other could be brought up."""
    cells, place = {}, "at once"
    try:
        for place, where in pages(page, theme):
            faults = axe.faults(page, place=where)
            cells[place] = len(faults)
            for fault in faults:
                say(place, " | ".join(fault))
    except (AssertionError, Error) as error:
        say(place, f"what comes next could not be brought up: {str(error).splitlines()[0]}")
    return cells


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
