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

# What would help is tried as in the paper: a few longer commands with "jump" are shown after all. The lists below are these, each a
# beginning of the next; none of them falls to the held-out tenth.

ALONE, SHOWN = 0.1, 0.1  # of the commands that training draws: "jump" by itself, and what of the longer ones it is shown
COMPOSED = (
    "jump twice", "walk and jump left", "jump thrice after run", "jump right and look", "jump and wave", "skip after jump back",
    "jump left twice", "run left and jump", "jump back", "look twice and jump back", "jump back twice", "wave after jump",
    "jump right thrice and walk", "jump after look back", "skip right twice and jump thrice", "jump left after wave thrice",
)  # fmt: skip
COUNTS = (0, 1, 4, 16)


def _split_at_jump(name: str, count: int) -> Task:
    """The task whose training has `count` of the longer commands with "jump"; the harder ones are all others of them."""
    shown = COMPOSED[:count]

    def is_harder(src: str) -> bool:
        words = src.split()
        return LONER in words and len(words) > 1 and src not in shown

    def draw(rng: random.Random, harder: bool) -> Example:
        dice = 1.0 if harder else rng.random()
        if dice < ALONE:
            return GRAMMAR.parse(LONER)[0]
        if shown and dice < ALONE + SHOWN:
            return GRAMMAR.parse(rng.choice(shown))[0]
        while True:
            example = GRAMMAR.draw(rng)
            if is_harder(example.src) if harder else LONER not in example.src.split():
                return example

    return Task(name, "words", "words", draw, GRAMMAR.parse, is_harder, steps=400)


# The other split of the paper: training has commands that take few actions, the harder ones take more. Each half of those was short enough
# to be a command of its own.

MOST_ACTIONS = 9


def _takes_longer(src: str) -> bool:
    return len(GRAMMAR.parse(src)[0].tgt.split()) > MOST_ACTIONS


def _draw_of_length(rng: random.Random, harder: bool) -> Example:
    while True:
        example = GRAMMAR.draw(rng)
        if (len(example.tgt.split()) > MOST_ACTIONS) == harder:
            return example


COMMANDS = Task("commands", "words", "words", _draw, GRAMMAR.parse, _modified_loner, steps=400)
COMMANDS_JUMP, *WITH_EXAMPLES = (_split_at_jump(f"commands_jump{f'_{count}' if count else ''}", count) for count in COUNTS)
COMMANDS_LENGTH = Task("commands_length", "words", "words", _draw_of_length, GRAMMAR.parse, _takes_longer, steps=400)
