"""Questions on rules and lists: what a list of training sentences can't hold."""

from __future__ import annotations

from playground.config import SPECIAL_TOKENS, Refusal
from playground.lessons.checks.posed import Check, Posed, Seen, percent, short, whole

OTHERS = 20  # sentences of a split that a question draws from
LISTED = 4  # sentences of a split that Data lists
ALL = 0.999  # a list that holds nearly all is no question


def harder_kind(seen: Seen) -> Posed:
    """Which sentence is of the kind that training never shows. Wrong: trained on, and held out."""
    harder = [source for source, _ in seen.reader.examples(seen.run, "harder", LISTED)]
    if not harder:
        raise Refusal("checks.no_harder")
    wrong: list[str] = []
    for split, most in (("train", 2), ("heldout", 1)):
        others = [source for source, _ in seen.reader.examples(seen.run, split, OTHERS)]
        wrong += seen.chance.sample(others, min(most, len(others)))
    right = seen.chance.choice(harder)
    return seen.text_of(right, wrong, {"tab": "data", "split": "harder"}, text=right)


def sequences(seen: Seen) -> Posed:
    """How many sequences of n tokens there are: V to the power n. Wrong: n to the power V, the product, one token too few."""
    tokens, n = _sizes(seen)
    wrong = [float(n) ** tokens if tokens < 100 else tokens * n, tokens * n, float(tokens) ** (n - 1), float(tokens) ** (n + 1)]
    return seen.number(float(tokens) ** n, wrong, {"tab": "data"}, short, tokens=whole(tokens), n=n)


def share(seen: Seen) -> Posed:
    """Which share of them a list as long as the training data can hold. Wrong: of sequences a token shorter or longer, one in V."""
    (tokens, n), train = _sizes(seen), seen.reader.sizes(seen.run)["train"]
    held = [train / float(tokens) ** length for length in (n, n - 1, n + 1)]
    if held[0] >= ALL:
        raise Refusal("checks.nothing_to_choose")
    wrong = [min(1.0, one) for one in held[1:]] + [1 / tokens, train / (train + float(tokens) ** (n // 2))]
    return seen.number(held[0], wrong, {"tab": "data"}, _fraction, tokens=whole(tokens), n=n, train=whole(train))


def _sizes(seen: Seen) -> tuple[int, int]:
    """The tokens of the source side, and how many of them this sentence has."""
    return seen.reader.sizes(seen.run)["src_vocabulary"] - len(SPECIAL_TOKENS), len(seen.look.source) - 1


def _fraction(value: float) -> str:
    return percent(value) if value >= 0.001 else f"{value:.1e}"


HARDER_KIND = Check("harder_kind", harder_kind)
SEQUENCES = Check("sequences", sequences)
LIST_SHARE = Check("list_share", share)
