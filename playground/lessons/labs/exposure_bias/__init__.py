"""Exposure bias, measured on half-trained models: the same held-out sentences under teacher forcing and in free-running decoding.

Up to its first mistake a model reads the same tokens in both, so the mistake is at the same position, and the same sentences are correct.
They differ only after that position.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playground.config import EOS
from playground.data.corpus import Corpus, Item
from playground.decoding import greedy
from playground.features.evaluation.lengths_query import teacher_forced
from playground.lessons.controlled import CLOSE, Arms, ControlledExperiment, Measured, Results, falls, is_measured, mean
from playground.lessons.lab import Lines
from playground.model.transformer import Transformer

AROUND = 6  # plotted positions before and after the first mistake
DISTANCES = range(-AROUND, AROUND + 1)
WAYS = ("forced", "free")


class Decoded(NamedTuple):
    """The correctness of each token, EOS included, after reference tokens (`forced`) and after the model's own (`free`); `written` is
    whether free-running decoding gives exactly the whole sentence."""

    forced: np.ndarray
    free: np.ndarray
    written: bool


def decode(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> list[Decoded]:
    """Decodes each sentence teacher-forced in one pass, and greedily. The model is in eval mode, and each source has one reference."""
    answers = [(*item.tgt_ids, EOS) for item in items]
    outputs = greedy(model, [item.src_ids for item in items], max(map(len, answers)))
    return [
        Decoded(flags, _right(output.ids, answer), tuple(output.ids) == answer)
        for (flags, _), output, answer in zip(teacher_forced(model, corpus, items), outputs, answers, strict=True)
    ]


def _right(ids: Sequence[int], answer: Sequence[int]) -> np.ndarray:
    """Compares position by position; missing tokens are wrong."""
    return np.array([place < len(ids) and ids[place] == token for place, token in enumerate(answer)])


def by_distance(decoded: Sequence[Decoded], way: str, distances: Sequence[int] = DISTANCES) -> list[float]:
    """Measures token accuracy at each distance from the first mistake, over sentences with one; NaN without any that long."""
    flags_at: dict[int, list[bool]] = {distance: [] for distance in distances}
    for sentence in decoded:
        flags, first = getattr(sentence, way), first_mistake(sentence)
        for distance in flags_at if first is not None else ():
            if 0 <= first + distance < len(flags):
                flags_at[distance].append(bool(flags[first + distance]))
    return [float(np.mean(flags)) if flags else float("nan") for flags in flags_at.values()]


def first_mistake(sentence: Decoded) -> int | None:
    wrong = np.flatnonzero(~sentence.forced)
    return int(wrong[0]) if len(wrong) else None


def compared(model: Transformer, corpus: Corpus) -> Measured:
    """Measures exact match in free-running decoding, and in both ways the accuracy after the first mistake: 1 without mistakes."""
    decoded = decode(model, corpus, corpus.heldout)
    measured: dict[str, float | Sequence[float]] = {"written": float(np.mean([sentence.written for sentence in decoded]))}
    cut = [(sentence, first) for sentence in decoded if (first := first_mistake(sentence)) is not None]
    for way in WAYS:
        after = [flags for sentence, first in cut if len(flags := getattr(sentence, way)[first + 1 :])]
        measured[f"{way}_after"] = float(np.concatenate(after).mean()) if after else 1.0
        measured[way] = by_distance(decoded, way)
    return measured


def cost(results: Results) -> str:
    """Judges the cost of free running: whole "sentences", only "tokens" after the first mistake, or "nothing"."""
    if any(mean(results_of_arm, "exact") != mean(results_of_arm, "written") for results_of_arm in results.values()):
        return "sentences"
    after = (falls(results_of_arm, "forced_after", "free_after", CLOSE) for results_of_arm in results.values())  # the first mistake
    return "tokens" if any(after) else "nothing"


def around(results: Arms) -> tuple[Lines, ...]:
    """Plots token accuracy in percent by distance from the first mistake, averaged over seeds, once all models are trained."""
    if not is_measured(results):
        return ()
    means = {(seeds[0].arm, way): np.mean([result.profiles[way] for result in seeds], axis=0) for seeds in results for way in WAYS}
    lines = {f"{arm}_{way}": 100 * mean_row for (arm, way), mean_row in means.items()}
    return (Lines("around", np.asarray(DISTANCES), lines, percent=True),)


LAB = ControlledExperiment(
    "exposure_bias",
    ("sentences", "tokens", "nothing"),
    code=(decode, by_distance, cost),
    arms={"reverse": {}, "sort": {"task": "sort"}},
    base={"steps": 105, "validation_size": 300},
    judge=cost,
    more=compared,
    shows=around,
    shows_first=True,
    order=40,
    expects="tokens",
    next=("bug_future", "bug_shift"),
)
