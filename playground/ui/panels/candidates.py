"""The likeliest tokens at every step of an output, and the most informative step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection.attention import entropy
from playground.queries.results import SentenceTrace
from playground.ui import blocks
from playground.ui.view import View, steps
from playground.words.amounts import percentage

MIN_PROBABILITY = 0.005  # shown in the table


def find_telling_step(look: SentenceTrace, right: Sequence[bool] | None, prefix_length: int) -> int:
    """Returns the first wrong token after the given prefix; without one, or without a reference, the step of the highest entropy."""
    wrong = next((at for at, correct in enumerate(right or ()) if not correct and at >= prefix_length), None)
    return find_hesitation(look, prefix_length) if wrong is None else wrong


def find_hesitation(look: SentenceTrace, prefix_length: int) -> int:
    """Returns the first step of the highest entropy after the prefix; the probability of unlisted tokens counts as one token's."""
    start = min(prefix_length, len(look.likely) - 1)
    distributions = [[candidate.probability for candidate in row] for row in look.likely[start:]]
    bits = [entropy(np.array([*row, max(1 - sum(row), 0)])) for row in distributions]
    return start + int(np.argmax(np.round(bits, 9)))


def build_table(view: View, look: SentenceTrace, prefix_length: int) -> list[dict]:
    """Builds the step of the most hesitation, and each step's likeliest tokens with probabilities of at least MIN_PROBABILITY."""
    labels = [[f"{token.text} {token.probability:.2f}" for token in row if token.probability >= MIN_PROBABILITY] for row in look.likely]
    ranks = max(map(len, labels))
    rows = [[name, *row, *[""] * (ranks - len(row))] for name, row in zip(steps(look), labels, strict=True)]
    at = find_hesitation(look, prefix_length)
    first, *rest = look.likely[at]
    values = {"step": at + 1, "token": first.text, "percent": percentage(first.probability)}
    sentence = view.say("decoding.hesitates", **values, second=rest[0].text, other=percentage(rest[0].probability)) if rest else ""
    head = [view.say("decoding.candidates_step"), *(view.say("decoding.candidates_rank", rank=rank + 1) for rank in range(ranks))]
    return [
        *([blocks.text("hesitates", sentence, css="pg-caption")] if sentence else []),
        blocks.table("steps", head, rows, view.say("decoding.candidates"), rowheads=True, tokens=True),
    ]
