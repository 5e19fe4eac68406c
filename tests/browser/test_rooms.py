"""A class in one room: it sees what the teacher shows, lets go, and comes back."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.server import Server
from tests.browser.steps import PHONE, address, eventually, has_address, words

FIGURE = ".pg-panel[data-panel=labs] [data-block='figure class']"
NUMBERS = f'JSON.stringify(document.querySelector("{FIGURE}").pgFigure.data.map((trace) => [trace.name, trace.x]))'


def open_room(teacher: Page) -> tuple[str, str]:
    """Returns the code and the link."""
    teacher.locator("#pg-class").click()
    teacher.locator("#pg-room-open").click()
    return teacher.locator("#pg-room-large").inner_text(), teacher.locator("#pg-room-link").input_value()


def join(student: Page, name: str) -> None:
    expect(student.locator("#pg-room-nickname")).to_be_focused()
    student.keyboard.type(name)
    student.keyboard.press("Enter")
    expect(student.locator("#pg-room-follow")).to_have_attribute("aria-pressed", "true")


def chip(teacher: Page, code: str, here: int, followers: int) -> None:
    expect(teacher.locator("#pg-room-about")).to_have_text(words("page.room_taught", code=code, here=here, followers=followers))


def key(page: Page, name: str) -> None:
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(name)


def question_says(page: Page, text: str) -> None:
    expect(page.locator(".pg-panel[data-panel=labs] .pg-question [role=status]")).to_have_text(text)


def guess(page: Page, at: int, sure: str) -> None:
    page.locator("[data-block='choice guess'] button").nth(at).click()
    page.locator(f"[data-block='choice sure'] button[data-value='{sure}']").click()


def counts(page: Page) -> list[list[int]]:
    """How many guessed what, by how sure they were."""
    page.wait_for_selector(f"{FIGURE} .pg-plot[data-points]", state="attached")
    return [numbers for _, numbers in json.loads(page.evaluate(NUMBERS))]


def test_a_class_follows_lets_go_and_comes_back(visit: Callable[..., Page], server: Server):
    teacher = visit()
    code, link = open_room(teacher)
    assert code in link
    wide, narrow = visit(link), visit(link, **PHONE)
    join(wide, "<b>Anna</b>")
    join(narrow, "")
    for student in (wide, narrow):
        assert "room" not in address(student), "a shared view invites nobody"
    expect(teacher.locator("#pg-room-members li span")).to_have_text(["<b>Anna</b>", words("page.room_student", number=2)])
    assert not teacher.locator("#pg-room-members b").count(), "a name is text"
    expect(teacher.locator("#pg-room-members")).to_be_hidden()  # beside the code, which a class sees
    teacher.keyboard.press("Escape")
    chip(teacher, code, 2, 2)
    teacher.locator("#pg-to-place-inside").click()
    teacher.locator("#pg-to-tab-attention").click()
    for page in (teacher, wide, narrow):
        has_address(page, tab="attention")
        ready(page)
    for head in "32":
        key(teacher, head)
        for student in (wide, narrow):
            has_address(student, head=head)
    key(wide, "3")  # one lets go, by moving something, and comes back by a key
    expect(wide.locator("#pg-room-follow")).to_have_attribute("aria-pressed", "false")
    chip(teacher, code, 2, 1)
    key(teacher, "4")
    has_address(narrow, head="4")
    assert address(wide)["head"] == "3"
    key(wide, "f")
    has_address(wide, head="4")
    chip(teacher, code, 2, 2)
    narrow.reload()
    ready(narrow)
    expect(narrow.locator("#pg-room-follow")).to_have_attribute("aria-pressed", "true")
    chip(teacher, code, 2, 2)
    narrow.locator("#pg-room-about").click()
    narrow.locator("#pg-room-leave").click()
    expect(narrow.locator("#pg-room")).to_be_hidden()
    chip(teacher, code, 1, 1)
    teacher.locator("#pg-room-about").click()
    teacher.locator("#pg-room-end").click()
    teacher.locator("#pg-room-yes").click()
    expect(wide.locator("#pg-notices")).to_contain_text(words("page.room_over", code=code))
    for page in (teacher, wide):
        expect(page.locator("#pg-room")).to_be_hidden()
    eventually(teacher, (server.folder / "data" / "rooms" / f"{code}.json").exists, lambda there: not there)
