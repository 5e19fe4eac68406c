"""Masks of a small batch, the page's sentence first, and of a packed row of the training batch, made by the model's own functions, whose
source stands beside the picture."""

from __future__ import annotations

import numpy as np

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.cursor import choices
from playground.figures import masks as pictures
from playground.figures.tokens import steps
from playground.inspection import masks
from playground.model.masks import causal_mask, padding_mask, segment_mask, target_mask
from playground.model.transformer import Transformer
from playground.queries.packing import PackedRow, packed_row
from playground.queries.references import references
from playground.ui import blocks
from playground.ui.view import View

SOURCE = {"memory": padding_mask, "padding": padding_mask, "causal": causal_mask, "target": target_mask}
PARTS = {"decoder": 1, "encoder": 2, "cross": 2}  # and how many stand side by side
MAX_SENTENCES = 4  # sentences in the batch


def panel(view: View) -> dict:
    packs = view.run.experiment.training.packing
    offered = [name for name in choices("mask") if packs or name != "packed"]
    kind = view.choice("mask", offered)
    kinds = [{"value": name, "label": view.say(f"page.mask_{name}")} for name in offered]
    chooser = blocks.choice("mask", "mask", view.say("page.mask"), kinds, kind)
    about = view.say(f"page.mask_{kind}_about")
    if packs and kind != "packed":
        about = f"{about} {view.say('page.mask_packs')}"
    shown = _packed(view) if kind == "packed" else _padded(view, kind)
    three = blocks.text("three", view.say("page.mask_three"), css="pg-about")
    return {"step": None, "blocks": [chooser, blocks.text("about", about, css="pg-caption"), *shown, three]}


def _padded(view: View, kind: str) -> list[dict]:
    """The page's sentence and a few examples, a row each, padded to one length."""
    own, examples = _own(view), dict(enumerate(_different(view.examples(), 6)))
    others = {str(at): pair for at, pair in examples.items() if pair[0] != own[0]}
    chosen = [at for at in view.field("masks").split(",") if at in others] or [*others][:: max(len(others) - 1, 1)][:2]
    picked = sorted(set(chosen), key=int)[: MAX_SENTENCES - 1]
    pairs = [own, *(others[at] for at in picked)]
    src = [view.reader.pieces(view.run, source) for source, _ in pairs]
    tgt = [view.reader.pieces(view.run, target, "tgt") for _, target in pairs]
    found = masks.batch([[piece.id for piece in row] + [EOS] for row in src], [[BOS] + [piece.id for piece in row] for row in tgt])
    mask = found[kind]
    bos, eos, pad = (SPECIAL_TOKENS[token] for token in (BOS, EOS, PAD))
    source = _filled([[piece.text for piece in row] + [eos] for row in src], pad)
    read = _filled([[bos] + [piece.text for piece in row] for row in tgt], pad)
    following = _filled([[piece.text for piece in row] + [eos] for row in tgt], pad)
    decoder = [steps(*sides) for sides in zip(read, following, strict=True)]
    rows = source if kind == "padding" else decoder
    columns = source if kind in ("memory", "padding") else read
    lengths = [len(row) + 1 for row in (src if kind in ("memory", "padding") else tgt)]
    figures = []
    for at, number in enumerate(["own", *picked]):
        end = lengths[at] if kind == "causal" else None  # which is the same for every sentence, and hides no padding
        shown = np.broadcast_to(mask[at], (len(rows[at]), len(columns[at])))[:end, :end]
        reasons = {"target": {"padding": found["target_padding"], "future": found["causal"]}, "causal": {"future": found["causal"]}}
        causes = {name: hidden[at][:end, :end] for name, hidden in reasons.get(kind, {"padding": mask}).items()}
        picture = view.draw(
            pictures.grid,
            shown,
            rows[at][:end],
            columns[at][:end],
            kind={"memory": "cross", "padding": "encoder"}.get(kind, "decoder"),
            width=max(view.room(min(len(pairs), 3), gap=24), min(view.width, 300)),
            causes=causes,
            legend=at == 0,
        )
        title, caption = pairs[at][0], _caption(view, shown, lengths[at])
        if view.presented:  # where it stands alone
            title, caption = f"{view.say(f'page.mask_{kind}')} · {title}", f"{view.say(f'page.mask_{kind}_about')} {caption}"
        figures.append(blocks.figure(f"mask-{number}", picture, caption, title))
    options = [{"value": at, "label": source} for at, (source, _) in others.items()]
    return [
        blocks.row("grids", *figures, css="grids"),
        blocks.code("source", SOURCE[kind]),
        blocks.many("sentences", "masks", view.say("page.mask_sentences"), options, picked),
    ]


def _packed(view: View) -> list[dict]:
    """All three masks of one row of the first training batch."""
    row = packed_row(view.reader, view.runs.corpora, view.run)
    found = masks.packed(row.src, row.tgt_in, row.src_segment_ids, row.tgt_segment_ids)
    src, tgt = (tokenizer.piece for tokenizer in view.run.tokenizers)
    source, read, following = ([name(id) for id in ids] for name, ids in ((src, row.src), (tgt, row.tgt_in), (tgt, row.tgt_out)))
    decoder = steps(read, following)
    axes = {"encoder": (source, source), "decoder": (decoder, read), "cross": (decoder, source)}
    figures = []
    for part, share in PARTS.items():
        picture = view.draw(pictures.grid, found[part].allowed, *axes[part], kind=part, causes=found[part].causes, share=share)
        title = view.say(f"page.mask_packed_{part}")
        figures.append(blocks.figure(f"packed-{part}", picture, _packed_caption(view, row, found[part]), title))
    return [
        figures[0],
        blocks.row("packed", *figures[1:], css="halves"),
        blocks.code("source", segment_mask),
        blocks.code("decode", Transformer.decode),
    ]


def _own(view: View) -> tuple[str, str]:
    """The page's sentence with its reference; where nobody knows one, with what the model writes."""
    source, _ = view.reader.read(view.run, view.text)
    known = references(view.run, source)
    return source, known[0] if known else view.run.tokenizers[1].decode(piece.id for piece in view.look.targets)


def _different(examples: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """A few examples of as many lengths as there are, from short to long."""
    by_length = {len(source): (source, target) for source, target in reversed(examples)}
    lengths = sorted(by_length)
    several = min(count, len(lengths))
    return [by_length[lengths[round(at * (len(lengths) - 1) / max(several - 1, 1))]] for at in range(several)]


def _filled(rows: list[list[str]], filler: str) -> list[list[str]]:
    """All as long as the longest."""
    longest = max(map(len, rows))
    return [row + [filler] * (longest - len(row)) for row in rows]


def _caption(view: View, mask: np.ndarray, length: int) -> str:
    hidden = int((~mask).sum())
    return view.say("page.mask_caption", hidden=hidden, cells=mask.size, padding=mask.shape[-1] - length)


def _packed_caption(view: View, row: PackedRow, mask: masks.Mask) -> str:
    """How many pairs share the row, and how many cells each reason hides, the first that there is."""
    seen, counts = np.ones_like(mask.allowed), {"future": 0}
    for name, allowed in mask.causes.items():
        counts[name] = int((seen & ~allowed).sum())
        seen = seen & allowed
    key = "page.mask_packed_caption" if counts["future"] else "page.mask_packed_caption_both"
    return view.say(key, pairs=row.pairs, hidden=int((~mask.allowed).sum()), cells=mask.allowed.size, **counts)
