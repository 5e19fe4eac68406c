"""Tokens for display, and their comparison with the references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from playground.config import EOS, UNK
from playground.data.tokenizers import Tokenizer


def get_pieces(tokenizer: Tokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    """Returns the display text of each id."""
    return tuple(map(tokenizer.piece, ids))


def tokens_correct(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Returns which output tokens are correct, against the best matching reference (ids without EOS).

    Aligned by minimum edit distance (Levenshtein), so that one token too many or too few doesn't make all later ones wrong. A token before
    which some are missing is wrong: another one belongs there. <unk> is never correct, being unreadable. All are correct only for a
    reference or its prefix.
    """
    judged = (_match_tokens(tuple(ids), (*answer, EOS)) for answer in answers)
    return max(judged, key=sum, default=(False,) * len(ids))


def tokens_in_place(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Compares by position: a token is correct if the reference has it at the same position."""

    def agreement(answer: Sequence[int]) -> tuple[bool, ...]:
        reference = (*answer, EOS)
        return tuple(i < len(reference) and token == reference[i] and token != UNK for i, token in enumerate(ids))

    return max(map(agreement, answers), key=sum, default=(False,) * len(ids))


def _match_tokens(ids: tuple[int, ...], reference: tuple[int, ...]) -> tuple[bool, ...]:
    """Returns which of `ids` match a token of the `reference`, by the shortest alignment that matches earliest."""
    if ids == reference:
        return tuple(token != UNK for token in ids)
    edits = _edit_distances(ids, reference)
    right, at, missing = [], 0, False
    for i, token in enumerate(ids):
        paired = _is_paired(edits, ids, reference, i, at)
        while not paired and at < len(reference) and edits[i][at] == edits[i][at + 1] + 1:
            at, missing = at + 1, True
            paired = _is_paired(edits, ids, reference, i, at)
        right.append(paired and token == reference[at] and token != UNK and not missing)
        at, missing = at + paired, False  # an unpaired token is an insertion
    return tuple(right)


def _is_paired(edits: list[list[int]], ids: tuple[int, ...], reference: tuple[int, ...], i: int, at: int) -> bool:
    """Returns whether a shortest alignment pairs output token `i` with reference token `at`, equal or not."""
    return at < len(reference) and edits[i][at] == edits[i + 1][at + 1] + (ids[i] != reference[at])


def _edit_distances(ids: tuple[int, ...], reference: tuple[int, ...]) -> list[list[int]]:
    """Returns the table [i][j]: the minimum edits from ids[i:] to reference[j:]."""
    edits = [[len(reference) - at for at in range(len(reference) + 1)]]
    for token in reversed(ids):
        after, row = edits[-1], [edits[-1][-1] + 1]
        for at in range(len(reference) - 1, -1, -1):
            row.append(min(after[at + 1] + (token != reference[at]), after[at] + 1, row[-1] + 1))
        edits.append(row[::-1])
    return edits[::-1]
