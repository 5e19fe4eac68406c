"""What if: heads switched off, the memory squeezed or cut, and one row of cross-attention written by hand.

A `Change` says what; `apply` puts it on a private copy of a model. The model itself, which others use too, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from playground.config import ModelConfig, limits
from playground.inspection.copies import shadow_copy
from playground.model.attention import MultiHeadAttention, head_widths, scaled_dot_product_attention
from playground.model.layers import DecoderLayer
from playground.model.transformer import Transformer

PARTS = ("encoder", "decoder", "cross")
MEMORIES = limits("memory_mode").choices
MAX_CHARACTERS = 2_000  # characters of a text that is parsed
_HEAD = re.compile(r"([edc])([1-9]\d?)\.([1-9]\d?)", re.ASCII)
_ROW, _MASKED = re.compile(r"q(\d{1,3})", re.ASCII), re.compile(r"x(\d{1,3})", re.ASCII)
_GIVEN = re.compile(r"k(\d{1,3})-(0(?:\.\d{1,4})?|1)", re.ASCII)


class HeadId(NamedTuple):
    """One head of one layer, both counted from 0; "c1.3" as text, counted from 1."""

    part: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.part[0]}{self.layer + 1}.{self.head + 1}"

    @classmethod
    def parse(cls, text: str) -> HeadId | None:
        """The head of that name; None for any other text."""
        found = _HEAD.fullmatch(text)
        return cls(next(part for part in PARTS if part[0] == found[1]), int(found[2]) - 1, int(found[3]) - 1) if found else None


def heads(config: ModelConfig) -> tuple[HeadId, ...]:
    """Every head of a model: encoder, decoder and cross-attention, each layer by layer."""
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers, "cross": config.decoder_layers}
    return tuple(HeadId(part, layer, head) for part in PARTS for layer in range(layers[part]) for head in range(config.n_heads))


@dataclass(frozen=True)
class Edit:
    """Where one head of cross-attention looks in one decoding step (`row`), written by hand.

    `masked` columns get exactly 0 and `column` gets `weight`; the other columns share the rest in the proportions that softmax gave them.
    When there are no others, `column` gets all. With every column masked the row looks nowhere, as under a mask. Text: "c2.3_q1_k4-0.5_x6".
    """

    layer: int
    head: int
    row: int
    column: int | None = None
    weight: float = 1.0  # 0 to 1
    masked: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Edit | None:
        """None unless `text` names a head of cross-attention, a row and something to do there; what else it says is ignored. A column that
        is both given and masked is masked, as is one that is given 0."""
        place, row, column, weight, masked = None, None, None, 1.0, set()
        for word in text[:MAX_CHARACTERS].split("_"):
            if (head := HeadId.parse(word)) and head.part == "cross":
                place = head
            elif found := _ROW.fullmatch(word):
                row = int(found[1])
            elif found := _MASKED.fullmatch(word):
                masked.add(int(found[1]))
            elif found := _GIVEN.fullmatch(word):
                column, weight = int(found[1]), float(found[2])
        if place is None or row is None:
            return None
        return cls(place.layer, place.head, row)._with(column, weight, masked) or None

    def __str__(self) -> str:
        given = [] if self.column is None else [f"k{self.column}-{self.weight:g}"]
        done = [*given, *(f"x{column}" for column in self.masked)]
        return "_".join([str(HeadId("cross", self.layer, self.head)), f"q{self.row}", *done]) if done else ""

    @property
    def place(self) -> tuple[int, int, int]:
        """Layer, head and row."""
        return self.layer, self.head, self.row

    def __bool__(self) -> bool:
        return self.column is not None or bool(self.masked)

    def give(self, column: int, weight: float) -> Edit:
        """This column gets `weight`; the one that was given before is free again."""
        return self._with(column, weight, set(self.masked) - {column})

    def mask(self, column: int) -> Edit:
        return self._with(self.column, self.weight, {*self.masked, column})

    def free(self, column: int) -> Edit:
        """Whatever was done to this column is undone."""
        return self._with(None if column == self.column else self.column, self.weight, set(self.masked) - {column})

    def within(self, columns: int) -> Edit:
        """What of it concerns the first `columns` columns."""
        column = self.column if self.column is not None and self.column < columns else None
        return self._with(column, self.weight, {k for k in self.masked if k < columns})

    def _with(self, column: int | None, weight: float, masked: set[int]) -> Edit:
        if column is not None and weight == 0:
            masked.add(column)
        column = None if column in masked else column
        return replace(self, column=column, weight=1.0 if column is None else weight, masked=tuple(sorted(masked)))


@dataclass(frozen=True)
class Change:
    """Heads that are off, what of its memory the decoder gets, and a row of cross-attention written by hand. They compose.

    A head that is off adds nothing, as if its slice of the columns of W_O were zero. `memory` is a choice of the knob of that name, or None
    to leave it as it was in training.
    """

    off: frozenset[HeadId] = frozenset()
    memory: str | None = None
    edit: Edit | None = None

    @classmethod
    def parse(cls, off: str = "", memory: str = "", cells: str = "") -> Change:
        """`off` as "c1.3_e2.1", `cells` as the text of an edit. What is no head, no kind of memory and no edit is ignored."""
        named = frozenset(filter(None, map(HeadId.parse, off[:MAX_CHARACTERS].split("_"))))
        return cls(named, memory if memory in MEMORIES else None, Edit.parse(cells))

    def __bool__(self) -> bool:
        return self != Change()

    def within(self, config: ModelConfig) -> Change:
        """What of it is a change to a model of this shape."""
        known = set(heads(config))
        edit = self.edit if self.edit and HeadId("cross", self.edit.layer, self.edit.head) in known else None
        return Change(self.off & known, None if self.memory == config.memory_mode else self.memory, edit)

    def apply(self, model: Transformer) -> Transformer:
        """A model that computes with this change over the very same tensors; `model` itself when there is none. Raises IndexError for a
        layer that it doesn't have."""
        if not self:
            return model
        mine = shadow_copy(model)
        silence(mine, self.off)
        if self.memory:
            mine.config = replace(mine.config, memory_mode=self.memory)
        if self.edit:
            _rewrite(mine.decoder[self.edit.layer], self.edit)
        return mine


