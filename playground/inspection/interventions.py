"""Interventions: heads switched off, the memory averaged or cut, and one row of cross-attention edited by hand.

A `Change` describes an intervention; `apply` puts it on a private copy of a model. The model itself, which is shared, isn't changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import ModelConfig, limits
from playground.inspection import Fact
from playground.model.attention import MultiHeadAttention, head_widths, scaled_dot_product_attention
from playground.model.copies import shadow_copy
from playground.model.layers import DecoderLayer
from playground.model.transformer import Transformer

PARTS = ("encoder", "decoder", "cross")
MEMORIES = limits("memory_mode").choices
MAX_CHARACTERS = 2_000  # of a parsed text
_HEAD = re.compile(r"([edc])([1-9]\d?)\.([1-9]\d?)", re.ASCII)
_ROW, _MASKED = re.compile(r"q(\d{1,3})", re.ASCII), re.compile(r"x(\d{1,3})", re.ASCII)
_WEIGHT = re.compile(r"k(\d{1,3})-(0(?:\.\d{1,4})?|1)", re.ASCII)


class HeadId(NamedTuple):
    """One head of one layer, both counted from 0; "c1.3" as text, counted from 1."""

    part: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.part[0]}{self.layer + 1}.{self.head + 1}"

    @classmethod
    def parse(cls, text: str) -> HeadId | None:
        """Parses the head of that name; None for any other text."""
        match = _HEAD.fullmatch(text)
        return cls(next(part for part in PARTS if part[0] == match[1]), int(match[2]) - 1, int(match[3]) - 1) if match else None


def heads(config: ModelConfig) -> tuple[HeadId, ...]:
    """Lists every head of a model: encoder, decoder and cross-attention, each layer by layer. Those of a decoder-only model, which attend
    to source and target at once, are the decoder's."""
    layers = [(part, layer) for part in list_parts(config) for layer in range(config.attention_layers(part))]
    return tuple(HeadId(part, layer, head) for part, layer in layers for head in range(config.n_heads))


def list_parts(config: ModelConfig) -> tuple[str, ...]:
    """Lists the kinds of heads that a model has."""
    return ("decoder",) if config.alteration.decoder_only else PARTS


@dataclass(frozen=True)
class WeightEdit:
    """Hand-written weights of one head of cross-attention in one decoding step (`row`).

    `masked` columns have exactly 0 and `column` has `weight`; the other columns share the rest in the softmax's proportions. Without other
    columns, `column` has all. With every column masked the row attends to nothing, as under a mask. Text: "c2.3_q1_k4-0.5_x6".
    """

    layer: int
    head: int
    row: int
    column: int | None = None
    weight: float = 1.0  # 0 to 1
    masked: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> WeightEdit | None:
        """Parses an edit; None unless `text` names a head of cross-attention, a row and a weight or mask there; other words are ignored. A
        column with both a weight and a mask is masked, as is one of weight 0."""
        place, row, column, weight, masked = None, None, None, 1.0, set()
        for word in text[:MAX_CHARACTERS].split("_"):
            if (head := HeadId.parse(word)) and head.part == "cross":
                place = head
            elif match := _ROW.fullmatch(word):
                row = int(match[1])
            elif match := _MASKED.fullmatch(word):
                masked.add(int(match[1]))
            elif match := _WEIGHT.fullmatch(word):
                column, weight = int(match[1]), float(match[2])
        if place is None or row is None:
            return None
        return cls(place.layer, place.head, row)._with(column, weight, masked) or None

    def __str__(self) -> str:
        weights = [] if self.column is None else [f"k{self.column}-{self.weight:g}"]
        edits = [*weights, *(f"x{column}" for column in self.masked)]
        return "_".join([str(HeadId("cross", self.layer, self.head)), f"q{self.row}", *edits]) if edits else ""

    @property
    def place(self) -> tuple[int, int, int]:
        """Returns layer, head and row."""
        return self.layer, self.head, self.row

    def __bool__(self) -> bool:
        return self.column is not None or bool(self.masked)

    def give(self, column: int, weight: float) -> WeightEdit:
        """Sets the weight of this column, and frees the one set before."""
        return self._with(column, weight, set(self.masked) - {column})

    def mask(self, column: int) -> WeightEdit:
        return self._with(self.column, self.weight, {*self.masked, column})

    def free(self, column: int) -> WeightEdit:
        """Undoes all edits of this column."""
        return self._with(None if column == self.column else self.column, self.weight, set(self.masked) - {column})

    def within(self, columns: int) -> WeightEdit:
        """Restricts the edit to the first `columns` columns."""
        column = self.column if self.column is not None and self.column < columns else None
        return self._with(column, self.weight, {k for k in self.masked if k < columns})

    def _with(self, column: int | None, weight: float, masked: set[int]) -> WeightEdit:
        if column is not None and weight == 0:
            masked.add(column)
        column = None if column in masked else column
        return replace(self, column=column, weight=1.0 if column is None else weight, masked=tuple(sorted(masked)))


