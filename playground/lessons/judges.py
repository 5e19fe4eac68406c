"""Judges of ablations: each says which guess the results of an experiment bear out; and what they measure beyond the curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from playground.data.corpus import Corpus
from playground.lessons.controlled import Result, Results, above, mean
from playground.model.transformer import Transformer
from playground.training.metrics import build_eval_set, validate

CLEAR = 0.2  # a part whose absence costs so much is needed
FEWER = 1.25  # losses that are less than so many times as large are alike
HARDER = 100  # longer sentences that are tried


def which(*pairs: str) -> Callable[[Results], str]:
    """A judge of two pairs of arms, `<pair>_with` and `<pair>_without`: which of the two needs the part, "both" or "neither"."""

    def judge(results: Results) -> str:
        found = [pair for pair in pairs if above(results[f"{pair}_with"], results[f"{pair}_without"], "exact", CLEAR)]
        return found[0] if len(found) == 1 else "both" if found else "neither"

    return judge


def in_time(results: Results) -> str:
    """Whether the model without a part is clearly behind at the end ("never"), only at the early step ("later"), or at neither."""

    def behind(when: str) -> bool:
        return above(results["with"], results["without"], when, CLEAR)

    return "never" if behind("exact") else "later" if behind("early") else "same"


def factor(results: Results) -> str:
    """For which embeddings the factor √d_model raises exact match, and for which it lowers it."""

    def clearly(start: str, one: str, other: str) -> bool:
        return above(results[f"{start}_{one}"], results[f"{start}_{other}"], "exact", CLEAR)

    starts = dict.fromkeys(arm.rpartition("_")[0] for arm in results)
    helps, harms = ([start for start in starts if clearly(start, *ways)] for ways in (("with", "without"), ("without", "with")))
    if "small" in helps and "unit" in harms:
        return "turns"
    if harms:
        return "other"
    return {0: "none", len(starts): "all"}.get(len(helps), "small" if helps == ["small"] else "other")


def lowest(results: Results) -> str:
    """The arm with the lowest loss, when no other comes near it; else "same"."""
    first, second, *_ = sorted(results, key=lambda arm: mean(results[arm], "loss"))
    return first if worse(results[second], results[first]) else "same"


def worse(one: Sequence[Result], other: Sequence[Result]) -> bool:
    """Whether the loss of one arm is clearly higher than that of another."""
    return above(one, other, "loss", (FEWER - 1) * mean(other, "loss"))


def layout(results: Results) -> str:
    """Whether the order of the columns matters, or only the kind of positions."""

    def apart(arm: str) -> bool:
        pair = results["interleaved"], results[arm]
        return above(*pair, "exact", CLEAR) or above(*reversed(pair), "exact", CLEAR)

    return "order" if apart("concatenated") else "kind" if apart("learned") or apart("rotary") else "same"


def number_of_heads(results: Results) -> str:
    """Which number of heads has the lowest loss, by however little: "one", "between" or "more" for the most."""
    least = min(results, key=lambda arm: mean(results[arm], "loss"))
    return {"one": "one", "eight": "more"}.get(least, "between")


def between(results: Results) -> str:
    """Whether one head is enough, more are always better, or the best number lies between."""
    least = min(results.values(), key=lambda found: mean(found, "loss"))
    if not worse(results["one"], least):
        return "one"
    return "between" if worse(results["eight"], least) else "more"


def key_size(results: Results) -> str:
    """Whether d_k = 1 is clearly worse than the paper's d_k, whether a larger one than that is clearly better, "both" or "neither"."""
    narrow = above(results["eight"], results["one"], "exact", CLEAR)
    wide = above(results["many"], results["eight"], "exact", CLEAR)
    return {(True, True): "both", (True, False): "narrow", (False, True): "wide"}.get((narrow, wide), "neither")


def farther(results: Results) -> str:
    """Which models write longer sentences than training had: one with positions that are "added" among them, else which of the others."""
    able = {arm for arm, of_arm in results.items() if mean(of_arm, "harder") > 1 - CLEAR}
    if able & {"sinusoids", "learned"}:
        return "added"
    return "both" if len(able) == 2 else able.pop() if able else "none"


def harder(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """The share of longer sentences that are right."""
    return {"harder": validate(model, build_eval_set(corpus, corpus.harder[:HARDER])).exact_match}
