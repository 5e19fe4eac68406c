"""Toy tasks: small languages with known answers to every sentence. Standard library only. Read in this order:

sequences, numbers (tasks about symbols, and commands) · grammars (two languages from one set of rules; German words with two meanings) ·
german, chinese (small languages) · toy_tasks (all of them by name, and their splits). Here: the interface of a task.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

SPLITS = ("train", "heldout", "harder")


class Example(NamedTuple):
    """A source sentence with a right target.

    `alignment` has one entry for every unit of the target (a character or a word): the index of the source unit that determines it, where
    attention would have to look. None if no single source unit does.
    """

    src: str
    tgt: str
    alignment: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Task:
    """A small language pair with known answers to every sentence."""

    name: str
    src_unit: str  # "characters" | "words" (separated by one space)
    tgt_unit: str
    draw: Callable[[random.Random, bool], Example]  # draws one example; True: of the harder kind
    answers: Callable[[str], tuple[Example, ...]]  # every right answer to a source; () for no sentence of the task
    is_harder: Callable[[str], bool] | None = None  # whether a sentence of the task is of the kind excluded from training
    memorised: bool = False  # only the sentence(s) to memorise: training and held-out are the same
    draw_long: Callable[[random.Random, int], Example | None] | None = None  # one with this many source units, or None
    draw_number: Callable[[random.Random, int], Example] | None = None  # the training example of this number, where the kind changes
    telling: str = ""  # a readable held-out source, where random ones mean nothing to people
    steps: int | None = None  # of training, where the default is too few
    place: int = 1000  # in the menu, ascending; a new task comes last

    @property
    def has_harder(self) -> bool:
        return self.is_harder is not None


def units(text: str, unit: str) -> list[str]:
    """Splits a text into its "characters" (spaces included) or its "words"."""
    return list(text) if unit == "characters" else text.split()