@dataclass(frozen=True)
class Change:
    """A combination of heads switched off, another memory mode, and a row of cross-attention edited by hand.

    A head that is off adds nothing, as if its slice of the columns of W_O were zero. `memory` is a choice of the knob of that name, or None
    for that of training.
    """

    off: frozenset[HeadId] = frozenset()
    memory: str | None = None
    edit: WeightEdit | None = None

    @classmethod
    def parse(cls, off: str = "", memory: str = "", cells: str = "") -> Change:
        """Parses `off` as "c1.3_e2.1", `cells` as the text of an edit. Unknown heads, memory modes and edits are ignored."""
        silent = frozenset(filter(None, map(HeadId.parse, off[:MAX_CHARACTERS].split("_"))))
        return cls(silent, memory if memory in MEMORIES else None, WeightEdit.parse(cells))

    def __bool__(self) -> bool:
        return self != Change()

    def within(self, config: ModelConfig) -> Change:
        """Restricts the change to a model of this shape."""
        known = set(heads(config))
        edit = self.edit if self.edit and HeadId("cross", self.edit.layer, self.edit.head) in known else None
        return Change(self.off & known, None if self.memory == config.memory_mode else self.memory, edit)

    def apply(self, model: Transformer) -> Transformer:
        """Returns a changed model over the very same tensors; `model` itself for an empty change. Raises IndexError for a layer that it
        doesn't have."""
        if not self:
            return model
        copy = shadow_copy(model)
        silence(copy, self.off)
        if self.memory:
            copy.config = replace(copy.config, memory_mode=self.memory)
        if self.edit:
            _rewrite(copy.decoder[self.edit.layer], self.edit)
        return copy


def silence(copy: Transformer, off: Iterable[HeadId]) -> None:
    """Switches heads off in the caller's private copy. In a decoder-only model a head of a layer has all three parts."""
    layers: dict[tuple[str, int], list[int]] = {}
    for part, layer, head in sorted(off):
        layers.setdefault((part, layer), []).append(head)
    for (part, layer), silent in layers.items():
        stack = copy.layers if copy.config.alteration.decoder_only else copy.encoder if part == "encoder" else copy.decoder
        name = "cross_attention" if part == "cross" else "self_attention"
        getattr(stack[layer], name).W_o.register_forward_pre_hook(_make_silencer(silent, copy.config))


def _make_silencer(silent: list[int], config: ModelConfig) -> Callable[[nn.Module, tuple], tuple]:
    """Returns a hook that zeroes these heads in W_O's input (B, L, D)."""
    keep = torch.ones(config.n_heads, head_widths(config)[1])
    keep[silent] = 0.0
    return lambda module, inputs: (inputs[0] * keep.flatten().to(inputs[0].device),)


def edit_weights(weights: Tensor, module: MultiHeadAttention, inputs: tuple, edit: WeightEdit, row: int) -> Tensor:
    """Edits row `row` of cross-attention weights (B, H, T, S); `inputs` are the module's.

    The remaining columns are weighted by the model's own softmax with the others masked, so they keep their proportions.
    """
    query, key, _, mask, *_ = inputs
    q, k = (module.split(x)[:, edit.head] for x in (module.W_q(query[:, row : row + 1]), module.W_k(key)))  # (B, 1, K), (B, S, K)
    left = mask[:, 0].clone()  # (B, 1, 1, S) -> (B, 1, S)
    left[..., [*edit.masked, *([] if edit.column is None else [edit.column])]] = False
    edited = scaled_dot_product_attention(q, k, k, left, module.power)[1][:, 0]  # (B, S)
    if edit.column is not None:
        weight = torch.where(left.any(dim=-1), edit.weight, 1.0)  # (B, 1)
        edited = edited * (1 - weight)
        edited[:, edit.column] = weight[:, 0]
    weights = weights.clone()
    weights[:, edit.head, row] = edited
    return weights


