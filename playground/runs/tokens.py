"""Tokens for display, and their comparison with the references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from playground.config import EOS, UNK
from playground.data.tokenizers import Tokenizer


def shown(tokenizer: Tokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    """Returns the display text of each id."""
    return tuple(map(tokenizer.piece, ids))


def tokens_correct(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Returns which output tokens are correct, against the best matching reference (ids without EOS).

    Aligned by minimum edit distance (Levenshtein), so that one token too many or too few doesn't make all later ones wrong. A token before
    which some are missing is wrong: another one belongs there. <unk> is never correct, being unreadable. All are correct only for a
    reference or its prefix.
    """
    judged = (_aligned(tuple(ids), (*answer, EOS)) for answer in answers)
    return max(judged, key=sum, default=(False,) * len(ids))


def tokens_in_place(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Compares by position: a token is correct if the reference has it at the same position."""

    def agreement(answer: Sequence[int]) -> tuple[bool, ...]:
        whole = (*answer, EOS)
        return tuple(i < len(whole) and token == whole[i] and token != UNK for i, token in enumerate(ids))

    return max(map(agreement, answers), key=sum, default=(False,) * len(ids))


def _aligned(ids: tuple[int, ...], whole: tuple[int, ...]) -> tuple[bool, ...]:
    """Returns which of `ids` match a token of the reference `whole`, by the shortest alignment that matches earliest."""
    if ids == whole:
        return tuple(token != UNK for token in ids)
    edits = _edits(ids, whole)
    right, at, missing = [], 0, False
    for i, token in enumerate(ids):
        paired = _paired(edits, ids, whole, i, at)
        while not paired and at < len(whole) and edits[i][at] == edits[i][at + 1] + 1:
            at, missing = at + 1, True
            paired = _paired(edits, ids, whole, i, at)
        right.append(paired and token == whole[at] and token != UNK and not missing)
        at, missing = at + paired, False  # an unpaired token is an insertion
    return tuple(right)


def _paired(edits: list[list[int]], ids: tuple[int, ...], whole: tuple[int, ...], i: int, at: int) -> bool:
    """Returns whether a shortest alignment pairs output token `i` with reference token `at`, equal or not."""
    return at < len(whole) and edits[i][at] == edits[i + 1][at + 1] + (ids[i] != whole[at])


def _edits(ids: tuple[int, ...], whole: tuple[int, ...]) -> list[list[int]]:
    """Returns the table [i][j]: the minimum edits from ids[i:] to whole[j:]."""
    edits = [[len(whole) - at for at in range(len(whole) + 1)]]
    for token in reversed(ids):
        after, row = edits[-1], [edits[-1][-1] + 1]
        for at in range(len(whole) - 1, -1, -1):
            row.append(min(after[at + 1] + (token != whole[at]), after[at] + 1, row[-1] + 1))
        edits.append(row[::-1])
    return edits[::-1]
