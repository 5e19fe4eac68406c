"""A lesson of a class: its teacher fixes settings, says what there is to do now, and a student's page obeys until the student leaves."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults
from tests.browser.steps import address, words
from tests.browser.test_rooms import PHONE, come, join, open_room

__all__ = ["come"]  # a fixture


@pytest.mark.night
def test_a_class_does_what_is_meant_today_and_who_leaves_is_free(come):
    teacher = come("?d_model=32&n_heads=2", viewport={"width": 1440, "height": 900})
    _, link = open_room(teacher)
    teacher.keyboard.press("Escape")
    wide, narrow = come(link, viewport={"width": 1440, "height": 900}), come(link, **PHONE)
    for student in (wide, narrow):
        join(student, "")
    width, heads = wide.locator("#knob-d_model input").first, wide.locator("#knob-n_heads input")
    expect(width).to_have_value("64")

    # the teacher fixes what is set at the left, hides a group, and opens one lab
    teacher.locator("#pg-room-about").click()
    teacher.locator("#pg-plan-fix").click()
    expect(teacher.locator(".pg-plan fieldset").first.locator("input:checked")).to_have_count(2)
    teacher.locator(".pg-plan fieldset").first.locator("input[value=data]").check()
    teacher.locator(".pg-plan input[value=training]").uncheck()
    teacher.locator(".pg-plan summary").nth(1).click()
    teacher.locator(".pg-plan input[value=no_ffn]").check()
    assert not faults(teacher)
    teacher.locator("#pg-plan-yes").click()
    expect(teacher.locator("#pg-dialog")).to_have_count(0)

    # the student's page obeys at once
    expect(width).to_have_value("32")
    expect(width).to_be_disabled()
    expect(heads.nth(1)).to_be_checked()
    expect(heads.nth(1)).to_be_disabled()
    expect(wide.locator("#knob-d_model .pg-knob-fixed")).to_have_text(words("page.room_fixed"))
    expect(wide.locator("#knob-encoder_layers input").first).to_be_enabled()
    expect(wide.locator("#knob-task input")).to_be_disabled()
    for hidden in ("#knob-learning_rate", "#pg-more-training", "#preset", "#pg-reset"):
        expect(wide.locator(hidden)).to_be_hidden()
    expect(teacher.locator("#knob-d_model input").first).to_be_enabled()
    assert not faults(wide)

    # own sentences are off, and the list has the lab of today
    wide.locator("#pg-tab-data-button").click()
    expect(wide.locator("#pg-own-fixed")).to_have_text(words("page.room_fixed_data"))
    expect(wide.locator("#pg-own")).to_be_hidden()
    wide.locator("#pg-place-lessons-button").click()
    wide.locator("#pg-tab-labs-button").click()
    expect(wide.locator("#pg-panel-labs .pg-card")).to_have_count(1)

    # what there is to do now moves nothing, leads there, and is counted
    before = wide.locator("#pg-panel-labs .pg-card").bounding_box()
    teacher.locator("#pg-room-about").click()
    teacher.locator("#pg-plan-now").click()
    teacher.locator("#pg-plan-text").fill("Train the lab <b>without</b> feed-forward, and write down what you see")
    teacher.locator("#pg-plan-to").select_option("lab no_ffn")
    teacher.locator("#pg-plan-yes").click()
    for student in (wide, narrow):
        expect(student.locator("#pg-now")).to_contain_text("<b>without</b>")
        assert student.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wide.locator("#pg-panel-labs .pg-card").bounding_box() == before
    assert not faults(narrow)
    narrow.locator("#pg-now-open").click()
    expect(narrow.locator("#pg-panel-labs")).to_contain_text(words("lab_no_ffn.title"))
    assert address(narrow)["lab"] == "no_ffn"
    narrow.locator("#pg-now-done").check()
    expect(teacher.locator("#pg-now output")).to_have_text(words("page.room_now_count", done=1, joined=2))
    teacher.locator("#pg-place-inside-button").click()
    teacher.locator("#pg-tab-attention-button").click()
    expect(teacher.locator("#pg-panel-attention .pg-plot").first).to_be_visible()
    teacher.keyboard.press("p")
    expect(teacher.locator("#pg-now output")).to_be_visible()
    teacher.keyboard.press("Escape")

    # after a reload all of it holds; who leaves is free again
    wide.reload()
    expect(width).to_have_value("32")
    expect(width).to_be_disabled()
    wide.locator("#pg-room-about").click()
    wide.locator("#pg-room-leave").click()
    wide.locator("#pg-place-train-button").click()
    expect(width).to_be_enabled()
    expect(wide.locator("#knob-learning_rate")).to_be_visible()
    expect(wide.locator("#pg-now")).to_be_hidden()
    expect(wide.locator(".pg-knob-fixed")).to_have_count(0)
