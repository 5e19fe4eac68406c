"""Renews the two pictures of the page: the README's and that of a link's preview. `python -m tests.browser.pictures`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from playground.ui.assets import STATIC
from playground.ui.link_preview import PICTURE, SIZE
from tests.browser.conftest import QUIET, _chromium
from tests.browser.server import Server

WIDTH = 1280  # of the window: the page has everything there
PICTURES = {PICTURE: SIZE, "screenshot.png": (WIDTH, 860)}


def renew() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        server.start()
        browser = playwright.chromium.launch(executable_path=_chromium(playwright), args=QUIET.split())
        for name, (width, height) in PICTURES.items():
            scale = width / WIDTH
            window = {"width": WIDTH, "height": round(height / scale)}
            page = browser.new_page(viewport=window, device_scale_factor=scale, locale="en-US", color_scheme="light")
            page.goto(server.url)
            page.wait_for_selector("body[data-playground=ready]")
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(1500)  # for what fades in
            page.screenshot(path=STATIC / name)
        browser.close()
        server.stop()


if __name__ == "__main__":
    renew()
