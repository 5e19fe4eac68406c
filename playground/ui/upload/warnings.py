"""What is likely to spoil a training on own sentences, each with a button that mends it where one can."""

from __future__ import annotations

from typing import Any

from playground.config import UNK, Experiment, limits
from playground.data.corpus import Corpus
from playground.data.facts import seam
from playground.data.statistics import Statistics
from playground.reading.uploads import Pairs
from playground.ui import blocks
from playground.ui.cost_estimate import short
from playground.ui.upload import uploading
from playground.ui.view import Screen

SPOILT = 0.05  # of the targets that are judged by so large a share may hold a token that can't be written
AMBIGUOUS = 0.5  # of the sources so large a share may have several targets, before a column seems to be missing
PASSES = 2  # epochs below which the settings train too little
MAX_COLUMNS = 4  # that are offered


def warnings(experiment: Experiment, pairs: Pairs, corpus: Corpus, found: Statistics, screen: Screen) -> list[dict[str, Any]]:
    """The blocks: a sentence and its buttons for each."""
    said = [
        _unwritable(experiment, pairs, corpus, screen),
        _left_out(experiment, corpus, screen),
        _ambiguous(pairs, found, screen),
        _few_passes(experiment, pairs, found, screen),
        _glued(pairs, screen),
    ]
    return [block for one in said for block in one]


def _warning(name: str, screen: Screen, buttons: list[tuple[str, dict[str, Any], str]], **values: Any) -> list[dict[str, Any]]:
    """`buttons` are (label, values, what they do: "set" knobs or have the sentences "read" otherwise)."""
    text = blocks.text(f"warning-{name}", screen.say(f"sentences.warn_{name}", **values), css="pg-warning")
    made = [blocks.button(f"mend-{name}-{place}", act, label, values=given) for place, (label, given, act) in enumerate(buttons)]
    return [text, *([blocks.row(f"mend-{name}", *made)] if made else [])]


def _unwritable(experiment: Experiment, pairs: Pairs, corpus: Corpus, screen: Screen) -> list[dict[str, Any]]:
    judged = [item for split in (corpus.heldout, corpus.test) for item in split]
    share = sum(UNK in item.tgt_ids for item in judged) / len(judged)
    if share < SPOILT:
        return []
    wanted = uploading.suggestion(pairs, experiment.data.own, {}).knobs
    cut = {name: wanted[name] for name in ("tokenizer", "vocab_size", "share_embeddings")}
    now = experiment.flat()
    buttons = [(screen.say("sentences.mend_unwritable"), cut, "set")] if any(now[name] != value for name, value in cut.items()) else []
    return _warning("unwritable", screen, buttons, percent=short(100 * share))


def _left_out(experiment: Experiment, corpus: Corpus, screen: Screen) -> list[dict[str, Any]]:
    if not corpus.left_out:
        return []
    most = int(limits("max_tokens").high)
    enough = min(corpus.longest_left_out, most)
    key = "left_out" if corpus.longest_left_out <= most else "left_out_still"
    button = (screen.say("sentences.mend_left_out", most=enough), {"max_tokens": enough}, "set")
    buttons = [button] if enough > experiment.data.max_tokens else []
    return _warning(key, screen, buttons, count=f"{len(corpus.left_out):,}", most=enough)


def _ambiguous(pairs: Pairs, found: Statistics, screen: Screen) -> list[dict[str, Any]]:
    if found.several < AMBIGUOUS * found.sources or found.sources < 2:
        return []
    taken = (*pairs.chosen, *pairs.joined)
    names = [(place, column.name or screen.say("page.column", number=place + 1)) for place, column in enumerate(pairs.columns)]
    others = [(place, name) for place, name in names if place not in taken][:MAX_COLUMNS]
    source, target = pairs.chosen
    base = {"source": source, "target": target, "swap": False}
    buttons = [
        (screen.say("sentences.mend_ambiguous", name=name), base | {"joined": [*pairs.joined, place]}, "read") for place, name in others
    ]
    key = "ambiguous" if buttons else "ambiguous_alone"
    return _warning(key, screen, buttons, count=f"{found.several:,}", of=f"{found.sources:,}", most=found.most_answers)


def _few_passes(experiment: Experiment, pairs: Pairs, found: Statistics, screen: Screen) -> list[dict[str, Any]]:
    config, count = experiment.training, found.sizes["train"]
    each = count * (found.src.lengths.mean() + found.tgt.lengths.mean() if config.batch_unit == "tokens" else 1) / config.batch_size
    passes = config.steps / each
    if passes >= PASSES:
        return []
    chosen = {name: value for name, value in experiment.difference().items() if name not in ("steps", "own", "task")}
    steps = uploading.suggestion(pairs, experiment.data.own, chosen).knobs["steps"]
    if steps <= config.steps:
        return []
    button = (screen.say("sentences.mend_few_passes", steps=f"{steps:,}"), {"steps": steps}, "set")
    return _warning("few_passes", screen, [button], steps=f"{config.steps:,}", passes=short(passes))


def _glued(pairs: Pairs, screen: Screen) -> list[dict[str, Any]]:
    line = seam(pairs)
    return _warning("glued", screen, [], line=f"{line:,}") if line else []
