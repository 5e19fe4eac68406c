"""The class's guess: a teacher asks, two students answer, and what they guessed is seen by all of them once it is revealed."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults
from tests.browser.steps import address, words
from tests.browser.test_rooms import PHONE, come, join, key, open_room

__all__ = ["come"]  # a fixture
FIGURE = ".pg-panel[data-panel=labs] [data-block='figure class']"
NUMBERS = f"JSON.stringify(document.querySelector(\"{FIGURE}\").pgFigure.data.map((trace) => [trace.name, trace.x]))"


def said(page: Page, text: str) -> None:
    expect(page.locator(".pg-panel[data-panel=labs] .pg-question [role=status]")).to_have_text(text)


def guess(page: Page, at: int, sure: str) -> None:
    page.locator("[data-block='choice guess'] button").nth(at).click()
    page.locator(f"[data-block='choice sure'] button[data-value='{sure}']").click()


@pytest.mark.night
def test_a_class_guesses_and_sees_what_it_guessed(come: Callable[..., Page]):
    teacher = come("?tab=labs&lab=softmax")
    _, link = open_room(teacher)
    wide, narrow, third = come(link), come(link, **PHONE), come(link)
    for student in (wide, narrow, third):
        join(student, "")
        expect(student.locator("[data-block='choice guess']")).to_be_visible()
        expect(student.locator(".pg-question")).to_be_hidden()
    teacher.keyboard.press("Escape")

    # one is elsewhere when the teacher asks, and is told
    key(wide, "f")
    wide.locator("#pg-place-train-button").click()
    teacher.locator("#pg-question-ask").click()
    said(narrow, words("page.room_guess"))
    wide.locator("#pg-room-asks button", has_text=words("lab_softmax.title")).click()
    expect(wide.locator("#pg-room-asks button")).to_have_count(0)
    assert address(wide)["lab"] == "softmax"

    # one click each for themselves and for the class; the answer waits, and a guess may become another
    guess(wide, 0, "95")
    guess(narrow, 0, "95")
    guess(third, 0, "95")
    for student in (wide, narrow, third):
        said(student, words("page.room_guess_in"))
        expect(student.locator("[data-block='text verdict']")).to_have_count(0)
    guess(narrow, 2, "50")
    guess(narrow, 0, "50")
    said(teacher, words("page.room_asked_open", answered=3, joined=3))
    assert not faults(teacher)
    assert not faults(narrow)

    # closed: nobody has seen anything yet
    teacher.locator("#pg-question-close").click()
    said(teacher, words("page.room_asked_closed", answered=3, joined=3))
    said(wide, words("page.room_guess_closed"))
    expect(narrow.locator("[data-block='choice guess'] button").first).to_be_disabled()
    for page in (teacher, wide, narrow):
        expect(page.locator(FIGURE)).to_have_count(0)

    # on the wall: the question, what can be guessed and how many have, and no answer, even to who has guessed there before
    key(teacher, "p")
    teacher.wait_for_function("document.body.hasAttribute('data-asking')")
    for shown in ("text question", "choice guess"):
        expect(teacher.locator(f"[data-panel=labs] [data-block='{shown}']")).to_be_visible()
    said(teacher, words("page.room_asked_closed", answered=3, joined=3))
    expect(teacher.locator("[data-block='text verdict'], .pg-question button:visible, [data-panel=labs] .pg-figure")).to_have_count(0)
    expect(teacher.locator("#pg-present-reveal")).to_be_visible()
    assert not faults(teacher)

    # revealed: all see the same, with their own verdicts below
    key(teacher, "r")
    expect(teacher.locator(f"{FIGURE}.pg-presented")).to_be_visible()
    expect(teacher.locator("#pg-present-reveal")).to_have_count(0)
    key(teacher, "Escape")
    shown = []
    for page in (teacher, wide, narrow):
        page.wait_for_selector(f"{FIGURE} .pg-plot[data-points]", state="attached")
        shown.append((page.evaluate(NUMBERS), page.locator(f"{FIGURE} > .pg-caption").inner_text()))
    assert shown[0] == shown[1] == shown[2]
    assert [[name.replace("\N{NO-BREAK SPACE}", " "), counts] for name, counts in json.loads(shown[0][0])] == [
        ["50 %", [1, 0, 0]],
        ["75 %", [0, 0, 0]],
        ["95 %", [2, 0, 0]],
    ]
    for student in (wide, narrow):
        expect(student.locator("[data-block='text verdict']")).to_be_visible()
    assert narrow.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
    assert not faults(narrow)

    # on the wall it is the picture; deleted, it is gone for everybody
    key(teacher, "p")
    expect(teacher.locator(f"{FIGURE}.pg-presented")).to_be_visible()
    key(teacher, "Escape")
    teacher.locator("#pg-question-withdraw").click()
    expect(teacher.locator("#pg-question-ask")).to_be_visible()
    expect(wide.locator(FIGURE)).to_have_count(0)
