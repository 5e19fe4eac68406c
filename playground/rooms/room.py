"""What a room is: one JSON object, replaced whole at every change.

Nobody's token is kept. From a token and the room's code comes a ticket, which opens this room and nothing else; the room keeps the ticket's
digest. So nothing in two rooms says that the same person was in both.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from playground.config import Refusal
from playground.runs.names import owner_of

VERSION = 2
ADDED = ("fixed", "now", "limits")  # by version 2: a room of version 1 has nothing of it
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that is mistaken for something else when it is read from a wall
CODE = 5  # characters of a code: 33 million of them
NAME = 24  # characters of a nickname
MAX_MEMBERS = 60
MAX_DAYS = 180
TEACHER = 0  # the number of the one who opened the room; members count from 1


@dataclass(frozen=True)
class Member:
    """Somebody who joined. `number` is never given twice in a room; `nickname` is text, "" for who gave none; `owner` is the digest of
    their ticket."""

    number: int
    owner: str
    nickname: str = ""
    hidden: bool = False  # by the teacher: shown by the number


@dataclass(frozen=True)
class Room:
    """See the module. `opened` and `ends` are seconds since 1970; `activities` is what a class does together, by its name."""

    code: str
    owner: str
    language: str
    opened: float
    ends: float
    members: tuple[Member, ...] = ()
    last_number: int = 0
    cursor: Mapping[str, str] = field(default_factory=dict)  # where the teacher looks
    activities: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # for the class, see fixed.py
    now: Mapping[str, Any] = field(default_factory=dict)  # what there is to do, see assignment.py
    limits: Mapping[str, Any] = field(default_factory=dict)  # on runs, as far as the teacher has set them, see run_limits.py

    def number_of(self, ticket: str) -> int | None:
        """Whose ticket it is: TEACHER, a member's number, or None for a stranger's."""
        digest = owner_of(ticket).encode() if ticket else b""
        known = ((self.owner, TEACHER), *((member.owner, member.number) for member in self.members))
        return next((number for owner, number in known if hmac.compare_digest(owner.encode(), digest)), None)

    def member(self, number: int) -> Member | None:
        return next((member for member in self.members if member.number == number), None)


def require(true: object, key: str, **values: object) -> None:
    """Raises Refusal unless it is true."""
    if not true:
        raise Refusal(key, **values)


def require_teacher(number: int) -> None:
    """Raises Refusal for a member."""
    if number != TEACHER:
        raise Refusal("rooms.not_teacher")


def ticket_of(code: str, token: str) -> str:
    """What opens the room `code` to whoever holds the token; "" for nobody's."""
    return owner_of(f"{code} {token}") if token else ""


def clean_name(name: str) -> str:
    """A nickname as it is kept."""
    return clean_line(name, NAME)


def clean_line(text: str, most: int) -> str:
    """One line of at most so many characters, none of which is invisible or steers others."""
    whole = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return " ".join("".join(c if c.isprintable() else " " for c in whole).split())[:most].strip()


def clean_code(code: str) -> str:
    """A code as people type it: in small letters, or with a space in it."""
    return "".join(code[:40].upper().split())


def to_json(room: Room) -> dict[str, Any]:
    return {"version": VERSION, **asdict(room)}


def from_json(said: Any) -> Room:
    """Raises ValueError for anything that `to_json` doesn't write."""
    if isinstance(said, dict) and said.get("version") == 1:
        said = {name: {} for name in ADDED} | said | {"version": VERSION}
    if not isinstance(said, dict) or said.get("version") != VERSION or not isinstance(said.get("members"), list):
        raise ValueError("no room of this version")
    members = tuple(_made(Member, member) for member in said["members"])
    return _made(Room, {name: value for name, value in said.items() if name != "version"} | {"members": members})


KINDS = {"str": str, "int": int, "float": (int, float), "bool": bool, "tuple": tuple, "Mapping": dict}


def _made(kind: type, values: Any) -> Any:
    """A `kind` whose fields hold what they say. Raises ValueError."""
    if not isinstance(values, dict) or values.keys() != {one.name for one in fields(kind)}:
        raise ValueError(f"no {kind.__name__}")
    for one in fields(kind):
        if not isinstance(values[one.name], KINDS[one.type.partition("[")[0]]):
            raise ValueError(f"{one.name} is no {one.type}")
    return kind(**values)
