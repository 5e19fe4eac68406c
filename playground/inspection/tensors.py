"""Statements about one stage of the model: a few true facts, computed from its numbers and those of its inputs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from playground.config import MAX_POSITIONS
from playground.inspection import Fact, percent
from playground.inspection.activations import Stage
from playground.model.positions import SinusoidalPositions, sinusoids

LONG_TABLE = 5000  # rows of the table in many programs, from which a sentence slices the first


class TensorView(NamedTuple):
    """A stage as displayed: its `values` (R, C), of one head where it has heads, `mask` (R, C) True where a query can attend."""

    stage: Stage
    stages: Mapping[str, Stage]
    values: np.ndarray
    mask: np.ndarray | None
    head: int
    rows: Sequence[str]
    columns: Sequence[str]

    def input(self, at: int = 0) -> np.ndarray:
        """Returns the values of one of the inputs, of the same head where it has heads."""
        stage = self.stages[self.stage.inputs[at]]
        return (stage.values[self.head] if stage.axes[0] == "H" else stage.values).astype(np.float64)


def view_tensor(stage: Stage, stages: Mapping[str, Stage], head: int, rows: Sequence[str], columns: Sequence[str]) -> TensorView:
    """Selects a head's values; `rows` and `columns` are the names of the two sides. Token ids (L,) become one column."""
    values = stage.values[head] if stage.axes[0] == "H" else stage.values
    mask = None if stage.mask is None else np.broadcast_to(stage.mask, stage.values.shape)[head]
    return TensorView(stage, stages, values[:, None] if values.ndim == 1 else values, mask, head, rows, columns)


def facts(this: TensorView) -> list[Fact]:
    """Returns one to four statements; keys "map.fact_…". Numbers are text, rounded for readers."""
    kind = "scaled_embedding" if this.stage.name == "scaled" and "H" not in this.stage.axes else this.stage.name
    statements = SPECIAL[kind](this) if kind in SPECIAL else []
    return statements if kind in ENOUGH else [*statements, *_range(this)]


def _range(this: TensorView) -> list[Fact]:
    """States the range of the numbers, and the largest absolute value."""
    visible = this.values.astype(np.float64) if this.mask is None else np.where(this.mask, this.values, np.nan).astype(np.float64)
    if np.isnan(visible).all():
        return []
    row, column = np.unravel_index(int(np.nanargmax(np.abs(visible))), visible.shape)
    values = {"low": number(np.nanmin(visible)), "high": number(np.nanmax(visible)), "mean": number(np.nanmean(visible))}
    return [Fact("map.fact_range", values | {"row": this.rows[row], "column": this.columns[column], "value": number(visible[row, column])})]


def _ids(this: TensorView) -> list[Fact]:
    ids = [Fact("map.fact_ids", {"tokens": len(this.rows)})]
    twins = _find_repeated(this)
    return [*ids, Fact("map.fact_twin_ids", {"token": this.rows[twins[0]], "id": int(this.values[twins[0], 0])})] if twins else ids


def _embedding(this: TensorView) -> list[Fact]:
    twins = _find_repeated(this)
    if not twins or not np.array_equal(*this.values[list(twins)]):
        return []
    return [Fact("map.fact_twins_same", {"token": this.rows[twins[0]], "first": twins[0] + 1, "second": twins[1] + 1})]


def _scaled_embedding(this: TensorView) -> list[Fact]:
    before, after, width = this.input().std(), this.values.std(dtype=np.float64), this.values.shape[1]
    values = {"width": width, "factor": number(width**0.5), "before": number(before), "after": number(after)}
    return [Fact("map.fact_times_root", values)]


def _positions(this: TensorView) -> list[Fact]:
    before = this.input()
    added = this.values - before
    values = {"before": number(_lengths(before).mean()), "added": number(_lengths(added).mean())}
    statements, twins = [Fact("map.fact_positions", values), *_table(this)], _find_repeated(this)
    if twins:
        apart = float(np.abs(this.values[twins[0]] - this.values[twins[1]]).max())
        values = {"token": this.rows[twins[0]], "first": twins[0] + 1, "second": twins[1] + 1, "apart": number(apart)}
        statements.append(Fact("map.fact_twins_differ", values))
    return statements


def _table(this: TensorView) -> list[Fact]:
    """States the rows of the model's table of sinusoids, and that a longer table, as in many programs, begins with the same ones."""
    if this.stage.source is not SinusoidalPositions.forward:
        return []
    rows, size = this.values.shape
    values = {"most": MAX_POSITIONS, "rows": rows, "long": f"{LONG_TABLE:,}", "apart": number(_table_difference(rows, size))}
    return [Fact("map.fact_position_table", values)]


@cache
def _table_difference(rows: int, size: int) -> float:
    """Returns the largest difference between the first rows of the model's table of sinusoids and of a long one."""
    return (sinusoids(LONG_TABLE, size)[:rows] - SinusoidalPositions(size).table[:rows]).abs().max().item()


def _vectors(this: TensorView) -> list[Fact]:
    rows, size = this.values.shape
    return [Fact("map.fact_vectors", {"rows": rows, "size": size, "length": number(_lengths(this.values).mean())})]


def _turned(this: TensorView) -> list[Fact]:
    before, after = _lengths(this.input()), _lengths(this.values)
    apart = float(np.abs(before - after).max())
    return [Fact("map.fact_turned", {"apart": number(apart), "length": number(after.mean())})]


def _divided(this: TensorView) -> list[Fact]:
    size = this.stages[this.stages[this.stage.inputs[0]].inputs[0]].values.shape[-1]
    values = {"size": size, "factor": number(size**0.5), "before": number(this.input().std()), "after": number(this.values.std())}
    return [Fact("map.fact_divided", values)]