def silence(mine: Transformer, off: Iterable[HeadId]) -> list[RemovableHandle]:
    """Switches heads off in a copy that is the caller's own; removing the handles switches them on again."""
    layers: dict[tuple[str, int], list[int]] = {}
    for part, layer, head in sorted(off):
        layers.setdefault((part, layer), []).append(head)
    found = []
    for (part, layer), silent in layers.items():
        stack, name = (mine.encoder if part == "encoder" else mine.decoder), "cross_attention" if part == "cross" else "self_attention"
        found.append(getattr(stack[layer], name).W_o.register_forward_pre_hook(_without(silent, mine.config)))
    return found


def _without(silent: list[int], config: ModelConfig) -> Callable[[nn.Module, tuple], tuple]:
    """Puts zeros in the place of these heads in the concatenation (B, L, D) that W_O is about to mix."""
    keep = torch.ones(config.n_heads, head_widths(config)[1])
    keep[silent] = 0.0
    return lambda module, inputs: (inputs[0] * keep.flatten().to(inputs[0].device),)


def edited(weights: Tensor, module: MultiHeadAttention, inputs: tuple, edit: Edit, row: int) -> Tensor:
    """Cross-attention weights (B, H, T, S) with row `row` written by hand; `inputs` are what the module was given.

    The columns left over are weighed by the model's own softmax, the others being masked: so they keep their proportions.
    """
    query, key, _, mask, *_ = inputs
    q, k = (module.split(x)[:, edit.head] for x in (module.W_q(query[:, row : row + 1]), module.W_k(key)))  # (B, 1, K), (B, S, K)
    left = mask[:, 0].clone()  # (B, 1, 1, S) -> (B, 1, S)
    left[..., [*edit.masked, *([] if edit.column is None else [edit.column])]] = False
    found = scaled_dot_product_attention(q, k, k, left, module.power)[1][:, 0]  # (B, S); nothing is mixed here
    if edit.column is not None:
        weight = torch.where(left.any(dim=-1), edit.weight, 1.0)  # (B, 1)
        found = found * (1 - weight)
        found[:, edit.column] = weight[:, 0]
    weights = weights.clone()
    weights[:, edit.head, row] = found
    return weights


def _rewrite(layer: DecoderLayer, edit: Edit) -> None:
    """Has the layer's cross-attention mixed once more by the edited weights, in the step of the edit, with a cache or without."""
    first = 0  # the row of the first token that is computed: those before it are in the cache

    def begin(module: DecoderLayer, inputs: tuple) -> None:
        nonlocal first
        new, all = inputs[1].shape[-2:]
        first = all - new

    def mix(module: MultiHeadAttention, inputs: tuple, output: tuple) -> tuple | None:
        row = edit.row - first
        if not 0 <= row < output[1].shape[2]:
            return None
        weights = edited(output[1], module, inputs, edit, row)
        return module.W_o(module.concat(weights @ module.split(module.W_v(inputs[2])))), weights

    layer.register_forward_pre_hook(begin)
    layer.cross_attention.register_forward_hook(mix)
