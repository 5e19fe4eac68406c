"""A lesson with a teacher and five students, in the middle of which the server is killed: nothing is lost; and how a class follows."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.audit import axe
from tests.browser.server import ROOT, Server
from tests.browser.steps import PHONE, address, eventually, has_address, has_status, press_tab, ready, words

SMALL = {"viewport": {"width": 390, "height": 844}}
KNOBS = "train_size=200&validation_size=20&d_model=16&n_heads=1&encoder_layers=1&decoder_layers=1&d_ff=16&batch_size=4&packing=off"
STEPS = 2000  # more than a run does until the page shows it and the server is killed, also where browsers are slow beside it
NAMES = ("Anna", "Ben", "Carl", "Dora", "Emil")
STUDENTS = (SMALL, {**SMALL, "color_scheme": "dark"}, {"locale": "zh-CN"}, {"color_scheme": "dark"}, {})
NOTICE = "import(document.querySelector('script[src*=page]').src.replace('page.js', 'dom.js')).then((dom) => dom.notice('a b '.repeat(30)))"


def train_arm(student: Page) -> None:
    """Until the page has a run of its own. The teacher's run, which shipped with the app, may reach a follower between two looks."""
    student.locator("#pg-arm-train").click()
    eventually(student, lambda: address(student)["run"], lambda run: not (ROOT / "checkpoints" / run).exists())


def card(server: Server, run: str) -> dict:
    """Reads a run's entry on the disk."""
    return json.loads((server.folder / "data" / "runs" / run / "run.json").read_text())


@pytest.mark.fault("kill -9 in the middle of a lesson of six", "all are back in their room, and all runs come to their ends by themselves")
@pytest.mark.night
def test_a_lesson_of_six_survives_a_kill(come: Callable[..., Page], server: Server):
    teacher = come(f"?{KNOBS}&steps={STEPS}&eval_every=100&tab=labs&lab=softmax")
    code, link = open_room(teacher)
    students = [come(link if number < 2 else "", **options) for number, options in enumerate(STUDENTS)]
    everybody = [teacher, *students]
    for number, student in enumerate(students):
        if number < 2:
            assert not axe(student)
        join(student, NAMES[number], code if number >= 2 else "")
    expect(teacher.locator("#pg-room-members li")).to_have_count(5)
    teacher.keyboard.press("Escape")
    chip(teacher, code, 5, 5)
    # all guess, and no page shows what
    teacher.locator("#pg-question-ask").click()
    for number, student in enumerate(students):
        guess(student, 0 if number < 3 else 2, "95" if number < 4 else "50")
    question_says(teacher, words("page.room_asked_open", answered=5, joined=5))
    for page in everybody:
        expect(page.locator(FIGURE)).to_have_count(0)
    key(teacher, "p")  # on the wall: the question, and no answer
    teacher.wait_for_function("document.body.hasAttribute('data-asking')")
    expect(teacher.locator("[data-panel=labs] [data-block='text question']")).to_be_visible()
    answers = "[data-block='text verdict'], .pg-question button:visible, [data-panel=labs] .pg-figure:not(.pg-aside)"
    expect(teacher.locator(answers)).to_have_count(0)
    key(teacher, "Escape")
    # each trains their arm; two have ended and three train when the server is killed
    teacher.locator("#pg-to-place-train").click()
    teacher.locator("#pg-deal-open").click()
    teacher.locator("#pg-deal-values").fill("0.01, 0.02")
    teacher.locator("#pg-deal-yes").click()
    for student in students:
        student.evaluate(NOTICE)
        for button in student.locator(":is(#pg-arm, #pg-room) button").all():
            button.click(trial=True)  # no notice lies over it
    for student in students[:2]:
        train_arm(student)
    for student in students[:2]:
        has_status(student, "done")
    for student in students[2:]:
        train_arm(student)
    server.kill()  # before anything else: the last of them has just begun
    runs = [address(student)["run"] for student in students]
    before = json.loads((server.folder / "data" / "rooms" / f"{code}.json").read_text())
    cut = [run for run in runs if card(server, run)["status"] != "done"]
    assert not set(cut) & set(runs[:2])
    assert cut, "the server was killed too late to tell anything"
    server.start()
    # every page comes back by itself, what was said and trained is there, and what was cut off goes on: no button is pressed
    for student, run in zip(students, runs, strict=True):
        expect(student.locator("#pg-room-about")).to_be_visible()
        has_status(student, "done")
        assert address(student)["run"] == run
        assert ("went_on" in str(card(server, run)["message"])) == (run in cut)
    # the board has all five, and a verdict
    press_tab(teacher, "board")
    board = teacher.locator("#pg-panel-board")
    expect(board.locator(".pg-board tbody tr")).to_have_count(5)
    expect(board).to_contain_text(words("board.weak_runs", least=3, fewest=2))
    drawn = "Object.groupBy(document.getElementById('pg-figure-course').data.filter((one) => one.customdata), (one) => one.customdata[0])"
    eventually(teacher, lambda: teacher.evaluate(f"Object.keys({drawn})"), lambda now: sorted(now) == sorted(runs))
    with teacher.expect_download() as download:
        board.locator(".pg-downloads a").click()
    text = Path(download.value.path()).read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["student"], row["status"], row["step"]) for row in rows] == [(f"Student {n}", "done", str(STEPS)) for n in range(1, 6)]
    assert not [name for name in NAMES if name in text]
    # revealed: all see the five guesses from before the kill
    teacher.locator("#pg-to-place-lessons").click()  # to the lab that was open there
    teacher.locator("#pg-question-close").click()
    question_says(teacher, words("page.room_asked_closed", answered=5, joined=5))
    for page in everybody:
        expect(page.locator(FIGURE)).to_have_count(0)
    chip(teacher, code, 5, 5)  # training let none of them go
    teacher.locator("#pg-question-reveal").click()
    for page in everybody:
        assert counts(page) == [[0, 0, 0], [0, 0, 0], [3, 0, 0], [0, 0, 2]]  # how sure two were isn't told
    after = json.loads((server.folder / "data" / "rooms" / f"{code}.json").read_text())
    experiment = next(name for name, activity in before["activities"].items() if activity["kind"] == "experiment")
    assert after["activities"][experiment] == before["activities"][experiment]
    assert after["members"] == before["members"]