def _masked(this: TensorView) -> list[Fact]:
    hidden = int((~this.mask).sum())
    return [Fact("map.fact_masked" if hidden else "map.fact_nothing_masked", {"hidden": hidden, "cells": this.mask.size})]


def _weights(this: TensorView) -> list[Fact]:
    best = this.values.max(axis=1)
    sure, unsure = int(best.argmax()), int(best.argmin())
    values = {"total": f"{this.values.sum(axis=1).min():.3f}", **_strongest(this, sure, ""), **_strongest(this, unsure, "other_")}
    return [Fact("map.fact_weights" if sure != unsure else "map.fact_weights_one", values)]


def _strongest(this: TensorView, row: int, prefix: str) -> dict[str, object]:
    column = int(this.values[row].argmax())
    return {f"{prefix}row": this.rows[row], f"{prefix}column": this.columns[column], f"{prefix}percent": percent(this.values[row, column])}


def _mixed(this: TensorView) -> list[Fact]:
    """States the row with the largest weight: it must be close to the value vector of that key."""
    weights, values = this.input(0), this.input(1)
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    lengths = np.linalg.norm(this.values[row]) * np.linalg.norm(values[column])
    alike = float(this.values[row] @ values[column] / lengths) if lengths else 0.0
    numbers = {"row": this.rows[row], "place": int(column) + 1, "percent": percent(weights[row, column]), "cosine": f"{alike:.2f}"}
    return [Fact("map.fact_mixed", numbers)]


def _concat(this: TensorView) -> list[Fact]:
    heads, _, size = this.stages[this.stage.inputs[0]].values.shape
    lengths = [_lengths(part).mean() for part in np.split(this.values.astype(np.float64), heads, axis=1)]
    values = {"heads": heads, "size": size, "last": size - 1, "longest": int(np.argmax(lengths)) + 1, "length": number(max(lengths))}
    return [Fact("map.fact_concat" if heads > 1 else "map.fact_concat_one", values)]


def _residual(this: TensorView) -> list[Fact]:
    before, added = _lengths(this.input(0)).mean(), _lengths(this.input(1)).mean()
    return [Fact("map.fact_residual", {"before": number(before), "added": number(added), "after": number(_lengths(this.values).mean())})]


def _norm(this: TensorView) -> list[Fact]:
    before = this.input()
    values = {
        "before": number(before.std(axis=1).min()), "before_most": number(before.std(axis=1).max()),
        "after": number(this.values.std(axis=1).min()), "after_most": number(this.values.std(axis=1).max()),
    }  # fmt: skip
    return [Fact("map.fact_norm", values)]


def _activated(this: TensorView) -> list[Fact]:
    zero, units = this.values == 0, this.values.shape[1]
    if not zero.any():
        return [Fact("map.fact_no_zeros", {"units": units, "percent": percent(float((this.values < 0).mean()))})]
    return [Fact("map.fact_zeros", {"percent": percent(float(zero.mean())), "units": units, "silent": int(zero.all(axis=0).sum())})]


def _logits(this: TensorView) -> list[Fact]:
    """States the row with the smallest lead of its best token: the model's least certain one."""
    first, second = (np.sort(this.values, axis=1)[:, -n] for n in (1, 2))
    row = int((first - second).argmin())
    best, next_best = np.argsort(-this.values[row], kind="stable")[:2]
    values = {"row": this.rows[row], "best": this.columns[best], "next": this.columns[next_best]}
    return [Fact("map.fact_logits", values | {"lead": number(first[row] - second[row])})]


SPECIAL: dict[str, Callable[[TensorView], list[Fact]]] = {
    "ids": _ids, "embedding": _embedding, "scaled_embedding": _scaled_embedding, "positions": _positions, "q": _vectors, "k": _vectors,
    "v": _vectors, "q_turned": _turned, "k_turned": _turned, "scaled": _divided, "masked": _masked, "weights": _weights, "mixed": _mixed,
    "concat": _concat, "residual": _residual, "norm": _norm, "activated": _activated, "logits": _logits, "probabilities": _weights,
    "hidden": lambda this: [Fact("map.fact_hidden", {"percent": percent(float((this.values < 0).mean())), "units": this.values.shape[1]})],
    **dict.fromkeys(("W_o", "W_2"), lambda this: [Fact("map.fact_length", {"length": number(_lengths(this.values).mean())})]),
    "memory": lambda this: [Fact("map.fact_memory", {"tokens": len(this.rows), "width": this.values.shape[1]})],
    "output": lambda this: [Fact("map.fact_output", {"width": this.values.shape[1]})],
}  # fmt: skip
ENOUGH = ("ids", "weights", "probabilities")  # their range is trivial


def _find_repeated(this: TensorView) -> tuple[int, int] | None:
    """Finds the first two rows with the same token."""
    side = this.stage.address.partition(".")[0]
    ids = this.stages[f"{side}.ids"].values.tolist()
    return next(((ids.index(token), at) for at, token in enumerate(ids) if ids.index(token) != at), None)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """Computes the length of each row: (R, C) -> (R,)."""
    return np.linalg.norm(vectors.astype(np.float64), axis=1)


def number(value: float) -> str:
    """Formats a number with three significant digits: 0.0312, −1.5, 12, 3.1e-07."""
    value = float(value) + 0.0
    if value == 0:
        return "0"
    size = abs(value)
    text = f"{size:.0f}" if 1e3 <= size < 1e5 else f"{size:.3g}" if 1e-4 <= size < 1e3 else f"{size:.1e}"
    return f"−{text}" if value < 0 else text
