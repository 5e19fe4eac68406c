"""The Overview tab: the curves of a run beside its attention.

Its blocks, filled from the stream of a run that trains; and its sample outputs.
"""

from typing import TypedDict

from playground.features.shared.blocks.kind import kind


@kind
def outcome(id: str, text: str):
    """A run's outcome; while it trains, a bar of its steps."""


class NumberItem(TypedDict):
    id: str
    label: str
    help: str


@kind
def numbers(id: str, items: list[NumberItem], more: str = "", folded: list[NumberItem] = []):  # noqa: B006  never mutated
    """The newest numbers of the run, some `folded` under the title `more`; the page finds them by an item's id."""


class Probe(TypedDict):
    src: list[str]
    reference: list[str]
    output: list[str]
    right: list[bool]  # one for each token of the output
    finished: bool


@kind
def probes(id: str, title: str, caption: str, joint: str, rows: list[Probe]):
    """The fixed probe sentences and the model's outputs. `joint` separates source tokens."""



