"""A stranger takes the tour by the keyboard: from the first screen through all stops, and writes the number of each."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from playground.lessons.course import LESSONS
from playground.lessons.tour import STOPS
from playground.words import say
from tests.browser.conftest import ready
from tests.browser.cut import faults
from tests.browser.steps import drawn, has_address, words

TELEPHONE = {"width": 390, "height": 844}
SAID = ".pg-tour .pg-said"


def at(page: Page, stop: str) -> dict:
    """Waits until the stop is on screen with its picture. Returns what the server said of it."""
    has_address(page, stop=stop)
    expect(page.locator(f".pg-tour[data-stop={stop}]")).to_be_visible()
    drawn(page.locator("#pg-panel-map"))
    expect(page.locator("#pg-figure-stage .main-svg").first).to_be_visible()
    return json.loads(page.locator(".pg-tour").evaluate("(element) => element.pgText.slice(0, -2)"))


def is_seen_whole(page: Page) -> None:
    """The picture stands between the frame and the stop, or under both; on a telephone the stop lies below it."""
    picture, card = (page.locator(one).first.bounding_box() for one in ("#pg-figure-stage .heatmaplayer", ".pg-tour"))
    above, below = sorted((picture, card), key=lambda box: box["y"])
    assert above["y"] + above["height"] <= below["y"] + 1, (picture, card)
    assert picture["y"] >= 0
    assert picture["y"] + picture["height"] <= page.viewport_size["height"]


@pytest.mark.night
def test_all_stops_by_the_keyboard_from_the_first_screen(visit):
    page = visit("")
    page.get_by_role("button", name=words("tour.open")).click()
    for number, stop in enumerate(STOPS):
        told = at(page, stop)
        expect(page.locator(".pg-tour .pg-dots .here")).to_have_count(1)
        expect(page.locator(".pg-tour .pg-dots .done")).to_have_count(number)
        expect(page.locator("#pg-lesson-bar")).to_be_hidden()
        is_seen_whole(page)
        if number == 0:
            page.keyboard.press("Tab")
            page.locator(".pg-tour input").focus()
        expect(page.locator(".pg-tour input")).to_be_focused()
        page.keyboard.type(str(told["answer"] + 1000))
        page.keyboard.press("Enter")
        expect(page.locator(SAID)).to_have_class("pg-said wrong")
        expect(page.locator(SAID)).to_contain_text(told["where"])
        page.keyboard.type(f"{told['answer']:.2f}")  # over what was wrong, which is marked
        page.keyboard.press("Enter")
        expect(page.locator(SAID)).to_have_text(told["right"])
        expect(page.locator(".pg-tour .pg-dots .done")).to_have_count(number + 1)
        page.keyboard.press("Space")
    page.keyboard.press("ArrowLeft")
    at(page, [*STOPS][-2])
    page.go_back()
    at(page, [*STOPS][-1])
    page.locator(".pg-tour .pg-tour-next").click()
    has_address(page, tab="course", stop=None, lesson=LESSONS[1].name)
    page.locator("[data-block='button all'] button").click()
    expect(page.locator(".pg-lesson[data-lesson=tour]")).to_contain_text(words("page.course_done"))
    expect(page.locator(".pg-lesson.next")).to_contain_text(LESSONS[1].say("en", "title"))
    page.goto("")
    ready(page)
    expect(page.get_by_role("button", name=words("tour.open"))).to_be_hidden()  # who was there isn't asked again


@pytest.mark.night
def test_on_a_telephone_in_chinese_nothing_is_cut(visit):
    page = visit("?tab=map&stop=ids&lang=zh", viewport=TELEPHONE, has_touch=True, reduced_motion="reduce")
    for stop in STOPS:
        told = at(page, stop)
        expect(page.locator(".pg-tour h3")).to_have_text(say("zh", f"tour.title_{stop}"))
        is_seen_whole(page)
        assert not faults(page), stop
        assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE["width"]
        card = page.locator(".pg-tour")
        assert card.evaluate("(element) => element.scrollHeight <= element.clientHeight"), stop
        page.locator(".pg-tour-next").tap() if told["next"] else page.locator(".pg-tour-end").tap()
    has_address(page, stop=None)
    expect(page.locator(".pg-tour")).to_have_count(0)
    expect(page.locator("#pg-lesson-bar")).to_be_hidden()


@pytest.mark.night
def test_space_means_the_tour_and_elsewhere_the_replay(visit):
    page = visit("?run=reverse&tab=map&stop=scores")
    at(page, "scores")
    page.keyboard.press("ArrowRight")
    at(page, "weights")
    page.keyboard.press("Tab")  # since when a picture can have the focus
    page.locator("#pg-figure-stage").focus()
    page.keyboard.press("ArrowRight")  # in the picture it goes from cell to cell
    at(page, "weights")
    page.locator(".pg-tile[data-address=memory]").click()
    has_address(page, stage="memory", stop="weights")
    page.keyboard.press("Escape")
    has_address(page, stage=None, stop="weights")
    page.locator(".pg-tour-end").click()
    has_address(page, stop=None)
    page.locator("body").click(position={"x": 2, "y": 400})
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#pg-panel-map")).not_to_have_attribute("data-step", "")
    has_address(page, stop=None)
