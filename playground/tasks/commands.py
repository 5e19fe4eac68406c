"""Commands and the steps that carry them out, after SCAN (Lake and Baroni, "Generalization without systematicity", 2018)."""

from __future__ import annotations

import random
from itertools import pairwise

from playground.tasks.example import Example, Task
from playground.tasks.grammars import Grammar

ACTIONS = ("walk", "run", "skip", "look", "wave", "jump")
LONER = "jump"  # training says it only by itself, never with one of these behind it
MODIFIERS = ("left", "right", "back", "twice", "thrice")

GRAMMAR = Grammar(
    {
        "sentence": ["$repeated = $repeated", "$first and $second = $first $second", "$second after $first = $first $second"],
        "first": ["$repeated = $repeated"],
        "second": ["$repeated = $repeated"],
        "repeated": [
            "2: $turned = $turned",
            "$turned twice = $turned $turned",
            "$turned thrice = $turned $turned $turned",
        ],
        "turned": [
            "$action = $action",
            "$action left = LEFT@1 $action",
            "$action right = RIGHT@1 $action",
            "$action back = LEFT@1 LEFT@1 $action",
        ],
        "action": [f"{action} = {action.upper()}" for action in ACTIONS],
    }
)


def _modified_loner(src: str) -> bool:
    words = src.split()
    return any(word == LONER and after in MODIFIERS for word, after in pairwise(words))


def _draw(rng: random.Random, harder: bool) -> Example:
    while True:
        example = GRAMMAR.draw(rng)
        if _modified_loner(example.src) == harder:
            return example


# The split of the paper, "add jump": training says "jump" as a whole command and in no other, a tenth of the time, so that the word itself
# is learnt. Above, where it may stand beside "and" and "after", training shows most of how it is used.

ALONE = 0.1


def _longer_than_loner(src: str) -> bool:
    words = src.split()
    return LONER in words and len(words) > 1


def _draw_alone(rng: random.Random, harder: bool) -> Example:
    if not harder and rng.random() < ALONE:
        return GRAMMAR.parse(LONER)[0]
    while True:
        example = GRAMMAR.draw(rng)
        if example.src != LONER and (LONER in example.src.split()) == harder:
            return example


COMMANDS = Task("commands", "words", "words", _draw, GRAMMAR.parse, _modified_loner, steps=400)
COMMANDS_JUMP = Task("commands_jump", "words", "words", _draw_alone, GRAMMAR.parse, _longer_than_loner, steps=400)
