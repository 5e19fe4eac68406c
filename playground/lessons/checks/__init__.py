"""Final questions of a lesson, made from the run, step and sentence on screen and graded at once. Read in this order:

posed (a question, and how wrong options are made) · attending (on attention, heads, scores, residuals and norms) · reading (on tokens,
positions, masks and outputs) · learning (on curves, steps, data, and the limits of lists). Here each lesson has its three questions, and
the one repeated two lessons later.

A question's messages are `checks.<name>`, and `checks.<name>_why` for its answer.
"""

from __future__ import annotations

import random
from dataclasses import replace
from types import ModuleType

from playground.lessons.checks import attending, learning, reading
from playground.lessons.checks.posed import Check, CheckContext, Posed
from playground.lessons.course import LESSONS, Lesson, number

LATER = 2  # lessons until a question is repeated

# The functions of each lesson's three questions, in one module.
QUESTIONS: dict[str, tuple[ModuleType, str, str, str]] = {
    "attention": (attending, "largest_weight", "attended", "row_rest"),
    "tokens": (reading, "ids", "different_ids", "embedding_size"),
    "weight": (attending, "ratio", "scaling", "shifted"),
    "heads": (attending, "ranked_heads", "head_width", "head_count"),
    "order": (reading, "distance", "sine", "orders"),
    "masks": (reading, "which_mask", "visible_keys", "hidden_cells"),
    "layers": (attending, "residual_sum", "normalised", "feed_forward_size"),
    "training": (learning, "p_to_n", "cross_entropy", "first_half"),
    "teacher_forcing": (reading, "fed_token", "decoder_steps", "second_likeliest"),
    "steering": (learning, "rate_then", "largest_rate", "clipped"),
    "decoding": (reading, "log_sum", "temperature", "beam_best"),
    "own": (learning, "perplexity", "held_out", "trained_on"),
    "rules": (learning, "harder_kind", "sequences", "list_share"),
}
# Their keys follow from the paper's formulas, and would be wrong for a model with a bug or a variant.
BY_FORMULA = {
    "distance", "embedding_size", "feed_forward_size", "head_count", "head_width", "hidden_cells", "normalised", "ranked_heads", "ratio",
    "residual_sum", "scaling", "shifted", "sine", "visible_keys", "which_mask",
}  # fmt: skip
CHECKS = {
    lesson: tuple(Check(name, getattr(module, name), name in BY_FORMULA) for name in names)
    for lesson, (module, *names) in QUESTIONS.items()
}


def list_own(lesson: Lesson) -> tuple[Check, ...]:
    """Returns the questions of a lesson; none for the tour, whose stops have their own."""
    return CHECKS.get(lesson.name, ())


def list_repeated(lesson: Lesson) -> tuple[Check, ...]:
    """Returns the repeated question of an earlier lesson, a different one each time; none in the first lessons."""
    at = number(lesson) - LATER
    earlier = list_own(LESSONS[at]) if at >= 0 else ()
    return earlier[(at - 1) % len(earlier) :][:1] if earlier else ()


def list_checks(lesson: Lesson) -> tuple[Check, ...]:
    return *list_own(lesson), *list_repeated(lesson)


def pose(check: Check, context: CheckContext, draw: int = 1) -> Posed:
    """Poses the question about this sentence, deterministically; another `draw` selects another row, head or token. Raises Refusal where it
    can't be posed."""
    chance = random.Random(f"{check.name} {context.run.id} {context.step} {context.text} {draw}")
    return check.pose(replace(context, chance=chance))
