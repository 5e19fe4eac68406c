"""Tokens as people see them: shown, and judged against the right answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from playground.config import EOS, UNK
from playground.data.tokenizers import Tokenizer


def shown(tokenizer: Tokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    """What is shown for each id."""
    return tuple(map(tokenizer.piece, ids))


def tokens_correct(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Which of the written tokens are right, place by place, against the answer (ids without EOS) they agree with most.

    <unk> is never right: nobody could read it.
    """

    def agreement(answer: Sequence[int]) -> tuple[bool, ...]:
        whole = (*answer, EOS)
        return tuple(i < len(whole) and token == whole[i] and token != UNK for i, token in enumerate(ids))

    return max(map(agreement, answers), key=sum, default=(False,) * len(ids))
