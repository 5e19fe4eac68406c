"""Suggestion: the settings to begin with for own pairs, from the facts about them, and why.

The numbers were measured on captions (29,000 pairs in German and English), inflections, pronunciations and meanings of sentences;
`python -m benchmarks real` measures what they are worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.config import SLACK, SPECIAL_TOKENS, Experiment, check, default, limits
from playground.data.facts import Facts, Lengths
from playground.data.tokenizers import LARGEST
from playground.reading.uploads import Pairs
from playground.words import say
from playground.words.amounts import percentage

KNOBS = (
    "tokenizer", "vocab_size", "share_embeddings", "max_tokens", "d_model", "d_ff", "n_heads", "encoder_layers", "decoder_layers",
    "batch_size", "steps", "learning_rate", "dropout",
)  # fmt: skip
UNKNOWN = 0.01  # of the held-out words so large a share may be unknown: with more of them, pieces of words are better
LEMMAS = 0.02, 100  # more different words than this share of the pairs, and than so many: they are no small set of symbols
PIECES = ((20_000, 4000), (10_000, 2000), (3000, 1000), (0, 504))  # from so many pairs on, so large a vocabulary of pieces
SPARE = 1.25  # a vocabulary of pieces has room for every character, and for a quarter more at least
LARGE = 20_000  # pairs from which on a wider model is worth its time
WIDE = {"d_model": 128, "d_ff": 512, "n_heads": 4, "encoder_layers": 2, "decoder_layers": 2, "batch_size": 64}
PASSES = 6  # over the data; of Tatoeba's 26,000 pairs a wide model learns 24.4 BLEU in 3, 26.8 in 6, and 26.7 in 9
MANY_PASSES, DROPOUT = 10, 0.1  # beyond so many it helps: Tatoeba in 12 passes 26.2 BLEU without, 27.7 with it; in 9 no difference
SHORT, LONG = (100, 0.05), 0.02  # the fewest steps and their learning rate; the learning rate of many more steps
LOST = 0.005  # the share of the pairs that may be left out because they are too long


class Choice(NamedTuple):
    """Values of some knobs, and why: a sentence of words/*/suggestion.json ("" for none), and what is put into it."""

    reason: str
    knobs: Mapping[str, Any]
    said: Mapping[str, Any] = {}


@dataclass
class Suggestion:
    """Values of KNOBS, and the choices that made them, in the order in which a person would make them. What somebody has chosen, the
    knobs in `given`, stays as it is, and what comes after it follows it."""

    given: Mapping[str, Any]
    knobs: dict[str, Any] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)

    def sentences(self, language: str) -> list[str]:
        """Why, one sentence for each choice."""
        return [say(language, f"suggestion.{choice.reason}", **choice.said) for choice in self.choices]

    def take(self, choice: Choice) -> None:
        """A choice that is nobody's but ours is said."""
        if choice.reason and not choice.knobs.keys() <= self.given.keys():
            self.choices.append(choice)
        self.knobs |= {name: self.given.get(name, value) for name, value in choice.knobs.items()}


def suggest(pairs: Pairs, given: Mapping[str, Any] | None = None) -> Suggestion:
    """What suits these pairs beside what was `given`. Raises Refusal for pairs that can't be split."""
    found = Suggestion({name: check(name, value) for name, value in (given or {}).items()})
    experiment = Experiment().with_(**found.given)
    facts, knobs = Facts(pairs, experiment.data), found.knobs
    count = len(facts.learnt)
    found.take(_cut(facts, found.given.get("tokenizer", "auto")))
    lengths = facts.lengths(knobs["tokenizer"], knobs["vocab_size"], knobs["share_embeddings"] == "all")
    found.take(_room(lengths, count))
    found.take(_size(count))
    batch = knobs["batch_size"] / (lengths.mean if experiment.training.batch_unit == "tokens" else 1)  # in pairs
    found.take(_steps(count / batch))
    found.take(_rate(knobs["steps"]))
    found.take(_dropout(knobs["steps"] * batch / count / (SLACK if experiment.training.minutes else 1)))
    return found


def _cut(facts: Facts, kind: str) -> Choice:
    """How sentences are cut into tokens; `kind` is what somebody wants, if not "auto"."""
    src, tgt = facts.sides
    usual = {name: default(name) for name in ("tokenizer", "vocab_size", "share_embeddings")}
    said = {"src": percentage(src.unknown, None), "tgt": percentage(tgt.unknown, None)}
    if kind in ("words", "characters"):
        return Choice("", usual)
    lemmas = src.unit == "words" and src.different > max(LEMMAS[0] * len(facts.learnt), LEMMAS[1])
    if kind == "auto" and tgt.single and (lemmas or max(src.unknown, tgt.unknown) > UNKNOWN):
        return Choice("letters", usual | {"tokenizer": "characters"}, {"different": f"{src.different:,}"})
    if kind == "auto" and max(src.unknown, tgt.unknown) <= UNKNOWN:
        return Choice(src.unit if src.unit == tgt.unit else "both", usual, said)
    joint = src.script == tgt.script and src.unit == tgt.unit == "words"
    size = _pieces(facts, joint)
    if kind == "auto" and size > LARGEST:
        return Choice("many_characters", usual | {"tokenizer": "characters"})
    cut = {"tokenizer": "bpe", "vocab_size": min(size, LARGEST), "share_embeddings": "all" if joint else "none"}
    return Choice("shared_pieces" if joint else "pieces", cut, said | {"size": f"{size:,}"})


def _pieces(facts: Facts, joint: bool) -> int:
    """How large a vocabulary of pieces should be."""
    wanted = next(size for least, size in PIECES if len(facts.learnt) >= least)
    needed = SPARE * (len(SPECIAL_TOKENS) + 1 + (facts.characters[2] if joint else max(facts.characters[:2])))
    step = int(limits("vocab_size").step)
    return max(wanted, -(-int(needed) // step) * step)


def _room(lengths: Lengths, count: int) -> Choice:
    """How long a sentence may be: as long as the longest, unless those that are longer than usual are very few."""
    usual, knob = default("max_tokens"), limits("max_tokens")
    lost, longest = lengths.over(usual), lengths.longest[0]
    if not lost:
        return Choice("all_fit", {"max_tokens": usual}, {"most": usual})
    if lost <= LOST * count:
        return Choice("usual_length", {"max_tokens": usual}, {"most": usual, "lost": f"{lost:,}"})
    most = min(longest, int(knob.high))
    return Choice("long", {"max_tokens": most}, {"most": most, "lost": f"{lost:,}", "usual": usual})


def _size(count: int) -> Choice:
    """Of the model, and of a batch."""
    wide = count >= LARGE
    knobs = {name: value if wide else default(name) for name, value in WIDE.items()}
    layers = f"{knobs['encoder_layers']} + {knobs['decoder_layers']}"
    said = {"pairs": f"{count:,}", "least": f"{LARGE:,}", "width": knobs["d_model"], "layers": layers, "heads": knobs["n_heads"]}
    return Choice("wide", knobs, said | {"batch": knobs["batch_size"]}) if wide else Choice("narrow", knobs, said)


def _steps(each: float) -> Choice:
    """`each`: the steps of one pass over the data."""
    steps = min(max(round(PASSES * each), SHORT[0]), int(limits("steps").high))
    return Choice("steps", {"steps": steps}, {"steps": f"{steps:,}", "passes": _whole_or_short(steps / each)})


def _rate(steps: int) -> Choice:
    few = steps <= 3 * SHORT[0]
    rate = SHORT[1] if few else LONG
    return Choice("rate_short" if few else "rate_long", {"learning_rate": rate}, {"rate": rate})


def _dropout(passes: float) -> Choice:
    many = passes > MANY_PASSES
    said = {"passes": _whole_or_short(passes), "many": MANY_PASSES}
    return Choice("dropout", {"dropout": DROPOUT}, said | {"dropout": DROPOUT}) if many else Choice("no_dropout", {"dropout": 0.0}, said)


def _whole_or_short(number: float) -> str:
    """0.43, 7.5, 230, 1,200: a count of epochs is not written with a power of ten."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
