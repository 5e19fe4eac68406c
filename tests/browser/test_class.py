"""A lesson with a teacher and five students, in the middle of which the server is killed: nothing is lost, and what is a student's stays
theirs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, Request, expect

from tests.browser.audit import axe
from tests.browser.server import ROOT, Server
from tests.browser.steps import address, eventually, has_status, press_tab, upload, words
from tests.browser.test_rooms import FIGURE, chip, counts, guess, join, key, open_room, question_says

SMALL = {"viewport": {"width": 390, "height": 844}}
KNOBS = "train_size=200&validation_size=20&d_model=16&n_heads=1&encoder_layers=1&decoder_layers=1&d_ff=16&batch_size=4&packing=off"
STEPS = 600  # more than a run does before the server is killed
STUDENTS = (SMALL, {**SMALL, "color_scheme": "dark"}, {"locale": "zh-CN"}, {"color_scheme": "dark"}, {})
SECRET = "margueritequartz"  # how each canary begins; letters only, so that it can be a word of a sentence as well
OWN = [(f"ball {number}", f"Ball {number}") for number in range(12)]
NOTICE = "import(document.querySelector('script[src*=page]').src.replace('page.js', 'dom.js')).then((dom) => dom.notice('a b '.repeat(30)))"


class Ear:
    """Listens to every byte that a page receives, from before its first request: what it asked for, and what streams tell it."""

    def __init__(self, page: Page) -> None:
        self._finished: list[Request] = []
        self._heard: list[bytes] = []
        page.on("requestfinished", lambda request: self._finished.append(request))
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.eventSourceMessageReceived", lambda event: self._heard.append(event["data"].encode()))

    def listen(self) -> None:
        """Takes in what has come meanwhile, before the browser forgets it."""
        while self._finished:
            request = self._finished.pop()
            if request.url.startswith("http"):
                with suppress(Error):  # the browser no longer has it
                    answer = request.response()
                    self._heard.append(f"{answer.url}\n{answer.all_headers()}\n".encode() + answer.body())

    @property
    def bytes(self) -> int:
        return sum(map(len, self._heard))

    def knows(self, text: str) -> bool:
        return any(text.encode() in answer for answer in self._heard)


def secrets(number: int) -> tuple[str, str]:
    """Returns the name of this student, and a word of their own sentences."""
    letter = "abcde"[number]
    return f"{SECRET}n{letter}", f"{SECRET}s{letter}"


def join_by_code(student: Page, code: str, name: str) -> None:
    student.locator("#pg-class").click()
    student.locator("#pg-room-code").fill(code.lower())
    student.locator("#pg-room-nickname").fill(name)
    student.keyboard.press("Enter")
    expect(student.locator("#pg-room-follow")).to_have_attribute("aria-pressed", "true")


def upload_own(student: Page, sentence: str) -> None:
    """Sentences of their own, as a file that is read and could be trained on."""
    press_tab(student, "data")
    upload(student, "own.tsv", "\n".join("\t".join(pair) for pair in [*OWN, (sentence, sentence)]).encode())
    expect(student.locator("#pg-reading")).to_have_attribute("data-pairs", str(len(OWN) + 1))


def train_arm(student: Page) -> None:
    """Until the page has a run of its own. The teacher's run, which shipped with the app, may reach a follower between two looks."""
    student.locator("#pg-arm-train").click()
    eventually(student, lambda: address(student)["run"], lambda run: not (ROOT / "checkpoints" / run).exists())


def card(server: Server, run: str) -> dict:
    """Reads a run's entry on the disk."""
    return json.loads((server.folder / "data" / "runs" / run / "run.json").read_text())


def follow(student: Page) -> None:
    """Comes back to the teacher, who has let go of no student."""
    button = student.locator("#pg-room-follow")
    if button.get_attribute("aria-pressed") == "false":
        button.click()


@pytest.mark.fault("kill -9 in the middle of a lesson of six", "all are back in their room, and all runs come to their ends by themselves")
@pytest.mark.night
def test_a_lesson_of_six_survives_a_kill_and_keeps_everybodys_secrets(come: Callable[..., Page], server: Server):
    ears: list[Ear] = []
    hear = {"before": lambda page: ears.append(Ear(page))}
    teacher = come(f"?{KNOBS}&steps={STEPS}&eval_every=100&tab=labs&lab=softmax", **hear)
    code, link = open_room(teacher)
    students = [come(link if number < 2 else "", **hear, **options) for number, options in enumerate(STUDENTS)]
    everybody = [teacher, *students]
    for number, student in enumerate(students):
        name, sentence = secrets(number)
        if number < 2:
            assert not axe(student)
            join(student, name)
            continue
        upload_own(student, sentence)
        join_by_code(student, code, name)
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
    expect(teacher.locator("[data-block='text verdict'], .pg-question button:visible, [data-panel=labs] .pg-figure")).to_have_count(0)
    key(teacher, "Escape")
    # each trains their arm; two have ended and three train when the server is killed
    teacher.locator("#pg-to-place-train").click()
    teacher.locator("#pg-deal-open").click()
    teacher.locator("#pg-deal-values").fill("0.01, 0.02")
    teacher.locator("#pg-deal-yes").click()
    for student in students:
        student.evaluate(NOTICE)
        for button in student.locator("#pg-arm button").all():
            button.click(trial=True)  # no notice lies over it
    for student in students[:2]:
        train_arm(student)
    for student in students[:2]:
        has_status(student, "done")
    for ear in ears:
        ear.listen()
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
    assert SECRET not in text
    # revealed: all see the five guesses from before the kill
    press_tab(teacher, "labs")
    teacher.locator("#pg-question-close").click()
    question_says(teacher, words("page.room_asked_closed", answered=5, joined=5))
    for page in everybody:
        expect(page.locator(FIGURE)).to_have_count(0)
    for student in students:
        follow(student)
    teacher.locator("#pg-question-reveal").click()
    for page in everybody:
        assert counts(page) == [[0, 0, 0], [0, 0, 0], [3, 0, 0], [0, 0, 2]]  # how sure two were isn't told
    after = json.loads((server.folder / "data" / "rooms" / f"{code}.json").read_text())
    experiment = next(name for name, activity in before["activities"].items() if activity["kind"] == "experiment")
    assert after["activities"][experiment] == before["activities"][experiment]
    assert after["members"] == before["members"]
    # no page has heard what is another's; and the ear is no deaf one
    tokens = [page.evaluate("localStorage.getItem('playground-token')") for page in everybody]
    for ear in ears:
        ear.listen()
        assert ear.bytes > 1_000_000
    for number in range(5):
        name, sentence = secrets(number)
        assert ears[0].knows(name), "only the teacher sees names"
        assert ears[number + 1].knows(name)
        for other, ear in enumerate(ears):
            assert other == number + 1 or not ear.knows(sentence)
            assert other in (0, number + 1) or not ear.knows(name)
    for ear in ears:
        assert not [token for token in tokens if ear.knows(token)], "no token is ever sent back"
