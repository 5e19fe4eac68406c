"""Final questions of a lesson, made from the run, step and sentence on screen and graded at once. Read in this order:

posed (a question, and how wrong options are made) · attending (on attention, heads, scores, residuals and norms) · reading (on tokens,
positions, masks and outputs) · learning (on curves, steps, data, and the limits of lists) · beliefs (twelve that the
shipped runs refute, asked before and after the course as well). Here each lesson has its questions, and the one repeated two lessons later.

A question's messages are `checks.<name>`, and `checks.<name>_why` for its answer; those of a belief stand in its module.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from playground.lessons.checks import attending, learning, reading
from playground.lessons.checks.beliefs import BELIEFS, Belief
from playground.lessons.checks.posed import Check, CheckContext, Posed
from playground.lessons.course import LESSONS, Lesson, number

LATER = 2  # lessons until a question is repeated

# The questions of each lesson: beliefs, or functions in one module.
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "attention": (attending, "importance", "attended"),
    "tokens": (reading, "different_ids", "embedding_size"),
    "weight": (attending, "ratio", "qkv", "shifted"),
    "heads": (attending, "ranked_heads", "unchanged", "parts"),
    "order": (reading, "distance", "learnt_positions", "orders"),
    "masks": (reading, "which_mask", "triangle", "padding"),
    "layers": (attending, "residual_sum", "normalised", "more_heads"),
    "training": (learning, "p_to_n", "cross_entropy", "sentences"),
    "teacher_forcing": (reading, "fed_token", "decoder_steps", "cheating"),
    "steering": (learning, "clipped"),
    "decoding": (reading, "wider", "temperature", "beam_best"),
    "own": (learning, "perplexity", "trained_on"),
    "rules": (learning, "harder_kind", "list_share"),
    "gpt": (reading, "gpt", "visible_keys"),
}
# Their keys follow from the paper's formulas, and would be wrong for a model with a bug or a variant.
BY_FORMULA = {
    "distance", "embedding_size", "normalised", "ranked_heads", "ratio", "residual_sum", "shifted", "visible_keys", "which_mask",
}  # fmt: skip
CHECKS: dict[str, tuple[Check | Belief, ...]] = {
    lesson: tuple(BELIEFS.get(name) or Check(name, getattr(module, name), name in BY_FORMULA) for name in names)
    for lesson, (module, *names) in QUESTIONS.items()
}


def list_own(lesson: Lesson) -> tuple[Check | Belief, ...]:
    """Returns the questions of a lesson; none for the tour, whose stops have their own."""
    return CHECKS.get(lesson.name, ())


def list_repeated(lesson: Lesson) -> tuple[Check | Belief, ...]:
    """Returns the repeated question of an earlier lesson, a different one each time; none in the first lessons."""
    at = number(lesson) - LATER
    earlier = list_own(LESSONS[at]) if at >= 0 else ()
    return earlier[(at - 1) % len(earlier) :][:1] if earlier else ()


def list_checks(lesson: Lesson) -> tuple[Check | Belief, ...]:
    return *list_own(lesson), *list_repeated(lesson)


def pose(check: Check | Belief, context: CheckContext, draw: int = 1) -> Posed:
    """Poses the question about this sentence, deterministically; another `draw` selects another row, head or token. Raises Refusal where it
    can't be posed."""
    chance = random.Random(f"{check.name} {context.run.id} {context.step} {context.text} {draw}")
    return check.pose(replace(context, chance=chance))
