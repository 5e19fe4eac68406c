"""Properties of own pairs before tokenization: how many, how long, in which scripts, and how much of the held-out sentences a vocabulary
of the rest wouldn't know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from playground.config import DataConfig
from playground.data.corpus import natural_unit, split_sources
from playground.data.tokenizers import Tokenizer, train_tokenizer
from playground.reading.filtering import Pair
from playground.reading.formats.languages import detect_language, find_line_script
from playground.reading.pairs import Pairs

SAMPLE = 2000  # pairs that determine the script, and on which a tokenizer is trained to estimate lengths in tokens
LONGEST = 50  # the longest pairs in tokens are searched among this fraction (1 / LONGEST) of all: the longest in characters
PARTS, PART = 10, 20  # parts whose language is identified, and pairs that each must have
UNSPACED = frozenset({"CJK", "JAPANESE", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"})  # scripts without spaces between words


@dataclass(frozen=True)
class Side:
    """Properties of all sources, or of all targets."""

    unit: str  # "words" or "characters": their natural unit
    script: str  # of most of them, as Unicode names it; "" without letters
    unknown: float  # fraction of the units of the held-out sentences that no other sentence has
    spoilt: float  # fraction of the held-out sentences with such a unit
    different: int  # distinct units of the other sentences

    @property
    def single(self) -> bool:
        """Whether most are a single word."""
        return self.unit == "characters" and self.script not in UNSPACED


@dataclass(frozen=True)
class Lengths:
    """Lengths of pairs in tokens: the mean sum of both sides, and the longer side of each of the `longest` pairs, in descending order."""

    mean: float
    longest: tuple[int, ...]

    def over(self, tokens: int) -> int:
        """Counts pairs with a longer side."""
        return sum(length > tokens for length in self.longest)


class Facts:
    """Properties of pairs as `data` splits them, computed lazily. Raises Refusal for pairs that can't be split."""

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
        """The fraction of the sources with several targets."""
        answers = Counter(src for src, _ in {(pair.src, pair.tgt) for pair in self.pairs})
        return sum(count > 1 for count in answers.values()) / len(answers)

    @cached_property
    def characters(self) -> tuple[int, int, int]:
        """The numbers of distinct characters in the sources, in the targets, and in both together."""
        src, tgt = (set().union(*(pair[side] for pair in self.pairs)) for side in (0, 1))
        return len(src), len(tgt), len(src | tgt)

    def lengths(self, kind: str, vocab_size: int, joint: bool) -> Lengths:
        """Returns lengths after tokenization by a tokenizer trained on a sample, so rather overestimated."""
        some = self.pairs[:: -(-len(self.pairs) // SAMPLE)]
        kinds = [side.unit if kind == "auto" else kind for side in self.sides]
        texts = [[pair[side] for pair in some] for side in (0, 1)]
        texts = [texts[0] + texts[1]] * 2 if joint else texts
        tokenizers = [train_tokenizer(kind, side, vocab_size) for kind, side in zip(kinds, texts, strict=True)]
        whole = [sum(_tokens(tokenizers, pair)) for pair in some]
        count = max(len(self.pairs) // LONGEST, LONGEST)
        long = sorted(self.pairs, key=lambda pair: max(len(pair.src), len(pair.tgt)), reverse=True)[:count]
        return Lengths(sum(whole) / len(whole), tuple(sorted((max(_tokens(tokenizers, pair)) for pair in long), reverse=True)))


def find_seam(pairs: Pairs) -> int | None:
    """Returns the approximate line where the languages change or swap sides, as in concatenated corpora. None if all parts are alike, or
    too short to identify."""
    size = len(pairs.pairs) // PARTS
    if size < PART:
        return None
    starts = range(0, size * PARTS, size)
    before: list[str] = ["", ""]
    for start in starts:
        part = pairs.pairs[start : start + size][:: max(1, size // PART)]
        languages = [detect_language([pair[side] for pair in part]) for side in (0, 1)]
        if any(old and new and old != new for old, new in zip(before, languages, strict=True)):
            return pairs.pairs[start].line
        before = [new or old for old, new in zip(before, languages, strict=True)]
    return None


def _tokens(tokenizers: Sequence[Tokenizer], pair: Pair) -> list[int]:
    return [len(tokenizer.encode(text)) for tokenizer, text in zip(tokenizers, pair, strict=False)]


def _side(learnt: Sequence[str], held: Sequence[str]) -> Side:
    unit = natural_unit(learnt)
    known = set(_units(learnt, unit))
    unknown, units, spoilt = 0, 0, 0
    for sentence in held:
        own = _units([sentence], unit)
        new = sum(symbol not in known for symbol in own)
        unknown, units, spoilt = unknown + new, units + len(own), spoilt + bool(new)
    scripts = Counter(find_line_script(sentence)[0] for sentence in learnt[:: -(-len(learnt) // SAMPLE)])
    return Side(unit, scripts.most_common(1)[0][0], unknown / units, spoilt / len(held), len(known))


def _units(sentences: Iterable[str], unit: str) -> Sequence[str]:
    return " ".join(sentences).split() if unit == "words" else "".join(sentences)
