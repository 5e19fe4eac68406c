"""Copying: replaces <unk> by the source word with the largest cross-attention weight there, in the last layer, as a mean over its heads
(Luong et al. 2015, "Addressing the rare word problem", align words first; here attention does)."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import UNK
from playground.data.tokenizers import Tokenizer
from playground.decoding import trace
from playground.model.transformer import Transformer

BLANK = "▁"  # SentencePiece's mark for the beginning of a word


def align_unknown(model: Transformer, source: Sequence[int], written: Sequence[int]) -> tuple[int | None, ...]:
    """Returns for each written UNK the place of the source token to copy; None for all other tokens, and where no head attends."""
    if UNK not in written or not source:
        return (None,) * len(written)
    cross = trace(model, source, written).cross  # (L, H, T, S)
    if not cross.size:
        return (None,) * len(written)
    strongest = cross[-1].mean(axis=0)[:, : len(source)].argmax(axis=-1).tolist()  # EOS is no word
    return tuple(place if token == UNK else None for token, place in zip(written, strongest, strict=True))


def copy_words(tokenizer: Tokenizer, text: str, places: Sequence[int | None]) -> tuple[str | None, ...]:
    """Returns the source tokenizer's words of the text at these places."""
    pieces = tokenizer.pieces(text)
    return tuple(None if place is None else pieces[place][0].strip(BLANK) or None for place in places)
