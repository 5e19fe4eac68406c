"""Who may do what in a room, and what becomes of names, codes and dates; and how streams hear that there is news."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from playground.cursor import FIELDS, FOLLOWED
from playground.rooms import registry
from playground.rooms.activities import MAX_ACTIVITIES
from playground.rooms.files import RoomFiles
from playground.rooms.registry import CLASS_CODES, DAY, MAX_ROOMS_EACH, WRONG_CODES, WRONG_SECONDS
from playground.rooms.room import ALPHABET, CODE, MAX_DAYS, MAX_MEMBERS, NAME, TEACHER as THE_TEACHER, ticket_of
from playground.rooms.store import Hub
from playground.ui.boot import LISTS
from tests.rooms.conftest import ANNA, BEN, TEACHER, at_once, refused


def test_a_member_keeps_a_number_that_is_never_given_twice(group):
    group.join(ANNA, "Anna", code=f" {group.code[:2]} {group.code[2:].lower()} ")
    group.join(ANNA, "Anne")
    group.join(BEN)
    assert group.names() == ["Anne", ""]
    views = [group.view(token) for token in (TEACHER, ANNA, BEN)]
    assert [[view[name] for name in ("number", "name", "teacher")] for view in views] == [[0, "", True], [1, "Anne", False], [2, "", False]]
    assert {(view["ends"], view["language"], view["code"]) for view in views} == {(group.clock.now + 7 * DAY, "en", group.code)}
    assert group.join(TEACHER, "Me") == group.room(), "the teacher is no member"
    group.leave(BEN)
    assert group.join(BEN).members[-1].number == 3


def test_only_the_teacher_acts_as_one(group):
    group.join(ANNA)
    acts = {
        "hide": (1, True), "remove": (1,), "point": ({"layer": "1"}, LISTS), "fix": ({}, LISTS), "limit": ({},),
        "assign": ("mine", {}, LISTS), "withdraw": ("name",), "call_back": (), "end": (),
    }  # fmt: skip
    for act, arguments in acts.items():
        for token, key in ((ANNA, "rooms.not_teacher"), (BEN, "rooms.not_in")):
            with refused(key):
                getattr(group.rooms, act)(*group.key(token), *arguments)


def test_members_leave_all_their_rooms_and_the_teacher_can_only_end_them(pair):
    for token in (ANNA, TEACHER):
        pair.rooms.leave_all(token)
    assert [member.number for member in pair.room().members] == [2]
    with refused("rooms.no_member"):
        pair.rooms.remove(*pair.key(TEACHER), 1)
    with refused("rooms.teacher_stays"):
        pair.leave(TEACHER)
    pair.rooms.end(*pair.key(TEACHER))
    assert [*pair.folder.iterdir(), *pair.copy.parent.iterdir()] == []
    with refused("rooms.unknown"):
        pair.join(BEN)


def test_strangers_see_nothing_and_no_token_is_stored(group):
    """Two rooms do not tell that one person was in both."""
    codes = [group.code, group.rooms.open(TEACHER, "en", group.clock.now + DAY).code]
    rooms = [group.join(ANNA, code=code) for code in codes]
    texts = "".join((group.folder / f"{code}.json").read_text() for code in codes)
    assert not [secret for secret in (TEACHER, ANNA, *(ticket_of(code, ANNA) for code in codes)) if secret in texts]
    assert len({room.owner for room in rooms} | {room.members[0].owner for room in rooms}) == 4
    for ticket in ("", ticket_of(group.code, BEN), ticket_of("ABCDE", TEACHER), TEACHER, group.code):
        with refused("rooms.not_in"):
            group.rooms.view(group.code, ticket)
    with refused("runs.no_token"):
        group.join("")


def test_an_activity_is_withdrawn_by_name_and_there_are_not_too_many(group):
    for _ in range(MAX_ACTIVITIES):
        group.change(TEACHER, "", lambda room, number: {"kind": "course", "done": {}})
    with refused("rooms.too_many_activities"):
        group.change(TEACHER, "", lambda room, number: {"kind": "course", "done": {}})
    first, *others = group.room().activities
    group.rooms.withdraw(*group.key(TEACHER), first)
    assert list(group.room().activities) == others
    with refused("rooms.no_activity"):
        group.rooms.withdraw(*group.key(TEACHER), first)


# ---- limits --------------------------------------------------------------------------------------------------------------------------


def test_the_last_places_are_given_once_and_what_is_said_at_once_all_counts(group, monkeypatch):
    for n in range(MAX_MEMBERS - 8):
        group.join(f"{n:032}")
    outcomes = at_once(partial(group.join, f"t{n:031}") for n in range(16))
    assert sorted(outcomes) == [""] * 8 + ["rooms.full"] * 8
    assert sorted(member.number for member in group.room().members) == list(range(1, MAX_MEMBERS + 1))
    group.rooms.assign(*group.key(TEACHER), "read", {}, LISTS)
    written, write = [], RoomFiles.write
    monkeypatch.setattr(RoomFiles, "write", lambda *room: written.append(room) or time.sleep(0.1) or write(*room))
    assert at_once(partial(group.rooms.tick, *group.key(f"{n:032}"), True) for n in range(16)) == [""] * 16
    assert group.room().now["done"] == list(range(1, 17))
    assert len(written) < 16, "while the disk is busy the others wait, and are written together"


def test_a_room_has_a_teacher_a_language_and_a_last_day(group):
    wrong = [(TEACHER, "en", days, "rooms.bad_date") for days in (-1, 0, MAX_DAYS + 1.001, float("nan"), float("inf"))]
    for token, language, days, key in [*wrong, ("", "en", 1, "runs.no_token"), (TEACHER, "xx", 1, "rooms.no_language")]:
        with refused(key):
            group.rooms.open(token, language, group.clock.now + days * DAY)
    assert group.rooms.open(BEN, "zh", group.clock.now + (MAX_DAYS + 1) * DAY).language == "zh"


def test_so_many_rooms_each_at_an_address_and_altogether_with_readable_codes(group, monkeypatch):
    def opened(token: str, address: str) -> str:
        return group.rooms.open(token, "en", group.clock.now + DAY, address=address).code

    codes = [opened(TEACHER, str(n)) for n in range(MAX_ROOMS_EACH - 1)]
    with refused("rooms.too_many_yours"):
        opened(TEACHER, "")
    codes += [opened(f"{n:032}", "here") for n in range(registry.OPENED)]
    with refused("rooms.too_often"):
        opened(ANNA, "here")
    codes.append(opened(ANNA, "there"))
    monkeypatch.setattr(registry, "MAX_ROOMS", len(codes) + 1)
    with refused("rooms.too_many"):
        opened(ANNA, "elsewhere")
    assert len({group.code, *codes}) == len(codes) + 1
    assert all(len(code) == CODE and set(code) <= set(ALPHABET) - set("01IO") for code in codes)


@pytest.mark.parametrize(("address", "most"), [("stranger", WRONG_CODES), ("school", CLASS_CODES)])
def test_codes_can_not_be_tried_out(group, address, most):
    """A class behind one router may mistype more often than a stranger."""
    group.join(ANNA, address="school")
    for _ in range(most):
        with refused("rooms.unknown"):
            group.join(BEN, code="AAAAA", address=address)
    with refused("rooms.too_often"):
        group.join(BEN, address=address)  # else being let in would tell the right one
    group.join(BEN, address="elsewhere")
    group.clock.now += WRONG_SECONDS
    group.join(BEN, address=address)


NAMES = {
    "<b>Anna</b>": "<b>Anna</b>", " Anna \r\n\t Maria ": "Anna Maria", "A\x00n\x1bn\x7fa": "A n n a", "\u202eannA": "annA",
    "\u200bA\u2028B": "A B", "x" * 999: "x" * NAME, "A\ud800": "A?", "Zoe\u0308": "Zoë", "李雷": "李雷", " ": "",
}  # fmt: skip


def test_a_name_is_one_short_line_of_text_and_hidden_at_will(group):
    for name, clean in NAMES.items():
        group.join(ANNA, name)
        assert group.names() == [clean]
    group.join(ANNA, "Anna")
    for hidden in (True, False):
        group.rooms.hide(*group.key(TEACHER), 1, hidden)
        assert (group.names(), group.view(TEACHER)["members"][0]["hidden"]) == (["" if hidden else "Anna"], hidden)


def test_a_foreign_code_is_no_path(group, tmp_path):
    for code in (" ", "..", "../../etc/passwd", "ABCDE/../X", "A" * 10_000, "\x00", "ﬀﬀﬀﬀ"):
        with refused("rooms.unknown"):
            group.join(ANNA, code=code)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "rooms", tmp_path / "rooms.copies"]


# ---- where the teacher looks ---------------------------------------------------------------------------------------------------------


def test_the_class_sees_where_the_teacher_looks_and_nothing_personal(group):
    assert not {name for name in FOLLOWED if FIELDS[name].personal or FIELDS[name].local}
    group.join(ANNA)
    for cursor, key in (
        ({"guess": "left"}, "config.unknown"), ({"lang": "zh"}, "config.unknown"), ({"nothing": ""}, "config.unknown"),
        ({"layer": "99"}, "config.not_in_range"), ({"tab": "nowhere"}, "config.not_a_choice"), ({"text": "x" * 2001}, "cursor.too_long"),
    ):  # fmt: skip
        with refused(key):
            group.rooms.point(*group.key(TEACHER), cursor, LISTS)
        assert group.view(ANNA)["cursor"] == {}
    for cursor in ({"tab": "attention", "layer": "2", "head": "3"}, {"step": "5"}):
        group.rooms.point(*group.key(TEACHER), cursor, LISTS)
        assert group.view(ANNA)["cursor"] == cursor


LONG, SHORT = 60.0, 0.02  # seconds for news that comes, and that does not


def test_a_listener_is_told_once_of_all_that_happened_by_any_thread_and_of_no_other_room():
    async def story() -> list[bool]:
        with hub.listen("ABCDE", 1) as listener:
            waits = [await listener.wait(LONG)]
            for _ in range(1000):
                hub.notify("ABCDE")
            waits += [await listener.wait(LONG), await listener.wait(SHORT)]
            hub.notify("FGHJK")
            waits.append(await listener.wait(SHORT))
            for news in (hub.notify, partial(hub.follow, number=1, follows=False), hub.end):
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(news, "ABCDE")
                waits.append(await listener.wait(LONG))
            with hub.listen("ABCDE", 2):
                waits.append(await listener.wait(LONG))
            return [*waits, await listener.wait(LONG)]

    hub = Hub()
    assert asyncio.run(story()) == [True, True, False, False, True, True, True, True, True]


def test_the_class_sees_at_once_where_the_teacher_looks_and_the_teacher_who_is_here_and_follows(pair):
    """A member with two windows is one; the teacher is no member; who has left is in neither."""
    hub, states = pair.rooms.hub, []

    def look() -> None:
        view = pair.view(TEACHER)
        states.append((view["here"], view["followers"], [one["here"] for one in view["members"]], hub.is_open(pair.code)))

    async def story() -> None:
        with hub.listen(pair.code, THE_TEACHER):
            look()
            with hub.listen(pair.code, 1) as listener, hub.listen(pair.code, 2):
                await listener.wait(LONG)
                pair.rooms.point(*pair.key(TEACHER), {"layer": "1"}, {})
                assert await listener.wait(LONG)
                with hub.listen(pair.code, 1):
                    pair.rooms.follow(*pair.key(BEN), False)
                    look()
                pair.rooms.call_back(*pair.key(TEACHER))
                look()
        look()

    asyncio.run(story())
    both, nobody = [True, True], [False, False]
    assert states == [(0, 0, nobody, True), (2, 1, both, True), (2, 2, both, True), (0, 0, nobody, False)]


def test_a_run_that_the_teacher_looks_at_or_deals_counts_until_the_room_ends(group):
    """And it is awaited while the page of the room is open."""
    runs = ("looked-at", "dealt", "other")

    def shown(open_only: bool = False) -> list[bool]:
        return [group.rooms.is_shown(run, open_only=open_only) for run in runs]

    async def awaited() -> list[bool]:
        with group.rooms.hub.listen(group.code, 1):
            return shown(open_only=True)

    assert shown() == [False, False, False]
    group.rooms.point(*group.key(TEACHER), {"run": "looked-at"}, {})
    group.change(TEACHER, "course", lambda room, number: {"kind": "course", "done": {"1": ["a", {"run": "dealt"}]}})
    assert shown() == asyncio.run(awaited()) == [True, True, False]
    assert shown(open_only=True) == [False, False, False]
    group.rooms.end(*group.key(TEACHER))
    assert shown() == [False, False, False]
