"""The Runs tab: several runs side by side, on one sentence, and where they disagree.

Its blocks: the table in which runs are ticked, their outputs for one sentence, and where they disagree.
"""

from typing import TypedDict

from playground.features.shared.blocks.kind import LineKey, Token, kind


class RunRow(TypedDict):
    id: str
    name: str
    label: str  # typed by its owner
    line: str  # its differences
    numbers: list[str]
    created: float | None  # seconds since 1970; None for a shipped run
    course: list[list[float]]  # (place, exact match), both from 0 to 1
    key: LineKey | None  # of a ticked run
    here: bool  # the run on screen
    pinned: bool
    own: bool  # the visitor may rename and delete it


class RunColumn(TypedDict):
    label: str
    sort: str  # its name in the cursor's `sort`; "" if not sortable


class RunGroup(TypedDict):
    label: str
    rows: list[RunRow]


@kind
def runs(id: str, head: list[RunColumn], groups: list[RunGroup], ticked: list[str], most: int, none: str, sort: str, empty: str):
    """A table of runs in groups, with `head` over name, line, numbers and date; the course is beside the first number. A tick adds a run to
    `ticked`, at `most` that many, stored in the cursor's `runs` (`none` for an empty list); a name opens its run; buttons pin one, and
    rename or delete the visitor's own. `sort` is the cursor's; `empty` is shown without rows."""


class DisagreeingOutput(TypedDict):
    text: str
    correct: bool


class DisagreeingRow(TypedDict):
    source: str
    reference: str
    outputs: list[DisagreeingOutput]  # one for each run


@kind
def disagreements(id: str, label: str, names: list[str], keys: list[LineKey], reference: str, rows: list[DisagreeingRow]):
    """Sentences on which runs disagree, a row each: the sentence under `label`, each run's output under its name and its line, and the
    right answer under `reference`. A click on a sentence makes it the page's."""


class OutputRow(TypedDict):
    name: str
    key: LineKey
    tokens: list[Token]
    correct: bool | None  # None if unknown
    note: str  # why there are no tokens, or a remark on them


@kind
def outputs(id: str, title: str, head: list[str], rows: list[OutputRow]):
    """The outputs of several runs for one sentence, a row each."""



