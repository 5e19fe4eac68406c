"""`python -m docs.film`: makes the moving picture of the README and the pictures of docs/ from the running page.

Each carries the version that it shows; a test compares it. A training is shown in its own time where it takes less than seven seconds.
"""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import Page, expect, sync_playwright

from playground import __version__
from tests.browser.conftest import QUIET, find_browser
from tests.browser.server import PATIENCE, ROOT, Server
from tests.browser.steps import PHONE, drawn, has_status, press_tab, ready, tab, train

PICTURES = ROOT / "docs" / "pictures"
FILM = PICTURES / "film.gif"
WINDOW = {"width": 1280, "height": 800}
SIZE = (800, 500)  # pixels of the film
COLOURS = 96
INTERVAL_S = 0.2  # between frames
PARTS_S = {"shown": 0.8, "training": 7.0, "trained": 1.5, "attention": 1.5, "map": 1.5, "replayed": 3.5}  # at most, of each part
HOLD_S = 0.6  # that the last frame of a part stays
# A dot where the pointer is: a browser without a screen draws none.
POINTER = """document.addEventListener('mousemove', ({ clientX, clientY }) => {
  const dot = document.getElementById('film-pointer') || document.body.appendChild(document.createElement('div'));
  dot.id = 'film-pointer';
  dot.style.cssText = `position:fixed;left:${clientX - 9}px;top:${clientY - 9}px;width:18px;height:18px;border-radius:9px;
    background:#d9480faa;border:2px solid #fff;z-index:99999;pointer-events:none`;
})"""


class Camera:
    """Takes what the page draws as Chromium's screencast gives it: a frame whenever something changed."""

    def __init__(self, page: Page) -> None:
        self.frames: list[tuple[float, Image.Image]] = []  # seconds of film, picture
        self._length = 0.0
        self._part: list[tuple[float, bytes]] = []  # browser's time, PNG
        self._page, self._session = page, page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._take)
        self._session.send("Page.startScreencast", {"format": "png", "maxWidth": WINDOW["width"], "maxHeight": WINDOW["height"]})

    def _take(self, frame: dict) -> None:
        self._part.append((frame["metadata"]["timestamp"], base64.b64decode(frame["data"])))
        self._session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def film(self, part: str, act: Callable[[], object], rest_s: float = 0.5) -> None:
        """Adds what is seen while `act` runs and for a while after; faster where it takes longer than its part of the film."""
        self._part.clear()
        act()
        self._page.wait_for_timeout(1000 * rest_s)
        if not self._part:
            return
        begin, took = self._part[0][0], self._part[-1][0] - self._part[0][0]
        scale, last = min(1.0, PARTS_S[part] / max(took, 0.01)), -1.0
        for time, png in self._part:
            at = (time - begin) * scale
            if at - last >= INTERVAL_S or png is self._part[-1][1]:
                picture = Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
                self.frames.append((self._length + at, picture))
                last = at
        self._length += took * scale + HOLD_S

    def write(self, path: Path) -> None:
        """One palette for all frames: what does not change costs nothing."""
        sheet = Image.new("RGB", (SIZE[0], SIZE[1] * 4))
        for place, number in enumerate(range(0, len(self.frames), max(1, len(self.frames) // 4))):
            sheet.paste(self.frames[number][1], (0, SIZE[1] * place))
        palette = sheet.quantize(COLOURS, Image.Quantize.MEDIANCUT)
        pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for _, picture in self.frames]
        times = [time for time, _ in self.frames] + [self._length + 1]
        durations = [round(1000 * max(INTERVAL_S, after - time)) for time, after in pairwise(times)]
        pictures[0].save(
            path, save_all=True, append_images=pictures[1:], duration=durations, loop=0, comment=__version__.encode(), optimize=True
        )


def photograph(page: Page, name: str) -> None:
    """Writes docs/pictures/NAME.png in 256 colours, with the version in it."""
    about = PngImagePlugin.PngInfo()
    about.add_text("version", __version__)
    screen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = screen.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)  # few cells have the dark colours
    picture.save(PICTURES / f"{name}.png", optimize=True, pnginfo=about)


def make_film(page: Page) -> None:
    camera = Camera(page)
    camera.film("shown", lambda: page.mouse.move(600, 300, steps=8), 1.0)
    button = page.locator("#pg-train").bounding_box()
    camera.film("shown", lambda: page.mouse.move(button["x"] + button["width"] / 2, button["y"] + button["height"] / 2, steps=12), 0.2)
    camera.film("training", lambda: (train(page), has_status(page, "done")), 0.0)
    camera.film("trained", lambda: page.mouse.move(640, 420, steps=10), 2.0)
    photograph(page, "train")
    camera.film("attention", lambda: (tab(page, "attention"), page.mouse.move(520, 420, steps=12)), 2.0)
    camera.film("map", lambda: (tab(page, "map"), page.mouse.move(620, 480, steps=12)), 2.0)
    press_tab(page, "training")
    drawn(page.locator("#pg-panel-training"))
    camera.film("replayed", lambda: page.locator("#pg-replay-play").click(), 3.0)
    camera.write(FILM)


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        expect.set_options(timeout=1000 * PATIENCE)
        server = Server(Path(folder))
        server.start()
        browser = playwright.chromium.launch(executable_path=find_browser(playwright), args=QUIET.split())
        try:
            page = browser.new_page(viewport=WINDOW, locale="en-US")
            page.set_default_timeout(1000 * PATIENCE)
            page.add_init_script(POINTER)
            page.goto(server.url)
            ready(page)
            drawn(page.locator("#pg-panel-training"))
            make_film(page)
            for name in ("attention", "map", "masks", "step"):
                tab(page, name)
                page.wait_for_timeout(1000)
                photograph(page, name)
            phone = browser.new_page(**PHONE, locale="zh-CN")
            phone.goto(server.url)
            ready(phone)
            drawn(phone.locator("#pg-panel-training"))
            photograph(phone, "phone")
        finally:
            browser.close()
            server.stop()
    for path in sorted(PICTURES.iterdir()):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
