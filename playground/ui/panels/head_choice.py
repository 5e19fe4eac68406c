"""Which head is shown: the one that a person chose. While nobody has, the same one at every step of a run."""

from __future__ import annotations

import numpy as np

from playground.inspection import attention as facts
from playground.queries.reader import REFERENCE
from playground.queries.results import SentenceTrace
from playground.ui import blocks
from playground.ui.view import View

CLEARER = 0.2  # how much more weight another head must have on the right places before the page speaks of it


def chosen(view: View, part: str) -> tuple[int, int]:
    """(layer, head) of the cursor, counted from 0. Without one that which the page already shows, so that neither a step nor a sentence
    changes it; without that the best of the run's newest parameters. Who follows the best head has that of each step."""
    model = view.run.experiment.model
    layers, heads = model.encoder_layers if part == "encoder" else model.decoder_layers, model.n_heads
    if view.choice("follow") == "on":
        return best(view.look, part)
    found = view.head(layers, heads) or view.shown_head(part, layers, heads)
    return found or best(view.reader.look(view.run, None, view.text, REFERENCE), part)


def best(look: SentenceTrace, part: str) -> tuple[int, int]:
    """(layer, head) worth a look: best aligned where the task says so, else the most decided."""
    aligned = _aligned(look, part)
    scores = -facts.entropy(getattr(look, part)).mean(axis=-1) if aligned is None else aligned
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def clearer(look: SentenceTrace, part: str, layer: int, head: int) -> tuple[int, int] | None:
    """Another head that keeps to the right places far better than this one; None when there is none."""
    scores, other = _aligned(look, part), best(look, part)
    return other if scores is not None and scores[other] >= scores[layer, head] + CLEARER else None


def _aligned(look: SentenceTrace, part: str) -> np.ndarray | None:
    """The mean weight (L, H) on the places that the task's alignment points to; None where there are none."""
    if part != "cross" or not look.alignment or all(at is None for at in look.alignment):
        return None
    return np.array([[facts.alignment_mass(weights, look.alignment) for weights in layer] for layer in look.cross])


def follow(view: View) -> dict:
    """Whether the head stays as it is, or is the best one at each step."""
    options = [{"value": value, "label": view.say(f"page.follow_{value}")} for value in ("off", "on")]
    return blocks.choice("follow", "follow", view.say("page.follow"), options, view.choice("follow"))


def named(part: str, layer: int, head: int) -> str:
    """The head as the page keeps it and names it when it asks again (see `View.held`)."""
    return f"{part}.{layer + 1}.{head + 1}"
