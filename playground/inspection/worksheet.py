"""The worksheet: one attention sublayer of a tiny model, to be calculated with a pencil and a pocket calculator.

The model has d_model = 4, one head and one layer. Its weights are drawn from the student's seed in tenths and it has no biases, positions
or scaled embeddings, so that the numbers stay short. Given numbers and answers come from `record` and `explain`: the answer key is the
model's own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch

from playground.config import EOS, SPECIAL_TOKENS, ModelConfig, limits
from playground.inspection.activations import Stage, record
from playground.inspection.arithmetic import Derivation, bracket
from playground.inspection.derivation import explain
from playground.inspection.formulas import formula
from playground.model.transformer import Transformer

KINDS = {"encoder": "encoder.0.self_attention", "decoder": "decoder.0.self_attention", "cross": "decoder.0.cross_attention"}
MAX_SEED = int(limits("seed").high)
TOKENS = (*SPECIAL_TOKENS, "a", "b", "c", "d")
# The tasks in order, with the letter of their boxes.
TASKS = {"scores": "s", "scaled": "s′", "masked": "s″", "weights": "α", "mixed": "o", "W_o": "y", "residual": "r", "norm": "n"}
CONFIG = ModelConfig(
    d_model=4, n_heads=1, encoder_layers=1, decoder_layers=1, d_ff=4, positions="none", embedding_scale=False, bias=False
)  # fmt: skip
LARGE = 1e9  # no other number of a sheet is
DECIMALS = 4  # of every number on the sheet


class WorksheetTable(NamedTuple):
    """A table of given numbers: its symbol, the names of its rows (none for a learned matrix), and rows of printed numbers."""

    symbol: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Box(NamedTuple):
    """A box to fill in: its name, its answer, and the arithmetic of the answer ("" where it is obvious)."""

    name: str
    answer: str
    line: str


@dataclass(frozen=True)
class WorksheetTask:
    """One step of the sublayer: `name` is the stage's, `key` and `values` its formula ("" for none). `way` are boxes for intermediate
    numbers."""

    name: str
    boxes: tuple[Box, ...]
    key: str = ""
    values: dict[str, str] = field(default_factory=dict)
    way: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Worksheet:
    """Tasks by hand, of KINDS: one row of attention, the query of token number `row`, counted from 0, against all keys. `values` fill its
    texts."""

    seed: int
    kind: str
    tables: tuple[WorksheetTable, ...]
    tasks: tuple[WorksheetTask, ...]
    values: Mapping[str, object]
    row: int = -1
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def worksheet(seed: int, kind: str = "encoder") -> Worksheet:
    """Creates the sheet of a seed, always the same; `kind` is "encoder", "decoder" or "cross". Raises KeyError for another kind."""
    at, generator = KINDS[kind], torch.Generator().manual_seed(seed)
    model = tiny(generator)
    letters = torch.randperm(4, generator=generator) + len(SPECIAL_TOKENS)
    src, tgt = letters[:2].tolist(), letters[2:].tolist()
    row = 1 if kind == "decoder" else int(torch.randint(3, (), generator=generator))  # the second token attends to two of three
    stages = record(model, src, [*tgt, EOS])
    source, fed = (tuple(TOKENS[id] for id in stages[f"{side}.ids"].values) for side in ("src", "tgt"))
    queries, keys = {"encoder": (source, source), "decoder": (fed, fed), "cross": (fed, source)}[kind]
    x = stages[stages[f"{at}.residual"].inputs[0]].values
    tables = (
        _make_table("X", queries, x),
        _make_table("Q", queries, stages[f"{at}.q"].values[0]),
        _make_table("K", keys, stages[f"{at}.k"].values[0]),
        _make_table("V", keys, stages[f"{at}.v"].values[0]),
        _make_table("W_O", (), model.get_submodule(f"{at}.W_o").weight.detach().numpy().T),
    )
    tasks = tuple(_make_task(model, stages, f"{at}.{name}", row) for name in TASKS)
    visible = [token for token, box in zip(keys, tasks[2].boxes, strict=True) if box.answer != "-1e30"]
    values = {"token": queries[row], "row": row + 1, "seen": ", ".join(visible)}
    return Worksheet(seed, kind, tables, tasks, values, row, queries, keys)


def tiny(generator: torch.Generator) -> Transformer:
    """Creates a model whose matrices hold tenths from -1 to 1; the gains of its norms stay 1."""
    model = Transformer(CONFIG, len(TOKENS), len(TOKENS)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.copy_(torch.randint(-10, 11, parameter.shape, generator=generator) / 10)
    return model


def _make_task(model: Transformer, stages: dict[str, Stage], address: str, row: int) -> WorksheetTask:
    """Creates the task of all cells of one row of a stage."""
    stage = stages[address]
    first = (0, row) if stage.axes[0] == "H" else (row,)
    derivations = [explain(model, stages, address, (*first, column)) for column in range(stage.values.shape[-1])]
    key, values = formula(model.config, stage)
    boxes = [Box(f"{TASKS[stage.name]}_{n}", round_number(cell.recorded), _format(cell)) for n, cell in enumerate(derivations, 1)]
    return WorksheetTask(stage.name, tuple(boxes), key, values, _shared_boxes(derivations[0]))


def _shared_boxes(derivation: Derivation) -> tuple[Box, ...]:
    """Returns the boxes of numbers that all cells of a row share: the exponentials and their sum, or mean, variance and deviation."""
    results = {step.key.removeprefix("map.why_"): round_number(step.result) for step in derivation.steps}
    if derivation.operation == "exp":
        powers = [Box(f"exp({TASKS['masked']}_{term.left.index[-1] + 1} - max)", round_number(term.part), "") for term in derivation.terms]
        return (Box("max", results["largest"], ""), *powers, Box("Σ", results["normaliser"], ""))
    if derivation.operation == "square":
        names = {"mean": "μ", "variance": "σ²", "deviation": "√(σ² + ε)"}
        return tuple(Box(name, results[key], "") for key, name in names.items())
    return ()


def _format(derivation: Derivation) -> str:
    """Formats the arithmetic of one cell in one line, with the sheet's decimals: a sum of products, or the line that makes the number (a
    gain is 1 here and changes nothing)."""
    if derivation.operation == "product":
        text = " + ".join(f"{bracket(term.left_value)} × {bracket(term.right_value)}" for term in derivation.terms)
    else:
        text = [step.text for step in derivation.steps if step.key != "map.why_gain"][-1]
    return re.sub(r"\d+\.\d+", lambda number: round_number(number[0]), text)


def round_number(number: str) -> str:
    """Rounds a printed number to the sheet's decimals; not that of a masked score, -1e30."""
    if abs(float(number)) > LARGE:
        return number
    text = f"{float(number):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _make_table(symbol: str, names: tuple[str, ...], values: np.ndarray) -> WorksheetTable:
    return WorksheetTable(symbol, names, tuple(tuple(round_number(str(value)) for value in row) for row in values.tolist()))
