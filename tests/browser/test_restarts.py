"""The server ends in the middle of a training and comes back: whoever stayed on the page has nothing to do."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server
from tests.browser.steps import SMALL, eventually, has_status, link, new_run, words
from tests.browser.test_rooms import PHONE, come

__all__ = ["come"]  # a fixture
AGAIN = 60_000  # milliseconds: a browser asks again after a few seconds, the server must be up and have a turn
# Everything that the button has said since.
LISTEN = """(button) => {
  window.said = [];
  new MutationObserver(() => window.said.push(button.textContent)).observe(button, { childList: true, characterData: true, subtree: true });
}"""


@pytest.mark.fault("a restart under a page that stays open", "the page says in a sentence that its run went on; nobody presses anything")
@pytest.mark.night
def test_a_run_goes_on_by_itself_on_a_page_that_stayed_open(come: Callable[..., Page], server: Server):
    page = come(link(SMALL | {"steps": 4000, "eval_every": 1000}), **PHONE)
    button = page.locator("#pg-train-now")
    button.click()
    run = new_run(page, "reverse")
    expect(button).to_have_text(words("page.stop_now"))
    eventually(page, lambda: int(page.locator("#pg-status").get_attribute("data-step")), lambda step: step > 0)
    button.evaluate(LISTEN)
    server.stop()
    saved = json.loads((server.folder / "data" / "runs" / run / "run.json").read_text())
    assert saved["status"] == "interrupted"
    server.start()
    expect(page.locator("#pg-run-alert")).to_have_text(words("runs.went_on", step=saved["step"]), timeout=AGAIN)
    has_status(page, "training")
    eventually(page, lambda: int(page.locator("#pg-status").get_attribute("data-step")), lambda step: step > saved["step"])
    assert words("page.train_now") not in page.evaluate("window.said")
    button.click()
    has_status(page, "stopped")
