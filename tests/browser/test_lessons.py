"""A student takes a lesson and does what it asks, guesses in a lab, and breaks a model on purpose."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from playground.features.lessons.checks import _hash
from playground.lessons import checks
from playground.lessons.course import COURSE, LESSONS, after
from playground.lessons.labs import LABS
from playground.lessons.tour import STOPS
from tests.browser.steps import address, drawn, has_address, link, place_of, ready, tab, where, words

FIRST = COURSE["attention"]


def step(page: Page, name: str) -> Locator:
    return page.locator(f".pg-steps li[data-step={name}]")


def done_in_bar(page: Page, count: int) -> None:
    expect(page.locator("#pg-lesson-bar .pg-dots i.done")).to_have_count(count)


def question(page: Page, name: str) -> Locator:
    return page.locator(f"[data-block='check {name}']")


def guess(page: Page, value: str, sure: str = "75") -> None:
    page.locator(f"[data-block='choice guess'] button[data-value={value}]").click()
    page.locator(f"[data-block='choice sure'] button[data-value='{sure}']").click()


def test_a_lesson_is_done_by_doing_it(visit):
    """A guess, heads that are looked at, a cell that is clicked, questions; a reload and another tab keep what is done."""
    page = visit(link({}))
    course = tab(page, "course")
    expect(course.locator(".pg-lesson")).to_have_count(len(LESSONS))
    expect(course.locator(".pg-lesson.next")).to_contain_text(LESSONS[0].say("en", "title"))
    course.locator(f".pg-lesson[data-lesson={FIRST.name}]").click()
    expect(page.locator(".pg-steps li:not(.done)")).to_have_count(len(FIRST.steps))
    look = course.locator("[data-block='points look']")
    expect(course.locator(".pg-glimpse")).to_have_count(0)  # it would answer the question
    expect(look).to_be_hidden()  # it would answer the question
    guess(page, "last")
    expect(look).to_be_visible()
    expect(course.locator(".pg-glimpse h3").first).to_have_text(words("page.tab_attention"))
    expect(step(page, "predict")).to_have_class("done")
    expect(course.locator("[data-block='text verdict']")).to_contain_text(words("lessons.right"))
    student = visit(where(page))  # copied from the address bar, guess and all: no guess of a link counts
    expect(student.locator("[data-block='text verdict']")).to_be_visible()
    expect(step(student, "predict")).not_to_have_class("done")
    assert student.evaluate("localStorage.getItem('playground-guesses')") is None

    step(page, "heads").get_by_role("button", name=words("page.course_go")).click()
    has_address(page, tab="attention")
    attention = page.locator("#pg-panel-attention")
    drawn(attention)
    expect(attention.locator(".pg-thumb").first).to_be_in_viewport()
    done_in_bar(page, 1)  # to be taken there is not to have done it
    for head in range(3):
        attention.locator(f".pg-thumb[data-layer='1'][data-head='{head}']").click()
    done_in_bar(page, 2)
    expect(page.locator("#pg-announced")).to_have_text(words("page.course_step_done", number=2, done=2, steps=len(FIRST.steps)))
    page.reload()
    ready(page)
    done_in_bar(page, 2)
    drawn(attention)
    page.mouse.click(*place_of(page, "attention", 3, 2))
    done_in_bar(page, 3)
    expect(page.locator(".pg-lesson-next")).to_have_text(words("course.answer"))
    page.locator("#pg-lesson-bar .pg-lesson-hint button").click()
    has_address(page, tab="course", lesson=FIRST.name)
    questions = [question(page, check.name) for check in checks.list_checks(FIRST)]
    expect(questions[0]).to_be_in_viewport()
    for item in questions:
        expect(step(page, "answer")).not_to_have_class("done")  # the last one is wanted too
        item.locator("button").first.click()
        expect(item.locator(".right")).to_have_count(1)
        expect(item.locator(".pg-check-verdict")).not_to_be_empty()
    expect(step(page, "answer")).to_have_class("done")
    expect(course.locator(".pg-steps > .pg-right")).to_have_text(words("page.course_all_done"))
    tab(page, "attention")
    page.locator("#pg-lesson-bar").get_by_role("button", name=words("page.course_next", title=after(FIRST).say("en", "title"))).click()
    has_address(page, tab="course", lesson=after(FIRST).name)
    expect(page.locator(".pg-steps li.done")).to_have_count(0)
    page.locator("[data-block='button all'] button").click()
    expect(course.locator("[data-block='calibration calibration']")).to_have_text(words("page.calibration", percent=75, right=1, count=1))
    for remain in (len(FIRST.steps), 0):  # it asks once more
        course.locator(".pg-forget button").click()
        expect(course.locator(".pg-dots i.done")).to_have_count(remain)


def test_see_it_brings_the_numbers_into_sight_and_the_course_tells_the_result(visit):
    page = visit(link({"tab": "course", "lesson": "layers"}))
    question(page, "more_heads").locator("button").first.click()
    question(page, "more_heads").get_by_role("button", name=words("checks.see")).click()
    expect(page.locator("[data-block='text costs-said']")).to_be_in_viewport()
    expect(page.locator("#pg-lesson-bar")).to_contain_text(words("checks.more_heads_why", **checks.BELIEFS["more_heads"].measured))
    page.locator("#pg-lesson-bar").get_by_role("button", name=words("page.check_back")).click()
    expect(question(page, "more_heads")).to_be_in_viewport()
    keys = {name: belief.pose() for name, belief in checks.BELIEFS.items()}
    answers = {name: [_hash(posed), str(posed.key)] for name, posed in keys.items()}
    page.evaluate("before => localStorage.setItem('playground-checks', JSON.stringify({before}))", answers)
    page.locator("#pg-to-place-lessons").dblclick()  # to the lesson, and from it to the list
    expect(page.locator("[data-block='button before'] button")).to_have_text(words("checks.own_result", count=12, right=12))


@pytest.mark.night
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_all_twelve_open_their_numbers_in_sight_above_the_reason(visit, size):
    page = visit(link({"tab": "course"}), viewport=dict(zip(("width", "height"), size, strict=True)))
    answers = {name: [_hash(belief.pose()), str(belief.pose().key)] for name, belief in checks.BELIEFS.items()}
    page.evaluate("after => localStorage.setItem('playground-checks', JSON.stringify({after}))", answers)
    for at, (name, belief) in enumerate(checks.BELIEFS.items(), 1):
        page.goto(link({"tab": "course", "lesson": "after", "toss": at}))
        question(page, name).get_by_role("button", name=words("checks.see")).click()
        block = page.locator(f"#pg-panel-{belief.to['tab']} [data-block='{belief.shows}']")
        expect(block).to_be_in_viewport(timeout=60_000)
        edges = "([block, dock]) => block.getBoundingClientRect().top < dock.getBoundingClientRect().top"
        assert page.evaluate(edges, [block.element_handle(), page.locator("#pg-dock").element_handle()]), name
    expect(page.locator("[data-block='choice guess']")).to_have_count(0)  # none is asked again in the lab


@pytest.mark.night
def test_a_guess_and_its_answer(visit):
    page = visit(link({}))
    labs = tab(page, "labs")
    expect(labs.locator(".pg-card")).to_have_count(len(LABS))
    labs.locator(".pg-card[data-lab=softmax]").click()
    has_address(page, lab="softmax")
    labs.locator("[data-block='choice guess'] button[data-value=vanishes]").click()
    expect(labs.locator("[data-block^='figure ']:not(.pg-aside)")).to_have_count(0)  # nothing is shown before one has said how sure one is
    labs.locator("[data-block='choice sure'] button[data-value='95']").click()
    expect(labs.locator("[data-block='text verdict']")).to_contain_text(words("lessons.right"))
    drawn(labs)
    first = labs.locator("[data-block='figure scores'] .pg-plot").inner_text()
    labs.get_by_role("button", name="10", exact=True).click()
    has_address(page, set="factor=10.0")
    expect(labs.locator("[data-block='figure scores'] .pg-plot")).not_to_have_text(first, use_inner_text=True)
    labs.get_by_role("button", name=words("lessons.all")).click()
    expect(labs.locator(".pg-card")).to_have_count(len(LABS))
    assert not {"lab", "guess", "sure", "set"} & address(page).keys()
    expect(labs.locator(".pg-card[data-lab=softmax]")).to_contain_text(words("page.guess_was_right", percent=95))
    labs.locator(".pg-card[data-lab=masks]").click()
    labs.get_by_role("button", name=words("lessons.unknown")).click()
    expect(labs.locator("[data-block='text verdict']")).to_be_visible()
    labs.get_by_role("button", name=words("lessons.all")).click()
    expect(labs.locator(".pg-card[data-lab=masks] small")).to_have_count(0)  # who does not know is shown, and counts for nothing
    expect(labs.locator("[data-block='calibration calibration']")).to_have_text(words("page.calibration", percent=95, right=1, count=1))


@pytest.mark.night
def test_a_bug_is_trained_seen_and_opened(visit):
    """Both models train side by side; the broken one is opened, has no map, and what was trained outlives a reload."""
    page = visit(link({"tab": "labs"}))
    page.locator(".pg-card[data-lab=bug_shift]").click()
    labs = page.locator("#pg-panel-labs")
    guess(page, "lies")
    expect(labs.locator("[data-block='row aside']")).to_have_count(0)  # axes without a curve
    labs.locator("[data-block='button train'] button").click()
    expect(labs.locator("[data-block='button train']")).to_have_css("visibility", "hidden")  # it has its room while a progress bar is there
    rows = labs.locator("[data-block='table ends-table'] tbody tr")
    expect(rows).to_have_count(2)
    expect(labs.locator("[data-block='progress progress']")).to_be_hidden()
    expect(labs.locator("[data-block='text verdict']")).to_contain_text(words("lessons.right"))
    expect(labs.locator("[data-block='table ends-table'] .pg-scroll")).to_have_css("max-height", "none")  # every seed is seen
    expect(rows.nth(1)).to_contain_text("100.0")  # tokens
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("0.0 %")  # sentences
    drawn(labs)
    arms = address(page)["arms"].split(".")
    labs.get_by_role("button", name=words("lessons.look", arm=(arm := LABS["bug_shift"].say("en", "name_broken")))).click()
    has_address(page, run=arms[1], tab=None)
    expect(page.locator("#pg-run")).to_have_attribute("title", f"1 · {arm} · {words('tasks.reverse.label')}")
    tab(page, "map")
    expect(page.locator("#pg-panel-map .pg-error")).to_contain_text(words("knobs.variant.unshifted"))
    page.reload()
    ready(page)
    expect(tab(page, "labs").locator("[data-block='text verdict']")).to_be_visible()


@pytest.mark.night
def test_the_tour_is_taken_by_the_keyboard_from_the_first_screen(visit):
    """Every stop asks for one number of its picture; what is wrong is told where to look."""
    page, verdict = visit(""), ".pg-tour .pg-said"
    page.get_by_role("button", name=words("tour.open")).click()
    for at, stop in enumerate(STOPS):
        has_address(page, stop=stop)
        expect(page.locator(f".pg-tour[data-stop={stop}]")).to_be_visible()
        drawn(page.locator("#pg-panel-map"))
        block = json.loads(page.locator(".pg-tour").evaluate("(element) => element.pgText.slice(0, -2)"))
        expect(page.locator(".pg-tour input")).to_be_focused()
        page.keyboard.type(str(block["answer"] + 1000))
        page.keyboard.press("Enter")
        expect(page.locator(verdict)).to_contain_text(block["where"])
        page.keyboard.type(f"{block['answer']:.2f}")  # over what was wrong, which is marked
        page.keyboard.press("Enter")
        expect(page.locator(verdict)).to_have_text(block["right"])
        expect(page.locator(".pg-tour .pg-dots .done")).to_have_count(at + 1)
        page.keyboard.press("Space")
    page.locator(".pg-tour .pg-tour-next").click()
    has_address(page, tab="course", stop=None, lesson=LESSONS[1].name)
    page.goto("")
    ready(page)
    expect(page.get_by_role("button", name=words("tour.open"))).to_be_hidden()  # who was there isn't asked again
