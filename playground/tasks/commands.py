"""Commands and the steps that carry them out, after SCAN (Lake and Baroni, "Generalization without systematicity", 2018)."""

from __future__ import annotations

import random
from itertools import pairwise

from playground.tasks import Example, Task
from playground.tasks.grammars import Grammar

ACTIONS = ("walk", "run", "skip", "look", "wave", "jump")
HELD_OUT_ACTION = "jump"  # in training only by itself, never before a modifier
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
    return any(word == HELD_OUT_ACTION and after in MODIFIERS for word, after in pairwise(words))


# The split of the paper, "add jump": in training "jump" is a whole command by itself, a tenth of the time, so that the word is learnt, and
# part of no other. In the task above it also occurs beside "and" and "after", so training shows most of its uses.

# As in the paper, variants add a few longer commands with "jump" to training. They are the beginnings of the list below; none of it is in
# the held-out tenth.

JUMP_ALONE, ADDED = 0.1, 0.1  # fractions of the training draws: "jump" by itself, and the added longer commands
COMPOSED = (
    "jump twice", "walk and jump left", "jump thrice after run", "jump right and look", "jump and wave", "skip after jump back",
    "jump left twice", "run left and jump", "jump back", "look twice and jump back", "jump back twice", "wave after jump",
    "jump right thrice and walk", "jump after look back", "skip right twice and jump thrice", "jump left after wave thrice",
)  # fmt: skip
COUNTS = (0, 1, 4, 16)


def _split_at_jump(name: str, count: int) -> Task:
    """Returns the task whose training has `count` of the longer commands with "jump"; all others are the harder split."""
    added = COMPOSED[:count]

    def is_harder(src: str) -> bool:
        words = src.split()
        return HELD_OUT_ACTION in words and len(words) > 1 and src not in added

    def draw(rng: random.Random, harder: bool) -> Example:
        dice = 1.0 if harder else rng.random()
        if dice < JUMP_ALONE:
            return GRAMMAR.parse(HELD_OUT_ACTION)[0]
        if added and dice < JUMP_ALONE + ADDED:
            return GRAMMAR.parse(rng.choice(added))[0]
        accepts = is_harder if harder else lambda src: HELD_OUT_ACTION not in src.split()
        return GRAMMAR.draw_where(rng, lambda example: accepts(example.src))

    return Task(name, "words", "words", draw, GRAMMAR.parse, is_harder, steps=400, place=150 + count)


# The other split of the paper: training has commands of few actions, the harder split longer ones, each half of which is short enough to
# be a training command.

MOST_ACTIONS = 9


def _takes_longer(src: str) -> bool:
    return len(GRAMMAR.parse(src)[0].tgt.split()) > MOST_ACTIONS


def _draw_of_length(rng: random.Random, harder: bool) -> Example:
    return GRAMMAR.draw_where(rng, lambda example: (len(example.tgt.split()) > MOST_ACTIONS) == harder)


COMMANDS = GRAMMAR.make_task("commands", _modified_loner, place=140, steps=400)
COMMANDS_JUMP, COMMANDS_JUMP_1, COMMANDS_JUMP_4, COMMANDS_JUMP_16 = (
    _split_at_jump(f"commands_jump{f'_{count}' if count else ''}", count) for count in COUNTS
)
COMMANDS_LENGTH = Task("commands_length", "words", "words", _draw_of_length, GRAMMAR.parse, _takes_longer, steps=400, place=190)
