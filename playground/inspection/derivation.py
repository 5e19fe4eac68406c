"""Derivations: the computation of any one number of a recording, with its own numbers plugged into the paper's formula.

Each kind of stage has one function, which reads the relevant cells and parameters and writes the arithmetic on a sheet.
"""

import math
from collections.abc import Mapping

import numpy as np

from playground.config import EOS
from playground.inspection.activations import Stage
from playground.inspection.arithmetic import STAGES, Derivation, Label, Operand, Sheet, bracket, is_near, join_terms
from playground.inspection.edits import norm_module
from playground.inspection.formulas import divisor, formula, kind
from playground.model.attention import MASKED, head_widths
from playground.model.positions import BASE
from playground.model.transformer import Transformer

MIN_DECIMALS, MAX_DECIMALS = 6, 12  # decimals; the fewest that reproduce the cell are used


def explain(model: Transformer, stages: Mapping[str, Stage], address: str, index: tuple[int, ...]) -> Derivation:
    """Derives the cell `index` of the stage `address` from the model and its recorded stages.

    Raises KeyError for an address that is not recorded, IndexError for a cell outside it, Refusal for positions without a formula.
    """
    stage = stages[address]
    shape = stage.values.shape
    if len(index) != len(shape) or not all(0 <= i < size for i, size in zip(index, shape, strict=True)):
        raise IndexError(f"{address} of shape {shape} has no cell {index}")
    cell, key = _Cell(model, stages, stage, tuple(index)), formula(model.config, stage)
    for decimals in range(MIN_DECIMALS, MAX_DECIMALS + 1):
        sheet = Sheet(decimals)
        result = KINDS[kind(model.config, stage)](cell, sheet)
        agrees = is_near(float(result), cell.value) and is_near(sheet.drift, 0.0)
        if agrees:
            break
    terms, leads, steps = tuple(sheet.terms), tuple(sheet.leads), tuple(sheet.steps)
    return Derivation(address, cell.index, *key, sheet.operation, terms, leads, steps, result, sheet.write(cell.value), agrees)


class _Cell:
    """One cell with the inputs and the model that it is computed from."""

    def __init__(self, model: Transformer, stages: Mapping[str, Stage], stage: Stage, index: tuple[int, ...]) -> None:
        self.model, self.config, self.stage, self.index = model, model.config, stage, index
        self.inputs = [stages[address] for address in stage.inputs]
        self.sublayer, _, self.name = stage.address.rpartition(".")
        self.value = float(stage.values[index])
        self.before = len(stages["src.ids"].values) if self.config.alteration.decoder_only else 0  # tokens of the target's sequence

    def take(self, index: tuple[int, ...], number: int = 0) -> Operand:
        """Returns the cell `index` of one of the inputs."""
        stage = self.inputs[number]
        name = "x" if kind(self.config, stage) == "scaled_embedding" else STAGES.get(stage.name, "x")
        return Operand(Label(name, index, stage=stage.address), float(stage.values[index]))

    def row(self, *first: int, number: int = 0) -> list[Operand]:
        """Returns all cells of one of the inputs with these first indices."""
        return [self.take((*first, i), number) for i in range(self.inputs[number].values.shape[-1])]

    def parameter(self, name: str, tensor: str, index: tuple[int, ...]) -> Operand:
        """Returns one number of a parameter, or of a fixed table, of the model."""
        module, _, attribute = tensor.rpartition(".")
        return Operand(Label(name, index, parameter=tensor), getattr(self.model.get_submodule(module), attribute)[index].item())

    def bias(self, name: str, module: str, out: int) -> Operand | None:
        return self.parameter(name, f"{module}.bias", (out,)) if self.config.bias else None

    def linear(self, sheet: Sheet, name: str, module: str, row: int, out: int) -> str:
        """Writes x W + b for one row of x and one column of W."""
        column = self.model.get_submodule(module).weight[out].tolist()
        weights = [Operand(Label(f"W_{name}", (i, out), parameter=f"{module}.weight"), value) for i, value in enumerate(column)]
        return sheet.bias(sheet.multiply(self.row(row), weights), self.bias(f"b_{name}", module, out))


def _ids(cell: _Cell, sheet: Sheet) -> str:
    token = int(cell.value)
    special = "begin" if cell.stage.address == "tgt.ids" and cell.index == (0,) else "end" if token == EOS else "token"
    return sheet.step(special, str(token), token, number=cell.index[0] + 1)


