"""A room outlives a restart and a crash, and nothing of it outlives its date."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest

from playground.config import Refusal
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import Member, Room, from_json, ticket_of, to_json
from playground.rooms.store import SET_ASIDE_SECONDS, Store
from playground.ui.links import LISTS
from tests.rooms.test_registry import ANNA, TEACHER, Clock, names, seen

ROOM = Room(
    "ABCDE", "0" * 64, "zh", 1.0, 2.5, (Member(3, "1" * 64, "李雷", True),), 3, {"layer": "2"}, {"guesses": {"a": [1]}},
    fixed={"labs": ["skip"]}, now={"text": "x", "to": {}, "done": [3]}, limits={"each_kept": 1},
)  # fmt: skip


class Killed(BaseException):
    """The process is gone here: nothing after this is done."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "rooms"


@pytest.fixture
def code(folder: Path, clock: Clock) -> str:
    """Of a room on the disk, in which Anna is."""
    rooms = Rooms(folder, clock)
    code = rooms.open(TEACHER, "en", clock.now + DAY).code
    rooms.join(code, ANNA, "Anna")
    return code


def test_a_room_is_read_as_it_was_written(folder):
    store = Store(folder)
    store.write(ROOM)
    assert list(store.read_all()) == [ROOM]
    assert from_json(json.loads(json.dumps(to_json(ROOM)))) == ROOM


def test_a_restart_forgets_nobody(folder, code, clock):
    again = Rooms(folder, clock)
    assert names(again, code) == ["Anna"]
    assert seen(again, code, ANNA)["number"] == 1
    assert again.join(code, "z" * 32).members[-1].number == 2


def test_where_the_teacher_looks_is_written_by_the_next_round(folder, code, clock):
    rooms = Rooms(folder, clock)
    rooms.point(code, ticket_of(code, TEACHER), {"layer": "2"}, LISTS)
    rooms.tidy()
    assert seen(Rooms(folder, clock), code, ANNA)["cursor"] == {"layer": "2"}


@pytest.mark.fault("kill -9 in the middle of writing a room", "the room is as it was before")
@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_crash_in_the_middle_of_a_write_leaves_the_old_room(folder, code, clock, step, monkeypatch):
    rooms = Rooms(folder, clock)

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, step, killed)
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # whoever is killed doesn't clean up
        with pytest.raises(Killed):
            rooms.join(code, "z" * 32, "Zoe")
    assert len(list(folder.iterdir())) == 2, "the temporary file lies there"
    assert names(Rooms(folder, clock), code) == ["Anna"]
    assert [path.name for path in folder.iterdir()] == [f"{code}.json"], "and is gone after a restart"


@pytest.mark.parametrize("when", ["while it runs", "while it is off"])
def test_nothing_outlives_its_date(folder, code, clock, when):
    rooms = Rooms(folder, clock)
    clock.now += DAY + 1
    with pytest.raises(Refusal, match="not in this room"):  # at once, before the next round
        seen(rooms, code, ANNA)
    with pytest.raises(Refusal, match="no room"):
        rooms.join(code, ANNA)
    if when == "while it runs":
        rooms.tidy()
    else:
        Rooms(folder, clock)
    assert [*folder.iterdir(), *folder.with_name("rooms.copies").iterdir()] == []


def test_a_room_of_before_is_read_and_fixes_nothing(folder, code, clock):
    """Version 1 knew neither what is fixed nor what there is to do, and had no limits."""
    path = folder / f"{code}.json"
    said = {name: value for name, value in json.loads(path.read_text()).items() if name not in ("fixed", "now", "limits")}
    path.write_text(json.dumps(said | {"version": 1}))
    again = Rooms(folder, clock)
    assert names(again, code) == ["Anna"]
    assert (seen(again, code, ANNA)["fixed"]["settings"], seen(again, code, ANNA)["now"]) == ({}, None)


def lose_copies(folder: Path) -> None:
    """Nothing is there but the rooms themselves."""
    for path in folder.with_name("rooms.copies").iterdir():
        path.unlink()


