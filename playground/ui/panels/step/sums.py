"""How a number of a training step came to be: sheets whose terms are called by the tokens of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playground.inspection.arithmetic import SYMBOLS, Derivation, Label
from playground.queries.training_rows import BatchRows
from playground.ui.panels.map import derivation_view
from playground.ui.view import View
from playground.words import printed

OF_THE_BATCH = ("x", "normed", "delta", "token_loss")  # labels that name a token of the batch
SOURCE = ("src", "encoder")  # modules that see the source's tokens begin so,
MEMORY = ("cross_attention.W_k", "cross_attention.W_v")  # or end so


def sheet(view: View, rows: BatchRows, derivation: Derivation, title: str, own: str, still: bool = False) -> dict:
    """A derivation whose terms are tokens of the batch; `own` are the words of the number that it comes to. `still`: nobody has asked."""
    return derivation_view.sheet(view, derivation, title, labels(view, rows), own, question=False, still=still)


def labels(view: View, rows: BatchRows) -> Callable[[Label], dict]:
    """What a label of a sheet is called: where it is of a token of the batch, the token with its row and place."""

    def say(label: Label) -> dict:
        title = view.say(f"map.term_{label.name}")
        if label.name == "logit_of":
            return {"text": f"{SYMBOLS[label.name]}[{tokens(view, label.index, 'tgt')[0]}]", "title": title}
        if label.name not in OF_THE_BATCH:
            return {"text": label.text, "title": title}
        if len(label.index) == 1:  # the token stands beside it, and over it what it is
            return {"text": "", "title": f"{title} · {label.stage}"}
        row, place, *_ = label.index
        module = label.stage or ""
        source = module.startswith(SOURCE) or module.endswith(MEMORY)
        ids = rows.src if source else rows.tgt_out if label.name == "token_loss" else rows.tgt_in
        token = tokens(view, ids[row, place : place + 1], "src" if source else "tgt")[0]
        where = view.say("step.where", row=row + 1, place=place + 1)
        return {"text": f"{row + 1}.{place + 1} “{token}”", "title": f"{title} · {where}" + (f" · {module}" if module else "")}

    return say


def tokens(view: View, ids: Sequence[int] | np.ndarray, side: str) -> list[str]:
    """Ids as the run's tokenizer of the "src" or "tgt" side writes them."""
    tokenizer = view.run.tokenizers[side == "tgt"]
    return [tokenizer.piece(int(id)) for id in ids]


def short(value: float) -> str:
    """Four significant digits, with a real minus."""
    return printed(f"{value:.4g}")
