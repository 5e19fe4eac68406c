"""Questions on the training of the run on screen: curves, steps, data, and the limits of a list of training sentences."""

from collections.abc import Mapping, Sequence
from math import exp, log

import numpy as np

from playground.config import SPECIAL_TOKENS, Refusal
from playground.lessons.checks.posed import MAX_OPTIONS, CheckContext, Posed, percent, probability, short, whole

HALF, SURE, EARLY = 0.5, 0.97, 0.999  # accuracies
ALL = 0.999  # fraction of all sequences above which the question is trivial
LISTED, OTHERS = 4, 20  # training examples listed in Data; sentences sampled from other splits
TRAINING = {"tab": "training"}


def _validations(context: CheckContext) -> Mapping[str, Sequence[float]]:
    """Returns the validations up to the step on screen. Raises Refusal without any."""
    rows = context.run.history.validations.rows()
    last = context.step if context.step is not None else float("inf")
    rows_shown = [at for at, step in enumerate(rows["step"]) if step <= last]
    if not rows_shown:
        raise Refusal("course.not_measured")
    return {name: [column[at] for at in rows_shown] for name, column in rows.items()}


def _steps(context: CheckContext) -> Mapping[str, Sequence[float]]:
    rows = context.run.history.steps.rows()
    if not rows["step"]:
        raise Refusal("course.not_measured")
    return rows


def p_to_n(context: CheckContext) -> Posed:
    """Exact match from token accuracy, for sentences of this length. Wrong: p itself, n errors subtracted, other powers."""
    rows = _validations(context)
    early = [at for at, share in enumerate(rows["token_accuracy"]) if HALF <= share <= SURE] or [int(np.argmin(rows["token_accuracy"]))]
    at = context.chance.choice(early)
    share = round(rows["token_accuracy"][at], 3)  # as it is printed
    size = len(context.look.targets)
    if not 0 < share < EARLY:
        raise Refusal("checks.all_right")
    wrong = [share, max(1 - size * (1 - share), 0), 1 - share, share**2, share / size, share ** (2 * size)]
    values = {"percent": percent(share), "size": size, "step": whole(rows["step"][at])}
    return context.number(share**size, wrong, TRAINING | {"step": f"{rows['step'][at]:.0f}"}, percent, **values)


def cross_entropy(context: CheckContext) -> Posed:
    """The cross-entropy of the hardest token for the model. Wrong: 1 − p, a logarithm to base 10 or 2, p itself."""
    probabilities = np.asarray(context.look.probabilities, dtype=np.float64)
    at = int(probabilities.argmin())
    p = float(probabilities[at])
    if p <= 0:
        raise Refusal("checks.nothing_to_choose")
    wrong = [1 - p, -log(p) / log(10), -log(p) / log(2), p, exp(p), 1 / p]
    to = {"tab": "teacher_forcing", "q": str(at)}
    return context.number(-log(p), wrong, to, short, query=context.row_name(at), p=probability(p), token=context.look.targets[at].text)


def clipped(context: CheckContext) -> Posed:
    """The factor by which a gradient is clipped. Wrong: its reciprocal, no factor, the norm, half the limit over the norm."""
    rows, most = _steps(context), context.run.experiment.training.max_grad_norm
    if not most:
        raise Refusal("checks.no_clipping")
    norms = rows["grad_norm"]
    at = context.chance.choice([at for at, norm in enumerate(norms) if norm > 1.05 * most] or range(len(norms)))
    norm = norms[at]
    wrong = [norm / most, 1.0, most / norm, norm, most / 2 / norm, (most / norm) ** 2]
    return context.number(min(1.0, most / norm), wrong, TRAINING, short, step=whole(rows["step"][at]), norm=short(norm), most=short(most))


def perplexity(context: CheckContext) -> Posed:
    """The perplexity of the latest validation. Wrong: a power of 2, the loss, one over it, e to minus the loss."""
    rows = _validations(context)
    at = max(range(len(rows["loss"])), key=lambda at: (rows["loss"][at] > 1, -abs(rows["loss"][at] - 1)))  # where options differ
    loss = rows["loss"][at]
    wrong = [2**loss, loss, exp(-loss), 1 + loss, exp(loss) * 2, exp(loss) ** 2]
    to = TRAINING | {"step": f"{rows['step'][at]:.0f}"}
    return context.number(exp(loss), wrong, to, short, loss=short(loss), step=whole(rows["step"][at]))


def trained_on(context: CheckContext) -> Posed:
    """A sentence of the training data. Wrong: held-out and harder ones."""
    return _choose_sentence(context, "train", (("heldout", 2), ("harder", 1), ("heldout", MAX_OPTIONS)), "checks.nothing_to_choose")


def harder_kind(context: CheckContext) -> Posed:
    """A sentence of the kind absent from training. Wrong: training and validation sentences."""
    return _choose_sentence(context, "harder", (("train", 2), ("heldout", 1)), "checks.no_harder")


def _choose_sentence(context: CheckContext, own: str, rest: Sequence[tuple[str, int]], key: str) -> Posed:
    """Chooses a sentence of a split, and at most so many wrong ones of others. Raises Refusal `key` without any."""
    sizes = context.reader.sizes(context.run)
    listed = [source for source, _ in context.reader.examples(context.run, own, LISTED)]
    if not listed:
        raise Refusal(key)
    wrong = []
    for split, most in rest:
        examples = context.reader.examples(context.run, split, OTHERS) if sizes[split] else []
        sources = [source for source, _ in examples if source not in listed]
        wrong += context.chance.sample(sources, min(most, len(sources)))
    right = context.chance.choice(listed)
    return context.text_of(right, wrong, {"tab": "data", "split": own}, text=right)


def list_share(context: CheckContext) -> Posed:
    """The fraction of sequences in a list as long as the training data. Wrong: sequences a token shorter or longer, one in V."""
    (tokens, n), train = _count_tokens(context), context.reader.sizes(context.run)["train"]
    fractions = [train / float(tokens) ** length for length in (n, n - 1, n + 1)]
    if fractions[0] >= ALL:
        raise Refusal("checks.nothing_to_choose")
    wrong = [min(1.0, fraction) for fraction in fractions[1:]] + [1 / tokens, train / (train + float(tokens) ** (n // 2))]

    def form(value: float) -> str:
        return percent(value) if value >= 0.001 else f"{value:.1e}"

    return context.number(fractions[0], wrong, {"tab": "data"}, form, tokens=whole(tokens), n=n, train=whole(train))


def _count_tokens(context: CheckContext) -> tuple[int, int]:
    """Returns the source vocabulary's size without special tokens, and the sentence's token count."""
    return context.reader.sizes(context.run)["src_vocabulary"] - len(SPECIAL_TOKENS), len(context.look.source) - 1
