"""The Teacher forcing tab: teacher forcing and free running side by side. Its block: aligned decodings."""

from typing import Literal, TypedDict

from playground.features.shared.blocks.kind import Token, kind


class LaneRow(TypedDict):
    name: Literal["fed", "says"]
    label: str
    tokens: list[Token]


class Lane(TypedDict):
    name: str
    verdict: str
    right: bool | None
    fixed: int | None
    rows: list[LaneRow]


@kind
def lanes(id: str, label: str, steps: int, at: int, parted: int | None, parts: str, fixes: str, lanes: list[Lane]):
    """Aligned decodings of one sentence, a column for each of `steps`. `at` is chosen; they diverge at `parted`, as `parts` says; `fixes`
    says that the token of step `fixed` was replaced."""



