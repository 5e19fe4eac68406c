"""Facts about own pairs before any tokenizer has seen them: how many, how long, in which scripts, and how much of what is held out would be
unknown to a vocabulary of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from playground.config import DataConfig
from playground.data.corpus import natural_unit, split_sources
from playground.data.tokenizers import Tokenizer, train_tokenizer
from playground.reading.formats.language_id import detect_language, find_line_script
from playground.reading.uploads import Pair, Pairs

SAMPLE = 2000  # pairs that tell the script, and of which a tokenizer learns how long sentences are in its tokens
LONGEST = 50  # the pairs with the most tokens are looked for among so large a part of all: those with the most characters
PARTS, PART = 10, 20  # parts in which a language is sought, of at least so many pairs
UNSPACED = frozenset({"CJK", "JAPANESE", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"})  # scripts without spaces between words


@dataclass(frozen=True)
class Side:
    """The sources of all pairs, or the targets."""

    unit: str  # "words" or "characters": what is natural for them
    script: str  # of most of them, as Unicode names it; "" where there are no letters
    unknown: float  # share of the units of the held-out sentences that no other sentence has
    spoilt: float  # share of the held-out sentences that have such a unit
    different: int  # units of the others

    @property
    def single(self) -> bool:
        """Whether most are a single word."""
        return self.unit == "characters" and self.script not in UNSPACED


@dataclass(frozen=True)
class Lengths:
    """Of pairs in tokens: the mean of both sides together, and the longer side of each of the `longest` pairs, the longest first."""

    mean: float
    longest: tuple[int, ...]

    def over(self, tokens: int) -> int:
        """How many pairs have a longer side."""
        return sum(length > tokens for length in self.longest)


class Facts:
    """Of pairs as `data` splits them. Each is found when it is first asked for. Raises Refusal for pairs that can't be split."""

    def __init__(self, pairs: Pairs, data: DataConfig) -> None:
        held = split_sources(pairs, data)
        self.pairs = pairs.pairs
        self.learnt = [pair for pair in self.pairs if pair.src not in held]
        self.held = [pair for pair in self.pairs if pair.src in held]

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Sources and targets."""
        src, tgt = (_side([pair[side] for pair in self.learnt], [pair[side] for pair in self.held]) for side in (0, 1))
        return src, tgt

    @cached_property
    def ambiguous(self) -> float:
        """The share of the sources that have several targets."""
        answers = Counter(src for src, _ in {(pair.src, pair.tgt) for pair in self.pairs})
        return sum(count > 1 for count in answers.values()) / len(answers)

    @cached_property
    def characters(self) -> tuple[int, int, int]:
        """How many different ones are in the sources, in the targets, and in both together."""
        src, tgt = (set().union(*(pair[side] for pair in self.pairs)) for side in (0, 1))
        return len(src), len(tgt), len(src | tgt)

    def lengths(self, kind: str, vocab_size: int, joint: bool) -> Lengths:
        """Once the pairs are cut in this way; by a tokenizer that has learnt from some of them, so rather too long than too short."""
        some = self.pairs[:: -(-len(self.pairs) // SAMPLE)]
        kinds = [side.unit if kind == "auto" else kind for side in self.sides]
        texts = [[pair[side] for pair in some] for side in (0, 1)]
        texts = [texts[0] + texts[1]] * 2 if joint else texts
        tokenizers = [train_tokenizer(kind, side, vocab_size) for kind, side in zip(kinds, texts, strict=True)]
        whole = [sum(_tokens(tokenizers, pair)) for pair in some]
        count = max(len(self.pairs) // LONGEST, LONGEST)
        long = sorted(self.pairs, key=lambda pair: max(len(pair.src), len(pair.tgt)), reverse=True)[:count]
        return Lengths(sum(whole) / len(whole), tuple(sorted((max(_tokens(tokenizers, pair)) for pair in long), reverse=True)))


def seam(pairs: Pairs) -> int | None:
    """The line at about which another corpus begins: the pairs before and after it are in other languages, or the other way round. None
    where all parts are alike, or too short to tell."""
    size = len(pairs.pairs) // PARTS
    if size < PART:
        return None
    starts = range(0, size * PARTS, size)
    before: list[str] = ["", ""]
    for start in starts:
        part = pairs.pairs[start : start + size][:: max(1, size // PART)]
        found = [detect_language([pair[side] for pair in part]) for side in (0, 1)]
        if any(old and new and old != new for old, new in zip(before, found, strict=True)):
            return pairs.pairs[start].line
        before = [new or old for old, new in zip(before, found, strict=True)]
    return None


def _tokens(tokenizers: Sequence[Tokenizer], pair: Pair) -> list[int]:
    return [len(tokenizer.encode(text)) for tokenizer, text in zip(tokenizers, pair, strict=False)]


def _side(learnt: Sequence[str], held: Sequence[str]) -> Side:
    unit = natural_unit(learnt)
    known = set(_units(learnt, unit))
    unknown, units, spoilt = 0, 0, 0
    for sentence in held:
        own = _units([sentence], unit)
        new = sum(one not in known for one in own)
        unknown, units, spoilt = unknown + new, units + len(own), spoilt + bool(new)
    scripts = Counter(find_line_script(sentence)[0] for sentence in learnt[:: -(-len(learnt) // SAMPLE)])
    return Side(unit, scripts.most_common(1)[0][0], unknown / units, spoilt / len(held), len(known))


def _units(sentences: Iterable[str], unit: str) -> Sequence[str]:
    return " ".join(sentences).split() if unit == "words" else "".join(sentences)