def _embedding(cell: _Cell, sheet: Sheet) -> str:
    row, column = cell.index
    token = int(cell.inputs[0].values[row])
    entry = sheet.lead(cell.parameter("embedding", f"{cell.sublayer}_embedding.weight", (token, column)))
    return sheet.step("row", entry, float(entry), id=token)


def _scaled_embedding(cell: _Cell, sheet: Sheet) -> str:
    x, d_model = sheet.lead(cell.take(cell.index)), cell.config.d_model
    root = sheet.step("root", f"√({d_model})", math.sqrt(d_model))
    return sheet.step("larger", f"{x} × {root}", float(x) * float(root))


def _position_entry(cell: _Cell, sheet: Sheet) -> str:
    x = sheet.lead(cell.take(cell.index))
    entry = sheet.lead(cell.parameter("position", f"{cell.sublayer}_positions.table", _find_position(cell)))
    return sheet.step("position", join_terms([x, entry]), float(x) + float(entry))


def _find_position(cell: _Cell) -> tuple[int, int]:
    """Returns a cell's place in the table of positions: in a decoder-only model the target counts on after the source."""
    row, column = cell.index
    return row + cell.before * (cell.sublayer == "tgt"), column


def _sinusoids(cell: _Cell, sheet: Sheet) -> str:
    _wave(sheet, *_find_position(cell), cell.config.d_model, "cosine" if cell.index[1] % 2 else "sine")
    return _position_entry(cell, sheet)


def _wave(sheet: Sheet, position: int, column: int, dims: int, *waves: str) -> None:
    """Writes the angle of a pair of dimensions at a position counted from 0, and its sine or cosine."""
    pair = column - column % 2
    angle = sheet.step("angle", f"{position} ÷ {BASE}^({pair} ÷ {dims})", position / BASE ** (pair / dims), position=position)
    for wave in waves:
        sheet.step(wave, f"{wave[:3]}({angle})", getattr(math, wave[:3])(float(angle)))


def _projected(cell: _Cell, sheet: Sheet) -> str:
    head, row, column = cell.index
    out = head * cell.stage.values.shape[-1] + column  # the heads' matrices are side by side
    return cell.linear(sheet, cell.name, f"{cell.sublayer}.W_{cell.name}", row, out)


