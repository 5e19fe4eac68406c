"""Questions on how the run on screen learnt: its curves, its steps and its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

import numpy as np

from playground.config import Refusal
from playground.lessons.checks.posed import MOST, Check, Posed, Seen, percent, probability, short, whole

HALF, SURE, EARLY = 0.5, 0.97, 0.999  # shares that are right
LISTED, OTHERS = 4, 20  # training examples that Data lists, and sentences of other splits that may stand beside one
TRAINING = {"tab": "training"}


def _validations(seen: Seen) -> Mapping[str, Sequence[float]]:
    """Up to the step on screen. Raises Refusal while there are none."""
    rows = seen.run.history.validations.rows()
    last = seen.step if seen.step is not None else float("inf")
    kept = [at for at, step in enumerate(rows["step"]) if step <= last]
    if not kept:
        raise Refusal("course.not_measured")
    return {name: [column[at] for at in kept] for name, column in rows.items()}


def _steps(seen: Seen) -> Mapping[str, Sequence[float]]:
    rows = seen.run.history.steps.rows()
    if not rows["step"]:
        raise Refusal("course.not_measured")
    return rows


def p_to_n(seen: Seen) -> Posed:
    """Exact match from token accuracy, of sentences as long as this one. Wrong: p itself, n mistakes taken off, a power too few or many."""
    rows = _validations(seen)
    early = [at for at, share in enumerate(rows["token_accuracy"]) if HALF <= share <= SURE] or [int(np.argmin(rows["token_accuracy"]))]
    at = seen.chance.choice(early)
    share = round(rows["token_accuracy"][at], 3)  # as it is printed
    size = len(seen.look.targets)
    if not 0 < share < EARLY:
        raise Refusal("checks.all_right")
    wrong = [share, max(1 - size * (1 - share), 0), 1 - share, share**2, share / size, share ** (2 * size)]
    said = {"percent": percent(share), "size": size, "step": whole(rows["step"][at])}
    return seen.number(share**size, wrong, TRAINING | {"step": f"{rows['step'][at]:.0f}"}, percent, **said)


def cross_entropy(seen: Seen) -> Posed:
    """Of the token that the model finds hardest. Wrong: 1 − p, a logarithm to the base 10 or 2, p itself."""
    probabilities = np.asarray(seen.look.probabilities, dtype=np.float64)
    at = int(probabilities.argmin())
    p = float(probabilities[at])
    if p <= 0:
        raise Refusal("checks.nothing_to_choose")
    wrong = [1 - p, -log(p) / log(10), -log(p) / log(2), p, exp(p), 1 / p]
    to = {"tab": "teacher_forcing", "q": str(at)}
    return seen.number(-log(p), wrong, to, short, query=seen.row_name(at), p=probability(p), token=seen.look.targets[at].text)


def first_half(seen: Seen) -> Posed:
    """At which step exact match first was at least a half. Wrong: token accuracy instead, halfway through, the measurements beside it."""
    rows = _validations(seen)
    at = next((at for at, share in enumerate(rows["exact_match"]) if share >= HALF), None)
    if at is None:
        raise Refusal("checks.never_half")
    tokens = next((at for at, share in enumerate(rows["token_accuracy"]) if share >= HALF), at)
    other = [tokens, len(rows["step"]) // 2, at + 3, at - 2, at + 1, at - 1, at + 5, len(rows["step"]) - 1]
    wrong = [rows["step"][one] for one in other if 0 <= one < len(rows["step"])]
    said = {"exact": percent(rows["exact_match"][at]), "before": percent(rows["exact_match"][at - 1]) if at else percent(0)}
    return seen.number(rows["step"][at], wrong, TRAINING, whole, **said)


def rate_then(seen: Seen) -> Posed:
    """The learning rate in the middle of training, off the curve. Wrong: the peak, the last, half of each."""
    rows = _steps(seen)
    rates = rows["learning_rate"]
    at = len(rates) // 2 + seen.chance.randrange(max(len(rates) // 4, 1))
    wrong = [max(rates), rates[at] / 2, max(rates) / 2, rates[-1], rates[0], rates[at] * 1.5, rates[at] * 2]
    return seen.number(rates[at], wrong, TRAINING, short, step=whole(rows["step"][at]), peak=short(max(rates)))


def largest_rate(seen: Seen) -> Posed:
    """At which step the learning rate is largest. Wrong: the first, the last, the middle."""
    rows = _steps(seen)
    steps, rates = rows["step"], rows["learning_rate"]
    at = int(np.argmax(rates))
    far = [other for other in (0, len(steps) - 1, len(steps) // 2, len(steps) // 4, 3 * len(steps) // 4) if rates[other] < 0.99 * rates[at]]
    return seen.number(steps[at], [steps[other] for other in far], TRAINING, whole, peak=short(rates[at]))


def clipped(seen: Seen) -> Posed:
    """By which factor a gradient is scaled down, if any. Wrong: its reciprocal, no factor, the norm, the limit over half."""
    rows, most = _steps(seen), seen.run.experiment.training.max_grad_norm
    if not most:
        raise Refusal("checks.no_clipping")
    norms = rows["grad_norm"]
    at = seen.chance.choice([at for at, norm in enumerate(norms) if norm > 1.05 * most] or range(len(norms)))
    norm = norms[at]
    wrong = [norm / most, 1.0, most / norm, norm, most / 2 / norm, (most / norm) ** 2]
    return seen.number(min(1.0, most / norm), wrong, TRAINING, short, step=whole(rows["step"][at]), norm=short(norm), most=short(most))


def perplexity(seen: Seen) -> Posed:
    """Of the newest validation. Wrong: a power of 2, the loss, one over it, e to minus the loss."""
    rows = _validations(seen)
    at = max(range(len(rows["loss"])), key=lambda at: (rows["loss"][at] > 1, -abs(rows["loss"][at] - 1)))  # a number that is worth asking
    loss = rows["loss"][at]
    wrong = [2**loss, loss, exp(-loss), 1 + loss, exp(loss) * 2, exp(loss) ** 2]
    to = TRAINING | {"step": f"{rows['step'][at]:.0f}"}
    return seen.number(exp(loss), wrong, to, short, loss=short(loss), step=whole(rows["step"][at]))


def held_out(seen: Seen) -> Posed:
    """How many sentences are held out. Wrong: the other splits, the vocabularies, all."""
    sizes = seen.reader.sizes(seen.run)
    other = [sizes["train"], sizes["train"] + sizes["heldout"], sizes["test"], sizes["src_vocabulary"], sizes["longest"]]
    other = [size for size in other if size] + [seen.run.experiment.training.batch_size]
    return seen.number(sizes["heldout"], other, {"tab": "data", "split": "heldout"}, whole, train=whole(sizes["train"]))


def trained_on(seen: Seen) -> Posed:
    """Which sentence is one of the training examples. Wrong: held out, and harder ones."""
    sizes = seen.reader.sizes(seen.run)
    listed = [source for source, _ in seen.reader.examples(seen.run, "train", LISTED)]
    if not listed:
        raise Refusal("checks.nothing_to_choose")
    wrong = []
    for split, most in (("heldout", 2), ("harder", 1), ("heldout", MOST)):
        examples = seen.reader.examples(seen.run, split, OTHERS) if sizes[split] else []
        others = [source for source, _ in examples if source not in listed]
        wrong += seen.chance.sample(others, min(most, len(others)))
    right = seen.chance.choice(listed)
    return seen.text_of(right, wrong, {"tab": "data", "split": "train"}, text=right)


P_TO_N = Check("p_to_n", p_to_n)
CROSS_ENTROPY = Check("cross_entropy", cross_entropy)
FIRST_HALF = Check("first_half", first_half)
RATE_THEN = Check("rate_then", rate_then)
LARGEST_RATE = Check("largest_rate", largest_rate)
CLIPPED = Check("clipped", clipped)
PERPLEXITY = Check("perplexity", perplexity)
HELD_OUT = Check("held_out", held_out)
TRAINED_ON = Check("trained_on", trained_on)
