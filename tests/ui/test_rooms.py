"""The routes of rooms: who gets in, who may do what, what a stranger learns, and where names never stand."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from playground.runs import housekeeping
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX
from playground.words import LANGUAGES, say
from tests.thoroughness import every_case
from tests.ui.test_actions import TINY, wait

TEACHER, ANNA, BEN = (letter * 32 for letter in "def")
CANARY = "Canary-Marguerite"


def do(site, token: str | None, action: str, lang: str = "en", **values: object) -> dict:
    """What the page's script sends to a room."""
    headers = {} if token is None else {"X-Playground-Token": token}
    return site.http.post(f"{PREFIX}/room/{action}", params={"lang": lang}, content=json.dumps(values), headers=headers).json()


def enter(site, token: str, code: str) -> dict:
    return site.http.get(f"{PREFIX}/room", params={"code": code}, headers={"X-Playground-Token": token}).json()


@pytest.fixture
def room(site) -> Iterator[dict]:
    """As its teacher is told of it."""
    opened = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)
    yield opened["room"] | {"ticket": opened["ticket"]}
    do(site, TEACHER, "end", code=opened["room"]["code"])


def events(site, code: str, ticket: str, until: int = 1) -> list[str]:
    """The first events of a stream, as they came over the line."""
    found: list[str] = []
    with site.http.stream("GET", f"{PREFIX}/room/live", params={"code": code, "ticket": ticket}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            found.extend([line] if line else [])
            if sum(one.startswith("data") for one in found) >= until:
                return found
    return found


def test_a_class_opens_joins_and_comes_back(site, room):
    joined = do(site, ANNA, "join", code=room["code"].lower(), nickname="Anna")
    assert (joined["room"]["number"], joined["room"]["name"], joined["room"]["teacher"]) == (1, "Anna", False)
    assert enter(site, ANNA, room["code"]) == joined
    assert enter(site, TEACHER, room["code"])["room"]["members"] == [{"number": 1, "name": "Anna", "hidden": False, "here": False}]
    assert do(site, ANNA, "leave", code=room["code"]) == {"done": True}
    assert enter(site, ANNA, room["code"])["key"] == "rooms.not_in"


def test_a_member_hears_where_the_teacher_looks(site, room):
    joined = do(site, ANNA, "join", code=room["code"], nickname="")
    assert do(site, TEACHER, "cursor", code=room["code"], cursor={"tab": "attention", "head": "2"}) == {"done": True}
    told = events(site, room["code"], joined["ticket"])
    seen = json.loads(told[0].removeprefix("data: "))
    assert seen["cursor"] == {"tab": "attention", "head": "2"}
    assert (seen["here"], seen["followers"], seen["members"]) == (1, 1, [])


def test_a_stranger_can_not_read_the_stream_and_learns_not_whether_there_is_a_room(site, room):
    member = do(site, ANNA, "join", code=room["code"], nickname=CANARY)["ticket"]
    asked = [(room["code"], ""), (room["code"], BEN), (room["code"], ANNA), (room["code"], "0" * 64), ("AAAAA", member), ("", member)]
    assert {tuple(events(site, *one)) for one in asked} == {("event: gone", "data: {}")}
    answers = [enter(site, BEN, room["code"]), enter(site, BEN, "AAAAA"), enter(site, "", room["code"])]
    assert all(answer == {"error": say("en", "rooms.not_in"), "key": "rooms.not_in"} for answer in answers)


def test_a_removed_member_hears_no_more(site, room):
    ticket = do(site, ANNA, "join", code=room["code"], nickname="")["ticket"]
    with site.http.stream("GET", f"{PREFIX}/room/live", params={"code": room["code"], "ticket": ticket}) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        do(site, TEACHER, "remove", code=room["code"], member=1)
        assert [line for line in lines if line][-2:] == ["event: gone", "data: {}"]


TEACHERS = {"hide": {"member": 1, "hidden": True}, "remove": {"member": 1}, "cursor": {"cursor": {"head": "2"}}, "end": {}}


@pytest.mark.parametrize("action", TEACHERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_student_can_not_act_as_the_teacher_and_a_stranger_not_at_all(site, room, action, language):
    do(site, ANNA, "join", code=room["code"], nickname="Anna")
    for token, key in ((ANNA, "rooms.not_teacher"), (BEN, "rooms.not_in"), ("", "runs.no_token")):
        asked = TEACHERS[action] | {"code": room["code"]}
        assert do(site, token, action, language, **asked) == {"error": say(language, key), "key": key}
    assert [member["name"] for member in enter(site, TEACHER, room["code"])["room"]["members"]] == ["Anna"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_another_page_sends_is_refused(site, room, language):
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        sent = {"X-Playground-Token": TEACHER} | headers
        answer = site.http.post(f"{PREFIX}/room/end", params={"lang": language}, json={"code": room["code"]}, headers=sent)
        assert (answer.status_code, answer.json()["error"]) == (403, say(language, "page.not_from_here"))
    assert do(site, None, "end", code=room["code"])["key"] == "runs.no_token"
    assert enter(site, TEACHER, room["code"])["room"]["teacher"]


@every_case(
    ("action", "values"),
    [
        ("nothing", {}), ("join", {}), ("join", {"code": 5, "nickname": ""}), ("join", {"code": "ABCDE", "nickname": ["x"]}),
        ("open", {"language": "en", "ends": "soon"}), ("open", {"language": "en", "ends": True}), ("open", {"ends": 1}),
        ("hide", {"member": "1", "hidden": True}), ("hide", {"member": 1, "hidden": 1}), ("hide", {"code": 5}),
        ("cursor", {"cursor": {"head": 2}}), ("cursor", {"cursor": "head"}), ("follow", {"following": "no"}),
    ],
)  # fmt: skip
def test_what_no_page_sends_is_refused(site, room, action, values):
    asked = values if action in ("nothing", "join", "open") else {"code": room["code"]} | values
    assert do(site, TEACHER, action, **asked)["key"] == "page.not_a_command"


@pytest.mark.parametrize("body", [b"", b"[]", b"no json", b"\xff", b'"x"'])
def test_what_is_no_object_is_refused(site, body):
    answer = site.http.post(f"{PREFIX}/room/join", content=body, headers={"X-Playground-Token": ANNA})
    assert (answer.status_code, answer.json()["key"]) == (400, "page.not_a_command")


def test_too_long_a_message_is_not_read(site):
    answer = site.http.post(f"{PREFIX}/room/join", content=b"x" * 40_000, headers={"X-Playground-Token": ANNA})
    assert answer.status_code == 413


def test_a_name_is_told_to_its_teacher_and_its_owner_and_to_nobody_else(site, room):
    """Neither by the room to others who are in it, nor by anything else that this server answers to anybody."""
    code = room["code"]
    run = site.train(ANNA, TINY)
    wait(run, "done")
    anna = do(site, ANNA, "join", code=code, nickname=CANARY)
    ben = do(site, BEN, "join", code=code, nickname="Ben")
    inside = [json.dumps(ben), json.dumps(enter(site, BEN, code)), *events(site, code, ben["ticket"])]
    paths = ["boot", "runs", f"run/{run.id}", "panel/attention", "panel/compare", "panel/course", "history", "takeaway/reverse", "code"]
    asked, sent = {"run": run.id, "room": code}, {"X-Playground-Token": BEN}
    outside = [site.http.get(f"{PREFIX}/{path}", params=asked, headers=sent) for path in paths]
    outside += [site.http.get("/", params={"room": code}), site.http.get("/config"), site.http.get("/gradio_api/info")]
    assert not [said for said in inside if CANARY in said]
    assert not [answer.url for answer in outside if CANARY.encode() in answer.content]
    assert CANARY in json.dumps(anna)
    assert CANARY in json.dumps(enter(site, TEACHER, code))
    site.runs.delete(run.id, ANNA)


def test_whoever_wants_to_be_forgotten_leaves_with_their_runs(site, room):
    mine, other = site.train(ANNA, TINY), site.train(BEN, TINY)
    do(site, ANNA, "join", code=room["code"], nickname="Anna")
    answer = do(site, ANNA, "forget")
    assert (answer["gone"], answer["notice"]) == (True, say("en", "page.room_forgotten", count=1))
    assert enter(site, TEACHER, room["code"])["room"]["members"] == []
    assert site.runs.mine(ANNA) == []
    assert site.runs.mine(BEN) == [other]
    assert mine.id not in str(site.get("runs").json())
    site.runs.delete(other.id, BEN)


@pytest.mark.fault("the server ends while a teacher shows something else than before", "the class is where it was")
def test_where_the_teacher_looks_outlives_the_server(tmp_path):
    runs = Runs(tmp_path, shipped=None)
    try:
        rooms = Rooms(tmp_path / "rooms")
        runs.every_round(rooms.tidy)
        code = rooms.open(TEACHER, "en", time.time() + 60).code
        rooms.point(code, ticket_of(code, TEACHER), {"layer": "2"}, {})
    finally:
        runs.close()
    assert Rooms(tmp_path / "rooms").inside(code, ticket_of(code, TEACHER))[0].cursor == {"layer": "2"}


def test_the_thread_that_tidies_runs_tidies_rooms(tmp_path, monkeypatch):
    """A room whose date has passed goes by itself, also when something else in the round fails."""
    monkeypatch.setattr(housekeeping, "TIDY_SECONDS", 0.02)
    runs = Runs(tmp_path, shipped=None)
    try:
        rooms = Rooms(tmp_path / "rooms")
        code = rooms.open(TEACHER, "en", time.time() + 0.1).code
        runs.every_round(lambda: 1 / 0)
        runs.every_round(rooms.tidy)
        end = time.monotonic() + 20
        while (tmp_path / "rooms" / f"{code}.json").exists():
            assert time.monotonic() < end
            time.sleep(0.02)
    finally:
        runs.close()
