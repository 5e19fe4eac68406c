"""Final questions of a lesson, made from the run, step and sentence on screen and graded at once. Read in this order:

posed (a question, and how wrong options are made) · attending (lessons on attention and heads) · reading (on tokens, positions and masks) ·
layers (on scores, residuals and layer norms) · learning (on curves, steps, data, and the limits of lists) · decoding (on outputs). Here
each lesson has its three questions, and the one repeated two lessons later.

A question's messages are `checks.<name>`, and `checks.<name>_why` for its answer.
"""

from __future__ import annotations

import random
from dataclasses import replace

from playground.lessons.checks import attending, decoding, layers, learning, reading
from playground.lessons.checks.posed import Check, CheckContext, Posed
from playground.lessons.course import LESSONS, Lesson, number

LATER = 2  # lessons until a question is repeated

CHECKS: dict[str, tuple[Check, ...]] = {
    "attention": (attending.LARGEST_WEIGHT, attending.ATTENDED, attending.ROW_REST),
    "tokens": (reading.IDS, reading.DIFFERENT_IDS, reading.EMBEDDING_SIZE),
    "weight": (layers.RATIO, layers.SCALING, layers.SHIFTED),
    "heads": (attending.RANKED_HEADS, attending.HEAD_WIDTH, attending.HEAD_COUNT),
    "order": (reading.DISTANCE, reading.SINE, reading.ORDERS),
    "masks": (reading.WHICH_MASK, reading.VISIBLE_KEYS, reading.HIDDEN_CELLS),
    "layers": (layers.RESIDUAL_SUM, layers.NORMALISED, layers.FEED_FORWARD_SIZE),
    "training": (learning.P_TO_N, learning.CROSS_ENTROPY, learning.FIRST_HALF),
    "teacher_forcing": (decoding.FED_TOKEN, decoding.DECODER_STEPS, decoding.SECOND_LIKELIEST),
    "steering": (learning.RATE_THEN, learning.LARGEST_RATE, learning.CLIPPED),
    "decoding": (decoding.LOG_SUM, decoding.TEMPERATURE, decoding.BEAM_BEST),
    "own": (learning.PERPLEXITY, learning.HELD_OUT, learning.TRAINED_ON),
    "rules": (learning.HARDER_KIND, learning.SEQUENCES, learning.LIST_SHARE),
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
