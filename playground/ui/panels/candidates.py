"""The tokens that were nearly written, at every step of an output, and the step that tells most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection.attention import entropy
from playground.queries.results import SentenceTrace
from playground.ui import blocks
from playground.ui.view import View, steps
from playground.words.amounts import percentage

LEAST = 0.005  # of a probability that is shown


def telling(look: SentenceTrace, right: Sequence[bool] | None, given: int) -> int:
    """The first wrong token that the model wrote by itself, after the first `given`; where none is known the step with the most entropy."""
    wrong = next((at for at, correct in enumerate(right or ()) if not correct and at >= given), None)
    return hesitating(look, given) if wrong is None else wrong


def hesitating(look: SentenceTrace, given: int) -> int:
    """The step with the most entropy, all that is not among the likeliest taken as one token; the first of equals."""
    own = min(given, len(look.likely) - 1)
    known = [[one.probability for one in row] for row in look.likely[own:]]
    bits = [entropy(np.array([*row, max(1 - sum(row), 0)])) for row in known]
    return own + int(np.argmax(np.round(bits, 9)))


def table(view: View, look: SentenceTrace, given: int) -> list[dict]:
    """Where the model hesitates most, and the likeliest tokens of each step with their probabilities, as far as these aren't next to 0."""
    shown = [[f"{one.text} {one.probability:.2f}" for one in row if one.probability >= LEAST] for row in look.likely]
    ranks = max(map(len, shown))
    rows = [[name, *row, *[""] * (ranks - len(row))] for name, row in zip(steps(look), shown, strict=True)]
    at = hesitating(look, given)
    first, *rest = look.likely[at]
    values = {"step": at + 1, "token": first.text, "percent": percentage(first.probability)}
    said = view.say("decoding.hesitates", **values, second=rest[0].text, other=percentage(rest[0].probability)) if rest else ""
    head = [view.say("decoding.candidates_step"), *(view.say("decoding.candidates_rank", rank=rank + 1) for rank in range(ranks))]
    return [
        *([blocks.text("hesitates", said, css="pg-caption")] if said else []),
        blocks.table("steps", head, rows, view.say("decoding.candidates"), rowheads=True, tokens=True),
    ]
