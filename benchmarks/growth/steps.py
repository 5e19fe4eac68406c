"""Time of a training step against one size at a time, all else at the default settings and on one core."""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.growth.exponent import shown_slopes, slopes
from benchmarks.pace import cacheable, cores, timed
from benchmarks.suite import note
from benchmarks.tables import markdown, milliseconds, seconds, shown, summary
from playground.config import SPECIAL_TOKENS, Experiment
from playground.data.corpus import build_corpus
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs.queue.warmup import warm_up
from playground.tasks.toy_tasks import examples
from playground.training.loop import Training

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = 10  # of each sentence where the vocabulary grows
OWN_PAIRS = 2000  # at least, where sentences are made here
HEAD_WIDTH = 16  # of a head at least, where the width grows
INNER = 4  # d_ff as a multiple of d_model


class Axis(NamedTuple):
    """What grows: its name in words, its values, and the settings and own sentences of each."""

    said: str
    values: list[int]
    make: Callable[[int], tuple[dict, Pairs | None]]


def run(options: argparse.Namespace) -> list[dict]:
    """[{"axis", "values", "step": [summary of seconds of each], "first": the same, "slopes": {"step", "first"}}].

    first: from the settings to the end of the first step, with sentences, tokenizers and model. Rounds alternate over the values of an
    axis, so that what happens beside the benchmark hits all of them.
    """
    warm_up()
    with cores(1) as parallel_map:
        return [_axis(name, getattr(options, name), options, parallel_map) for name in options.axes]


def _axis(name: str, values: list[int], options: argparse.Namespace, parallel_map: Callable) -> dict:
    made = [AXES[name].make(value) for value in values]
    experiments = [cacheable(Experiment().with_(**dict(options.set) | knobs)) for knobs, _ in made]
    times: dict[str, list[list[float]]] = {"step": [[] for _ in values], "first": [[] for _ in values]}
    steppers: list[Callable] = []
    for number in range(options.rounds):
        for at, (experiment, (_, own)) in enumerate(zip(experiments, made, strict=True)):
            started = time.perf_counter()
            training = Training(experiment, build_corpus(experiment.data, own))
            training.parallel_map, steps = parallel_map, training.steps()
            next(steps)
            times["first"][at].append(time.perf_counter() - started)
            if number == 0:
                steppers.append(steps.__next__)
        for found, step in zip(times["step"], steppers, strict=True):
            found.append(statistics.median(timed(step, options.seconds)))
    note(
        f"{name}: " + ", ".join(f"{value} {1000 * statistics.median(all):.1f} ms" for value, all in zip(values, times["step"], strict=True))
    )
    medians = {what: [statistics.median(all) for all in found] for what, found in times.items()}
    return {
        "axis": name,
        "values": values,
        "slopes": {what: slopes(values, found) for what, found in medians.items()},
        **{what: [summary(all) for all in found] for what, found in times.items()},
    }


def _length(length: int) -> tuple[dict, Pairs]:
    """Words of just so many letters, to be reversed."""
    draw = random.Random(length)
    texts = {"".join(draw.choices(LETTERS, k=length)) for _ in range(OWN_PAIRS)}
    return {"task": "own", "tokenizer": "characters"}, _own([(text, text[::-1]) for text in sorted(texts)])


def _width(width: int) -> tuple[dict, None]:
    return {"d_model": width, "d_ff": INNER * width, "n_heads": next(n for n in (8, 4, 2, 1) if width // n >= HEAD_WIDTH)}, None


def _vocabulary(size: int) -> tuple[dict, Pairs]:
    """Sentences of words, as many different ones as fill the vocabulary, each about as often as any other; to be reversed."""
    draw, words = random.Random(size), [f"w{number}" for number in range(size - len(SPECIAL_TOKENS))]
    stream: list[str] = []
    while len(stream) < WORDS * OWN_PAIRS or len(stream) < WORDS * len(words):
        stream += draw.sample(words, len(words))
    sentences = [stream[at : at + WORDS] for at in range(0, len(stream) - WORDS + 1, WORDS)]
    return {"task": "own", "tokenizer": "words"}, _own([(" ".join(some), " ".join(reversed(some))) for some in sentences])


def _pairs(count: int) -> tuple[dict, None]:
    return {"train_size": count}, None


def _own_pairs(count: int) -> tuple[dict, Pairs]:
    return {"task": "own", "tokenizer": "characters"}, _own([(one.src, one.tgt) for one in examples("reverse", "train", count, 1)])


def _own(pairs: list[tuple[str, str]]) -> Pairs:
    """As if somebody had uploaded them."""
    return Pairs(tuple(Pair(src, tgt, line) for line, (src, tgt) in enumerate(pairs, 1)), {}, len(pairs), "tsv", ("benchmark",))


AXES = {
    "length": Axis("tokens of every sentence", [4, 8, 16, 32, 60], _length),
    "width": Axis("d_model, with d_ff four times as much", [32, 64, 128, 256, 512], _width),
    "vocabulary": Axis("tokens on each side", [30, 100, 300, 1000, 3000, 8000], _vocabulary),
    "pairs": Axis("pairs of a task", [1000, 10_000, 100_000], _pairs),
    "own_pairs": Axis("pairs that somebody uploaded", [1000, 10_000, 100_000], _own_pairs),
}


def table(result: list[dict]) -> str:
    head = ("what grows", "to", "ms a step", "seconds to the end of the first")
    rows = []
    for found in result:
        rows += [
            (AXES[found["axis"]].said, str(value), shown(step, milliseconds), shown(first, seconds))
            for value, step, first in zip(found["values"], found["step"], found["first"], strict=True)
        ]
    exponents = [(AXES[found["axis"]].said, *(shown_slopes(found["slopes"][what]) for what in ("step", "first"))) for found in result]
    return f"{markdown(head, rows)}\n\n{markdown(('exponents', 'of a step', 'to the end of the first'), exponents)}"
