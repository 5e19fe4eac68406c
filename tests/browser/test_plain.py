"""Views that have addresses of their own: the view as text, and how programs use a run."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ready
from tests.browser.steps import drawn, has_address, link, words

pytestmark = pytest.mark.night


@pytest.mark.parametrize("width", [390, 1280])
def test_the_view_as_text_has_the_captions_and_the_numbers(visit, width):
    page = visit(link(tab="attention"), viewport={"width": width, "height": 844})
    drawn(page.locator("#pg-panel-attention"))
    caption = page.locator('[data-block="figure attention"] > .pg-caption').inner_text()
    page.locator("#pg-foot-plain").click()
    has_address(page, plain="1")
    text = page.locator("#pg-plain")
    expect(text).to_contain_text(caption)
    expect(text.locator("table").first.locator("th[scope=row]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.reload()
    expect(text).to_contain_text(caption)
    page.locator("#pg-plain-leave").click()
    has_address(page, plain=None)
    expect(page.locator("#pg-figure-attention")).to_be_visible()


def test_the_code_opens_from_the_foot_and_has_an_address(visit):
    page = visit(link(tab="attention"))
    dialog = page.get_by_role("dialog", name=words("page.code"))
    page.locator("#pg-foot-api").click()
    expect(dialog).to_be_visible()
    has_address(page, api="1")
    page.reload()
    ready(page)
    expect(dialog).to_be_visible()
    page.go_back()
    expect(dialog).to_have_count(0)
    page.go_forward()
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    has_address(page, api=None)
