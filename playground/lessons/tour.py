"""The stops of the first lesson: one sentence traced through the model on screen, with a number to read off at each.

A stop shows one stage and asks for one of its numbers. The stage and cell depend on the model's configuration (positions, norms,
residuals) and values: `find_reading` returns them, with the number from the model's tensors. Where a model lacks the part, its stop says so
and asks for the substitute. Where it differs from the paper and the formula would be misread, the stop has notes, unless its reading is a
`variant`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from playground.config import ModelConfig
from playground.inspection.activations import Stage
from playground.model.attention import head_widths

PRECISION = 0.0055  # half of the last printed digit (features/shared/features/shared/figures/tensor.py prints two), with a margin
RELATIVE = 0.01
NEIGHBOURS = 40  # maximum of cells of the row or column checked as likely mistakes

Stages = Mapping[str, Stage]
Applies = Callable[[ModelConfig], bool]
Head = tuple[int, int]  # layer and head, from 0


@dataclass(frozen=True)
class Reading:
    """A number to read off: in `cell` of the stage `address`; without a cell, a count of its rows or columns.

    `variant` selects the message where models differ; "" is the paper's. `mistaken` are numbers of wrong cells, each with the name of the
    mistake and the cell's index.
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
        """Returns row and column of the cell, within its head."""
        return None if self.cell is None else ((self.cell[0], 0) if len(self.cell) == 1 else self.cell[-2:])

    @property
    def tolerance(self) -> float:
        """Returns the accepted error: 0 for ids and counts."""
        return 0.0 if self.is_whole else max(PRECISION, RELATIVE * abs(self.value))


def find_reading(stages: Stages, config: ModelConfig, name: str, head: Head) -> Reading:
    """Returns the reading of stop `name` for this head of its `kind_of` attention. Raises KeyError for an unknown stop."""
    return STOPS[name](stages, config, head)


def kind_of(stop: str) -> str:
    """Returns the kind of attention a stop is about. Cross-attention is where a head's weights have a pattern to see."""
    return "encoder" if stop == "self_attention" else "cross"


def _read_cell(stages: Stages, address: str, *index: int, variant: str = "") -> Reading:
    """Reads one cell, and as mistakes its column, and its row where the columns are tokens too."""
    stage = stages[address]
    is_whole = stage.values.ndim == 1
    grid, (row, column) = (stage.values[:, None], (*index, 0)) if is_whole else (stage.values[index[:-2]], index[-2:])
    mistaken = [(value, "row", at) for at, value in enumerate(grid[:NEIGHBOURS, column].tolist()) if at != row]
    if stage.axes[-1] in "ST" and not is_whole:
        mistaken += [(value, "column", at) for at, value in enumerate(grid[row, :NEIGHBOURS].tolist()) if at != column]
    finite = tuple(mistake for mistake in mistaken if math.isfinite(mistake[0]))
    return Reading(address, float(grid[row, column]), row, index, variant, finite, is_whole)


def _find_last(stages: Stages, *addresses: str) -> str:
    """Returns the last of these stages that the model has."""
    return [address for address in addresses if address in stages][-1]


def _positions(stages: Stages, config: ModelConfig, head: Head) -> Reading:
    """Reads the second token: the first encoding adds sin 0 = 0."""
    added, rotary = config.encoding.added, config.encoding.rotary
    if added:
        return _read_cell(stages, "src.positions", 1, 0, variant="both" if rotary else "learned" if added == "learned" else "")
    if rotary:
        return _read_cell(stages, f"{ENCODER}.q_turned", head[1], 1, 0, variant="rotary")
    return _read_cell(stages, _find_last(stages, "src.embedding", "src.scaled"), 1, 0, variant="none")


def _read_strongest(stages: Stages, at: str, head: Head, address: str = "", variant: str = "") -> Reading:
    """Reads the cell of the first query's largest weight, in the weights or in the stage `address`."""
    key = int(np.argmax(stages[f"{at}.weights"].values[head[1], 0]))
    return _read_cell(stages, address or f"{at}.weights", head[1], 0, key, variant=variant)


