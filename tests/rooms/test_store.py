"""A room outlives a restart and a crash, nothing of it outlives its date; and whatever a class does, members learn nothing of others."""

import json
import logging
import os
import re
import shutil
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule, run_state_machine_as_test

from playground.rooms import answers, experiment, question
from playground.rooms.answers import Answer
from playground.rooms.files import SET_ASIDE_SECONDS, RoomFiles
from playground.rooms.question import LEAST, SURE
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import Member, Room
from playground.ui.boot import LISTS
from tests.rooms.conftest import ANNA, TEACHER, Group, refused

ROOM = Room(
    "ABCDE", "0" * 64, "zh", 1.0, 2.5, (Member(3, "1" * 64, "李雷", True),), 3, {"layer": "2"}, {"guesses": {"a": [1]}},
    fixed={"labs": ["skip"]}, now={"text": "x", "to": {}, "done": [3]}, limits={"each_kept": 1},
)  # fmt: skip


class Killed(BaseException):
    """The end of the process: nothing after this is done."""


@pytest.fixture
def group(group: Group) -> Group:
    group.join(ANNA, "Anna")
    return group


def test_a_room_is_read_as_it_was_written(tmp_path):
    store = RoomFiles(tmp_path / "rooms")
    store.write(ROOM)
    for name in ("notes.txt", ".lock", "ABCDE.json.bak", "abcde.json"):
        (tmp_path / "rooms" / name).write_text("no room")
    assert list(store.read_all()) == [ROOM]
    assert len(list((tmp_path / "rooms").iterdir())) == 5, "what is no room is left alone"


def test_where_the_teacher_looks_is_written_by_the_next_round_and_a_full_disk_harms_no_room(group, caplog):
    group.rooms.point(*group.key(TEACHER), {"layer": "2"}, LISTS)
    assert '"layer"' not in group.path.read_text(), "ten a second may come"
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr("playground.runs.disk.files.write_file", Mock(side_effect=OSError("full")))
        group.rooms.tidy()
        before = group.view(TEACHER)
        with refused("rooms.not_saved"):
            group.join("z" * 32)
    assert group.view(TEACHER) == before
    assert "save_failed" in caplog.text
    group.rooms.tidy()
    group.restart()
    assert group.view(ANNA)["cursor"] == {"layer": "2"}


@pytest.mark.fault("kill -9 in the middle of writing a room", "the room is as it was before")
@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_crash_in_the_middle_of_a_write_leaves_the_old_room(group, step, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, step, Mock(side_effect=Killed))
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # a process that is killed doesn't clean up
        with pytest.raises(Killed):
            group.join("z" * 32, "Zoe")
    assert len(list(group.folder.iterdir())) == 2, "the temporary file lies there"
    group.restart()
    assert group.names() == ["Anna"]
    assert list(group.folder.iterdir()) == [group.path], "and is gone after a restart"


@pytest.mark.parametrize("late", ["tidy", "restart"])
def test_nothing_outlives_its_date(group, late):
    group.clock.now += 7 * DAY
    with refused("rooms.not_in"):  # at once, before the next round
        group.view(ANNA)
    with refused("rooms.unknown"):
        group.join(ANNA)
    if late == "tidy":
        group.rooms.tidy()
    else:
        group.restart()
    assert [*group.folder.iterdir(), *group.copy.parent.iterdir()] == []


def damaged(text: str) -> list[str]:
    room = json.loads(text)
    member = room["members"][0]
    wrong = [
        {"version": 3}, {"members": None}, {"members": [1]}, {"members": [member | {"number": "1"}]}, {"ends": "soon"}, {"cursor": []},
        {"more": 1}, {"code": "ABCDE"},
    ]  # fmt: skip
    return ["", text[:-5], "[]", "null", *(json.dumps(room | change) for change in wrong)]


@pytest.mark.fault("the file of a room damaged", "its copy is used: everybody is in, with all that was said")
def test_a_damaged_room_is_read_from_its_copy(group, caplog):
    whole = group.path.read_text()
    for text in damaged(whole):
        caplog.clear()
        group.path.write_text(text)
        for _ in range(2):  # and after one more restart
            group.restart()
            assert group.names() == ["Anna"], text
            assert group.path.read_text() == whole
        assert group.path.with_name(f"{group.code}.json.unreadable").read_text() == text, "so that the cause can be looked for"
        assert "copy" in caplog.text


def test_a_file_that_can_not_be_read_at_all_is_set_aside_for_a_while(group, caplog):
    RoomFiles(group.folder).write(ROOM)
    aside = group.path.with_name(f"{group.code}.json.unreadable")
    for text in damaged(group.path.read_text()):
        caplog.clear()
        group.path.write_text(text)
        os.utime(group.path, (0, 0))
        group.copy.unlink(missing_ok=True)
        with caplog.at_level(logging.WARNING):
            assert [room.code for room in RoomFiles(group.folder).read_all()] == ["ABCDE"], "the others are read"
        assert group.code in caplog.text
        assert "Anna" not in caplog.text
        assert (aside.stat().st_mtime > 0, group.path.exists()) == (True, False), "it waits from now on"
        for passed, there in ((-1, True), (1, False)):
            RoomFiles(group.folder).forget_unreadable(aside.stat().st_mtime + SET_ASIDE_SECONDS + passed)
            assert aside.exists() == there, "there may be names in it"


@pytest.mark.fault("the file of a room damaged, and its copy", "it is set aside, and whoever has the code is told")
def test_whoever_has_the_code_of_a_damaged_room_is_told(group):
    """Its file doesn't say any more whose room it was."""
    group.path.write_text("{")
    group.copy.unlink()
    for _ in range(2):  # and after one more restart
        group.restart()
        for ask, token in ((group.view, TEACHER), (group.view, ANNA), (group.join, "z" * 32)):
            with refused("rooms.damaged") as refusal:
                ask(token)
            assert all(group.code in refusal.value.say(language) for language in ("en", "zh"))
    with refused("rooms.not_in"):
        group.rooms.view("ZZZZZ", group.key(TEACHER)[1])
    with refused("rooms.unknown"):
        group.join(TEACHER, code="../etc")
    group.path.with_name(f"{group.code}.json.unreadable").unlink()
    with refused("rooms.not_in"):
        group.view(TEACHER)


def test_a_room_that_is_gone_comes_not_back(group):
    group.path.unlink()  # by the operator
    assert group.copy.exists()
    assert Rooms(group.folder, group.clock).find_attended(ANNA) == []
    assert not group.copy.exists()


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
            self.group.change(token, "question", lambda room, at: question.guess(room.activities["question"], room, at, option, sure))

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
