"""A room: one JSON object, replaced whole at every change.

Tokens are never stored. A ticket is derived from a token and the room's code and opens this room only; the room stores the ticket's digest.
So nothing in two rooms shows that the same person was in both.
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
ADDED = ("fixed", "now", "limits")  # fields that version 2 added to version 1
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without characters that are mistaken for others on a projected page
CODE = 5  # characters of a code: 33 million of them
NAME = 24  # characters of a nickname
MAX_MEMBERS = 60
MAX_DAYS = 180
TEACHER = 0  # the number of the member who opened the room; others count from 1


@dataclass(frozen=True)
class Member:
    """A member of a room. `number` is never reused in a room; `nickname` is "" if none was entered; `owner` is the digest of the member's
    ticket."""

    number: int
    owner: str
    nickname: str = ""
    hidden: bool = False  # by the teacher: shown by number instead of name


@dataclass(frozen=True)
class Room:
    """A room, see the module. `opened` and `ends` are seconds since 1970; `activities` are the class's activities by name."""

    code: str
    owner: str
    language: str
    opened: float
    ends: float
    members: tuple[Member, ...] = ()
    last_number: int = 0
    cursor: Mapping[str, str] = field(default_factory=dict)  # the teacher's
    activities: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # for the class, see class_settings.py
    now: Mapping[str, Any] = field(default_factory=dict)  # the current task, see class_settings.py
    limits: Mapping[str, Any] = field(default_factory=dict)  # on runs, if the teacher has set them, see class_settings.py

    def number_of(self, ticket: str) -> int | None:
        """Returns the ticket holder's number: TEACHER, a member's, or None for an unknown ticket. Compares in constant time."""
        digest = owner_of(ticket).encode() if ticket else b""
        known = ((self.owner, TEACHER), *((member.owner, member.number) for member in self.members))
        return next((number for owner, number in known if hmac.compare_digest(owner.encode(), digest)), None)

    def member(self, number: int) -> Member | None:
        return next((member for member in self.members if member.number == number), None)


def require(condition: object, key: str, **values: object) -> None:
    """Raises Refusal unless the condition is true."""
    if not condition:
        raise Refusal(key, **values)


def require_teacher(number: int) -> None:
    """Raises Refusal for a member's number."""
    if number != TEACHER:
        raise Refusal("rooms.not_teacher")


def ticket_of(code: str, token: str) -> str:
    """Derives the ticket that opens the room `code` to the token's holder; "" without a token."""
    return owner_of(f"{code} {token}") if token else ""


def clean_name(name: str) -> str:
    """Returns a nickname cleaned for storage."""
    return clean_line(name, NAME)


def clean_line(text: str, most: int) -> str:
    """Returns one line of at most `most` characters, without invisible and control characters."""
    whole = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return " ".join("".join(c if c.isprintable() else " " for c in whole).split())[:most].strip()


def clean_code(code: str) -> str:
    """Normalises a typed code: upper case, no spaces."""
    return "".join(code[:40].upper().split())


def to_json(room: Room) -> dict[str, Any]:
    return {"version": VERSION, **asdict(room)}


def from_json(stored: Any) -> Room:
    """Parses the output of `to_json`. Raises ValueError for anything else."""
    if isinstance(stored, dict) and stored.get("version") == 1:
        stored = {name: {} for name in ADDED} | stored | {"version": VERSION}
    if not isinstance(stored, dict) or stored.get("version") != VERSION or not isinstance(stored.get("members"), list):
        raise ValueError("no room of this version")
    members = tuple(_build(Member, member) for member in stored["members"])
    return _build(Room, {name: value for name, value in stored.items() if name != "version"} | {"members": members})


KINDS = {"str": str, "int": int, "float": (int, float), "bool": bool, "tuple": tuple, "Mapping": dict}


def _build(kind: type, values: Any) -> Any:
    """Builds a `kind` from values whose types match its fields. Raises ValueError."""
    if not isinstance(values, dict) or values.keys() != {each.name for each in fields(kind)}:
        raise ValueError(f"no {kind.__name__}")
    for each in fields(kind):
        if not isinstance(values[each.name], KINDS[each.type.partition("[")[0]]):
            raise ValueError(f"{each.name} is no {each.type}")
    return kind(**values)
