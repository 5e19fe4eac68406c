"""The routes of rooms: who gets in, what a stranger learns, and where names never stand. Who may do what is in test_rights.py."""

import json
import time
from collections.abc import Iterator

import pytest

from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX
from playground.words import say
from tests.runs.tiny import done
from tests.ui.looking import TINY

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
    lines: list[str] = []
    with site.http.stream("GET", f"{PREFIX}/room/live", params={"code": code, "ticket": ticket}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            lines.extend([line] if line else [])
            if sum(one.startswith("data") for one in lines) >= until:
                return lines
    return lines


def test_who_is_not_or_no_longer_in_a_room_hears_nothing_and_learns_not_whether_there_is_one(site, room):
    member = do(site, ANNA, "join", code=room["code"], nickname=CANARY)["ticket"]
    keys = [(room["code"], ""), (room["code"], BEN), (room["code"], ANNA), (room["code"], "0" * 64), ("AAAAA", member), ("", member)]
    assert {tuple(events(site, *one)) for one in keys} == {("event: gone", "data: {}")}
    answers = [enter(site, BEN, room["code"]), enter(site, BEN, "AAAAA"), enter(site, "", room["code"])]
    assert answers == [{"error": say("en", "rooms.not_in"), "key": "rooms.not_in"}] * 3
    with site.http.stream("GET", f"{PREFIX}/room/live", params={"code": room["code"], "ticket": member}) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        do(site, TEACHER, "remove", code=room["code"], member=1)
        assert [line for line in lines if line][-2:] == ["event: gone", "data: {}"]


ARMS = [{"learning_rate": 0.01}, {"learning_rate": 0.02}]
NO_ACTIONS = (
    ("nothing", {}), ("join", {"nickname": "", "code": 5}), ("open", {"language": "en", "ends": True}), ("open", {"ends": 1}),
    ("hide", {"member": "1", "hidden": True}), ("hide", {"member": 1, "hidden": 1}), ("cursor", {"cursor": {"head": 2}}),
    ("cursor", {"cursor": "head"}), ("follow", {"following": "no"}), ("fix", {"fixed": []}), ("fix", {}), ("assign", {"text": 5, "to": {}}),
    ("assign", {"text": "x", "to": "skip"}), ("limit", {"limits": 5}), ("tick", {"done": 1}), ("progress", {"done": []}),
    ("deal", {"knobs": [], "arms": ARMS, "order": "together"}), ("deal", {"knobs": {}, "arms": [1, 2], "order": "together"}),
    ("deal", {"knobs": {}, "arms": ARMS, "order": 1}), ("deal_lab", {"lab": "softmax", "order": "together"}),
    ("share_board", {"activity": "x", "shared": "yes"}), ("train", {"activity": 1}), ("ask", {"about": "lab", "cursor": {"lab": 5}}),
    ("close", {"activity": 5}),
)  # fmt: skip


def test_what_no_page_sends_is_refused(site, room):
    for action, values in NO_ACTIONS:
        code = {} if action == "open" else {"code": room["code"]}
        assert do(site, TEACHER, action, **code | values)["key"] == "page.not_a_command", (action, values)
    assert do(site, None, "end", code=room["code"])["key"] == "runs.no_token"
    assert enter(site, TEACHER, room["code"])["room"]["teacher"]


def test_a_name_is_told_to_its_teacher_and_its_owner_alone(site, room):
    code = room["code"]
    run = done(site.train(ANNA, TINY))
    anna = do(site, ANNA, "join", code=code, nickname=CANARY)
    ben = do(site, BEN, "join", code=code, nickname="Ben")
    inside = [json.dumps(ben), json.dumps(enter(site, BEN, code)), *events(site, code, ben["ticket"])]
    paths = ["boot", "runs", f"run/{run.id}", "panel/attention", "panel/compare", "panel/course", "history", "takeaway/reverse", "code"]
    query, sent = {"run": run.id, "room": code}, {"X-Playground-Token": BEN}
    outside = [site.http.get(f"{PREFIX}/{path}", params=query, headers=sent) for path in paths]
    outside += [site.http.get("/", params={"room": code}), site.http.get("/config"), site.http.get("/gradio_api/info")]
    assert not [text for text in inside if CANARY in text]
    assert not [answer.url for answer in outside if CANARY.encode() in answer.content]
    assert CANARY in json.dumps(anna)
    assert CANARY in json.dumps(enter(site, TEACHER, code))
    site.runs.delete(run.id, ANNA)


def test_who_wants_to_be_forgotten_leaves_with_their_runs(site, room):
    gone, other = site.train(ANNA, TINY), site.train(BEN, TINY)
    do(site, ANNA, "join", code=room["code"], nickname="Anna")
    answer = do(site, ANNA, "forget")
    assert (answer["gone"], answer["notice"]) == (True, say("en", "page.room_forgotten", count=1))
    assert enter(site, TEACHER, room["code"])["room"]["members"] == []
    assert (site.runs.list_owned(ANNA), site.runs.list_owned(BEN), site.runs.find(gone.id)) == ([], [other], None)
    site.runs.delete(other.id, BEN)


@pytest.mark.fault("the server ends while a teacher shows something else than before", "the class is where it was")
def test_where_the_teacher_looks_outlives_the_server(tmp_path):
    runs = Runs(tmp_path, shipped=None)
    try:
        rooms = Rooms(tmp_path / "rooms")
        runs.add_task(rooms.tidy)
        code = rooms.open(TEACHER, "en", time.time() + 60).code
        rooms.point(code, ticket_of(code, TEACHER), {"layer": "2"}, {})
    finally:
        runs.close()
    assert Rooms(tmp_path / "rooms").authenticate(code, ticket_of(code, TEACHER))[0].cursor == {"layer": "2"}
