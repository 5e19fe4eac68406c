"""Blocks about several runs: the table they are ticked in, and what each makes of one sentence."""

from __future__ import annotations

from typing import TypedDict

from playground.ui.blocks.kind import Token, kind


class LineKey(TypedDict):
    """How a run's line is drawn in the figures."""

    color: str
    dash: str


class RunRow(TypedDict):
    id: str
    name: str
    line: str  # what makes it different
    numbers: list[str]
    course: list[list[float]]  # (place, exact match), both from 0 to 1
    key: LineKey | None  # of a ticked run
    here: bool  # the run on screen
    pinned: bool


class RunGroup(TypedDict):
    label: str
    rows: list[RunRow]


@kind
def runs(id: str, head: list[str], groups: list[RunGroup], ticked: list[str], most: int, none: str):
    """A table of runs in groups, with `head` over name, line and numbers; the course stands beside the first of these. A tick adds a run to
    those that are `ticked`, at `most` so many, which the cursor's `runs` holds (`none` where that is none of them); a name opens its run; a
    button pins one."""


class OutputRow(TypedDict):
    name: str
    key: LineKey
    tokens: list[Token]
    correct: bool | None  # None where nobody knows
    note: str  # why there are no tokens, or what to know of them


@kind
def outputs(id: str, title: str, head: list[str], rows: list[OutputRow]):
    """What several runs make of one sentence, a row each."""
