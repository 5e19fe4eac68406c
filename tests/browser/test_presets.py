"""Somebody compares the presets before pressing Train: one click each, explained, with what they cost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from playground.config import preset
from playground.words import say
from tests.browser.steps import eventually, words
from tests.browser.test_data import with_numbers


@pytest.mark.night
def test_a_preset_is_one_click_and_says_what_it_is(visit):
    page = visit()
    about, presets = page.locator("#pg-outlook"), page.locator("#preset")
    expect(about).to_contain_text(words("knobs.preset_about.default"))
    presets.locator("input").click()
    page.get_by_role("option", name=words("knobs.preset.fast")).click()
    expect(about).to_contain_text(words("knobs.preset_about.fast"))
    expect(page.locator("#knob-steps input")).to_have_value(str(preset("fast").training.steps))

    wide = page.locator("#knob-d_model input[type=number]")
    wide.fill("128")
    wide.press("Enter")
    expect(about).to_contain_text(words("page.own_settings"))
    expect(about).to_contain_text("d_model 128 ×")
    expect(presets.locator("input")).to_have_value(words("knobs.preset.own"))

    page.locator("#pg-language").click()
    expect(about).to_contain_text(say("zh", "page.own_settings"))
    expect(presets.locator("input")).to_have_value(say("zh", "knobs.preset.own"))
    presets.locator("input").click()
    page.get_by_role("option", name=say("zh", "knobs.preset.fast")).click()  # from there a preset is one click again
    expect(page.locator("#knob-d_model input[type=number]")).to_have_value(str(preset("fast").model.d_model))
    expect(presets.locator("input")).to_have_value(say("zh", "knobs.preset.fast"))
    presets.locator("input").click()
    expect(page.get_by_role("option", name=say("zh", "knobs.preset.own"))).to_have_count(0)  # nobody can choose it


@pytest.mark.night
@pytest.mark.parametrize("own", [False, True])
def test_a_time_in_minutes_sets_the_steps_and_the_forecast(visit, own):
    page = with_numbers(visit)[0] if own else visit()
    about, steps, minutes = page.locator("#pg-outlook"), page.locator("#knob-steps input"), page.locator("#knob-minutes input")
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    usual = int(steps.input_value())
    page.locator("#pg-knobs .pg-more > button", has_text=words("page.more_training")).click()
    minutes.fill("2")
    minutes.press("Tab")
    many = int(eventually(page, steps.input_value, lambda value: int(value) > 3 * usual))
    expect(about).to_contain_text(f"{many:,}")
    expect(about).to_contain_text(words("page.outlook_minutes", count="2"))
    minutes.fill("0")  # no limit: the steps decide, and stay as they are
    minutes.press("Tab")
    steps.fill(str(usual))
    steps.press("Tab")
    expect(about).not_to_contain_text(f"{many:,}")
