"""Names: what the names of two files, or the labels in one, say about languages and about what is source and what is target."""

from __future__ import annotations

import re

from playground.reading.formats.columns import SOURCES, TARGETS, is_language, plain

_SOURCES = {*SOURCES, "q", "s", "sources", "questions", "原文", "源"}
_TARGETS = {*TARGETS, "a", "t", "ref", "refs", "reference", "references", "译文", "目标"}
_PARTS = re.compile(r"[.\s_\-()\[\]]+")


def role(name: str) -> str:
    """ "source", "target" or ""."""
    low = plain(name)
    return "source" if low in _SOURCES else "target" if low in _TARGETS else ""


def direction(names: tuple[str, str]) -> tuple[int, int] | None:
    """Which of two names is the source's and which the target's, if one of them says so; single letters ("q", "a") only together."""
    one, two = map(role, names)
    if one == two or (not (one and two) and max(map(len, names)) < 2):
        return None
    return (1, 0) if one == "target" or two == "source" else (0, 1)


def direction_of(one: str, two: str) -> tuple[int, int] | None:
    """The direction that those parts of two files' names say that are not in both."""
    first, second = _PARTS.split(one), _PARTS.split(two)
    said = [next((part for part in mine if part not in other and role(part)), "") for mine, other in ((first, second), (second, first))]
    return direction((said[0], said[1]))


def columns_of(one: str, two: str) -> tuple[str, str]:
    """What tells two files apart: the languages or roles in their names, else their whole names.

    "train.de-en.de" and "train.de-en.en" give "de" and "en"; "src-test.txt" and "tgt-test.txt" give "src" and "tgt".
    """
    for places in (_difference, _last_parts):
        parts = places(one, two)
        if parts[0].casefold() != parts[1].casefold() and all(map(_says_something, parts)):
            return parts
    return one, two


def _says_something(part: str) -> bool:
    return bool(role(part)) or is_language(part.casefold())


def _difference(one: str, two: str) -> tuple[str, str]:
    """The two names without the parts they have in common at their beginnings and ends."""
    first, second = _PARTS.split(one), _PARTS.split(two)
    most, begin, end = min(len(first), len(second)) - 1, 0, 0
    while begin < most and first[begin] == second[begin]:
        begin += 1
    while end < most - begin and first[-1 - end] == second[-1 - end]:
        end += 1
    return "_".join(first[begin : len(first) - end]), "_".join(second[begin : len(second) - end])


def _last_parts(one: str, two: str) -> tuple[str, str]:
    """The last part of each name that names a language or a role."""
    found = [next((part for part in reversed(_PARTS.split(name)) if _says_something(part)), "") for name in (one, two)]
    return found[0], found[1]