FIGURE = ".pg-panel[data-panel=labs] [data-block='figure class']"
NUMBERS = f'JSON.stringify(document.querySelector("{FIGURE}").pgFigure.data.map((trace) => [trace.name, trace.x]))'


def open_room(teacher: Page) -> tuple[str, str]:
    """Returns the code and the link."""
    teacher.locator("#pg-class").click()
    teacher.locator("#pg-room-open").click()
    return teacher.locator("#pg-room-large").inner_text(), teacher.locator("#pg-room-link").input_value()


def join(student: Page, name: str, code: str = "") -> None:
    """By a link, or by the code."""
    if code:
        student.locator("#pg-class").click()
        student.locator("#pg-room-code").fill(code.lower())
        student.locator("#pg-room-nickname").focus()
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
    wide, narrow = visit(f"{link}&lesson=attention"), visit(link, **PHONE)
    join(wide, "<b>Anna</b>")
    join(narrow, "")
    free, bar = "document.documentElement.style.getPropertyValue('--bars')", narrow.locator("#pg-room")
    eventually(narrow, lambda: narrow.evaluate(free), lambda px: px == f"{844 - bar.bounding_box()['y']:.0f}px")
    for student in (wide, narrow):
        assert "room" not in address(student), "a shared view invites nobody"
    expect(teacher.locator("#pg-room-members li span")).to_have_text(["<b>Anna</b>", words("page.room_student", number=2)])
    assert not teacher.locator("#pg-room-members b").count(), "a name is text"
    expect(teacher.locator("#pg-room-members")).to_be_hidden()  # beside the code, which a class sees
    teacher.locator("#pg-deal-yes").click()  # a lab's arms, after which each is asked for a guess
    for student in (wide, narrow):
        has_address(student, tab="board")
        expect(student.locator("#pg-arm-guess")).to_have_count(0)  # the question is on screen
        other = student.locator("#pg-sentence, #pg-run, #pg-replay, #pg-lesson-bar")  # about another model, and a lesson
        expect(other.locator("visible=true")).to_have_count(0)
        guess(student, 0, "50")
        expect(student.locator("#pg-arm-train")).to_be_in_viewport()
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
    expect(wide.locator("#pg-notices")).to_contain_text(words("page.room_ended"))
    for page in (teacher, wide):
        expect(page.locator("#pg-room")).to_be_hidden()
    eventually(teacher, (server.folder / "data" / "rooms" / f"{code}.json").exists, lambda there: not there)
