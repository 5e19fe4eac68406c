"""The Class tab: a class's runs, their pooled results, its progress in the course. Its block: the runs of a class."""

from typing import TypedDict

from playground.features.shared.blocks.kind import LineKey, kind


class BoardRow(TypedDict):
    run: str  # its id
    name: str  # of the student
    arm: str
    key: LineKey  # of the arm
    numbers: list[str]
    here: bool  # the run on screen


@kind
def board(id: str, head: list[str], rows: list[BoardRow], title: str):
    """The runs of a class, with `head` over student, arm and numbers. A click on a student opens the run, for followers too."""
