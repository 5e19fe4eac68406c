"""Suggests initial settings for own pairs from their properties, with reasons.

The thresholds were measured on captions (29,000 pairs in German and English), inflections, pronunciations and meanings of sentences;
`python -m benchmarks real` measures how good the suggestions are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from playground.config import SLACK, SPECIAL_TOKENS, DataConfig, Experiment, check, default, limits
from playground.data.corpus import load_given, natural_unit, split_sources
from playground.data.tokenizers import LARGEST, Tokenizer, train_tokenizer
from playground.reading.filtering import Pair
from playground.reading.formats.languages import find_line_script
from playground.reading.pairs import Pairs
from playground.words import percentage, say

KNOBS = (
    "tokenizer", "vocab_size", "share_embeddings", "max_tokens", "d_model", "d_ff", "n_heads", "encoder_layers", "decoder_layers",
    "batch_size", "label_smoothing", "steps", "learning_rate", "dropout",
)  # fmt: skip
UNKNOWN = 0.01  # fraction of unknown held-out words above which subword pieces are better
LEMMAS = 0.02, 100  # more distinct words than this fraction of the pairs and than this number: no small set of symbols
PIECES = ((20_000, 4000), (10_000, 2000), (3000, 1000), (0, 504))  # (pairs, vocabulary size for at least as many)
SPARE = 1.25  # a vocabulary of pieces has at least this multiple of the number of characters
LARGE = 20_000  # pairs from which a wider model pays
WIDE = {  # label smoothing: Tatoeba 25.7 and 25.9 BLEU with it, 25.5 and 25.2 without; by a beam of four 29.1, 28.2 and 28.1, 28.4
    "d_model": 128, "d_ff": 512, "n_heads": 4, "encoder_layers": 2, "decoder_layers": 2, "batch_size": 64, "label_smoothing": 0.1,
}  # fmt: skip
# Tatoeba 28.1 and 27.7 BLEU instead of 25.7 and 25.9, by a beam of four 30.7 and 30.2 instead of 29.1 and 28.2, in twice the time:
WIDER = {"d_model": 192, "d_ff": 768}, 450_000  # for at most this number of tokens, whose PASSES take about ten minutes of a core
PASSES = 6  # epochs; of Tatoeba's 26,000 pairs a wide model learns 24.4 BLEU in 3, 26.8 in 6, and 26.7 in 9
MANY_PASSES, DROPOUT = 10, 0.1  # epochs from which dropout helps: Tatoeba in 12 26.2 BLEU without, 27.7 with; in 9 no difference
SHORT, LONG = (100, 0.05), 0.02  # the fewest steps and their learning rate; the learning rate of many more steps
LOST = 0.005  # fraction of the pairs that may be dropped as too long


class Choice(NamedTuple):
    """Values of some knobs, with a reason: a sentence of words/*/suggestion.json ("" for none) and values for its `slots`."""

    reason: str
    knobs: Mapping[str, Any]
    slots: Mapping[str, Any] = {}


@dataclass
class Suggestion:
    """Values of KNOBS, and the choices behind them, in the order of their dependence. Knobs the user has `chosen` stay as they are, and
    later choices take them into account."""

    chosen: Mapping[str, Any]
    knobs: dict[str, Any] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)

    def sentences(self, language: str) -> list[str]:
        """Returns the reasons, one sentence for each choice."""
        return [say(language, f"suggestion.{choice.reason}", **choice.slots) for choice in self.choices]

    def add(self, choice: Choice) -> None:
        """Adds a choice; its reason is listed unless the user has chosen all of its knobs."""
        if choice.reason and not choice.knobs.keys() <= self.chosen.keys():
            self.choices.append(choice)
        self.knobs |= {name: self.chosen.get(name, value) for name, value in choice.knobs.items()}


def suggest(pairs: Pairs, chosen: Mapping[str, Any] | None = None) -> Suggestion:
    """Suggests settings for these pairs around those the user has `chosen`. Raises Refusal for pairs that can't be split."""
    suggestion = Suggestion({name: check(name, value) for name, value in (chosen or {}).items()})
    experiment = Experiment().with_(**suggestion.chosen)
    facts, knobs = Facts(pairs, experiment.data), suggestion.knobs
    count = len(facts.learnt)
    suggestion.add(_choose_tokenizer(facts, suggestion.chosen.get("tokenizer", "auto")))
    lengths = facts.lengths(knobs["tokenizer"], knobs["vocab_size"], knobs["share_embeddings"] == "all")
    suggestion.add(_choose_max_tokens(lengths, count))
    suggestion.add(_choose_size(count, count * lengths.mean))
    batch = knobs["batch_size"] / (lengths.mean if experiment.training.batch_unit == "tokens" else 1)  # in pairs
    suggestion.add(_choose_steps(count / batch))
    few = knobs["steps"] <= 3 * SHORT[0]
    rate = SHORT[1] if few else LONG
    suggestion.add(Choice("rate_short" if few else "rate_long", {"learning_rate": rate}, {"rate": rate}))
    suggestion.add(_choose_dropout(knobs["steps"] * batch / count / (SLACK if experiment.training.minutes else 1)))
    return suggestion


def _choose_tokenizer(facts: Facts, kind: str) -> Choice:
    """Chooses the tokenizer; `kind` is the user's choice or "auto"."""
    src, tgt = facts.sides
    usual = {name: default(name) for name in ("tokenizer", "vocab_size", "share_embeddings")}
    slots = {"src": percentage(src.unknown, None), "tgt": percentage(tgt.unknown, None)}
    if kind in ("words", "characters") or facts.tokenizers:
        return Choice("", usual)
    lemmas = src.unit == "words" and src.different > max(LEMMAS[0] * len(facts.learnt), LEMMAS[1])
    if kind == "auto" and tgt.single and (lemmas or max(src.unknown, tgt.unknown) > UNKNOWN):
        return Choice("letters", usual | {"tokenizer": "characters"}, {"different": f"{src.different:,}"})
    if kind == "auto" and max(src.unknown, tgt.unknown) <= UNKNOWN:
        return Choice(src.unit if src.unit == tgt.unit else "both", usual, slots)
    joint = src.script == tgt.script and src.unit == tgt.unit == "words"
    size = _vocabulary_size(facts, joint)
    if kind == "auto" and size > LARGEST:
        return Choice("many_characters", usual | {"tokenizer": "characters"})
    cut = {"tokenizer": "bpe", "vocab_size": min(size, LARGEST), "share_embeddings": "all" if joint else "none"}
    return Choice("shared_pieces" if joint else "pieces", cut, slots | {"size": f"{size:,}"})


def _vocabulary_size(facts: Facts, joint: bool) -> int:
    """Returns the size of a vocabulary of pieces for these pairs."""
    wanted = next(size for least, size in PIECES if len(facts.learnt) >= least)
    needed = SPARE * (len(SPECIAL_TOKENS) + 1 + (facts.characters[2] if joint else max(facts.characters[:2])))
    step = int(limits("vocab_size").step)
    return max(wanted, -(-int(needed) // step) * step)


def _choose_max_tokens(lengths: Lengths, count: int) -> Choice:
    """Chooses the maximum sentence length: the longest's, unless very few are longer than usual."""
    usual, knob = default("max_tokens"), limits("max_tokens")
    lost, longest = lengths.over(usual), lengths.longest[0]
    if not lost:
        return Choice("all_fit", {"max_tokens": usual}, {"most": usual})
    if lost <= LOST * count:
        return Choice("usual_length", {"max_tokens": usual}, {"most": usual, "lost": f"{lost:,}"})
    most = min(longest, int(knob.high))
    return Choice("long", {"max_tokens": most}, {"most": most, "lost": f"{lost:,}", "usual": usual})


def _choose_size(count: int, tokens: float) -> Choice:
    """Chooses the size of the model and of a batch for `count` pairs of so many tokens in all."""
    wide, (wider, most) = count >= LARGE, WIDER
    knobs = WIDE | (wider if tokens <= most else {}) if wide else {name: default(name) for name in WIDE}
    layers = f"{knobs['encoder_layers']} + {knobs['decoder_layers']}"
    slots = {"pairs": f"{count:,}", "least": f"{LARGE:,}", "width": knobs["d_model"], "layers": layers, "heads": knobs["n_heads"]}
    slots |= {"batch": knobs["batch_size"], "smoothing": knobs["label_smoothing"]} if wide else {}
    return Choice("wide" if wide else "narrow", knobs, slots)


def _choose_steps(each: float) -> Choice:
    """Chooses the number of steps; `each`: the steps of one epoch."""
    steps = min(max(round(PASSES * each), SHORT[0]), int(limits("steps").high))
    return Choice("steps", {"steps": steps}, {"steps": f"{steps:,}", "passes": _whole_or_short(steps / each)})


def _choose_dropout(passes: float) -> Choice:
    many = passes > MANY_PASSES
    slots = {"passes": _whole_or_short(passes), "many": MANY_PASSES}
    return Choice("dropout", {"dropout": DROPOUT}, slots | {"dropout": DROPOUT}) if many else Choice("no_dropout", {"dropout": 0.0}, slots)


def _whole_or_short(number: float) -> str:
    """Formats a count of epochs without powers of ten: 0.43, 7.5, 230, 1,200."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


# --- properties of own pairs before tokenization ---

SAMPLE = 2000  # pairs that determine the script, and on which a tokenizer is trained to estimate lengths in tokens
LONGEST = 50  # the longest pairs in tokens are searched among this fraction (1 / LONGEST) of all: the longest in characters
UNSPACED = frozenset({"CJK", "JAPANESE", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"})  # scripts without spaces between words


@dataclass(frozen=True)
class Side:
    """Properties of all sources, or of all targets."""

    unit: str  # "words" or "characters": their natural unit
    script: str  # of most of them, as Unicode names it; "" without letters
    unknown: float  # fraction of the units of the held-out sentences that no other sentence has
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
        self.pairs, self.tokenizers = pairs.pairs, load_given(pairs)
        self.learnt = [pair for pair in self.pairs if pair.src not in held]
        self.held = [pair for pair in self.pairs if pair.src in held]

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Statistics of the sources and of the targets, learnt and held out."""
        src, tgt = (_side([pair[side] for pair in self.learnt], [pair[side] for pair in self.held]) for side in (0, 1))
        return src, tgt

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
        tokenizers = self.tokenizers or [train_tokenizer(kind, side, vocab_size) for kind, side in zip(kinds, texts, strict=True)]
        whole = [sum(_tokens(tokenizers, pair)) for pair in some]
        count = max(len(self.pairs) // LONGEST, LONGEST)
        long = sorted(self.pairs, key=lambda pair: max(len(pair.src), len(pair.tgt)), reverse=True)[:count]
        return Lengths(sum(whole) / len(whole), tuple(sorted((max(_tokens(tokenizers, pair)) for pair in long), reverse=True)))


def _tokens(tokenizers: Sequence[Tokenizer], pair: Pair) -> list[int]:
    return [len(tokenizer.encode(text)) for tokenizer, text in zip(tokenizers, pair, strict=False)]


def _side(learnt: Sequence[str], held: Sequence[str]) -> Side:
    unit = natural_unit(learnt)
    known = set(_units(learnt, unit))
    unknown = units = 0
    for sentence in held:
        own = _units([sentence], unit)
        unknown, units = unknown + sum(symbol not in known for symbol in own), units + len(own)
    scripts = Counter(find_line_script(sentence)[0] for sentence in learnt[:: -(-len(learnt) // SAMPLE)])
    return Side(unit, scripts.most_common(1)[0][0], unknown / units, len(known))


def _units(sentences: Iterable[str], unit: str) -> Sequence[str]:
    return " ".join(sentences).split() if unit == "words" else "".join(sentences)
