"""Exposure bias, measured on half-trained models: the same held-out sentences under teacher forcing and in free-running decoding.

Up to its first mistake a model reads the same tokens in both, so its first mistake stands at the same position, and it gets the same
sentences right. What differs is what comes after that position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from playground.config import EOS
from playground.data.corpus import Corpus, Item
from playground.decoding import greedy
from playground.lessons.controlled import CLOSE, DEVIATIONS, ControlledExperiment, Measured, Result, Results, mean
from playground.lessons.lab import Lines, TextTable
from playground.model.transformer import Transformer
from playground.queries.lengths import teacher_forced

AROUND = 6  # positions before and after the first mistake that are drawn
DISTANCES = range(-AROUND, AROUND + 1)
WAYS = ("forced", "free")


class Decoded(NamedTuple):
    """Which tokens of a sentence are right, EOS included: after the right ones (`forced`), and after the model's own (`free`). `written`
    is whether free-running decoding gives the whole sentence and nothing more."""

    forced: np.ndarray
    free: np.ndarray
    written: bool


def decode(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> list[Decoded]:
    """Each sentence by one teacher-forced pass, and by greedy decoding, which reads what it has written. The model is in eval mode, and
    each source has one right answer."""
    answers = [(*item.tgt_ids, EOS) for item in items]
    outputs = greedy(model, [item.src_ids for item in items], max(map(len, answers)))
    return [
        Decoded(flags, _right(output.ids, answer), tuple(output.ids) == answer)
        for (flags, _), output, answer in zip(teacher_forced(model, corpus, items), outputs, answers, strict=True)
    ]


def _right(ids: Sequence[int], answer: Sequence[int]) -> np.ndarray:
    """Position by position; what was never written is wrong."""
    return np.array([place < len(ids) and ids[place] == token for place, token in enumerate(answer)])


def by_distance(decoded: Sequence[Decoded], way: str, distances: Sequence[int] = DISTANCES) -> list[float]:
    """The token accuracy at each distance from the first mistake, over the sentences that have one; NaN where none is so long."""
    found: dict[int, list[bool]] = {distance: [] for distance in distances}
    for one in decoded:
        flags, first = getattr(one, way), first_mistake(one)
        for distance in found if first is not None else ():
            if 0 <= first + distance < len(flags):
                found[distance].append(bool(flags[first + distance]))
    return [float(np.mean(flags)) if flags else float("nan") for flags in found.values()]


def first_mistake(one: Decoded) -> int | None:
    wrong = np.flatnonzero(~one.forced)
    return int(wrong[0]) if len(wrong) else None


def compared(model: Transformer, corpus: Corpus) -> Measured:
    """Exact match in free-running decoding, and the accuracy of all tokens after the first mistake of their sentence, in both ways: 1 when
    there are none."""
    decoded = decode(model, corpus, corpus.heldout)
    found: dict[str, float | Sequence[float]] = {"written": float(np.mean([one.written for one in decoded]))}
    cut = [(one, first) for one in decoded if (first := first_mistake(one)) is not None]
    for way in WAYS:
        after = [flags for one, first in cut if len(flags := getattr(one, way)[first + 1 :])]
        found[f"{way}_after"] = float(np.concatenate(after).mean()) if after else 1.0
        found[way] = by_distance(decoded, way)
    return found


def cost(results: Results) -> str:
    """What free running costs: whole "sentences", only "tokens" after the first mistake, or "nothing"."""
    if any(mean(found, "exact") != mean(found, "written") for found in results.values()):
        return "sentences"
    return "tokens" if any(map(_falls, results.values())) else "nothing"


def _falls(found: Sequence[Result]) -> bool:
    """Whether the accuracy after the first mistake is clearly lower in free-running decoding, of the same models."""
    gaps = [result.numbers["forced_after"] - result.numbers["free_after"] for result in found]
    return np.mean(gaps) > max(CLOSE, DEVIATIONS * np.std(gaps, ddof=1) if len(gaps) > 1 else 0)


@dataclass(frozen=True)
class ExposureBias(ControlledExperiment):
    def exhibits(self, results: Sequence[Sequence[Result]]) -> tuple[Lines | TextTable, ...]:
        """With the curves around the first mistake, once the models are trained."""
        measured = all(result.profiles for found in results for result in found)
        return (*((self.around(results),) if measured else ()), *super().exhibits(results))

    def around(self, results: Sequence[Sequence[Result]]) -> Lines:
        """Token accuracy in percent by the distance from the first mistake, the mean over the seeds."""
        lines = {
            f"{found[0].arm}_{way}": 100 * np.mean([result.profiles[way] for result in found], axis=0) for found in results for way in WAYS
        }
        return Lines("around", np.asarray(DISTANCES), lines, percent=True)


EXPOSURE_BIAS = ExposureBias(
    "exposure_bias",
    "ablation",
    ("sentences", "tokens", "nothing"),
    code=(decode, by_distance, cost),
    arms={"reverse": {}, "sort": {"task": "sort"}},
    base={"steps": 105, "validation_size": 300},
    judge=cost,
    more=compared,
    expects="tokens",
    next=("bug_future", "bug_shift"),
)
