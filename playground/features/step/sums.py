"""The arithmetic behind a number of a training step: sheets whose terms are labelled with the tokens of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playground.features.shared import derivation as derivation_view
from playground.features.shared.view import View
from playground.features.step.rows_query import BatchRows
from playground.inspection.arithmetic import SYMBOLS, Derivation, Label
from playground.words import printed

BATCH_LABELS = ("x", "normed", "delta", "token_loss")  # labels of a token of the batch
SOURCE = ("src", "encoder")  # prefixes of modules that read source tokens
MEMORY = ("cross_attention.W_k", "cross_attention.W_v")  # and their suffixes


def build_sheet(view: View, rows: BatchRows, derivation: Derivation, title: str, own: str, still: bool = False) -> dict:
    """Builds a derivation whose terms are tokens; `own` is the words key of the result. `still`: the page doesn't scroll to it."""
    return derivation_view.build_sheet(view, derivation, title, build_labeller(view, rows), own, question=False, still=still)


def build_labeller(view: View, rows: BatchRows) -> Callable[[Label], dict]:
    """Returns a function that writes a sheet's label; a token of the batch gets its text, row and place."""

    def write_label(label: Label) -> dict:
        title = view.say(f"map.term_{label.name}")
        if label.name == "logit_of":
            return {"text": f"{SYMBOLS[label.name]}[{spell_tokens(view, label.index, 'tgt')[0]}]", "title": title}
        if label.name not in BATCH_LABELS:
            return {"text": label.text, "title": title}
        if len(label.index) == 1:  # the sheet shows the token beside it
            return {"text": "", "title": f"{title} · {label.stage}"}
        row, place, *_ = label.index
        module = label.stage or ""
        is_source = module.startswith(SOURCE) or module.endswith(MEMORY)
        ids = rows.src if is_source else rows.tgt_out if label.name == "token_loss" else rows.tgt_in
        token = spell_tokens(view, ids[row, place : place + 1], "src" if is_source else "tgt")[0]
        position = view.say("step.where", row=row + 1, place=place + 1)
        return {"text": f"{row + 1}.{place + 1} “{token}”", "title": f"{title} · {position}" + (f" · {module}" if module else "")}

    return write_label


def spell_tokens(view: View, ids: Sequence[int] | np.ndarray, side: str) -> list[str]:
    """Spells token ids by the run's tokenizer of the "src" or "tgt" side."""
    tokenizer = view.run.tokenizers[side == "tgt"]
    return [tokenizer.piece(int(id)) for id in ids]


def format_4g(value: float) -> str:
    """Formats four significant digits, with a true minus."""
    return printed(f"{value:.4g}")
