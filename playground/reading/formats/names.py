"""Names: languages, and source and target, as told by the names of two files or the labels in one."""

from __future__ import annotations

import re

from playground.reading.formats.columns import SOURCES, TARGETS, is_language, plain

_SOURCES = {*SOURCES, "q", "s", "sources", "questions", "原文", "源"}
_TARGETS = {*TARGETS, "a", "t", "ref", "refs", "reference", "references", "译文", "目标"}
_PARTS = re.compile(r"[.\s_\-()\[\]]+")


def find_role(name: str) -> str:
    """Returns "source", "target" or "" (another name)."""
    low = plain(name)
    return "source" if low in _SOURCES else "target" if low in _TARGETS else ""


def find_direction(names: tuple[str, str]) -> tuple[int, int] | None:
    """Returns the indices of source and target, if a name tells; single letters ("q", "a") only together."""
    left, right = map(find_role, names)
    if left == right or (not (left and right) and max(map(len, names)) < 2):
        return None
    return (1, 0) if left == "target" or right == "source" else (0, 1)


def compare_directions(left: str, right: str) -> tuple[int, int] | None:
    """Returns the direction told by the parts that the names of two files don't share."""
    first, second = _PARTS.split(left), _PARTS.split(right)
    sides = (first, second), (second, first)
    roles = [next((part for part in parts if part not in other_parts and find_role(part)), "") for parts, other_parts in sides]
    return find_direction((roles[0], roles[1]))


def name_columns(left: str, right: str) -> tuple[str, str]:
    """Returns what distinguishes two files: the languages or roles in their names, else the whole names.

    "train.de-en.de" and "train.de-en.en" give "de" and "en"; "src-test.txt" and "tgt-test.txt" give "src" and "tgt".
    """
    for places in (_strip_common, _find_last_parts):
        parts = places(left, right)
        if parts[0].casefold() != parts[1].casefold() and all(map(_is_known, parts)):
            return parts
    return left, right


def _is_known(part: str) -> bool:
    return bool(find_role(part)) or is_language(part.casefold())


def _strip_common(left: str, right: str) -> tuple[str, str]:
    """Returns the names without their common parts at both ends."""
    first, second = _PARTS.split(left), _PARTS.split(right)
    most, begin, end = min(len(first), len(second)) - 1, 0, 0
    while begin < most and first[begin] == second[begin]:
        begin += 1
    while end < most - begin and first[-1 - end] == second[-1 - end]:
        end += 1
    return "_".join(first[begin : len(first) - end]), "_".join(second[begin : len(second) - end])


def _find_last_parts(left: str, right: str) -> tuple[str, str]:
    """Returns the last part of each name that is a language or a role."""
    parts = [next((part for part in reversed(_PARTS.split(name)) if _is_known(part)), "") for name in (left, right)]
    return parts[0], parts[1]
