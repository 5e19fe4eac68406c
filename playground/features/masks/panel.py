"""The Masks tab: which positions a query can attend to, by the model's own mask functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.cursor import choices
from playground.data.batches import batches, split_batch
from playground.features.shared import blocks, panels
from playground.features.shared.figures import attention as pictures
from playground.features.shared.figures.tokens import steps
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.results import references
from playground.features.shared.view import View
from playground.inspection import masks
from playground.model.masks import causal_mask, padding_mask, segment_mask, target_mask
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.variants.decoder_only import join_masks
from playground.words import paragraph

JOINT = {"prefix": "prefix_decoder", "gpt": "causal_decoder"}  # the one mask of a decoder-only model -> its architecture
SOURCE = {"memory": padding_mask, "padding": padding_mask, "causal": causal_mask, "target": target_mask} | dict.fromkeys(JOINT, join_masks)
PARTS = ("decoder", "encoder", "cross")
MAX_SENTENCES = 4  # sentences in the batch


@panels.declare("masks", "inside", 3, panels.FORMULA)
def panel(view: View) -> dict:
    is_packed, model = view.run.experiment.training.packing, view.run.experiment.model
    kinds = [name for name in choices("mask") if is_packed or name != "packed"]
    if model.alteration.decoder_only:
        kinds = [name for name, architecture in JOINT.items() if architecture == model.architecture]
    kind = view.choice("mask", kinds)
    chooser = view.offer("mask", "mask", "page.mask", kinds, kind)
    about = view.say(f"page.mask_{kind}_about")
    if kind in JOINT and not model.alteration.decoder_only:
        about = f"{about} {view.say('page.mask_joint_about')}"
    elif is_packed and kind != "packed":
        about = f"{about} {view.say('page.mask_packs')}"
    large, *below = _build_packed(view) if kind == "packed" else _build_padded(view, kind)
    side = blocks.column("side", chooser, blocks.text("about", about, css="pg-caption"))
    footnote = blocks.text("three", view.say("page.mask_one" if model.alteration.decoder_only else "page.mask_three"), css="pg-about")
    return {"step": None, "blocks": [blocks.row("main", blocks.column("large", large), side, css="stage"), *below, footnote]}


def _build_padded(view: View, kind: str) -> list[dict]:
    """Builds the masks of the page's sentence and a few examples, padded to one length: the first, the choice of the others, these others,
    and the code."""
    own, _ = view.reader.read(view.run, view.text)
    known = references(view.run, own)  # else the model's output
    page_pair = own, known[0] if known else view.run.tokenizers[1].decode(piece.id for piece in view.look.targets)
    examples = dict(enumerate(_choose_examples(view.examples(), 6)))
    choices_by_id = {str(at): pair for at, pair in examples.items() if pair[0] != page_pair[0]}
    chosen = [at for at in view.field("masks").split(",") if at in choices_by_id] or [*choices_by_id][:: max(len(choices_by_id) - 1, 1)][:2]
    picked = sorted(set(chosen), key=int)[: MAX_SENTENCES - 1]
    pairs = [page_pair, *(choices_by_id[at] for at in picked)]
    src = [view.reader.pieces(view.run, source) for source, _ in pairs]
    tgt = [view.reader.pieces(view.run, target, "tgt") for _, target in pairs]
    src_ids, tgt_ids = [[piece.id for piece in row] + [EOS] for row in src], [[BOS] + [piece.id for piece in row] for row in tgt]
    batch = masks.batch(src_ids, tgt_ids)
    reasons = {"target": {"padding": batch["target_padding"], "future": batch["causal"]}, "causal": {"future": batch["causal"]}}
    bos, eos, pad = (SPECIAL_TOKENS[token] for token in (BOS, EOS, PAD))
    source = _pad_rows([[piece.text for piece in row] + [eos] for row in src], pad)
    inputs = _pad_rows([[bos] + [piece.text for piece in row] for row in tgt], pad)
    targets = _pad_rows([[piece.text for piece in row] + [eos] for row in tgt], pad)
    decoder = [steps(*sides) for sides in zip(inputs, targets, strict=True)]
    rows = source if kind == "padding" else decoder
    columns = source if kind in ("memory", "padding") else inputs
    lengths = [len(row) + 1 for row in (src if kind in ("memory", "padding") else tgt)]
    figures = []
    for at, number in enumerate(["own", *picked]):
        if kind in JOINT:  # without padding, which would part the source from the target
            s, t = len(src_ids[at]), len(tgt_ids[at])
            queries, keys = (source[at][:s] + names[at][:t] for names in (decoder, inputs))
            visible = masks.join_pair(src_ids[at], tgt_ids[at], kind == "gpt")
            causes, padding = {"future": visible}, 0
        else:
            end = lengths[at] if kind == "causal" else None  # the causal mask is the same for every sentence and hides no padding
            queries, keys = rows[at][:end], columns[at][:end]
            visible = np.broadcast_to(batch[kind][at], (len(rows[at]), len(columns[at])))[:end, :end]
            causes = {name: hidden[at][:end, :end] for name, hidden in reasons.get(kind, {"padding": batch[kind]}).items()}
            padding = len(keys) - lengths[at]
        picture = view.draw(
            *(pictures.grid, visible, queries, keys),
            kind={"memory": "cross", "padding": "encoder"}.get(kind, "decoder"),
            causes=causes,
            legend=at == 0,
            source=s if kind in JOINT else 0,
            **(view.stage if not at and view.stage else {"width": max(view.room(min(len(pairs), 3), gap=24), min(view.width, 300))}),
        )
        title, caption = view.say(f"page.mask_{kind}") if at == 0 else pairs[at][0], _write_caption(view, visible, padding)
        if view.presented:  # the figure stands alone
            title, caption = f"{view.say(f'page.mask_{kind}')} · {pairs[at][0]}", f"{view.say(f'page.mask_{kind}_about')} {caption}"
        figures.append(blocks.figure(f"mask-{number}", picture, caption, title))
    options = [{"value": at, "label": source} for at, (source, _) in choices_by_id.items()]
    return [
        figures[0],
        blocks.many("sentences", "masks", view.say("page.mask_sentences"), options, picked),
        blocks.row("grids", *figures[1:], css="grids"),
        blocks.code("source", SOURCE[kind]),
    ]


def _write_caption(view: View, visible: np.ndarray, padding: int) -> str:
    """Writes the number of masked cells, and of padding tokens."""
    pads = view.say("page.mask_pads", padding=padding) if padding else ""
    return paragraph([view.say("page.mask_caption", hidden=int((~visible).sum()), cells=visible.size), pads])


def _build_packed(view: View) -> list[dict]:
    """Builds all three masks of one row of the first training batch, the decoder's first, and the code."""
    row = packed_row(view.reader, view.runs.corpora, view.run)
    packed = masks.packed(row.src, row.tgt_in, row.src_segment_ids, row.tgt_segment_ids)
    src, tgt = (tokenizer.piece for tokenizer in view.run.tokenizers)
    source, inputs, targets = ([piece_of(id) for id in ids] for piece_of, ids in ((src, row.src), (tgt, row.tgt_in), (tgt, row.tgt_out)))
    decoder = steps(inputs, targets)
    axes = {"encoder": (source, source), "decoder": (decoder, inputs), "cross": (decoder, source)}
    figures = []
    for part in PARTS:
        place = view.stage if not figures and view.stage else {"share": 2 if figures else 1}
        picture = view.draw(pictures.grid, packed[part].allowed, *axes[part], kind=part, causes=packed[part].causes, **place)
        title = view.say(f"page.mask_packed_{part}")
        figures.append(blocks.figure(f"packed-{part}", picture, _write_packed_caption(view, row, packed[part]), title))
    return [
        figures[0],
        blocks.code("source", segment_mask),
        blocks.row("packed", *figures[1:], css="halves"),
        blocks.code("decode", Transformer.decode),
    ]