def _rewrite(layer: DecoderLayer, edit: WeightEdit) -> None:
    """Recomputes the layer's cross-attention with the edited weights, in the step of the edit, with a cache or without."""
    first = 0  # the row of the first computed token: those before it are in the cache

    def begin(module: DecoderLayer, inputs: tuple) -> None:
        nonlocal first
        new, all = inputs[1].shape[-2:]
        first = all - new

    def mix(module: MultiHeadAttention, inputs: tuple, output: tuple) -> tuple | None:
        row = edit.row - first
        if not 0 <= row < output[1].shape[2]:
            return None
        weights = edit_weights(output[1], module, inputs, edit, row)
        return module.W_o(module.concat(weights @ module.split(module.W_v(inputs[2])))), weights

    layer.register_forward_pre_hook(begin)
    layer.cross_attention.register_forward_hook(mix)


# --- effects: removed and new tokens, the largest change of a probability, and the importance of each head ---

MOVED = 0.005  # a smaller change is invisible in two digits


def mark_changes(before: Sequence[int], after: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """Marks the tokens removed from `before` and the new ones of `after`, as in a diff."""
    removed, new = [True] * len(before), [True] * len(after)
    for start, other, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        removed[start : start + size] = new[other : other + size] = [False] * size
    return removed, new


def output_fact(before: Sequence[int], after: Sequence[int]) -> Fact:
    """Returns "interventions.same", or "interventions.different" with {gone} and {new} tokens of {tokens} and {other}, and the first {step}
    that differs."""
    if tuple(before) == tuple(after):
        return Fact("interventions.same", {})
    removed, new = mark_changes(before, after)
    step = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), min(len(before), len(after)))
    values = {"gone": sum(removed), "tokens": len(before), "new": sum(new), "other": len(after), "step": step + 1}
    return Fact("interventions.different", values)


def probability_fact(before: Sequence[float], after: Sequence[float], names: Sequence[str]) -> Fact:
    """States the largest change of a token's probability: "interventions.moved" with {token}, {step} and the probabilities {before} and
    {after}; "interventions.unmoved" when none changed."""
    difference = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    at = int(np.abs(difference).argmax())
    if abs(difference[at]) < MOVED:
        return Fact("interventions.unmoved", {})
    values = {"token": names[at], "step": at + 1, "before": float(before[at]), "after": float(after[at])}
    return Fact("interventions.moved", values)


def importance_facts(lost: Mapping[object, float], whole: float) -> list[Fact]:
    """States the importance of single heads: `lost` has the points of exact match lost without each, of the `whole` (both 0 to 100).

    "interventions.costs_most" with {head} (a key of `lost`) and {points}; "interventions.costs_nothing" with {count} of {heads}, or
    "interventions.all_cost"; and "interventions.better_without" with {count}. "interventions.nothing_to_lose" alone, when no sentence is
    right; "interventions.none_costs" when none costs.
    """
    if whole <= 0:
        return [Fact("interventions.nothing_to_lose", {})]
    worst = max(lost, key=lambda head: lost[head])
    free, better = sum(points == 0 for points in lost.values()), sum(points < 0 for points in lost.values())
    facts = [Fact("interventions.costs_most", {"head": worst, "points": points_of(lost[worst])})] if lost[worst] > 0 else []
    if lost[worst] <= 0:
        facts.append(Fact("interventions.none_costs", {}))
    elif free:
        facts.append(Fact("interventions.costs_nothing", {"count": free, "heads": len(lost)}))
    elif not better:
        facts.append(Fact("interventions.all_cost", {}))
    return [*facts, *([Fact("interventions.better_without", {"count": better})] if better else [])]


def points_of(points: float) -> str:
    """Formats points of 100, with a decimal below 1 only: 41, 0.4."""
    return f"{points:.0f}" if abs(points) >= 1 or points == 0 else f"{points:.1f}"
