"""A workbook: one sentence through a small model as a spreadsheet, in which every activation is a formula over the cells before it.

Tokens and parameters are there to be changed; the first sheet proposes two changes and shows what becomes of the loss.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

from playground.config import SPECIAL_TOKENS, UNK, ModelConfig, Refusal
from playground.data.tokenizers import Tokenizer
from playground.inspection.activations import model_inputs, record
from playground.model.attention import head_widths
from playground.model.copies import trainable_copy
from playground.model.transformer import Transformer
from playground.words import ENGLISH, say

MAX_WIDTH, MAX_NUMBERS = 32, 300_000  # d_model; parameters and activations, about 3 MB
LINE_WIDTH = 100  # characters of a line of the first sheet
CHANGE = 0.1  # of the parameter that the first sheet proposes to change


class Sentence(NamedTuple):
    """A sentence to write: ids of the source without EOS and of the target, EOS last, and for the first sheet its run, step and texts."""

    src_ids: Sequence[int]
    tgt_ids: Sequence[int]
    run: str
    step: int
    source: str
    target: str


def write_workbook(model: Transformer, tokenizers: tuple[Tokenizer, Tokenizer], sentence: Sentence, language: str = ENGLISH) -> bytes:
    """Returns an .xlsx. The decoder is fed the sentence's target. Raises Refusal for a model or a sentence that is too large, for a setting
    without formulas, and without XlsxWriter."""
    refuse_unwritable(model.config)
    stages = record(model, sentence.src_ids, sentence.tgt_ids)
    numbers = sum(parameter.numel() for parameter in model.parameters()) + sum(stage.values.size for stage in stages.values())
    if numbers > MAX_NUMBERS:
        raise Refusal("workbook.large", cells=f"{numbers:,}", most=f"{MAX_NUMBERS:,}")
    try:
        from xlsxwriter import Workbook
    except ImportError:
        raise Refusal("export.no_package", package="XlsxWriter") from None
    from playground.export.cells import CellWriter
    from playground.export.sheets import Sheets

    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as book:
        cells = CellWriter(book)
        cells.open_sheet(say(language, "workbook.sheet_first"))
        first, sheets = cells.sheet, Sheets(cells, model, tokenizers, stages, sentence.tgt_ids, language)
        loss = sheets.write()
        cells.sheet, cells.row = first, 0
        _write_first(sheets, model, sentence, loss)
    return file.getvalue()


def refuse_unwritable(config: ModelConfig) -> None:
    """Raises Refusal for a model that is too wide, or altered, or has rotary positions."""
    if config.d_model > MAX_WIDTH:
        raise Refusal("workbook.wide", width=config.d_model, most=MAX_WIDTH)
    paper = ModelConfig()
    for name in ("architecture", "variant", "positions"):
        value = getattr(config, name)
        if value != getattr(paper, name) and (name != "positions" or config.encoding.rotary):
            raise Refusal("workbook.setting", name=name, value=value, fits=getattr(paper, name))


def _write_first(sheets: Sheets, model: Transformer, sentence: Sentence, loss: float) -> None:
    """Writes where things are and two changes to try, with numbers of this model; below them the loss now and before a change."""
    cells, (area, symbol, value, slope) = sheets.cells, _find_steepest(sheets, model, sentence)
    _, (token, *_) = sheets.labels["S"]
    words = sheets.vocabularies["src"][len(SPECIAL_TOKENS) :]
    other = next((name for name in words if name != token), SPECIAL_TOKENS[UNK])
    change = -CHANGE if slope > 0 else CHANGE
    steep = {"cell": area.full.replace("$", ""), "name": symbol, "value": f"{value:.3f}", "new": f"={value + change:.3f}"}
    lines = {
        "where": {"run": sentence.run, "step": f"{sentence.step:,}", "source": sentence.source, "target": sentence.target},
        "order": {}, "yellow": {},
        "token": {"cell": sheets.placed["src.ids"][0].part(0, -1).full.replace("$", ""), "token": token, "other": other},
        "parameter": steep | {"change": f"{change * slope:+.2g}"},
    }  # fmt: skip
    cells.sheet.set_column(0, 0, LINE_WIDTH)
    for key, values in lines.items():
        cells.place([[sheets.say(f"workbook.first_{key}", **values)]], 0, style="text")
        cells.row += 1
    numbers = [(sheets.say("workbook.loss_now"), loss, "loss", ""), (sheets.say("workbook.loss_written"), loss, "", "")]
    numbers.append((sheets.say("workbook.loss_difference"), 0.0, f"loss-{loss!r}", ""))
    numbers += [("d_model", model.config.d_model, "", "d_model"), ("d_k", head_widths(model.config)[0], "", "d_k")]
    for label, number, formula, name in numbers:
        cells.row += 1
        cells.place([[label]], 0, style="label")
        cells.place([[number]], 1, formula or None, "formula", name)


def _find_steepest(sheets: Sheets, model: Transformer, sentence: Sentence) -> tuple[Area, str, float, float]:
    """Finds the weight on which the loss depends most: its cell, its matrix's symbol, its value, and the loss's derivative."""
    model, right = trainable_copy(model), torch.tensor(sentence.tgt_ids)
    inputs = (ids.to(model.projection.weight.device) for ids in model_inputs(sentence.src_ids, sentence.tgt_ids))
    with torch.enable_grad():
        F.cross_entropy(model(*inputs).logits[0].cpu(), right).backward()
    slopes = {name: weight.grad.cpu().numpy() for name, weight in model.named_parameters() if ".W_" in name and weight.ndim == 2}
    name = max(slopes, key=lambda name: abs(slopes[name]).max())
    at = np.unravel_index(abs(slopes[name]).argmax(), slopes[name].shape)
    area, symbol, transposed = sheets.areas[name]
    row, column = at[::-1] if transposed else at
    return area.part(int(row), int(column)), symbol, float(sheets.parameters[name][at]), float(slopes[name][at])


if TYPE_CHECKING:
    from playground.export.cells import Area
    from playground.export.sheets import Sheets
