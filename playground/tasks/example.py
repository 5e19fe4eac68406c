"""What a toy task is: a way to draw examples, and the right answers to any sentence of its language."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

SPLITS = ("train", "heldout", "harder")


class Example(NamedTuple):
    """A source sentence with a right target.

    `alignment` has one entry for every unit of the target (a character or a word, as the task says): the index of the source unit that
    says it, so where a reader who wrote this unit would have to look. None where no single source unit says it.
    """

    src: str
    tgt: str
    alignment: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Task:
    """A small language pair whose every sentence has known answers."""

    name: str
    src_unit: str  # "characters" | "words" (separated by one space)
    tgt_unit: str
    draw: Callable[[random.Random, bool], Example]  # one example; True asks for one of the harder kind
    answers: Callable[[str], tuple[Example, ...]]  # every right answer to a source; () when it is no sentence of the task
    is_harder: Callable[[str], bool] | None = None  # whether a sentence of the task is of the kind that training never shows
    memorised: bool = False  # nothing but the sentence(s) to learn by heart: training and held-out are the same
    draw_long: Callable[[random.Random, int], Example | None] | None = None  # one of so many source units; None where there is none
    telling: str = ""  # a held-out source that says something to a person, where drawn ones don't
    steps: int | None = None  # of training that are enough, where the usual number is too few

    @property
    def has_harder(self) -> bool:
        return self.is_harder is not None


def units(text: str, unit: str) -> list[str]:
    """A text as its "characters" (spaces are characters too) or its "words"."""
    return list(text) if unit == "characters" else text.split()
