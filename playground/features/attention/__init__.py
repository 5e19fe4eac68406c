"""The Attention tab: every head small, one large, all together, and how they change in training.

Its blocks: all heads at once, and one head as lines.
"""

from typing import TypedDict

from playground.features.shared.blocks.general import Saved
from playground.features.shared.blocks.kind import Hue, MapColours, Miniature, kind


class SmallHead(TypedDict):
    label: str  # layer and head, and its name
    effect: str  # in this sentence
    mini: Miniature


class HeadGrid(TypedDict):
    """Every head of one kind of attention: [layer][head]. `chosen` counts from 0."""

    part: Hue
    label: str
    chosen: list[int] | None
    heads: list[list[SmallHead]]


@kind
def modelview(
    id: str,
    title: str,
    caption: str,
    hint: str,
    grids: list[HeadGrid],
    colours: MapColours,
    words: dict[str, str],
    saved: Saved,
):
    """All heads of a model at once, layers down and heads across, on one scale. `hint` gives way to the sentence of the head that is
    pointed at. `saved` as of a figure."""



