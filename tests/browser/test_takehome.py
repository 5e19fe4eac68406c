"""Somebody takes a model home: from the menu of the run, own sentences only if they tick it."""

from __future__ import annotations

import zipfile

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import link, words


def home(page: Page) -> set[str]:
    """The files of the zip that the button downloads."""
    with page.expect_download() as download:
        page.locator("#pg-take-home").click()
    assert download.value.suggested_filename.endswith(".zip")
    with zipfile.ZipFile(download.value.path()) as found:
        return set(found.namelist())


@pytest.mark.night
def test_the_button_in_the_menu_of_the_run(visit):
    page = visit(link(tab="training"))
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.locator("#pg-run-about summary").click()  # which nothing covers
        expect(page.locator("#pg-take-home")).to_have_text(words("page.take_home"))
        expect(page.locator("#pg-take-sentences")).to_have_count(0)  # a task generates its sentences
        assert {"model.py", "model.safetensors", "run.ipynb"} <= home(page)
        expect(page.locator("#pg-take-home")).to_be_enabled()
        page.locator("#pg-run-about summary").click()
        expect(page.locator("#pg-take-home")).to_be_hidden()
