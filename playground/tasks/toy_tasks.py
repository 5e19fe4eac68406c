"""Every toy task by name, its three splits, and the right answers to any input. A new task is one module here, and its words.

The split is a function of the sentence alone: the task decides which sentences are harder; of the rest, a tenth is held out, chosen by a
hash of the source. So no held-out sentence is ever trained on, whatever the seed.
"""

import random
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from itertools import islice
from pathlib import Path
from pkgutil import iter_modules

from playground.tasks import SPLITS, Example, Task, units

__all__ = ["SPLITS", "TASKS", "Example", "Task", "answers", "draw_examples", "examples", "references", "split_of", "units"]


def _find_tasks() -> Iterator[Task]:
    """Yields the tasks that the other modules of this package declare."""
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.name != Path(__file__).stem:
            yield from (value for value in vars(import_module(f"{__package__}.{module.name}")).values() if isinstance(value, Task))


TASKS: dict[str, Task] = {task.name: task for task in sorted(_find_tasks(), key=lambda task: task.place)}
MAX_FRUITLESS_DRAWS = 2000  # draws in a row without a new sentence before a finite split counts as exhausted


def split_of(task: str, src: str) -> str | None:
    """Returns the split of a sentence: "train", "heldout" or "harder"; None for no sentence of the task."""
    sentences = answers(task, src)
    return _split(task, sentences[0].src) if sentences else None


def _split(task: str, src: str) -> str:
    """Returns the split of a sentence that is known to belong to the task."""
    if TASKS[task].has_harder and TASKS[task].is_harder(src):
        return "harder"
    digest = blake2b(src.encode(), digest_size=8).digest()
    return "heldout" if int.from_bytes(digest, "big") % 10 == 0 else "train"


def examples(task: str, split: str, count: int, seed: int) -> list[Example]:
    """Returns the first `count` of `draw_examples`, or fewer if there are no more. Raises ValueError for an unknown task or split."""
    return list(islice(draw_examples(task, split, seed), count))


def draw_examples(task: str, split: str, seed: int) -> Iterator[Example]:
    """Yields examples in random order, a pure function of the arguments.

    Training examples may repeat (a finite task has fewer sentences than a long training needs) and never end. Held-out and harder sources
    are distinct, so they end for a finite task; a task without a harder kind has none. A task to memorise (beer) yields its one pair for
    both "train" and "heldout". Raises ValueError for an unknown task or split.
    """
    if task not in TASKS or split not in SPLITS:
        raise ValueError(f"no split {split!r} of task {task!r}")
    return _draw_split(TASKS[task], split, random.Random(f"{task} {split} {seed}"))


def _draw_split(task: Task, split: str, rng: random.Random) -> Iterator[Example]:
    harder = split == "harder"
    if task.memorised or (harder and not task.has_harder):
        yield from () if harder else (task.draw(rng, False),)
        return
    sources: set[str] = set()
    fruitless = number = 0
    while fruitless < MAX_FRUITLESS_DRAWS:
        example = task.draw_number(rng, number) if task.draw_number and split == "train" else task.draw(rng, harder)
        if example.src in sources or _split(task.name, example.src) != split:
            fruitless += 1
            continue
        fruitless, number = 0, number + 1
        if split != "train":
            sources.add(example.src)
        yield example


@lru_cache(maxsize=1024)
def draw_of_length(task: str, length: int, count: int, seed: int) -> tuple[Example, ...]:
    """Returns at most `count` examples of `length` source units, with distinct sources outside the training split.

    None for a task that can't draw by length, or has no sentence of this length. A pure function of the arguments.
    """
    draw, rng = TASKS[task].draw_long, random.Random(f"{task} {length} {seed}")
    examples_drawn: dict[str, Example] = {}
    for _ in range(MAX_FRUITLESS_DRAWS if draw else 0):
        example = draw(rng, length)
        if example is None or len(examples_drawn) == count:
            break
        if _split(task, example.src) != "train":
            examples_drawn.setdefault(example.src, example)
    return tuple(examples_drawn.values())


def answers(task: str, src: str) -> tuple[Example, ...]:
    """Returns every right answer to a source, with its alignment; () when the source is no sentence of the task.

    Spaces around and between words are ignored if the units are words.
    """
    return TASKS[task].answers(" ".join(src.split()) if TASKS[task].src_unit == "words" else src)


def references(task: str, src: str) -> tuple[str, ...] | None:
    """Returns every right target of a source, or None when the source is no sentence of the task."""
    return tuple([example.tgt for example in answers(task, src)]) or None
