"""The Interventions tab: heads switched off, another memory, one row edited.

Its blocks: switches for heads, and one row of attention.
"""

from typing import Literal, TypedDict

from playground.features.shared.blocks.kind import Hue, Shades, kind


class Switch(TypedDict):
    id: str
    name: str
    weights: list[list[float]] | None


class SwitchLayer(TypedDict):
    label: str
    all: str
    heads: list[Switch]


class SwitchPart(TypedDict):
    part: Hue
    label: str
    all: str
    mask: list[list[int]]
    layers: list[SwitchLayer]


@kind
def switches(id: str, label: str, none: str, is_off: str, parts: list[SwitchPart], off: list[str], colours: Shades):
    """Every head as a switch; those in `off` are switched off. `all` and `none` label the buttons that switch many."""


class Cell(TypedDict):
    token: str
    before: float
    after: float
    state: Literal["", "masked", "given"]
    state_label: str
    name: str


class CellAct(TypedDict):
    label: str
    cells: str
    on: bool


class CellSlider(TypedDict):
    """The cursor's `cells` are `first`, the slider's number, then `rest`."""

    label: str
    value: float
    first: str
    rest: str


@kind
def cells(
    id: str,
    title: str,
    label: list[str],
    place: dict[str, int],
    cells: list[Cell],
    chosen: int | None,
    hint: str,
    acts: list[CellAct],
    slider: CellSlider | None,
    sum: str,
):
    """One row of attention as clickable bars, without and with a change; `acts` and `slider` change the `chosen` one."""