def damaged(text: str) -> list[str]:
    said = json.loads(text)
    wrong = [{"version": 3}, {"members": None}, {"members": [1]}, {"ends": "soon"}, {"cursor": []}, {"more": 1}, {"code": "ABCDE"}]
    return ["", text[:-5], "[]", "null", *(json.dumps(said | change) for change in wrong)]


@pytest.mark.parametrize("at", range(11))
def test_a_file_that_can_not_be_read_is_set_aside_with_a_line_in_the_log(folder, code, clock, at, caplog):
    path = folder / f"{code}.json"
    path.write_text(damaged(path.read_text())[at])
    lose_copies(folder)
    Store(folder).write(ROOM)
    with caplog.at_level(logging.WARNING):
        found = {room.code for room in Store(folder).read_all()}
    assert found == {"ABCDE"}, "the others are read"
    assert code in caplog.text
    assert "Anna" not in caplog.text
    aside = folder / f"{code}.json.unreadable"
    assert aside.exists()
    assert not path.exists()
    Store(folder).forget_unreadable(aside.stat().st_mtime + SET_ASIDE_SECONDS - 1)
    assert aside.exists()
    Store(folder).forget_unreadable(aside.stat().st_mtime + SET_ASIDE_SECONDS + 1)
    assert not aside.exists(), "there may be names in it"


@pytest.mark.fault("the file of a room damaged, and its copy", "it is set aside, and whoever has the code is told")
def test_whoever_has_the_code_of_a_damaged_room_is_told(folder, code, clock):
    """Its file doesn't say any more whose room it was."""
    (folder / f"{code}.json").write_text("{")
    lose_copies(folder)
    for _ in range(2):  # and after one more restart
        again = Rooms(folder, clock)
        for ask, token in ((seen, TEACHER), (seen, ANNA), (Rooms.join, "z" * 32)):
            with pytest.raises(Refusal) as refusal:
                ask(again, code, token)
            assert refusal.value.key == "rooms.damaged"
            assert all(code in refusal.value.say(language) for language in ("en", "zh"))
    with pytest.raises(Refusal, match="not in this room"):
        seen(again, "ZZZZZ", TEACHER)
    with pytest.raises(Refusal, match="no room"):
        again.join("../etc", TEACHER)
    (folder / f"{code}.json.unreadable").unlink()
    with pytest.raises(Refusal, match="not in this room"):
        seen(again, code, TEACHER)


@pytest.mark.fault("the file of a room damaged", "its copy is used: everybody is in, with all that was said")
@pytest.mark.parametrize("at", range(11))
def test_a_damaged_room_is_read_from_its_copy(folder, code, clock, at, caplog):
    path = folder / f"{code}.json"
    whole = path.read_text()
    path.write_text(damaged(whole)[at])
    for _ in range(2):  # and after one more restart
        again = Rooms(folder, clock)
        assert names(again, code) == ["Anna"]
        assert path.read_text() == whole
    assert (folder / f"{code}.json.unreadable").exists(), "for whoever wants to know what happened"
    assert "copy" in caplog.text


def test_who_has_left_is_in_no_copy_and_a_room_that_is_gone_comes_not_back(folder, code, clock):
    rooms, copy = Rooms(folder, clock), folder.with_name("rooms.copies") / f"{code}.json"
    assert "Anna" in copy.read_text()
    rooms.leave(code, ticket_of(code, ANNA))
    assert "Anna" not in copy.read_text()
    (folder / f"{code}.json").unlink()  # by whoever looks after the server
    assert Rooms(folder, clock).attended(ANNA) == []
    assert not copy.exists()


def test_what_is_no_room_is_left_alone(folder):
    store = Store(folder)
    for name in ("notes.txt", ".lock", "ABCDE.json.bak", "abcde.json"):
        (folder / name).write_text("mine")
    assert list(store.read_all()) == []
    assert len(list(folder.iterdir())) == 4
