"""The class's guess: who may do what, what nobody is told, and what is left once a question is closed."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from playground.config import Refusal
from playground.rooms import activities, question
from playground.rooms.question import SURE
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from playground.ui.links import LISTS
from tests.rooms.test_registry import ANNA, BEN, TEACHER, Clock, refused

PLACE, OPTIONS = {"lab": "softmax"}, ("grows", "shrinks", "same")


class Class:
    """A room with a teacher, Anna (1) and Ben (2), in which the question of a lab is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, Clock()
        self.rooms = Rooms(folder, self.clock)
        self.code = self.rooms.open(TEACHER, "en", self.clock.now + DAY).code
        self.join(ANNA)
        self.join(BEN)
        self.name = self.ask()

    def join(self, token: str) -> None:
        self.rooms.join(self.code, token)

    def ask(self, token: str = TEACHER, place: dict | None = None) -> str:
        def make(room, number):
            return activities.added(room, question.asked(room, number, place or PLACE, OPTIONS, LISTS))

        return list(self.rooms.change(self.code, ticket_of(self.code, token), make).activities)[-1]

    def change(self, token: str, make) -> None:
        def changed(room, number):
            return activities.changed(room, self.name, make(activities.found(room, self.name, "question"), room, number))

        self.rooms.change(self.code, ticket_of(self.code, token), changed)

    def guess(self, token: str, option: str, sure: str = "75") -> None:
        self.change(token, lambda one, room, number: question.answered(one, number, option, sure))

    def close(self, token: str = TEACHER) -> None:
        self.change(token, question.closed)

    def reveal(self, token: str = TEACHER, answer: str = "grows") -> None:
        self.change(token, lambda one, room, number: question.revealed(one, room, number, answer))

    def seen(self, token: str) -> dict:
        return self.rooms.view(self.code, ticket_of(self.code, token))["activities"][self.name]

    def told(self) -> str:
        """All that anybody in the room is told."""
        return json.dumps([self.rooms.view(self.code, ticket_of(self.code, token)) for token in (TEACHER, ANNA, BEN)])

    def kept(self) -> dict:
        """The question as it lies on the disk."""
        return json.loads((self.folder / f"{self.code}.json").read_text())["activities"][self.name]


@pytest.fixture
def group(tmp_path) -> Class:
    return Class(tmp_path / "rooms")


def test_everybody_sees_how_many_have_answered_and_nobody_what(group):
    group.guess(ANNA, "shrinks", "95")
    common = {"kind": "question", "place": PLACE, "state": "open", "joined": 2, "answered": 1}
    assert [group.seen(token) for token in (TEACHER, ANNA, BEN)] == [common | {"mine": mine} for mine in (False, True, False)]
    assert not any(word in group.told() for word in ("shrinks", '"95"', "answers", "counts"))
    group.close()
    assert not any(word in group.told() for word in ("shrinks", '"95"', "answers", "counts"))


def test_a_guess_takes_the_place_of_the_one_before(group):
    group.guess(ANNA, "shrinks", "95")
    group.guess(ANNA, "grows", "50")
    assert group.kept()["answers"] == {"1": ["grows", "50"]}
    group.close()
    assert group.kept()["counts"] == {"grows": [1, 0, 0], "shrinks": [0, 0, 0], "same": [0, 0, 0]}


def several(group, *guesses: tuple[str, str]) -> None:
    """A member more for each guess."""
    for n, (option, sure) in enumerate(guesses):
        group.join(token := f"several {n}")
        group.guess(token, option, sure)


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_guesses_are_not_shown(group, count):
    several(group, *[("shrinks", "95")] * count)
    group.reveal()
    assert (group.seen(TEACHER)["counts"], group.seen(TEACHER)["answered"]) == ({}, count)
    assert "shrinks" not in group.told()
    assert question.calibration([group.seen(TEACHER)]) == {}


def test_how_sure_one_or_two_of_a_guess_were_is_not_told(group):
    several(group, ("grows", "50"), ("grows", "75"), ("grows", "95"), ("same", "95"), ("same", "95"))
    group.reveal()
    assert group.seen(TEACHER)["counts"] == {"grows": [1, 1, 1, 0], "shrinks": [0, 0, 0, 0], "same": [0, 0, 0, 2]}
    assert question.calibration([group.seen(TEACHER)]) == {}


def test_once_closed_no_number_is_left_anywhere(group):
    group.guess(ANNA, "grows")
    group.guess(BEN, "grows")
    group.close()
    assert group.kept() == {
        "kind": "question", "place": PLACE, "options": list(OPTIONS), "state": "closed", "joined": 2,
        "counts": {"grows": [0, 2, 0], "shrinks": [0, 0, 0], "same": [0, 0, 0]},
    }  # fmt: skip


def test_a_closed_question_takes_no_guess(group):
    group.close()
    with refused("rooms.question_closed"):
        group.guess(ANNA, "grows")
    group.reveal()
    with refused("rooms.question_closed"):
        group.guess(ANNA, "grows")


