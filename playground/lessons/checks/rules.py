"""Questions on rules and lists: the limits of a list of training sentences."""

from __future__ import annotations

from playground.config import SPECIAL_TOKENS, Refusal
from playground.lessons.checks.posed import Check, CheckContext, Posed, percent, short, whole

OTHERS = 20  # sentences sampled from another split
LISTED = 4  # sentences of a split listed in Data
ALL = 0.999  # above this fraction the question is trivial


def pose_harder_kind(context: CheckContext) -> Posed:
    """A sentence of the kind absent from training. Wrong: training and validation sentences."""
    harder = [source for source, _ in context.reader.examples(context.run, "harder", LISTED)]
    if not harder:
        raise Refusal("checks.no_harder")
    wrong: list[str] = []
    for split, most in (("train", 2), ("heldout", 1)):
        sources = [source for source, _ in context.reader.examples(context.run, split, OTHERS)]
        wrong += context.chance.sample(sources, min(most, len(sources)))
    right = context.chance.choice(harder)
    return context.text_of(right, wrong, {"tab": "data", "split": "harder"}, text=right)


def pose_sequences(context: CheckContext) -> Posed:
    """The number of sequences of n tokens: V to the power n. Wrong: n to the power V, the product, one token too few."""
    tokens, n = _count_tokens(context)
    wrong = [float(n) ** tokens if tokens < 100 else tokens * n, tokens * n, float(tokens) ** (n - 1), float(tokens) ** (n + 1)]
    return context.number(float(tokens) ** n, wrong, {"tab": "data"}, short, tokens=whole(tokens), n=n)


def pose_share(context: CheckContext) -> Posed:
    """The fraction of sequences in a list as long as the training data. Wrong: sequences a token shorter or longer, one in V."""
    (tokens, n), train = _count_tokens(context), context.reader.sizes(context.run)["train"]
    fractions = [train / float(tokens) ** length for length in (n, n - 1, n + 1)]
    if fractions[0] >= ALL:
        raise Refusal("checks.nothing_to_choose")
    wrong = [min(1.0, fraction) for fraction in fractions[1:]] + [1 / tokens, train / (train + float(tokens) ** (n // 2))]
    return context.number(fractions[0], wrong, {"tab": "data"}, _fraction, tokens=whole(tokens), n=n, train=whole(train))


def _count_tokens(context: CheckContext) -> tuple[int, int]:
    """Returns the source vocabulary's size without special tokens, and the sentence's token count."""
    return context.reader.sizes(context.run)["src_vocabulary"] - len(SPECIAL_TOKENS), len(context.look.source) - 1


def _fraction(value: float) -> str:
    return percent(value) if value >= 0.001 else f"{value:.1e}"


HARDER_KIND = Check("harder_kind", pose_harder_kind)
SEQUENCES = Check("sequences", pose_sequences)
LIST_SHARE = Check("list_share", pose_share)
