"""Whatever a class does, in whichever order: members learn nothing of others, who leaves leaves nothing, a restart changes nothing."""

import json
import re
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule, run_state_machine_as_test

from playground.rooms import answers, experiment, question
from playground.rooms.answers import Answer
from playground.rooms.question import LEAST, SURE
from playground.ui.boot import LISTS
from tests.rooms.group import TEACHER, Group, refused

OPTIONS, ARMS = ("option-a", "option-b"), [{"learning_rate": 0.01}, {"learning_rate": 0.02}, {"learning_rate": 0.05}]
STEPS, QUESTIONS = {"attention": 4}, {"attention": ["attended", "row_rest"]}


class Lesson(RuleBasedStateMachine):
    members = Bundle("members")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.group, self.numbers, self.gone, self.last = Group(self.folder / "rooms"), {}, [], 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        group = self.group
        group.change(TEACHER, "question", lambda room, number: question.ask(room, number, {"lab": "softmax"}, OPTIONS, LISTS))
        group.change(TEACHER, "experiment", lambda room, number: experiment.create({}, ARMS, "together", room))
        group.rooms.assign(*group.key(TEACHER), "read", {}, LISTS)

    @rule(target=members)
    def join(self) -> str:
        self.last += 1
        token = f"token {self.last:26}"
        self.numbers[token] = self.last
        self.group.join(token, f"name-{self.last}.")
        return token

    @rule(token=consumes(members), removed=st.booleans())
    def leave(self, token: str, removed: bool) -> None:
        number = self.numbers.pop(token)
        self.gone.append((token, number))
        if removed:
            self.group.rooms.remove(*self.group.key(TEACHER), number)
        else:
            self.group.leave(token)

    @rule(token=members, option=st.sampled_from(OPTIONS), sure=st.sampled_from(SURE))
    def guess(self, token: str, option: str, sure: str) -> None:
        if self.one("question")["state"] == "open":
            self.group.change(token, "question", lambda room, number: question.guess(room.activities["question"], number, option, sure))

    @rule(reveal=st.booleans())
    def close(self, reveal: bool) -> None:
        before = self.one("question")
        make = (lambda *at: question.reveal(*at, OPTIONS[0])) if reveal else question.close
        if before["state"] != "revealed":
            self.group.change(TEACHER, "question", lambda room, number: make(room.activities["question"], room, number))
        if before["state"] == "open":
            assert question.count_guesses(self.one("question")["counts"]) == len(before["answers"])

    @rule(token=members, count=st.integers(1, 4))
    def report(self, token: str, count: int) -> None:
        self.group.change(token, answers.PROGRESS, lambda room, number: answers.record_progress(room, number, {"attention": count}, STEPS))

    @rule(token=members, name=st.sampled_from(QUESTIONS["attention"]), of=st.sampled_from("ab"), choice=st.integers(0, 3))
    def answer(self, token: str, name: str, of: str, choice: int) -> None:
        answer = Answer("attention", name, of * 10, choice, choice == 2)
        self.group.change(token, answers.NAME, lambda room, number: answers.record(room, number, answer, QUESTIONS, 4))

    @rule(token=members)
    def train(self, token: str) -> None:
        self.group.change(
            token, "experiment", lambda room, number: experiment.set_run(room.activities["experiment"], number, f"run-{number}.")
        )

    @rule(token=members, done=st.booleans())
    def tick(self, token: str, done: bool) -> None:
        self.group.rooms.tick(*self.group.key(token), done)

    @rule()
    def restart(self) -> None:
        views = [self.group.view(token) for token in (TEACHER, *self.numbers)]
        self.group.restart()
        assert [self.group.view(token) for token in (TEACHER, *self.numbers)] == views

    def one(self, name: str) -> dict:
        return self.group.room().activities[name]

    @invariant()
    def members_see_no_other(self) -> None:
        for token, number in self.numbers.items():
            view = self.group.view(token)
            text = json.dumps(view)
            assert view["number"] == number
            assert set(re.findall(r"(?:name|run)-(\d+)\.", text)) == {str(number)}
            assert view["members"] == []
            assert ("option-" in text) == (view["activities"]["question"]["state"] == "revealed")

    @invariant()
    def answers_are_counted_in_groups(self) -> None:
        groups = [group for one in self.answered() for group in one["groups"].values()]
        assert not [group for group in groups if sum(group["counts"].values()) % LEAST or len(group["waiting"]) >= LEAST]
        assert "option-" not in json.dumps(self.group.view(TEACHER)) or self.one("question")["state"] == "revealed"

    @invariant()
    def members_that_left_leave_nothing(self) -> None:
        texts = self.group.path.read_text() + self.group.copy.read_text()
        for token, number in self.gone:
            with refused("rooms.not_in"):
                self.group.view(token)
            assert not re.search(rf'(name|run)-{number}\.|"{number}":|"number":{number}\b', texts)
        numbers = set(self.numbers.values())
        assert set(self.one("experiment")["dealt"]) == set(map(str, numbers))
        assert numbers.issuperset(self.group.room().now["done"])
        assert all(numbers.issuperset(one["by"]) for one in self.answered())

    def answered(self) -> list[dict]:
        given = self.group.room().activities.get(answers.NAME, {"given": {}})["given"]
        return [one for questions in given.values() for one in questions.values()]


def test_whatever_a_class_does():
    run_state_machine_as_test(Lesson, settings=settings(stateful_step_count=25))
