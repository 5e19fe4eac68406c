"""Judges of ablations: functions that return the guess supported by an experiment's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playground.lessons.controlled import CLEAR, Result, Results, above, mean

FEWER = 1.25  # a smaller ratio of losses is no difference


def which(*pairs: str) -> Callable[[Results], str]:
    """Makes a judge of two pairs of arms, `<pair>_with` and `<pair>_without`: the pair that needs the part, "both" or "neither"."""

    def judge(results: Results) -> str:
        needing = [pair for pair in pairs if above(results[f"{pair}_with"], results[f"{pair}_without"], "exact", CLEAR)]
        return needing[0] if len(needing) == 1 else "both" if needing else "neither"

    return judge


def in_time(results: Results) -> str:
    """Judges whether the model without a part is clearly behind at the end ("never"), only at the early step ("later"), or at neither."""

    def behind(when: str) -> bool:
        return above(results["with"], results["without"], when, CLEAR)

    return "never" if behind("exact") else "later" if behind("early") else "same"


def factor(results: Results) -> str:
    """Judges for which embeddings the factor √d_model raises or lowers exact match."""

    def clearly(start: str, way: str, other_way: str) -> bool:
        return above(results[f"{start}_{way}"], results[f"{start}_{other_way}"], "exact", CLEAR)

    starts = dict.fromkeys(arm.rpartition("_")[0] for arm in results)
    helps, harms = ([start for start in starts if clearly(start, *ways)] for ways in (("with", "without"), ("without", "with")))
    if "small" in helps and "unit" in harms:
        return "turns"
    if harms:
        return "other"
    return {0: "none", len(starts): "all"}.get(len(helps), "small" if helps == ["small"] else "other")


def lowest(results: Results) -> str:
    """Returns the arm with clearly the lowest loss; else "same"."""
    first, second, *_ = sorted(results, key=lambda arm: mean(results[arm], "loss"))
    return first if worse(results[second], results[first]) else "same"


def worse(results: Sequence[Result], other_results: Sequence[Result]) -> bool:
    """Whether one arm's loss is clearly higher than another's."""
    return above(results, other_results, "loss", (FEWER - 1) * mean(other_results, "loss"))


def layout(results: Results) -> str:
    """Judges whether the order of columns matters, or only the kind of positions."""

    def apart(arm: str) -> bool:
        pair = results["interleaved"], results[arm]
        return above(*pair, "exact", CLEAR) or above(*reversed(pair), "exact", CLEAR)

    return "order" if apart("concatenated") else "kind" if apart("learned") or apart("rotary") else "same"


def number_of_heads(results: Results) -> str:
    """Returns the number of heads with the lowest loss, without tolerance: "one", "between" or "more" for the most."""
    least = min(results, key=lambda arm: mean(results[arm], "loss"))
    return {"one": "one", "eight": "more"}.get(least, "between")


def between(results: Results) -> str:
    """Judges whether one head suffices, more are always better, or the optimum is between."""
    least = min(results.values(), key=lambda results: mean(results, "loss"))
    if not worse(results["one"], least):
        return "one"
    return "between" if worse(results["eight"], least) else "more"


def key_size(results: Results) -> str:
    """Judges whether d_k = 1 is clearly worse than the paper's d_k, a larger one clearly better, "both" or "neither"."""
    narrow = above(results["eight"], results["one"], "exact", CLEAR)
    wide = above(results["many"], results["eight"], "exact", CLEAR)
    return {(True, True): "both", (True, False): "narrow", (False, True): "wide"}.get((narrow, wide), "neither")


def farther(results: Results) -> str:
    """Returns the models that generalise to longer sentences: "added" if any adds its positions, else the others."""
    able = {arm for arm, of_arm in results.items() if mean(of_arm, "harder") > 1 - CLEAR}
    if able & {"sinusoids", "learned"}:
        return "added"
    return "both" if len(able) == 2 else able.pop() if able else "none"
