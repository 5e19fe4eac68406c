"""A class in one room: it sees what the teacher shows, lets go, comes back, and is still there after a restart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults
from tests.browser.conftest import ready
from tests.browser.server import Server
from tests.browser.steps import address, eventually, words
from tests.browser.visitors import Visitors

FOLLOWED = 1.0  # seconds from the teacher's key to the last student's page, where three browsers at a time leave the machine room for it
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture
def come(visitors: Visitors, server: Server) -> Iterator[Callable[..., Page]]:
    """come(path, before, **context) -> the page of a new visitor, which `before` has met empty. Unlike `visit`'s it may lose its server;
    its own errors fail the test as well."""
    contexts, errors = [], []

    def open(path: str = "", before: Callable[[Page], object] | None = None, **options: object) -> Page:
        page = visitors.come(server.url, **options)
        contexts.append(page.context)
        page.on("pageerror", lambda error: errors.append(str(error)))
        if before:
            before(page)
        page.goto(path, wait_until="commit")
        ready(page)
        return page

    yield open
    for context in contexts:
        visitors.leave(context)
    assert not errors


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


def seconds_to_follow(teacher: Page, students: list[Page], head: str) -> float:
    """From the teacher's key until the last student's page is there."""
    began = time.monotonic()
    key(teacher, head)
    for student in students:
        student.wait_for_function(f"new URLSearchParams(location.search).get('head') === '{head}'", polling=20)
    return time.monotonic() - began


@pytest.mark.night
def test_a_class_follows_lets_go_comes_back_and_survives_a_restart(come, server: Server):
    teacher = come()
    code, link = open_room(teacher)
    assert code in link
    assert not faults(teacher)
    wide, narrow = come(link), come(link, **PHONE)
    assert not faults(narrow)
    join(wide, "<b>Anna</b>")
    join(narrow, "")
    for student in (wide, narrow):
        assert "room" not in address(student), "whoever shares their view invites nobody"
    expect(teacher.locator("#pg-room-members li span")).to_have_text(["<b>Anna</b>", words("page.room_student", number=2)])
    assert not teacher.locator("#pg-room-members b").count(), "a name is text"
    teacher.keyboard.press("Escape")
    chip(teacher, code, 2, 2)

    # a move is seen by everybody at once
    teacher.locator("#pg-place-inside-button").click()
    teacher.locator("#pg-tab-attention-button").click()
    for page in (teacher, wide, narrow):
        eventually(page, lambda page=page: address(page).get("tab"), lambda tab: tab == "attention")
        ready(page)
    assert min(seconds_to_follow(teacher, [wide, narrow], head) for head in "3212") < FOLLOWED

    # one lets go, by moving something, and comes back by a key
    key(wide, "3")
    expect(wide.locator("#pg-room-follow")).to_have_attribute("aria-pressed", "false")
    chip(teacher, code, 2, 1)
    key(teacher, "4")
    eventually(narrow, lambda: address(narrow).get("head"), lambda head: head == "4")
    assert address(wide)["head"] == "3"
    key(wide, "f")
    eventually(wide, lambda: address(wide).get("head"), lambda head: head == "4")
    chip(teacher, code, 2, 2)

    # after a restart everybody is in, without having done anything, and after a reload as well
    server.stop()
    server.start()
    chip(teacher, code, 2, 2)
    key(teacher, "1")
    for student in (wide, narrow):
        eventually(student, lambda student=student: address(student).get("head"), lambda head: head == "1")
    narrow.reload()
    ready(narrow)
    expect(narrow.locator("#pg-room-follow")).to_have_attribute("aria-pressed", "true")
    chip(teacher, code, 2, 2)

    # one leaves, and for the others it ends
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
    assert not (server.folder / "data" / "rooms" / f"{code}.json").exists()
