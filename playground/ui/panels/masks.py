"""Masks of a small batch of real sentences, made by the model's own functions, whose source stands beside the picture."""

from __future__ import annotations

import numpy as np

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.cursor import choices
from playground.figures import masks as pictures
from playground.inspection import masks
from playground.model.masks import causal_mask, padding_mask, target_mask
from playground.ui import blocks
from playground.ui.view import View

SOURCE = {"memory": padding_mask, "padding": padding_mask, "causal": causal_mask, "target": target_mask}
MAX_SENTENCES = 4  # sentences in the batch


def panel(view: View) -> dict:
    kind = view.choice("mask")
    examples = _different(view.examples(), 6)
    picked = [at for at in view.field("masks").split(",") if at and int(at) < len(examples)] or [
        "0",
        str(len(examples) // 2),
        str(len(examples) - 1),
    ]
    picked = sorted(set(picked), key=int)[:MAX_SENTENCES]
    pairs = [examples[int(at)] for at in picked]
    src = [view.reader.pieces(view.run, source) for source, _ in pairs]
    tgt = [view.reader.pieces(view.run, target, "tgt") for _, target in pairs]
    found = masks.batch([[piece.id for piece in row] + [EOS] for row in src], [[BOS] + [piece.id for piece in row] for row in tgt])
    mask = found[kind]
    source_names = [[piece.text for piece in row] + [SPECIAL_TOKENS[EOS]] for row in src]
    target_names = [[SPECIAL_TOKENS[BOS]] + [piece.text for piece in row] for row in tgt]
    columns = source_names if kind in ("memory", "padding") else target_names
    rows = {"memory": target_names, "padding": source_names}.get(kind, target_names)
    longest = mask.shape[-1]
    figures = []
    for at, number in enumerate(picked):
        names = columns[at] + [SPECIAL_TOKENS[PAD]] * (longest - len(columns[at]))
        height = max(map(len, rows))
        asks = rows[at] + [SPECIAL_TOKENS[PAD]] * (height - len(rows[at]))
        shown = np.broadcast_to(mask[at], (len(asks), longest))
        causes = {"padding": found["target_padding"][at], "future": found["causal"][at]} if kind == "target" else None
        picture = view.draw(
            pictures.grid,
            shown,
            asks,
            names,
            kind={"memory": "cross", "padding": "encoder"}.get(kind, "decoder"),
            width=max(view.room(min(len(picked), 3), gap=24), min(view.width, 300)),
            causes=causes,
        )
        figures.append(blocks.figure(f"mask-{number}", picture, _caption(view, kind, shown, len(columns[at])), pairs[at][0]))
    options = [{"value": str(at), "label": source} for at, (source, _) in enumerate(examples)]
    kinds = [{"value": name, "label": view.say(f"page.mask_{name}")} for name in choices("mask")]
    return {
        "step": None,
        "blocks": [
            blocks.choice("mask", "mask", view.say("page.mask"), kinds, kind),
            blocks.many("sentences", "masks", view.say("page.mask_sentences"), options, picked),
            blocks.text("about", view.say(f"page.mask_{kind}_about"), css="pg-caption"),
            blocks.row("grids", *figures, css="grids"),
            blocks.code("source", SOURCE[kind]),
        ],
    }


def _different(examples: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """A few examples of as many lengths as there are, from short to long."""
    by_length = {len(source): (source, target) for source, target in reversed(examples)}
    lengths = sorted(by_length)
    steps = min(count, len(lengths))
    return [by_length[lengths[round(step * (len(lengths) - 1) / max(steps - 1, 1))]] for step in range(steps)]


def _caption(view: View, kind: str, mask: np.ndarray, length: int) -> str:
    hidden = int((~mask).sum())
    return view.say("page.mask_caption", hidden=hidden, cells=mask.size, padding=mask.shape[-1] - length)
