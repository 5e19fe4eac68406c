"""The class's guess as routes: who may do what, what nobody is told before it is revealed, and what is shown then."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from playground.lessons.labs import LABS
from playground.rooms.registry import DAY
from playground.ui.assets import PREFIX
from playground.words import LANGUAGES, say
from tests.ui.panels.lessons.test_experiment import bench, finished, press
from tests.ui.test_rooms import ANNA, BEN, TEACHER, do, enter, events

__all__ = ["bench"]  # a fixture
LAB = LABS["softmax"]
RIGHT = LAB.outcome().answer
WRONG = next(guess for guess in LAB.guesses if guess != RIGHT)
CURSOR = {"run": "reverse", "tab": "labs", "lab": "softmax", "guess": RIGHT, "sure": "95", "lesson": ""}


class Class:
    """A room with a teacher and two students, in which the question of a lab is asked."""

    def __init__(self, site, cursor: dict[str, str] = CURSOR) -> None:
        self.site = site
        opened = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)
        self.code = opened["room"]["code"]
        self.tickets = {token: do(site, token, "join", code=self.code, nickname="")["ticket"] for token in (ANNA, BEN)}
        self.tickets[TEACHER] = opened["ticket"]
        self.extras = iter(f"extra {n}" for n in range(9))
        self.ask(cursor)
        self.name = next(iter(self.room(TEACHER)["activities"]), "")

    def do(self, token: str, action: str, lang: str = "en", **values) -> dict:
        return do(self.site, token, action, lang, **{"code": self.code, "activity": getattr(self, "name", ""), **values})

    def ask(self, cursor: dict[str, str], about: str = "lab") -> dict:
        return self.do(TEACHER, "ask", about=about, cursor=cursor)

    def guess(self, token: str, guess: str, sure: str) -> dict:
        return self.do(token, "answer", guess=guess, sure=sure)

    def more(self, *guesses: tuple[str, str]) -> None:
        """A member more for each guess."""
        for guess, sure in guesses:
            token = next(self.extras)
            self.tickets[token] = do(self.site, token, "join", code=self.code, nickname="")["ticket"]
            self.guess(token, guess, sure)

    def reveal(self, token: str = TEACHER, **cursor: str) -> dict:
        return self.do(token, "reveal", cursor=CURSOR | cursor)

    def room(self, token: str) -> dict:
        return enter(self.site, token, self.code)["room"]

    def question(self, token: str) -> dict:
        return self.room(token)["activities"][self.name]

    def result(self, token: str, **parameters: str) -> dict:
        asked = {"code": self.code, "activity": self.name, **parameters}
        return self.site.http.get(f"{PREFIX}/room/question", params=asked, headers={"X-Playground-Token": token}).json()

    def told(self) -> str:
        """All that the room tells anybody in it: what is read after a reload, every event of the stream, and the route of the result."""
        texts = [line for token in self.tickets for line in events(self.site, self.code, self.tickets[token])]
        for token in self.tickets:
            texts += [json.dumps(self.room(token)), json.dumps(self.result(token))]
        return "\n".join(texts)


    def about(self, place: dict[str, str]) -> str:
        """The name of the question that was asked of this place."""
        return next(name for name, one in self.room(TEACHER)["activities"].items() if place.items() <= one["place"].items())


@pytest.fixture
def group(site) -> Iterator[Class]:
    found = Class(site)
    yield found
    found.do(TEACHER, "end")


def test_a_question_is_asked_guessed_closed_and_revealed(group):
    assert group.question(ANNA) == {
        "kind": "question", "place": {"lab": "softmax"}, "state": "open", "joined": 2, "answered": 0, "mine": False,
    }  # fmt: skip
    assert group.guess(ANNA, RIGHT, "95") == group.guess(BEN, WRONG, "50") == group.guess(BEN, RIGHT, "50") == {"done": True}
    group.more((RIGHT, "50"))
    assert group.question(TEACHER)["answered"] == 3
    assert group.do(TEACHER, "close") == group.reveal() == {"done": True}
    assert group.question(ANNA) == group.question(TEACHER)
    assert (group.question(ANNA)["answer"], group.question(ANNA)["counts"][RIGHT]) == (RIGHT, [2, 0, 1, 0])
    assert group.do(TEACHER, "withdraw") == {"done": True}
    assert group.room(ANNA)["activities"] == {}


@pytest.mark.parametrize("state", ["open", "closed"])
def test_nobody_is_told_a_guess_before_it_is_revealed(group, state):
    """Neither the teacher nor a student, by no route: in all that they are told there is not even the name of a guess."""
    group.guess(ANNA, RIGHT, "95")
    group.guess(BEN, WRONG, "50")
    if state == "closed":
        group.do(TEACHER, "close")
    told = group.told()
    assert '"answered":2' in told
    assert not [word for word in (*LAB.guesses, '"95"', '"50"', "counts", "answers", "options") if word in told]


def test_once_revealed_everybody_is_told_the_same_and_nobody_whose_it_was(group):
    group.guess(ANNA, RIGHT, "95")
    group.reveal()
    assert group.question(ANNA) == group.question(BEN) == group.question(TEACHER)
    assert group.result(ANNA) == group.result(BEN) == group.result(TEACHER)
    assert group.result(ANNA)["of"] == say("en", "board.class", code=group.code)
    assert "answers" not in group.told()


@pytest.mark.parametrize("action", ["ask", "close", "reveal", "withdraw"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_student_can_not_act_as_the_teacher_and_a_stranger_not_at_all(group, action, language):
    stranger = "z" * 32
    for token, key in ((ANNA, "rooms.not_teacher"), (stranger, "rooms.not_in"), ("", "runs.no_token")):
        assert group.do(token, action, language, about="lab", cursor=CURSOR) == {"error": say(language, key), "key": key}
    assert group.guess(stranger, RIGHT, "95")["key"] == group.result(stranger)["key"] == "rooms.not_in"
    assert group.question(TEACHER)["state"] == "open"


def test_what_can_not_be_is_refused(group):
    assert group.result(ANNA)["key"] == "rooms.not_revealed"
    assert group.guess(ANNA, "unknown", "95")["key"] == group.guess(ANNA, RIGHT, "100")["key"] == "config.not_a_choice"
    assert group.guess(TEACHER, RIGHT, "95")["key"] == "rooms.teacher_asks"
    assert group.ask(CURSOR)["key"] == "rooms.question_asked"
    assert group.ask({"lab": "nothing"})["key"] == "lessons.no_lab"
    assert group.ask({"lesson": "weight"}, "lesson")["key"] == "rooms.no_question"  # its question is a lab's
    assert group.ask({"tab": "training"})["key"] == group.ask({"tab": "labs"}, "tab")["key"] == "rooms.no_question"
    assert group.ask({"lab": 5})["key"] == group.do(TEACHER, "close", activity=5)["key"] == "page.not_a_command"
    for act in ({"action": "close"}, {"action": "answer", "guess": RIGHT, "sure": "95"}, {"action": "reveal", "cursor": {}}):
        assert group.do(TEACHER, **act, activity="elsewhere")["key"] == "rooms.no_activity"
    group.do(TEACHER, "close")
    assert group.guess(ANNA, RIGHT, "95")["key"] == "rooms.question_closed"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_picture_says_what_was_guessed(group, language):
    group.more(*[(RIGHT, "95")] * 3, *[(WRONG, "75")] * 3)
    group.reveal()
    figure, calibration = group.result(BEN, lang=language)["blocks"]
    assert (figure["kind"], figure["title"]) == ("figure", say(language, "lessons.class_guess"))
    assert say(language, "lessons.class_mean", mean=85) in figure["caption"]
    assert say(language, "lessons.class_surest", percent="95", right=3, count=3) in figure["caption"]
    notes = [note["text"] for note in figure["figure"]["layout"]["annotations"]]
    assert [note for note in notes if "✓" in note] == [f"<b>✓ {LAB.say(language, f'guess_{RIGHT}')}</b>"]
    found = [say(language, "lessons.class_calibration", percent=p, right=r, count=3) for p, r in (("75", 0), ("95", 3))]
    assert all(sentence in calibration["text"] for sentence in found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_or_two_guesses_are_a_sentence(group, language):
    group.more((RIGHT, "95"), (RIGHT, "95"))
    group.reveal()
    (said,) = group.result(BEN, lang=language)["blocks"]
    assert said["text"] == say(language, "lessons.class_too_few", answered=2, least=3, more=1)


def test_the_mean_does_not_tell_how_sure_a_few_were(group):
    group.more(*[(RIGHT, "95")] * 3, (WRONG, "50"))
    group.reveal()
    figure, _ = group.result(BEN)["blocks"]
    assert say("en", "lessons.class_mean", mean=0).split(":")[0] not in figure["caption"]
    assert figure["figure"]["data"][-1]["name"] == say("en", "lessons.class_untold", least=3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nobody_may_have_guessed(group, language):
    group.reveal()
    (said,) = group.result(ANNA, lang=language, width="390", dark="1")["blocks"]
    assert said["text"] == say(language, "lessons.class_nobody", joined=2)


def test_an_experiment_marks_the_right_guess_once_it_has_run(group, bench):
    lab = LABS["bug_source"]
    group.ask(cursor := {"run": "reverse", "lab": "bug_source"})
    group.name = group.about({"lab": "bug_source"})
    group.more(*[(lab.guesses[0], "95")] * 3)
    assert group.reveal(**cursor) == {"done": True}
    assert group.question(ANNA)["answer"] == ""
    (figure,) = group.result(ANNA)["blocks"]
    assert say("en", "lessons.class_undecided") in figure["caption"]
    assert "✓" not in json.dumps(figure["figure"])
    arms = finished(group.site, press(group.site, "bug_source")["arms"])
    assert group.reveal(**cursor, arms=arms) == {"done": True}
    answer = group.question(ANNA)["answer"]
    shown = group.site.panel("labs", **cursor, arms=arms, guess=answer, sure="95")["blocks"]
    assert next(block for block in shown if block["id"] == "record")["right"]


def test_the_question_of_a_lesson_is_about_the_run_that_was_on_screen(group):
    place = {"lesson": "attention", "run": "reverse", "text": "hello"}
    group.ask({**place, "tab": "course", "lab": "masks"}, "lesson")  # a lab that was open before
    group.name = group.about(place)
    shown = {block["id"]: block for block in group.site.panel("course", **place, predicted="unknown")["blocks"]}
    assert group.reveal(run="sort") == {"done": True}
    answer = group.question(BEN)["answer"]
    assert answer
    assert shown["verdict"]["text"].split("“")[0] in say("en", f"course.attention.why_{answer}", written="", token="", percent=0, length=0)


def test_a_run_that_is_gone_marks_no_guess(group):
    group.ask({"lesson": "attention", "run": "deleted"}, "lesson")
    group.name = group.about({"lesson": "attention"})
    assert group.reveal() == {"done": True}
    assert group.question(BEN)["answer"] == ""
