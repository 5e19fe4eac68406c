"""The stops of the first lesson: one sentence on its way through the model on screen, with a number to read off at each.

A stop shows one stage and asks for one number of it. Which stage and which cell that is depends on how this model is made (its positions,
its norms, its residuals) and on what it computed: `reading` says so, and has the number from the model's own tensors. Where a model lacks
the part, its stop says that, and asks for what stands there instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from playground.config import ModelConfig
from playground.inspection.activations import Stage

PRECISION = 0.0055  # half of the last digit that a picture writes on its cells (figures/tensor.py writes two), and a little
RELATIVE = 0.01
NEIGHBOURS = 40  # cells of a row or a column that may be taken for the right one, at most

Stages = Mapping[str, Stage]


@dataclass(frozen=True)
class Reading:
    """What a stop shows and asks for: the number in `cell` of the stage `address`; without a cell, a count of its rows or columns.

    `variant` tells stops apart whose words differ from model to model; "" is the paper's. `mistaken` has numbers that are read when one
    looks at another place, each with the name of that mistake and the index of the place.
    """

    address: str
    value: float
    row: int = 0
    cell: tuple[int, ...] | None = None
    variant: str = ""
    mistaken: tuple[tuple[float, str, int], ...] = ()
    is_whole: bool = False

    @property
    def place(self) -> tuple[int, int] | None:
        """Row and column of the cell, of a head where the stage has heads."""
        return None if self.cell is None else ((self.cell[0], 0) if len(self.cell) == 1 else self.cell[-2:])

    @property
    def tolerance(self) -> float:
        """How far from the number one may be: not at all where it is an id or a count."""
        return 0.0 if self.is_whole else max(PRECISION, RELATIVE * abs(self.value))


def reading(stages: Stages, config: ModelConfig, name: str, head: int) -> Reading:
    """What the stop `name` asks of a recording; `head` counts from 0. Raises KeyError for a name that is none."""
    return STOPS[name](stages, config, head)


def _cell(stages: Stages, address: str, *index: int, variant: str = "") -> Reading:
    """The number in one cell, and those beside it: in its column, and in its row where that has tokens too."""
    stage = stages[address]
    is_whole = stage.values.ndim == 1
    grid, (row, column) = (stage.values[:, None], (*index, 0)) if is_whole else (stage.values[index[:-2]], index[-2:])
    mistaken = [(value, "row", at) for at, value in enumerate(grid[:NEIGHBOURS, column].tolist()) if at != row]
    if stage.axes[-1] in "ST" and not is_whole:
        mistaken += [(value, "column", at) for at, value in enumerate(grid[row, :NEIGHBOURS].tolist()) if at != column]
    finite = tuple(one for one in mistaken if math.isfinite(one[0]))
    return Reading(address, float(grid[row, column]), row, index, variant, finite, is_whole)


def _last(stages: Stages, *addresses: str) -> str:
    """The last of these stages that the model has."""
    return [address for address in addresses if address in stages][-1]


def _ids(stages: Stages, config: ModelConfig, head: int) -> Reading:
    return _cell(stages, "src.ids", 0)


def _embedding(stages: Stages, config: ModelConfig, head: int) -> Reading:
    return _cell(stages, "src.embedding", 0, 0, variant="scaled" if config.embedding_scale else "")


def _positions(stages: Stages, config: ModelConfig, head: int) -> Reading:
    """Of the second token: what is added to the first is sin 0 = 0."""
    added, rotary = config.encoding.added, config.encoding.rotary
    if added:
        return _cell(stages, "src.positions", 1, 0, variant="both" if rotary else "learned" if added == "learned" else "")
    if rotary:
        return _cell(stages, f"{ENCODER}.q_turned", head, 1, 0, variant="rotary")
    return _cell(stages, _last(stages, "src.embedding", "src.scaled"), 1, 0, variant="none")


def _projections(stages: Stages, config: ModelConfig, head: int) -> Reading:
    return _cell(stages, f"{ENCODER}.q", head, 0, 0)


def _strongest(stages: Stages, at: str, head: int) -> tuple[int, int, int]:
    """The key that the first query attends to most."""
    return head, 0, int(np.argmax(stages[f"{at}.weights"].values[head, 0]))


def _scores(stages: Stages, config: ModelConfig, head: int) -> Reading:
    address = _last(stages, f"{ENCODER}.scores", f"{ENCODER}.scaled")
    variant = {0.0: "unscaled", 0.5: ""}.get(config.attention_scale, "power")
    return _cell(stages, address, *_strongest(stages, ENCODER, head), variant=variant)


def _weights(stages: Stages, config: ModelConfig, head: int) -> Reading:
    """The same cell as of the scores."""
    return _cell(stages, f"{ENCODER}.weights", *_strongest(stages, ENCODER, head))


def _mixed(stages: Stages, config: ModelConfig, head: int) -> Reading:
    return _cell(stages, f"{ENCODER}.mixed", head, 0, 0)


def _sublayer(stages: Stages, config: ModelConfig, head: int) -> Reading:
    """What the attention sublayer hands on: the norm of the sum, the sum alone where the norm stood before, without residuals no sum."""
    address = _last(stages, f"{ENCODER}.W_o", f"{ENCODER}.residual", *([f"{ENCODER}.norm"] if config.norm == "post" else []))
    return _cell(stages, address, 0, 0, variant=config.norm if config.residual else f"alone_{config.norm}")


def _feed_forward(stages: Stages, config: ModelConfig, head: int) -> Reading:
    return _cell(stages, "encoder.0.feed_forward.W_2", 0, 0, variant="" if config.activation == "relu" else config.activation)


def _mask(stages: Stages, config: ModelConfig, head: int) -> Reading:
    """How many keys the third query of the decoder sees."""
    stage = stages[f"{DECODER}.masked"]
    row = min(2, stage.mask.shape[0] - 1)
    seen, all_keys = int(stage.mask[row].sum()), stage.mask.shape[1]
    return Reading(stage.address, seen, row, mistaken=((all_keys - seen, "hatched", row),), is_whole=True)


def _cross(stages: Stages, config: ModelConfig, head: int) -> Reading:
    at, memory = f"decoder.{config.decoder_layers - 1}.cross_attention", config.memory_mode
    return _cell(stages, f"{at}.weights", *_strongest(stages, at, head), variant="" if memory == "whole" else memory)


def _token(stages: Stages, config: ModelConfig, head: int) -> Reading:
    values = stages["probabilities"].values
    return _cell(stages, "probabilities", 0, int(values[0].argmax()))


def _loop(stages: Stages, config: ModelConfig, head: int) -> Reading:
    return Reading("tgt.ids", len(stages["tgt.ids"].values), is_whole=True)


ENCODER, DECODER = "encoder.0.self_attention", "decoder.0.self_attention"
# In the order of computation. The mask comes where one hides something: of a single sentence the encoder sees all.
STOPS: dict[str, Callable[[Stages, ModelConfig, int], Reading]] = {
    "ids": _ids,
    "embedding": _embedding,
    "positions": _positions,
    "projections": _projections,
    "scores": _scores,
    "weights": _weights,
    "mixed": _mixed,
    "sublayer": _sublayer,
    "feed_forward": _feed_forward,
    "mask": _mask,
    "cross": _cross,
    "token": _token,
    "loop": _loop,
}
