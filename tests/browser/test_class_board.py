"""An experiment of a class: the teacher deals two arms out, three students train theirs, and the board says what came of it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults
from tests.browser.steps import address, eventually, words
from tests.browser.test_rooms import PHONE, come, join, key, open_room

__all__ = ["come"]  # a fixture
TINY = "train_size=200&validation_size=20&d_model=16&n_heads=1&encoder_layers=1&decoder_layers=1&d_ff=16&batch_size=4&steps=20&eval_every=5"
TRAINED = 120_000  # milliseconds, on a busy machine


@pytest.mark.night
def test_a_class_trains_two_arms_and_sees_what_came_of_them(come):
    teacher = come(f"?{TINY}&packing=off")
    code, link = open_room(teacher)
    teacher.keyboard.press("Escape")
    students = [come(link), come(link), come(link, **PHONE)]
    for student, name in zip(students, ("Anna", "Ben", ""), strict=True):
        join(student, name)

    # one setting and its values; what can't be is said in the dialog
    teacher.locator("#pg-deal-open").click()
    teacher.locator("#pg-deal-values").fill("0.01")
    teacher.locator("#pg-deal-yes").click()
    expect(teacher.locator("#pg-deal-said")).to_have_text(words("rooms.bad_arms", least=2, most=8))
    assert not faults(teacher)
    teacher.locator("#pg-deal-values").fill("0.01, 0.02")
    teacher.locator("#pg-deal-yes").click()
    board = teacher.locator("#pg-panel-board")
    expect(board).to_contain_text(words("board.nobody"))

    # everybody is told their arm, and trains it with one press
    for student in students:
        expect(student.locator("#pg-arm")).to_contain_text("0.0")
        student.locator("#pg-arm-train").click()
        expect(student.locator("#pg-arm-board")).to_be_visible()
        assert address(student)["run"] != "german_english"
        assert not student.locator("#pg-arm-open").count(), "their own run is on screen"
    assert not faults(students[2], place="#pg-arm")  # pictures further down are grey until they are in sight
    assert len({student.locator("#pg-arm span").inner_text() for student in students}) == 2

    # the board has them all, live, and a verdict over all of them
    expect(board.locator(".pg-board tbody tr")).to_have_count(3)
    expect(board).to_contain_text(words("board.weak_runs", least=3, fewest=1), timeout=TRAINED)
    for number in (1, 2, 3):
        expect(board.locator(".pg-board tbody tr").nth(number - 1)).to_contain_text(words("page.room_student", number=number))
    drawn = "Object.groupBy(document.getElementById('pg-figure-course').data.filter((one) => one.customdata), (one) => one.customdata[0])"
    eventually(teacher, lambda: teacher.evaluate(f"Object.keys({drawn}).length"), lambda count: count == 3)
    assert not faults(teacher)

    # on the wall half of every curve and no verdict, until the teacher reveals the rest
    key(teacher, "p")
    expect(board.locator(".pg-presented > h3")).to_have_text(words("board.hidden"))
    ends = "Math.max(...document.getElementById('pg-figure-course').data.filter((one) => one.customdata).flatMap(({ x }) => x))"
    assert teacher.evaluate(ends) == 10
    teacher.locator("#pg-present-reveal").click()
    expect(board.locator(".pg-presented > h3")).not_to_have_text(words("board.hidden"))
    eventually(teacher, lambda: teacher.evaluate(ends), lambda last: last == 20)
    assert not faults(teacher)
    key(teacher, "Escape")

    # as a file
    with teacher.expect_download() as kept:
        board.locator(".pg-downloads a").click()
    with Path(kept.value.path()).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["student"], row["status"], row["step"]) for row in rows] == [(f"Student {number}", "done", "20") for number in (1, 2, 3)]
    assert kept.value.suggested_filename == f"class-{code}.csv"

    board.locator("[data-block='figure course']").hover()
    with teacher.expect_download() as kept:
        board.locator("[data-block='figure course'] [data-save='csv']").click()
    assert kept.value.suggested_filename == f"Class-{code}-course.csv"
    with Path(kept.value.path()).open(encoding="utf-8-sig", newline="") as file:
        said = next(csv.reader(file))
    assert said == [words("page.csv_of"), words("board.class", code=code)], "not the run on screen"

    # one run, opened by the teacher, is opened by all who follow
    students[0].locator("#pg-room-follow").click()
    board.locator(".pg-board button").nth(1).click()
    there = address(teacher)["run"]
    eventually(students[0], lambda: address(students[0])["run"], lambda run: run == there)
    assert address(students[2])["run"] != there, "who explores is left alone"

    # and the room ends, with what was dealt in it
    teacher.locator("#pg-room-about").click()
    teacher.locator("#pg-room-end").click()
    teacher.locator("#pg-room-yes").click()
    for student in students:
        expect(student.locator("#pg-arm")).to_have_count(0)


@pytest.mark.night
def test_arms_of_several_settings_and_those_of_a_lab_are_dealt_in_the_same_dialog(come):
    teacher = come(f"?{TINY}&packing=off")
    open_room(teacher)
    teacher.keyboard.press("Escape")
    teacher.locator("#pg-deal-open").click()
    teacher.locator("#pg-deal-several-way").click()
    expect(teacher.locator("#pg-deal-setting-0")).to_be_focused()
    teacher.locator("#pg-deal-setting-1").select_option("n_heads")
    cells = teacher.locator(".pg-deal-arms tbody tr")
    teacher.locator("#pg-deal-yes").click()
    expect(teacher.locator("#pg-deal-said")).to_have_text(words("rooms.same_arms"))
    teacher.locator("#pg-deal-more").click()
    cells.nth(1).locator("select").select_option("2")
    cells.nth(2).locator("input").fill("99")
    teacher.locator("#pg-deal-yes").click()
    expect(teacher.locator("#pg-deal-said")).to_contain_text("99")
    cells.nth(2).locator("input").fill("0.02")
    assert not faults(teacher)
    teacher.locator("#pg-deal-yes").click()
    arms = teacher.locator("[data-block='table arms'] tbody tr")
    expect(arms).to_have_count(3)

    teacher.locator("#pg-place-train-button").click()
    teacher.locator("#pg-deal-open").click()
    teacher.locator("#pg-deal-lab-way").click()
    teacher.locator("#pg-deal-lab").select_option("warmup")
    teacher.locator("#pg-deal-yes").click()
    expect(teacher.locator("[data-block='choice activity'] :is(button, option)")).to_have_count(2)
