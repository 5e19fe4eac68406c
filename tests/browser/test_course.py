"""A student takes a lesson and does what it asks, all over the app; a teacher opens the notes by a link."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from playground.lessons.checks import registry
from playground.lessons.course import COURSE, LESSONS
from playground.words import say
from tests.browser.conftest import ready
from tests.browser.steps import ONE_SENTENCE, address, drawn, has_address, link, place_of, replay_of, tab, train, type_sentence, words
from tests.browser.test_rooms import open_room

FIRST = LESSONS[1]  # after the tour


def step(page: Page, name: str) -> Locator:
    return page.locator(f".pg-steps li[data-step={name}]")


def done_in_bar(page: Page, count: int) -> None:
    expect(page.locator("#pg-lesson-bar .pg-dots i.done")).to_have_count(count)


def guess(page: Page, value: str) -> None:
    page.locator(f"[data-block='choice guess'] button[data-value={value}]").click()
    page.locator("[data-block='choice sure'] button[data-value='75']").click()


@pytest.mark.night
def test_a_lesson_is_done_by_doing_it(visit):
    page = visit(link({}))
    course = tab(page, "course")
    expect(course.locator(".pg-lesson")).to_have_count(len(LESSONS))
    expect(course.locator(".pg-lesson.next")).to_contain_text(LESSONS[0].say("en", "title"))
    course.locator(f".pg-lesson[data-lesson={FIRST.name}]").click()
    expect(page.locator(".pg-steps li")).to_have_count(len(FIRST.steps))
    expect(page.locator(".pg-steps li.done")).to_have_count(0)
    guess(page, "last")
    expect(step(page, "predict")).to_have_class("done")
    expect(course.locator("[data-block='text verdict']")).to_contain_text(words("lessons.right"))

    step(page, "heads").get_by_role("button", name=words("page.course_go")).click()
    has_address(page, tab="attention")
    attention = page.locator("#pg-panel-attention")
    drawn(attention)
    done_in_bar(page, 1)  # to be taken there is not to have done it
    for head in range(3):
        attention.locator(f".pg-thumb[data-layer='1'][data-head='{head}']").click()
    done_in_bar(page, 2)
    expect(page.locator("#pg-announced")).to_have_text(words("page.course_step_done", number=1, done=2, steps=len(FIRST.steps)))
    expect(page.locator(".pg-notice")).to_have_count(0)  # its tick is seen
    expect(page.locator(".pg-lesson-next")).to_have_text(FIRST.say("en", "step_cell"))
    drawn(attention)
    page.mouse.click(*place_of(page, "attention", 3, 2))
    expect(page.locator(".pg-lesson-next")).to_have_text(words("course.answer"))
    done_in_bar(page, 3)
    way = page.locator("#pg-lesson-bar .pg-lesson-hint")  # to the questions, at once: whoever is stuck is told more
    expect(way).to_have_text(words("page.course_go"))
    way.locator("button").click()
    has_address(page, tab="course", lesson=FIRST.name)
    asked = [question(page, check.name) for check in registry.asked(FIRST)]
    for one in asked:
        expect(step(page, "answer")).not_to_have_class("done")  # the last one is wanted too
        one.locator("button").first.click()
        expect(one.locator(".right")).to_have_count(1)
    expect(step(page, "answer")).to_have_class("done")
    expect(course.locator(".pg-steps > .pg-right")).to_have_text(words("page.course_all_done"))

    tab(page, "attention")
    page.locator("#pg-lesson-bar").get_by_role("button", name=words("page.course_next", title=LESSONS[2].say("en", "title"))).click()
    has_address(page, tab="course", lesson=LESSONS[2].name)
    expect(page.locator(".pg-steps li.done")).to_have_count(0)


@pytest.mark.night
def test_progress_outlives_a_reload_and_can_be_forgotten(visit):
    page = visit(link(tab="course", lesson=FIRST.name))
    guess(page, "last")
    expect(step(page, "predict")).to_have_class("done")
    page.goto(link(tab="attention"))
    ready(page)
    done_in_bar(page, 1)
    page.locator("#pg-lesson-bar button").last.click()
    expect(page.locator("#pg-lesson-bar")).to_be_hidden()
    course = tab(page, "course")
    expect(course.locator(".pg-lesson.next")).to_contain_text(words("page.course_go_on"))
    expect(course.locator("[data-block='calibration calibration']")).to_have_text(words("page.calibration", percent=75, right=1, count=1))
    forget = course.locator(".pg-forget button")
    forget.click()
    expect(course.locator(".pg-dots i.done")).to_have_count(1)
    forget.click()
    expect(course.locator(".pg-dots i.done")).to_have_count(0)
    expect(course.locator("[data-block='calibration calibration']")).to_be_hidden()
    page.reload()
    expect(page.locator(".pg-lesson.next")).to_contain_text(words("page.course_begin"))


@pytest.mark.night
def test_a_run_of_ones_own_counts_and_the_replay_is_watched(visit):
    page = visit(link(ONE_SENTENCE, tab="course", lesson="training"))
    page.get_by_role("button", name=words("lessons.unknown")).click()
    expect(step(page, "predict")).to_have_class("done")
    train(page)
    done_in_bar(page, 2)
    page.locator("#pg-lesson-bar button").first.click()
    step(page, "replay").get_by_role("button", name=words("page.course_go")).click()
    has_address(page, tab=None, step="0")
    replay_of(page, 5)
    for _ in range(4):
        page.locator("#pg-replay-forward").click()
    done_in_bar(page, 3)
    expect(page.locator(".pg-lesson-next")).to_have_text(words("course.answer"))


@pytest.mark.night
def test_a_lesson_sets_the_controls(visit):
    page = visit(link({"steps": 70, "d_model": 32}, tab="course", lesson="order"))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    step(page, "none").get_by_role("button", name=words("page.course_set")).click()
    has_address(page, positions="none", steps=None, d_model=None)
    expect(page.locator("#knob-positions")).to_be_in_viewport()


@pytest.mark.night
def test_a_teacher_opens_the_notes_by_a_link(visit):
    page = visit(link({"lang": "zh", "tab": "course", "notes": "on"}))
    notes = page.locator("#pg-panel-course .pg-notes")
    expect(notes).to_have_count(len(LESSONS))
    expect(notes.nth(1)).to_contain_text(FIRST.say("zh", "wrong"))
    notes.nth(5).get_by_role("button", name=say("zh", "course.open")).click()
    has_address(page, notes=None, lesson=LESSONS[5].name)
    expect(page.locator(".pg-heading").first).to_contain_text(LESSONS[5].say("zh", "title"))
    page.get_by_role("button", name=say("zh", "course.teacher_one")).click()
    expect(notes).to_have_count(1)
    expect(page.locator("#pg-lesson-bar")).to_be_hidden()


@pytest.mark.night
def test_own_sentences_that_are_read_count(visit):
    page = visit(link(tab="course", lesson="own"))
    step(page, "read").get_by_role("button", name=words("page.course_go")).click()
    page.get_by_role("button", name=words("page.way_text"), exact=True).click()
    page.locator("#pg-paste textarea").fill("\n".join(f"{a} {b}\t{b} {a}" for a in "abcde" for b in "fghij"))
    page.locator("#pg-read").click()
    done_in_bar(page, 1)


@pytest.mark.night
def test_a_link_to_a_lesson_does_not_carry_the_guess_and_no_guess_of_a_link_counts(visit):
    page = visit(link(tab="course", lesson=FIRST.name))
    guess(page, "last")
    expect(step(page, "predict")).to_have_class("done")
    expect(page.locator("[data-block='choice guess'] button").first).to_be_disabled()
    page.locator("#pg-share").click()
    shared = page.locator("#pg-link").input_value()
    assert f"lesson={FIRST.name}" in shared
    assert "last" not in shared
    student = visit(page.url)  # copied from the address bar, guess and all
    expect(student.locator("[data-block='text verdict']")).to_be_visible()
    expect(step(student, "predict")).not_to_have_class("done")
    assert student.evaluate("localStorage.getItem('playground-guesses')") is None


@pytest.mark.night
def test_tokens_count_once_they_are_in_sight(visit):
    page = visit(link(tab="data", lesson="tokens"), viewport={"width": 1280, "height": 420})
    tab(page, "course")
    tab(page, "data")
    pieces = page.locator("#pg-panel-data [data-block='chips pieces'] .pg-chipline").first
    expect(pieces).to_be_visible()
    expect(pieces).not_to_be_in_viewport(ratio=1)
    type_sentence(page, "mine")
    expect(page.locator("#pg-result")).to_contain_text("enim")
    page.wait_for_timeout(1500)  # longer than the page takes to look
    done_in_bar(page, 0)
    pieces.scroll_into_view_if_needed()
    done_in_bar(page, 1)


def question(page: Page, name: str) -> Locator:
    return page.locator(f"[data-block='check {name}']")


@pytest.mark.night
def test_questions_are_graded_at_once_and_kept_in_this_browser_alone(visit):
    """By keyboard, on a telephone, in Chinese; then the model answers, which only a teacher sees."""
    here = link({}, run="reverse", tab="course", lesson="masks", lang="zh")
    page = visit(here, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    asked = [question(page, check.name) for check in registry.asked(COURSE["masks"])]
    for one in asked:
        one.locator("button").first.focus()
        page.keyboard.press("Enter")
        expect(one.locator(".pg-check-verdict")).not_to_be_empty()
        expect(one.locator(".right")).to_have_count(1)
        expect(one.locator("button[aria-pressed=true]")).to_be_focused()
    graded = [one.locator(".pg-check-verdict").inner_text() for one in asked]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # another choice of a question that is over
    assert asked[-1].locator(".pg-check-verdict").inner_text() == graded[-1]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not {"checked", "toss"} & address(page).keys()
    page.reload()
    expect(asked[-1].locator(".pg-check-verdict")).not_to_be_empty()
    assert [one.locator(".pg-check-verdict").inner_text() for one in asked] == graded
    question(page, "visible_keys").locator(".pg-check-verdict button").click()
    has_address(page, tab="attention", part="decoder")

    teacher = visit(link({}, run="reverse", tab="course", lesson="masks"))
    expect(question(teacher, "visible_keys").locator("button")).to_have_count(4)
    expect(teacher.locator(".pg-check .right")).to_have_count(0)  # another browser's answers
    teacher.locator("[data-block='button notes'] button").click()
    expect(teacher.locator(".pg-answers")).to_have_text(words("page.course_answers"))
    open_room(teacher)
    teacher.keyboard.press("Escape")
    expect(teacher.locator(".pg-answers dd").first).to_have_text(COURSE["masks"].say("en", "answer"))
    expect(teacher.locator(".pg-answers dt")).to_have_count(1 + len(asked))
