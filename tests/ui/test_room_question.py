"""The class's guess as routes: what is secret until it is revealed, and what is shown then."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.rooms.registry import DAY
from playground.ui.assets import PREFIX
from playground.words import say
from tests.runs.tiny import done
from tests.ui.looking import TINY
from tests.ui.test_rooms import ANNA, BEN, TEACHER, do, enter, events

CARL = "9" * 32
LAB = LABS["softmax"]
RIGHT = LAB.outcome().answer
WRONG = next(guess for guess in LAB.guesses if guess != RIGHT)
CURSOR = {"run": "reverse", "tab": "labs", "lab": "softmax", "guess": RIGHT, "sure": "95", "lesson": ""}


class Class:
    """A room with a teacher and two students, in which the question of a lab is asked."""

    def __init__(self, site) -> None:
        self.site, self.name = site, ""
        opened = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)
        self.code, self.tickets = opened["room"]["code"], {TEACHER: opened["ticket"]}
        self.join(ANNA)
        self.join(BEN)
        self.ask(CURSOR)

    def do(self, token: str, action: str, lang: str = "en", **values) -> dict:
        return do(self.site, token, action, lang, **{"code": self.code, "activity": self.name, **values})

    def join(self, token: str) -> None:
        self.tickets[token] = self.do(token, "join", nickname="")["ticket"]

    def ask(self, cursor: dict[str, str], about: str = "lab") -> dict:
        """The question that is asked last is the one that all is about from now on."""
        answer = self.do(TEACHER, "ask", about=about, cursor=cursor)
        self.name = list(self.activities(TEACHER))[-1]
        return answer

    def guess(self, token: str, guess: str, sure: str) -> dict:
        return self.do(token, "answer", guess=guess, sure=sure)

    def more(self, *guesses: tuple[str, str]) -> None:
        """A member more for each guess."""
        for guess, sure in guesses:
            self.join(token := f"member {len(self.tickets)}")
            assert self.guess(token, guess, sure) == {"done": True}

    def reveal(self, **cursor: str) -> dict:
        return self.do(TEACHER, "reveal", cursor=CURSOR | cursor)

    def activities(self, token: str) -> dict:
        return enter(self.site, token, self.code)["room"]["activities"]

    def question(self, token: str) -> dict:
        return self.activities(token)[self.name]

    def result(self, token: str, **parameters: str) -> dict:
        query = {"code": self.code, "activity": self.name, **parameters}
        return self.site.http.get(f"{PREFIX}/room/question", params=query, headers={"X-Playground-Token": token}).json()

    def everything(self) -> str:
        """All that the room tells anybody in it: what is read after a reload, every event of the stream, and the route of the result."""
        texts = [line for ticket in self.tickets.values() for line in events(self.site, self.code, ticket)]
        for token in self.tickets:
            texts += [json.dumps(enter(self.site, token, self.code)), json.dumps(self.result(token))]
        return "\n".join(texts)


@pytest.fixture
def group(site) -> Iterator[Class]:
    opened = Class(site)
    yield opened
    opened.do(TEACHER, "end")


def test_a_question_is_asked_guessed_closed_revealed_and_taken_back(group):
    """Before it is revealed there is not even the name of a guess; then all are told the same, and not whose it was."""
    place = {"kind": "question", "place": {"lab": "softmax"}, "state": "open", "joined": 2, "answered": 0, "mine": False}
    assert group.question(ANNA) == place
    assert group.guess(ANNA, RIGHT, "95") == group.guess(BEN, WRONG, "50") == group.guess(BEN, RIGHT, "50") == {"done": True}
    group.more((RIGHT, "95"), (RIGHT, "95"), *[(WRONG, "75")] * 3)
    for state in ("open", "closed"):
        everything = group.everything()
        assert f'"state":"{state}"' in everything
        assert '"answered":7' in everything
        assert not [word for word in (*LAB.guesses, '"95"', '"50"', "counts", "answers", "options") if word in everything], state
        assert group.result(ANNA)["key"] == "rooms.not_revealed"
        assert group.do(TEACHER, "close") == {"done": True}
    assert group.guess(ANNA, RIGHT, "95")["key"] == "rooms.question_closed"
    assert group.reveal() == {"done": True}
    assert group.question(ANNA) == group.question(BEN) == group.question(TEACHER)
    assert group.result(ANNA) == group.result(BEN) == group.result(TEACHER)
    assert "answers" not in group.everything()
    assert (group.question(ANNA)["answer"], group.question(ANNA)["counts"][RIGHT]) == (RIGHT, [1, 0, 3, 0])
    figure, calibration = group.result(BEN, lang="zh")["blocks"]
    assert say("zh", "lessons.class_surest", percent="95", right=3, count=3) in figure["caption"]
    notes = [note["text"] for note in figure["figure"]["layout"]["annotations"]]
    assert [note for note in notes if "✓" in note] == [f"<b>✓ {LAB.say('zh', f'guess_{RIGHT}')}</b>"]
    expected = [say("zh", "lessons.class_calibration", percent=percent, right=right, count=3) for percent, right in (("75", 0), ("95", 3))]
    assert all(sentence in calibration["text"] for sentence in expected)
    assert group.do(TEACHER, "withdraw") == {"done": True}
    assert group.activities(ANNA) == {}


def test_what_can_not_be_is_refused(group):
    for reply, key in (
        (group.guess("z" * 32, RIGHT, "95"), "rooms.not_in"),
        (group.result("z" * 32), "rooms.not_in"),
        (group.guess(ANNA, "unknown", "95"), "config.not_a_choice"),
        (group.guess(ANNA, RIGHT, "100"), "config.not_a_choice"),
        (group.guess(TEACHER, RIGHT, "95"), "rooms.teacher_asks"),
        (group.ask(CURSOR), "rooms.question_asked"),
        (group.ask({"lab": "nothing"}), "lessons.no_lab"),
        (group.ask({"lesson": "weight"}, "lesson"), "rooms.no_question"),  # that of "weight" is a lab's
        (group.ask({"tab": "training"}), "rooms.no_question"),
        (group.ask({"tab": "labs"}, "tab"), "rooms.no_question"),
        (group.do(TEACHER, "close", activity="elsewhere"), "rooms.no_activity"),
    ):
        assert reply["key"] == key, reply


def test_an_experiment_marks_the_right_guess_once_it_has_run(group, monkeypatch):
    lab = replace(LABS["bug_source"], base={**LABS["bug_source"].base, **TINY})
    monkeypatch.setitem(LABS, "bug_source", lab)
    group.ask(cursor := {"run": "reverse", "lab": "bug_source"})
    group.more(*[(lab.guesses[0], "95")] * 3)
    assert (group.reveal(**cursor), group.question(ANNA)["answer"]) == ({"done": True}, "")
    assert say("en", "lessons.class_undecided") in group.result(ANNA)["blocks"][0]["caption"]
    ids = group.site.act(CARL, "experiment", "reverse", lab="bug_source", seed=1)["arms"]
    arms = ".".join(done(group.site.runs.get(id)).id for id in ids)
    assert group.reveal(**cursor, arms=arms) == {"done": True}
    blocks = group.site.panel("labs", **cursor, arms=arms, guess=group.question(ANNA)["answer"], sure="95")["blocks"]
    assert next(block for block in blocks if block["id"] == "record")["right"]
    for id in ids:
        group.site.runs.delete(id, CARL)


def test_the_question_of_a_lesson_is_about_the_run_that_was_on_screen_and_of_one_that_is_gone_marks_no_guess(group):
    place = {"lesson": "attention", "run": "reverse", "text": "hello"}
    group.ask({**place, "tab": "course", "lab": "masks"}, "lesson")  # a lab that was open before
    assert group.question(BEN)["place"] == place
    assert group.reveal(run="sort") == {"done": True}
    question = next(lesson.question for lesson in LESSONS if lesson.name == "attention")
    reader, run = group.site.reader, group.site.runs.get("reverse")
    assert group.question(BEN)["answer"] == question.answer(reader, run, None, "hello")[0]
    assert group.do(TEACHER, "withdraw") == {"done": True}
    group.ask({"lesson": "attention", "run": "deleted"}, "lesson")
    assert (group.reveal(), group.question(BEN)["answer"]) == ({"done": True}, "")
