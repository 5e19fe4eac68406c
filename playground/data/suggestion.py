"""Suggests initial settings for own pairs from their properties, with reasons.

The thresholds were measured on captions (29,000 pairs in German and English), inflections, pronunciations and meanings of sentences;
`python -m benchmarks real` measures how good the suggestions are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.config import SLACK, SPECIAL_TOKENS, Experiment, check, default, limits
from playground.data.facts import Facts, Lengths
from playground.data.tokenizers import LARGEST
from playground.reading.pairs import Pairs
from playground.words import say
from playground.words.amounts import percentage

KNOBS = (
    "tokenizer", "vocab_size", "share_embeddings", "max_tokens", "d_model", "d_ff", "n_heads", "encoder_layers", "decoder_layers",
    "batch_size", "steps", "learning_rate", "dropout",
)  # fmt: skip
UNKNOWN = 0.01  # fraction of unknown held-out words above which subword pieces are better
LEMMAS = 0.02, 100  # more distinct words than this fraction of the pairs and than this number: no small set of symbols
PIECES = ((20_000, 4000), (10_000, 2000), (3000, 1000), (0, 504))  # (pairs, vocabulary size for at least as many)
SPARE = 1.25  # a vocabulary of pieces has at least this multiple of the number of characters
LARGE = 20_000  # pairs from which a wider model pays
WIDE = {"d_model": 128, "d_ff": 512, "n_heads": 4, "encoder_layers": 2, "decoder_layers": 2, "batch_size": 64}
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
    suggestion.add(_choose_size(count))
    batch = knobs["batch_size"] / (lengths.mean if experiment.training.batch_unit == "tokens" else 1)  # in pairs
    suggestion.add(_choose_steps(count / batch))
    suggestion.add(_choose_rate(knobs["steps"]))
    suggestion.add(_choose_dropout(knobs["steps"] * batch / count / (SLACK if experiment.training.minutes else 1)))
    return suggestion


def _choose_tokenizer(facts: Facts, kind: str) -> Choice:
    """Chooses the tokenizer; `kind` is the user's choice or "auto"."""
    src, tgt = facts.sides
    usual = {name: default(name) for name in ("tokenizer", "vocab_size", "share_embeddings")}
    slots = {"src": percentage(src.unknown, None), "tgt": percentage(tgt.unknown, None)}
    if kind in ("words", "characters"):
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


def _choose_size(count: int) -> Choice:
    """Chooses the size of the model and of a batch."""
    wide = count >= LARGE
    knobs = {name: value if wide else default(name) for name, value in WIDE.items()}
    layers = f"{knobs['encoder_layers']} + {knobs['decoder_layers']}"
    slots = {"pairs": f"{count:,}", "least": f"{LARGE:,}", "width": knobs["d_model"], "layers": layers, "heads": knobs["n_heads"]}
    return Choice("wide", knobs, slots | {"batch": knobs["batch_size"]}) if wide else Choice("narrow", knobs, slots)


def _choose_steps(each: float) -> Choice:
    """Chooses the number of steps; `each`: the steps of one epoch."""
    steps = min(max(round(PASSES * each), SHORT[0]), int(limits("steps").high))
    return Choice("steps", {"steps": steps}, {"steps": f"{steps:,}", "passes": _whole_or_short(steps / each)})


def _choose_rate(steps: int) -> Choice:
    few = steps <= 3 * SHORT[0]
    rate = SHORT[1] if few else LONG
    return Choice("rate_short" if few else "rate_long", {"learning_rate": rate}, {"rate": rate})


def _choose_dropout(passes: float) -> Choice:
    many = passes > MANY_PASSES
    slots = {"passes": _whole_or_short(passes), "many": MANY_PASSES}
    return Choice("dropout", {"dropout": DROPOUT}, slots | {"dropout": DROPOUT}) if many else Choice("no_dropout", {"dropout": 0.0}, slots)


def _whole_or_short(number: float) -> str:
    """Formats a count of epochs without powers of ten: 0.43, 7.5, 230, 1,200."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
