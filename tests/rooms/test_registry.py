"""Who may do what in a room, and what becomes of names, codes and dates."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from playground.config import Refusal
from playground.cursor import FIELDS, FOLLOWED
from playground.rooms import registry
from playground.rooms.registry import DAY, MAX_ROOMS_EACH, WRONG_CODES, WRONG_SECONDS, Rooms
from playground.rooms.room import ALPHABET, CODE, MAX_DAYS, MAX_MEMBERS, NAME, clean_name, ticket_of
from playground.ui.links import LISTS

TEACHER, ANNA, BEN = "a" * 32, "b" * 32, "c" * 32


class Clock:
    """Goes on when it is told to."""

    now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(tmp_path: Path, clock: Clock) -> Rooms:
    return Rooms(tmp_path / "rooms", clock)


@pytest.fixture
def code(rooms: Rooms, clock: Clock) -> str:
    """Of a room that ends in a week."""
    return rooms.open(TEACHER, "en", clock.now + 7 * DAY).code


def seen(rooms: Rooms, code: str, token: str) -> dict:
    return rooms.view(code, ticket_of(code, token))


def names(rooms: Rooms, code: str) -> list[str]:
    return [member["name"] for member in seen(rooms, code, TEACHER)["members"]]


def refused(key: str):
    return pytest.raises(Refusal, check=lambda refusal: refusal.key == key)


def test_a_code_can_be_read_from_a_wall(rooms, clock):
    codes = [rooms.open(f"{n:032}", "en", clock.now + DAY, address=str(n)).code for n in range(50)]
    assert len(set(codes)) == 50
    assert all(len(code) == CODE and set(code) <= set(ALPHABET) for code in codes)
    assert not set("01IO") & set(ALPHABET)


def test_who_joins_is_in_and_is_numbered(rooms, code):
    rooms.join(f" {code.lower()} ", ANNA, "Anna")
    rooms.join(code, BEN)
    assert names(rooms, code) == ["Anna", ""]
    assert (seen(rooms, code, BEN)["number"], seen(rooms, code, ANNA)["name"]) == (2, "Anna")


def test_who_joins_again_keeps_the_number(rooms, code):
    rooms.join(code, ANNA, "Anna")
    rooms.join(code, ANNA, "Anne")
    assert names(rooms, code) == ["Anne"]
    assert rooms.join(code, TEACHER, "Me").members[0].nickname == "Anne"


def test_a_number_is_never_given_twice(rooms, code):
    rooms.join(code, ANNA)
    rooms.leave(code, ticket_of(code, ANNA))
    assert rooms.join(code, BEN).members[0].number == 2


def test_only_the_teacher_sees_names(rooms, code):
    rooms.join(code, ANNA, "Anna")
    rooms.join(code, BEN, "Ben")
    assert "Anna" not in str(seen(rooms, code, BEN))
    assert names(rooms, code) == ["Anna", "Ben"]


def test_a_stranger_sees_nothing(rooms, code):
    for ticket in ("", ticket_of(code, BEN), ticket_of("ABCDE", TEACHER), TEACHER, code):
        with refused("rooms.not_in"):
            rooms.view(code, ticket)


def test_a_student_can_not_act_as_the_teacher(rooms, code):
    rooms.join(code, ANNA)
    mine = ticket_of(code, ANNA)
    acts = [
        lambda: rooms.hide(code, mine, 1, True), lambda: rooms.remove(code, mine, 1), lambda: rooms.end(code, mine),
        lambda: rooms.point(code, mine, {"layer": "1"}, LISTS),
    ]  # fmt: skip
    for act in acts:
        with refused("rooms.not_teacher"):
            act()


def test_a_hidden_name_is_shown_to_nobody_and_a_removed_one_is_gone(rooms, code, tmp_path):
    rooms.join(code, ANNA, "Anna")
    rooms.hide(code, ticket_of(code, TEACHER), 1, True)
    assert names(rooms, code) == [""]
    rooms.hide(code, ticket_of(code, TEACHER), 1, False)
    assert names(rooms, code) == ["Anna"]
    rooms.remove(code, ticket_of(code, TEACHER), 1)
    assert "Anna" not in (tmp_path / "rooms" / f"{code}.json").read_text()
    with refused("rooms.not_in"):
        seen(rooms, code, ANNA)
    with refused("rooms.no_member"):
        rooms.remove(code, ticket_of(code, TEACHER), 1)


def test_who_leaves_leaves_nothing(rooms, code, tmp_path):
    rooms.join(code, ANNA, "Anna")
    rooms.leave_all(ANNA)
    said = (tmp_path / "rooms" / f"{code}.json").read_text()
    assert "Anna" not in said
    assert '"members":[]' in said
    with refused("rooms.teacher_stays"):
        rooms.leave(code, ticket_of(code, TEACHER))


def test_an_ended_room_is_gone(rooms, code, tmp_path):
    rooms.join(code, ANNA, "Anna")
    rooms.end(code, ticket_of(code, TEACHER))
    assert list((tmp_path / "rooms").iterdir()) == []
    with refused("rooms.unknown"):
        rooms.join(code, BEN)


def test_no_token_is_kept_and_two_rooms_do_not_tell_that_somebody_was_in_both(rooms, clock, tmp_path):
    rooms_of = [rooms.open(TEACHER, "en", clock.now + DAY).code for _ in range(2)]
    for code in rooms_of:
        rooms.join(code, ANNA)
    texts = [(tmp_path / "rooms" / f"{code}.json").read_text() for code in rooms_of]
    assert not any(token in text for text in texts for token in (TEACHER, ANNA, *(ticket_of(code, ANNA) for code in rooms_of)))
    owners = [{one.owner for one in (rooms.join(code, TEACHER), *rooms.join(code, TEACHER).members)} for code in rooms_of]
    assert not owners[0] & owners[1]


# ---- limits --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("days", [-1, 0, MAX_DAYS + 2, float("nan"), float("inf")])
def test_a_room_ends_on_a_day_that_can_be(rooms, clock, days):
    with refused("rooms.bad_date"):
        rooms.open(TEACHER, "en", clock.now + days * DAY)


def test_a_room_is_opened_by_somebody_in_a_language_there_is(rooms, clock):
    with refused("runs.no_token"):
        rooms.open("", "en", clock.now + DAY)
    with refused("rooms.no_language"):
        rooms.open(TEACHER, "xx", clock.now + DAY)


def test_so_many_rooms_each_and_so_many_altogether(rooms, clock, monkeypatch):
    for _ in range(MAX_ROOMS_EACH):
        rooms.open(TEACHER, "en", clock.now + DAY)
    with refused("rooms.too_many_yours"):
        rooms.open(TEACHER, "en", clock.now + DAY)
    monkeypatch.setattr(registry, "MAX_ROOMS", MAX_ROOMS_EACH)
    with refused("rooms.too_many"):
        rooms.open(ANNA, "en", clock.now + DAY)


def test_one_address_can_not_take_all_the_rooms_there_are(rooms, clock):
    for n in range(registry.OPENED):
        rooms.open(f"{n:032}", "en", clock.now + DAY, address="here")
    with refused("rooms.too_often"):
        rooms.open(ANNA, "en", clock.now + DAY, address="here")
    rooms.open(ANNA, "en", clock.now + DAY, address="there")


def test_the_last_place_is_given_once(rooms, code):
    """By sixteen threads at a time."""
    for n in range(MAX_MEMBERS - 8):
        rooms.join(code, f"{n:032}")
    outcomes, gate = [], threading.Barrier(16)

    def join(token: str) -> None:
        gate.wait()
        try:
            rooms.join(code, token)
            outcomes.append("")
        except Refusal as refusal:
            outcomes.append(refusal.key)

    threads = [threading.Thread(target=join, args=(f"t{n:031}",)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [""] * 8 + ["rooms.full"] * 8
    numbers = [member["number"] for member in seen(rooms, code, TEACHER)["members"]]
    assert sorted(numbers) == list(range(1, MAX_MEMBERS + 1))


def test_codes_can_not_be_tried_out(rooms, code, clock):
    for _ in range(WRONG_CODES):
        with refused("rooms.unknown"):
            rooms.join("AAAAA", BEN, address="here")
    with refused("rooms.too_often"):
        rooms.join(code, BEN, address="here")  # else the right one would be told by being let in
    rooms.join(code, ANNA, address="there")
    clock.now += WRONG_SECONDS + 1
    rooms.join(code, BEN, address="here")


HOSTILE = {
    "<b>Anna</b>": "<b>Anna</b>",  # text, shown as text
    " Anna \r\n\t Maria ": "Anna Maria",
    "A\x00n\x1bn\x7fa": "A n n a",
    "\u202eannA": "annA",  # would turn the line round
    "\u200bA\u2028B": "A B",
    "x" * 999: "x" * NAME,
    "A\ud800": "A?",
    "Zoe\u0308": "Zoë",
    "李雷": "李雷",
    " ": "",
}


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_name_is_one_short_line_of_text(rooms, code, name):
    rooms.join(code, ANNA, name)
    assert names(rooms, code) == [HOSTILE[name]] == [clean_name(name)]


@pytest.mark.parametrize("code", ["", "..", "../../etc/passwd", "ABCDE/../X", "A" * 10_000, "\x00", "ﬀﬀﬀﬀ"], ids=ascii)
def test_a_foreign_code_is_no_path(rooms, code, tmp_path):
    with refused("rooms.unknown"):
        rooms.join(code, ANNA)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "rooms", tmp_path / "rooms.copies"]


# ---- where the teacher looks ---------------------------------------------------------------------------------------------------------


def test_nothing_personal_is_shown_to_a_class():
    assert not {name for name in FOLLOWED if FIELDS[name].personal or FIELDS[name].local}
    assert not {"guess", "sure", "predicted", "certain", "lang", "present", "room"} & set(FOLLOWED)
    assert {"run", "step", "text", "tab", "layer", "head", "q", "k", "lesson"} <= set(FOLLOWED)


def test_the_class_sees_where_the_teacher_looks(rooms, code):
    rooms.join(code, ANNA)
    rooms.point(code, ticket_of(code, TEACHER), {"tab": "attention", "layer": "2", "head": "3"}, LISTS)
    assert seen(rooms, code, ANNA)["cursor"] == {"tab": "attention", "layer": "2", "head": "3"}


@pytest.mark.parametrize(
    ("cursor", "key"),
    [
        ({"guess": "left"}, "config.unknown"), ({"lang": "zh"}, "config.unknown"), ({"nothing": ""}, "config.unknown"),
        ({"layer": "99"}, "config.not_in_range"), ({"tab": "nowhere"}, "config.not_a_choice"), ({"text": "x" * 2001}, "cursor.too_long"),
    ],
)  # fmt: skip
def test_a_place_that_can_not_be_is_refused(rooms, code, cursor, key):
    with refused(key):
        rooms.point(code, ticket_of(code, TEACHER), cursor, LISTS)


def test_a_full_disk_changes_nothing(rooms, code, monkeypatch):
    monkeypatch.setattr("playground.runs.disk.files.write_file", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with refused("rooms.not_saved"):
        rooms.join(code, ANNA)
    assert names(rooms, code) == []