def test_whoever_comes_late_answers_while_it_is_open(group):
    group.guess(ANNA, "grows")
    group.join(late := "z" * 32)
    group.guess(late, "same")
    assert (group.seen(TEACHER)["answered"], group.seen(TEACHER)["joined"]) == (2, 3)


@pytest.mark.parametrize("way", ["leaves", "is removed"])
def test_whoever_goes_takes_the_guess_along(group, way):
    group.guess(ANNA, "grows")
    group.guess(BEN, "same")
    if way == "leaves":
        group.rooms.leave(group.code, ticket_of(group.code, ANNA))
    else:
        group.rooms.remove(group.code, ticket_of(group.code, TEACHER), 1)
    assert group.kept()["answers"] == {"2": ["same", "75"]}
    assert group.seen(TEACHER)["answered"] == 1


def test_whoever_goes_later_is_not_found_out(group):
    """Were a count to fall when somebody leaves, it would tell what they had guessed."""
    group.guess(ANNA, "grows")
    group.reveal()
    before = group.seen(TEACHER)
    group.rooms.leave(group.code, ticket_of(group.code, ANNA))
    assert group.seen(TEACHER) == before


def test_only_the_teacher_asks_closes_and_reveals(group):
    acts = [lambda: group.ask(ANNA, {"lab": "masks"}), lambda: group.close(ANNA), lambda: group.reveal(ANNA)]
    for act in acts:
        with refused("rooms.not_teacher"):
            act()
    with refused("rooms.not_in"):
        group.guess("z" * 32, "grows")
    assert group.seen(ANNA)["state"] == "open"


def test_the_teacher_s_own_guess_is_not_counted(group):
    with refused("rooms.teacher_asks"):
        group.guess(TEACHER, "grows")


@pytest.mark.parametrize(
    ("option", "sure"), [("unknown", "75"), ("", "75"), ("grows", ""), ("grows", "100"), ("<b>", "75"), ("x" * 5000, "75")]
)
def test_a_guess_that_is_not_offered_is_refused(group, option, sure):
    with refused("config.not_a_choice"):
        group.guess(ANNA, option, sure)
    assert group.kept()["answers"] == {}


@pytest.mark.parametrize(
    ("place", "key"),
    [({"lab": "nothing"}, "config.not_a_choice"), ({"lesson": "nothing"}, "config.not_a_choice"), ({"elsewhere": "1"}, "config.unknown")],
)
def test_a_place_that_can_not_be_is_not_asked_about(group, place, key):
    with refused(key):
        group.ask(place=place)


def test_a_lab_is_asked_about_once_until_it_is_deleted(group):
    with refused("rooms.question_asked"):
        group.ask()
    group.ask(place={"lab": "masks"})
    group.rooms.change(group.code, ticket_of(group.code, TEACHER), lambda room, _: activities.dropped(room, group.name))
    group.ask()


def test_after_a_restart_it_goes_on(group):
    group.guess(ANNA, "grows")
    group.rooms = Rooms(group.folder, group.clock)
    assert group.seen(ANNA)["mine"]
    group.guess(BEN, "same")
    group.reveal()
    revealed = group.seen(BEN)
    group.rooms = Rooms(group.folder, group.clock)
    assert group.seen(BEN) == revealed


def test_the_guesses_of_a_whole_class_at_once_all_count(group):
    """By sixteen threads, while another one closes the question: what is counted is what was taken."""
    tokens = [f"{n:032}" for n in range(16)]
    for token in tokens:
        group.join(token)
    taken, refusals, gate = [], [], threading.Barrier(len(tokens) + 1)

    def guess(token: str) -> None:
        gate.wait()
        try:
            group.guess(token, "grows")
            taken.append(token)
        except Refusal as refusal:
            refusals.append(refusal.key)

    def close() -> None:
        gate.wait()
        group.close()

    threads = [threading.Thread(target=guess, args=(token,)) for token in tokens] + [threading.Thread(target=close)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    group.reveal()
    assert group.kept()["counts"]["grows"] == [0, len(taken), 0]
    assert refusals == ["rooms.question_closed"] * (len(tokens) - len(taken))


def test_the_right_answer_may_be_known_later(group):
    group.guess(ANNA, "grows")
    group.reveal(answer="")
    assert group.seen(ANNA)["answer"] == ""
    group.reveal(answer="no such guess")
    assert group.seen(ANNA)["answer"] == ""
    group.reveal(answer="same")
    assert (group.seen(ANNA)["answer"], group.kept()["counts"]["grows"]) == ("same", [0, 1, 0])


def revealed(counts: dict, answer: str) -> dict:
    return {"state": "revealed", "counts": counts, "answer": answer}


def test_the_calibration_counts_all_that_is_revealed_and_decided():
    questions = [
        revealed({"a": [1, 1, 3, 0], "b": [2, 0, 1, 0]}, "a"),
        revealed({"c": [0, 0, 3, 0], "d": [0, 0, 0, 2]}, "d"),
        revealed({"e": [9, 9, 9, 0]}, ""),
        revealed({}, "a"),
        {"state": "closed"},
    ]
    assert question.calibration(questions) == {"50": (1, 3), "95": (3, 7)}
    assert question.calibration([]) == {}
    assert SURE == ("50", "75", "95")
