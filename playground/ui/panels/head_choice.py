"""The head on display: the cursor's. Without a choice it stays the same at every step of a run."""

from __future__ import annotations

import numpy as np

from playground.inspection import attention as facts
from playground.queries.reader import REFERENCE
from playground.queries.results import SentenceTrace
from playground.ui import blocks
from playground.ui.view import View

CLEARER_MARGIN = 0.2  # more weight on the right places that another head needs before the page mentions it


def choose_head(view: View, part: str) -> tuple[int, int]:
    """Returns (layer, head) of the cursor, counted from 0; else the head the page already shows, so that neither a step nor a sentence
    changes it; else the best head by the run's newest parameters. With "follow" on, the best head of each step."""
    model = view.run.experiment.model
    layers, heads = model.encoder_layers if part == "encoder" else model.decoder_layers, model.n_heads
    if view.choice("follow") == "on":
        return find_best_head(view.look, part)
    head = view.head(layers, heads) or view.shown_head(part, layers, heads)
    return head or find_best_head(view.reader.look(view.run, None, view.text, REFERENCE), part)


def find_best_head(look: SentenceTrace, part: str) -> tuple[int, int]:
    """Returns (layer, head) of the best aligned head where the task has an alignment, else of the lowest mean entropy."""
    aligned = _measure_alignment(look, part)
    scores = -facts.entropy(getattr(look, part)).mean(axis=-1) if aligned is None else aligned
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def find_clearer_head(look: SentenceTrace, part: str, layer: int, head: int) -> tuple[int, int] | None:
    """Returns a head that keeps to the right places far better than this one; None if there is none."""
    scores, other = _measure_alignment(look, part), find_best_head(look, part)
    return other if scores is not None and scores[other] >= scores[layer, head] + CLEARER_MARGIN else None


def _measure_alignment(look: SentenceTrace, part: str) -> np.ndarray | None:
    """Returns each head's mean weight (L, H) on the places of the task's alignment; None without an alignment."""
    if part != "cross" or not look.alignment or all(at is None for at in look.alignment):
        return None
    return np.array([[facts.alignment_mass(weights, look.alignment) for weights in layer] for layer in look.cross])


def build_follow_choice(view: View) -> dict:
    """Builds the choice between keeping the head and following the best one at each step."""
    options = [{"value": value, "label": view.say(f"page.follow_{value}")} for value in ("off", "on")]
    return blocks.choice("follow", "follow", view.say("page.follow"), options, view.choice("follow"))


def format_head(part: str, layer: int, head: int) -> str:
    """Formats a head as the page stores it and sends it with its next request (see `View.held`)."""
    return f"{part}.{layer + 1}.{head + 1}"
