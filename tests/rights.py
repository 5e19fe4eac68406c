"""The answers to each route, listener, endpoint and action, asked for by each kind of person. `python -m tests.rights` prints it."""

import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from unittest.mock import MagicMock, patch

from benchmarks.server import Server
from benchmarks.tables import markdown
from playground.ui.command import ACTIONS
from playground.ui.endpoints.answers import ENDPOINTS
from playground.ui.rights import Right, Table
from playground.ui.room_actions import RoomActions
from playground.ui.server import collect_routes
from tests.hostile.attack import SLOW, Attack
from tests.hostile.people import TARGET, Call, People, valid_calls

# Each is asked as if the run were theirs and they were in the room. The owner is in no room.
PEOPLE = ("nobody", "stranger", "owner", "student", "teacher", "removed")
DONE = "yes"
TABS = count()
with patch.dict(os.environ, {"PLAYGROUND_OPERATOR": "x" * 40}):  # its routes too
    TABLE = Table(collect_routes(*(MagicMock() for _ in range(3)), {}))
ROOM = RoomActions(None, None, None).table()
# After these sentences are open, or there is no run any more, or another room.
LAST = tuple(f"command {name}" for name in ("share_sentences", "delete", "take_key"))
ONCE = ("endpoint delete",)  # performs "command delete", and there is one run to delete
LAST += tuple(f"room {name}" for name in ("remove", "leave", "end", "join", "forget"))


@dataclass(frozen=True)
class Row:
    """`answers` has for each of PEOPLE their answer: DONE, or the key of the refusal; `read`, who got which of another's words or keys."""

    kind: str
    right: Right
    answers: dict[str, str]
    read: set[tuple[str, str]]


def right_of(kind: str) -> Right:
    """By the name of a valid call, as tests/hostile/valid.py gives it."""
    group, _, name = kind.partition(" ")
    if group in ("command", "room"):
        return {"command": ACTIONS, "room": ROOM}[group][name][0]
    if group in ("listener", "endpoint"):
        return getattr(ENDPOINTS.get(name.partition(",")[0]), "right", Right.PUBLIC)
    rights = (rule.right for rule in TABLE.rules if (rule.method, rule.path) == (group, name))
    return next(rights, Right.READER)  # a panel that is drawn from sentences


def who_may(right: Right) -> tuple[str, ...]:
    """Returns those of PEOPLE who may, where the owner's sentences are open to no other."""
    return {
        Right.VISITOR: PEOPLE[1:], Right.READER: ("owner",), Right.OWNER: ("owner",), Right.MEMBER: ("student", "teacher"),
        Right.TEACHER: ("teacher",), Right.OFF: (),
    }.get(right, PEOPLE)  # fmt: skip


def rows(people: People) -> Iterator[Row]:
    """Some at once; each is asked for by those who may not before those who may, and LAST comes last, one after the other."""
    attack = Attack(people.port, valid_calls(people), people, quiet_s=SLOW / 2)  # an answer cut off is no answer

    def row(call: Call) -> Row:
        right = right_of(call.kind)
        # all are alike where all may
        order = ["nobody"] if right is Right.PUBLIC else sorted(PEOPLE, key=lambda who: who in who_may(right))
        answers = {who: _told(attack, replace(call, who=who), people) for who in order}
        read = {(who, secret) for who, (_, secrets) in answers.items() for secret in secrets}
        return Row(call.kind, right, {who: answers.get(who, answers["nobody"])[0] for who in PEOPLE}, read)

    with ThreadPoolExecutor(4) as pool:
        yield from pool.map(row, [call for call in attack.calls.values() if call.kind not in LAST + ONCE])
    yield from (row(attack.calls[kind]) for kind in LAST)


def others_in(call: Call, body: bytes, people: People) -> set[str]:
    """Returns the secrets of others that are in an answer and not in the question: the owner's words, and keys."""
    secrets = {f"the key of the {who}": token for who, token in people.tokens.items() if token and who != call.who}
    secrets |= {"the owner's words": TARGET} if call.who != "owner" else {}
    question = f"{call.target} {(call.content or b'').decode(errors='replace')}"
    return {name for name, secret in secrets.items() if secret.encode() in body and secret not in question}


def _told(attack: Attack, call: Call, people: People) -> tuple[str, set[str]]:
    """As in a Row, and what they could read."""
    if call.kind == f"GET {call.path}" and call.path.endswith("/room/live"):
        call = replace(call, query=call.query | {"ticket": people.ticket(call.who)})
    session = f"rights{next(TABS)}"
    if isinstance(call.body, dict):
        own = {"owner": people.tokens[call.who], "session_hash": session}  # how a program says whose it is, and a tab
        call = replace(call, body=call.body | {name: own[name] for name in own.keys() & call.body.keys()})
    status, body = _answered(attack, call, session)
    return _title(status, body), others_in(call, body, people)


def _answered(attack: Attack, call: Call, session: str) -> tuple[int, bytes]:
    """Asks again where a busy machine takes longer than a hostile caller waits."""
    for _ in range(9):
        with suppress(TimeoutError):
            return attack.answered(call, session)
    return attack.answered(call, session)


def _title(status: int, body: bytes) -> str:
    if b"event: gone" in body:
        return "rooms.not_in"
    if b"event: error" in body and (title := re.search(rb'"title": ?"([a-z_.]+)"', body)):
        return title[1].decode()
    try:
        answer = json.loads(body)
        return answer["key"] if "error" in answer else DONE
    except (ValueError, TypeError, KeyError):
        return DONE if status == 200 else str(status)


def table(rows: list[Row]) -> str:
    return markdown(["what", "right", *PEOPLE], [[row.kind, row.right, *(row.answers[who] for who in PEOPLE)] for row in rows])


def main() -> None:
    with Server() as server:
        print(table(list(rows(People.come(server.port)))))


if __name__ == "__main__":
    main()