def _turned(cell: _Cell, sheet: Sheet) -> str:
    head, row, column = cell.index
    d_k = cell.stage.values.shape[-1]
    if column >= d_k // 2 * 2:
        return _copy(cell, sheet, cell.index, "unturned")
    even, odd = (cell.take((head, row, column // 2 * 2 + i)) for i in range(2))
    cos, sin = (cell.parameter(name, f"{cell.sublayer}.rotary.{name}", (row, column // 2)) for name in ("cos", "sin"))
    _wave(sheet, row, column, d_k, "cosine", "sine")
    if column % 2:
        return sheet.multiply([even, odd], [sin, cos])
    return sheet.multiply([even, odd], [cos, Operand(sin.label._replace(name="minus_sin"), -sin.value)])


def _scores(cell: _Cell, sheet: Sheet) -> str:
    head, query, key = cell.index
    return sheet.multiply(cell.row(head, query), cell.row(head, key, number=1))


def _scaled(cell: _Cell, sheet: Sheet) -> str:
    score, d_k = sheet.lead(cell.take(cell.index)), head_widths(cell.config)[0]
    power, root = cell.config.attention_scale, str(d_k)
    if power == 0.5:
        root = sheet.step("root", f"√({d_k})", math.sqrt(d_k))
    if power == 0.25:
        root = sheet.step("fourth_root", f"∜({d_k})", d_k**power)
    return sheet.step("smaller", f"{score} ÷ {root}", float(score) / float(root), divisor=divisor(cell.config))


def _masked(cell: _Cell, sheet: Sheet) -> str:
    score = sheet.lead(cell.take(cell.index))
    if cell.stage.mask[cell.index[1:]]:
        return sheet.step("open", f"{score} + 0", float(score))
    return sheet.step("shut", f"{score} + ({sheet.write(MASKED)})", float(score) + MASKED)


def _weights(cell: _Cell, sheet: Sheet) -> str:
    head, query, key = cell.index
    columns = np.nonzero(cell.stage.mask[query])[0].tolist()
    if key not in columns:  # listed too: its exponential is 0
        columns.append(key)
    return sheet.softmax([cell.take((head, query, column)) for column in columns], columns.index(key))


def _mixed(cell: _Cell, sheet: Sheet) -> str:
    head, query, column = cell.index
    visible = np.nonzero(cell.inputs[0].mask[query])[0].tolist()  # all others have weight 0
    return sheet.multiply([cell.take((head, query, i)) for i in visible], [cell.take((head, i, column), 1) for i in visible])


def _concat(cell: _Cell, sheet: Sheet) -> str:
    row, column = cell.index
    d_v = cell.inputs[0].values.shape[-1]
    return _copy(cell, sheet, (column // d_v, row, column % d_v), "head", head=column // d_v + 1, column=column % d_v + 1)


def _copy(cell: _Cell, sheet: Sheet, index: tuple[int, ...], key: str, **values: object) -> str:
    """Writes the step of a stage that only moves numbers: the cell equals a cell of its input."""
    number = sheet.lead(cell.take(index))
    return sheet.step(key, number, float(number), **values)


def _residual(cell: _Cell, sheet: Sheet) -> str:
    x, y = (sheet.lead(cell.take(cell.index, number)) for number in range(2))
    return sheet.step("residual", join_terms([x, y]), float(x) + float(y))


def _norm(cell: _Cell, sheet: Sheet) -> str:
    (row, column), name = cell.index, norm_module(cell.stage.address)
    gain, eps = cell.parameter("gain", f"{name}.weight", (column,)), cell.model.get_submodule(name).eps
    return sheet.norm(cell.row(row), column, eps, gain, cell.bias("shift", name, column))


def _activated(cell: _Cell, sheet: Sheet) -> str:
    written = sheet.lead(cell.take(cell.index))
    x, text = float(written), bracket(written)
    if cell.config.activation == "none":
        return sheet.step("no_activation", written, x)
    if cell.config.activation == "relu":
        return sheet.step("relu", f"max(0, {written})", max(0.0, x))
    share = sheet.step("gelu_share", f"(1 + erf({written} ÷ √(2))) ÷ 2", (1 + math.erf(x / math.sqrt(2))) / 2)
    return sheet.step("gelu", f"{text} × {share}", x * float(share))


def _joined(cell: _Cell, sheet: Sheet) -> str:
    row, column = cell.index
    number, row = (0, row) if row < cell.before else (1, row - cell.before)
    copied = sheet.lead(cell.take((row, column), number))
    return sheet.step("joined", copied, float(copied))


def _output(cell: _Cell, sheet: Sheet) -> str:
    row, column = cell.index
    return _copy(cell, sheet, (row + cell.before, column), "result")


def _mean_memory(cell: _Cell, sheet: Sheet) -> str:
    column, length = cell.index[1], cell.stage.values.shape[0]
    total = sheet.multiply([cell.take((row, column)) for row in range(length)], [Operand(Label("real"), 1.0)] * length)
    return sheet.step("mean_memory", f"{total} ÷ {length}", float(total) / length)


def _probabilities(cell: _Cell, sheet: Sheet) -> str:
    row, token = cell.index
    return sheet.softmax_of(cell.inputs[0].values[row].astype(np.float64), token, lambda each: cell.take((row, each)))


KINDS = {
    "ids": _ids,
    "embedding": _embedding,
    "scaled_embedding": _scaled_embedding,
    "positions_sinusoids": _sinusoids,
    "positions_learned": _position_entry,
    "q": _projected,
    "k": _projected,
    "v": _projected,
    "turned": _turned,
    "scores": _scores,
    "scaled": _scaled,
    "masked": _masked,
    "weights": _weights,
    "mixed": _mixed,
    "concat": _concat,
    "W_o": lambda cell, sheet: cell.linear(sheet, "o", cell.stage.address, *cell.index),
    "residual": _residual,
    "norm": _norm,
    "hidden": lambda cell, sheet: cell.linear(sheet, "1", f"{cell.sublayer}.W_1", *cell.index),
    "activated": _activated,
    "W_2": lambda cell, sheet: cell.linear(sheet, "2", cell.stage.address, *cell.index),
    "memory": lambda cell, sheet: _copy(cell, sheet, cell.index, "result"),
    "memory_mean": _mean_memory,
    "memory_cut": lambda cell, sheet: sheet.step("no_memory", f"{sheet.lead(cell.take(cell.index))} × 0", 0.0),
    "joined": _joined,
    "output": _output,
    "logits": lambda cell, sheet: cell.linear(sheet, "vocabulary", "projection", *cell.index),
    "probabilities": _probabilities,
}
