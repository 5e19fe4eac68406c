"""Copying: a word of the source in the place of a word that the model can't write: the one that cross-attention looks at most there, in
the last layer, as a mean over its heads (Luong et al. 2015, "Addressing the rare word problem", align words first; here attention does)."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import UNK
from playground.data.tokenizers import Tokenizer
from playground.decoding import trace
from playground.model.transformer import Transformer

BLANK = "▁"  # with which SentencePiece begins a word


def looked_at(model: Transformer, source: Sequence[int], written: Sequence[int]) -> tuple[int | None, ...]:
    """For each written token, the place of the source token that stands in for it: None for all but UNK, and where no head attends."""
    if UNK not in written or not source:
        return (None,) * len(written)
    cross = trace(model, source, written).cross  # (L, H, T, S)
    if not cross.size:
        return (None,) * len(written)
    most = cross[-1].mean(axis=0)[:, : len(source)].argmax(axis=-1).tolist()  # EOS is no word
    return tuple(place if token == UNK else None for token, place in zip(written, most, strict=True))


def copied(tokenizer: Tokenizer, text: str, places: Sequence[int | None]) -> tuple[str | None, ...]:
    """The words of the text, cut by the source's tokenizer, at these places."""
    pieces = tokenizer.pieces(text)
    return tuple(None if place is None else pieces[place][0].strip(BLANK) or None for place in places)