def _projections(stages: Stages, config: ModelConfig, head: Head) -> Reading:
    variant = "" if config.memory_mode == "whole" else config.memory_mode
    return _read_cell(stages, f"{_cross(head)}.q", head[1], 0, 0, variant=variant)


def _scores(stages: Stages, config: ModelConfig, head: Head) -> Reading:
    at, variant = _cross(head), {0.0: "unscaled", 0.5: ""}.get(config.attention_scale, "power")
    return _read_strongest(stages, at, head, _find_last(stages, f"{at}.scores", f"{at}.scaled"), variant)


def _sublayer(stages: Stages, config: ModelConfig, head: Head) -> Reading:
    """Reads the attention sublayer's output: after the norm (post-norm), the sum (pre-norm), or W_o (without residuals)."""
    at = _cross(head)
    address = _find_last(stages, f"{at}.W_o", f"{at}.residual", *([f"{at}.norm"] if config.norm == "post" else []))
    return _read_cell(stages, address, 0, 0, variant=config.norm if config.residual else f"alone_{config.norm}")


def _feed_forward(stages: Stages, config: ModelConfig, head: Head) -> Reading:
    variant = "" if config.activation == "relu" else config.activation
    return _read_cell(stages, f"decoder.{head[0]}.feed_forward.W_2", 0, 0, variant=variant)


def _mask(stages: Stages, config: ModelConfig, head: Head) -> Reading:
    """Counts the keys visible to the decoder's third query."""
    stage = stages[f"{DECODER}.masked"]
    row = min(2, stage.mask.shape[0] - 1)
    visible, all_keys = int(stage.mask[row].sum()), stage.mask.shape[1]
    return Reading(stage.address, visible, row, mistaken=((all_keys - visible, "hatched", row),), is_whole=True)


def _cross(head: Head) -> str:
    return f"decoder.{head[0]}.cross_attention"


ENCODER, DECODER = "encoder.0.self_attention", "decoder.0.self_attention"
# Attention is explained in cross-attention, on the row that makes the first output token; the same row goes on through the layer to that
# token. The mask is the decoder's: a single source sentence has nothing to mask.
STOPS: dict[str, Callable[[Stages, ModelConfig, Head], Reading]] = {
    "ids": lambda stages, config, head: _read_cell(stages, "src.ids", 0),
    "embedding": lambda stages, config, head: _read_cell(stages, "src.embedding", 0, 0, variant="scaled" if config.embedding_scale else ""),
    "positions": _positions,
    "projections": _projections,
    "scores": _scores,
    "weights": lambda stages, config, head: _read_strongest(stages, _cross(head), head),
    "mixed": lambda stages, config, head: _read_cell(stages, f"{_cross(head)}.mixed", head[1], 0, 0),
    "sublayer": _sublayer,
    "feed_forward": _feed_forward,
    "self_attention": lambda stages, config, head: _read_strongest(stages, f"encoder.{head[0]}.self_attention", head),
    "mask": _mask,
    "token": lambda stages, config, head: _read_cell(stages, "probabilities", 0, int(stages["probabilities"].values[0].argmax())),
    "loop": lambda stages, config, head: Reading("tgt.ids", len(stages["tgt.ids"].values), is_whole=True),
}


def list_notes(config: ModelConfig, stop: str) -> tuple[str, ...]:
    """Returns the keys of the notes at this stop of the tour."""
    return tuple(name for name, applies in NOTES.get(stop, {}).items() if applies(config))


def _is_pre_norm(config: ModelConfig) -> bool:
    return config.norm == "pre"


NOTES: Mapping[str, Mapping[str, Applies]] = {
    "embedding": {
        "unscaled": lambda config: not config.embedding_scale,
        "shared": lambda config: config.share_embeddings == "all",
    },
    "projections": {"normed": _is_pre_norm, "key_size": lambda config: len({*head_widths(config)}) > 1},
    "sublayer": {"dropout": lambda config: config.dropout > 0},
    "feed_forward": {"normed": _is_pre_norm, "last_norm": _is_pre_norm},
    "self_attention": {"normed": _is_pre_norm, "rotated": lambda config: config.encoding.rotary},
    "token": {"last_norm": _is_pre_norm, "tied": lambda config: config.share_embeddings != "none"},
}