def _choose_examples(examples: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Chooses examples of as many different lengths as possible, sorted by length."""
    by_length = {len(source): (source, target) for source, target in reversed(examples)}
    lengths = sorted(by_length)
    chosen_count = min(count, len(lengths))
    return [by_length[lengths[round(at * (len(lengths) - 1) / max(chosen_count - 1, 1))]] for at in range(chosen_count)]


def _pad_rows(rows: list[list[str]], filler: str) -> list[list[str]]:
    """Pads all rows to the longest."""
    longest = max(map(len, rows))
    return [row + [filler] * (longest - len(row)) for row in rows]


def _write_packed_caption(view: View, row: PackedRow, mask: masks.Mask) -> str:
    """Writes the number of pairs in the row, and the cells hidden by each reason; a cell counts for the first that applies."""
    remaining, counts = np.ones_like(mask.allowed), {"future": 0}
    for name, allowed in mask.causes.items():
        counts[name] = int((remaining & ~allowed).sum())
        remaining = remaining & allowed
    key = "page.mask_packed_caption" if counts["future"] else "page.mask_packed_caption_both"
    return view.say(key, pairs=row.pairs, hidden=int((~mask.allowed).sum()), cells=mask.allowed.size, **counts)


class PackedRow(NamedTuple):
    """Token ids, the number of each token's pair (from 1; 0 is padding), and the number of pairs."""

    src: tuple[int, ...]  # S
    tgt_in: tuple[int, ...]  # T
    tgt_out: tuple[int, ...]  # T
    src_segment_ids: tuple[int, ...]
    tgt_segment_ids: tuple[int, ...]
    pairs: int


def packed_row(reader: Reader, corpora: Corpora, run: Run) -> PackedRow | None:
    """Returns the row of the run's first batch with the most pairs; None when the run doesn't pack."""
    config = run.experiment.training
    if not config.packing:
        return None

    def find() -> PackedRow:
        items = next(batches(corpora.get(run.experiment, run.pairs).train, config.batch_size, config.batch_unit, config.seed))
        (batch,) = split_batch(items, 1, packed=True)
        row = int(batch.tgt_segment_ids.amax(dim=1).argmax())  # the first of equals
        src, tgt_in, tgt_out, src_ids, tgt_ids = (tuple(tensor[row].tolist()) for tensor in batch)
        return PackedRow(src, tgt_in, tgt_out, src_ids, tgt_ids, max(tgt_ids))

    return reader.remember(run, ("packed",), find)
