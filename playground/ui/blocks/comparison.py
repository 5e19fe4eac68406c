"""Blocks about several runs: the table they are ticked in, what each makes of one sentence, and the board of a class."""

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
    label: str  # what its owner typed
    line: str  # what makes it different
    numbers: list[str]
    created: float | None  # seconds since 1970; None of a run that came with the app
    course: list[list[float]]  # (place, exact match), both from 0 to 1
    key: LineKey | None  # of a ticked run
    here: bool  # the run on screen
    pinned: bool
    mine: bool  # whoever looks may rename and delete it


class RunColumn(TypedDict):
    label: str
    sort: str  # its name in the cursor's `sort`; "" where that can't be


class RunGroup(TypedDict):
    label: str
    rows: list[RunRow]


@kind
def runs(id: str, head: list[RunColumn], groups: list[RunGroup], ticked: list[str], most: int, none: str, sort: str, empty: str):
    """A table of runs in groups, with `head` over name, line, numbers and date; the course stands beside the first number. A tick adds a
    run to those that are `ticked`, at `most` so many, which the cursor's `runs` holds (`none` where that is none of them); a name opens its
    run; buttons pin one, and name or delete one's own. `sort` is the cursor's; `empty` is said where there is no row."""


class DisagreeingOutput(TypedDict):
    text: str
    correct: bool


class DisagreeingRow(TypedDict):
    source: str
    reference: str
    outputs: list[DisagreeingOutput]  # one for each run


@kind
def disagreements(id: str, label: str, names: list[str], keys: list[LineKey], reference: str, rows: list[DisagreeingRow]):
    """Sentences on which runs disagree, a row each: the sentence under `label`, what each run writes under its name and its line, and the
    right answer under `reference`. A press on a sentence makes it the page's."""


class OutputRow(TypedDict):
    name: str
    key: LineKey
    tokens: list[Token]
    correct: bool | None  # None where nobody knows
    note: str  # why there are no tokens, or what to know of them


@kind
def outputs(id: str, title: str, head: list[str], rows: list[OutputRow]):
    """What several runs make of one sentence, a row each."""


class BoardRow(TypedDict):
    run: str  # its id
    name: str  # of the student
    arm: str
    key: LineKey  # of the arm
    numbers: list[str]
    here: bool  # the run on screen


@kind
def board(id: str, head: list[str], rows: list[BoardRow], title: str, empty: str):
    """The runs of a class, with `head` over student, arm and numbers. A press on a student opens the run, for all who follow. `empty` is
    said where there is no row."""
