"""Every toy task by name, its three splits, and the right answers to anything a visitor types.

Which split a sentence belongs to is a property of the sentence alone: the harder kind is the task's to say; of the rest, a tenth is held
out, chosen by a hash of the source. So no held-out sentence is ever trained on, whatever the seed, and whoever else draws.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from playground.tasks import chinese, commands, dates, german, meanings, numbers, sequences
from playground.tasks.example import SPLITS, Example, Task, units

__all__ = ["SPLITS", "TASKS", "Example", "Task", "answers", "drawn", "examples", "references", "split_of", "units"]

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        sequences.COPY,
        sequences.REVERSE,
        sequences.SORT,
        sequences.ROTATE,
        sequences.LOOKUP,
        sequences.BRACKETS,
        numbers.ADDITION,
        numbers.NUMBERS_DE,
        numbers.NUMBERS_ZH,
        numbers.NUMBERS_EN,
        dates.DATES,
        german.GERMAN_ENGLISH,
        chinese.CHINESE_ENGLISH,
        commands.COMMANDS,
        commands.COMMANDS_JUMP,
        *commands.WITH_EXAMPLES,
        commands.COMMANDS_LENGTH,
        meanings.ONE_TO_MANY,
        german.BEER,
    )
}
MAX_FRUITLESS_DRAWS = 2000  # draws in a row that bring nothing new before a finite split counts as used up


def split_of(task: str, src: str) -> str | None:
    """The split that a sentence belongs to: "train", "heldout" or "harder"; None when it is no sentence of the task."""
    found = answers(task, src)
    return _split(task, found[0].src) if found else None


def _split(task: str, src: str) -> str:
    """The same for what is known to be a sentence of the task."""
    if TASKS[task].has_harder and TASKS[task].is_harder(src):
        return "harder"
    digest = blake2b(src.encode(), digest_size=8).digest()
    return "heldout" if int.from_bytes(digest, "big") % 10 == 0 else "train"


def examples(task: str, split: str, count: int, seed: int) -> list[Example]:
    """The first `count` that `drawn` gives; fewer when there are no more. Raises ValueError for an unknown task or split."""
    return list(islice(drawn(task, split, seed), count))


def drawn(task: str, split: str, seed: int) -> Iterator[Example]:
    """Examples in random order, a pure function of the arguments.

    Training examples may repeat (a finite task has fewer sentences than a long training wants) and never end. Held-out and harder sources
    are distinct, so a finite task has an end of them; a task without a harder kind gives none. A task that is only learnt by heart (beer)
    gives its one pair for both "train" and "heldout". Raises ValueError for an unknown task or split.
    """
    if task not in TASKS or split not in SPLITS:
        raise ValueError(f"no split {split!r} of task {task!r}")
    return _drawn(TASKS[task], split, random.Random(f"{task} {split} {seed}"))


def _drawn(task: Task, split: str, rng: random.Random) -> Iterator[Example]:
    harder = split == "harder"
    if task.memorised or (harder and not task.has_harder):
        yield from () if harder else (task.draw(rng, False),)
        return
    seen: set[str] = set()
    fruitless = 0
    while fruitless < MAX_FRUITLESS_DRAWS:
        example = task.draw(rng, harder)
        if example.src in seen or _split(task.name, example.src) != split:
            fruitless += 1
            continue
        fruitless = 0
        if split != "train":
            seen.add(example.src)
        yield example


@lru_cache(maxsize=1024)
def of_length(task: str, length: int, count: int, seed: int) -> tuple[Example, ...]:
    """At most `count` examples of `length` source units, with distinct sources that training never shows: held out, or longer.

    None of a task whose sentences can't be made to measure, or that has none of this length. A pure function of the arguments.
    """
    draw, rng = TASKS[task].draw_long, random.Random(f"{task} {length} {seed}")
    found: dict[str, Example] = {}
    for _ in range(MAX_FRUITLESS_DRAWS if draw else 0):
        example = draw(rng, length)
        if example is None or len(found) == count:
            break
        if _split(task, example.src) != "train":
            found.setdefault(example.src, example)
    return tuple(found.values())


def answers(task: str, src: str) -> tuple[Example, ...]:
    """Every right answer to a source, with its alignment; () when the source is no sentence of the task.

    Blanks around and between words don't matter where the units are words.
    """
    return TASKS[task].answers(" ".join(src.split()) if TASKS[task].src_unit == "words" else src)


def references(task: str, src: str) -> tuple[str, ...] | None:
    """Every right target of a source, or None when the source is no sentence of the task."""
    return tuple([example.tgt for example in answers(task, src)]) or None
