"""Which lesson asks which three questions; and the one that comes back two lessons later."""

from __future__ import annotations

import random
from dataclasses import replace

from playground.lessons.checks import attending, decoding, layers, learning, reading, rules
from playground.lessons.checks.posed import Check, Posed, Seen
from playground.lessons.course import LESSONS, Lesson, number

LATER = 2  # lessons after which a question comes back

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
    "rules": (rules.HARDER_KIND, rules.SEQUENCES, rules.LIST_SHARE),
}


def own(lesson: Lesson) -> tuple[Check, ...]:
    """The questions of a lesson; none of the tour, which asks on its way."""
    return CHECKS.get(lesson.name, ())


def again(lesson: Lesson) -> tuple[Check, ...]:
    """The one of an earlier lesson that is asked once more, another one each time; none in the first lessons."""
    at = number(lesson) - LATER
    earlier = own(LESSONS[at]) if at >= 0 else ()
    return earlier[(at - 1) % len(earlier) :][:1] if earlier else ()


def asked(lesson: Lesson) -> tuple[Check, ...]:
    return *own(lesson), *again(lesson)


def pose(check: Check, seen: Seen, draw: int = 1) -> Posed:
    """The question as it is asked of this sentence, always the same; another `draw` asks of another row, head or token. Raises Refusal
    where it can't be asked."""
    chance = random.Random(f"{check.name} {seen.run.id} {seen.step} {seen.text} {draw}")
    return check.pose(replace(seen, chance=chance))
