"""Somebody types what everybody types first, which the model can't read; and empties the line."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.steps import has_address, link, output, source, type_sentence, words

HEIGHT = "() => document.querySelector('.pg-stage').getBoundingClientRect().height"


@pytest.mark.night
def test_what_the_model_cannot_read_is_named_with_a_way_out(visit):
    page = visit(link(text="hello"))
    unknown = page.locator("#pg-unknown")
    expect(unknown).to_be_hidden()
    before = page.evaluate(HEIGHT)
    type_sentence(page, "Hello w")
    expect(unknown).to_contain_text("H and ␣ are unknown, read")
    expect(source(page).first).to_have_class("pg-chip unknown")
    page.set_viewport_size({"width": 1366, "height": 768})
    assert unknown.evaluate("(line) => line.scrollWidth - line.clientWidth") <= 0, "its end is in sight"
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate(HEIGHT) == before, "nothing below moves"
    page.locator("#pg-use").click()
    has_address(page, text="hellow")
    expect(page.locator("#pg-sentence")).to_have_value("hellow")
    expect(unknown).to_be_hidden()
    expect(output(page)).to_have_text([*"wolleh"])


@pytest.mark.night
def test_an_empty_line_shows_an_example_and_says_so(visit):
    page = visit(link(text="hello"))
    result = page.locator("#pg-result")
    page.locator("#pg-sentence").fill("")
    has_address(page, text=None)
    expect(result).to_have_class("pg-result is-example")
    expect(result).to_have_attribute("data-said", words("page.example"))
    page.locator("#pg-sentence").blur()
    expect(result).to_have_class("pg-result")
    expect(page.locator("#pg-sentence")).not_to_have_value("")
