"""Reports on own pairs before training: what was read, suggested settings, likely problems, and the time it takes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from playground.config import Experiment
from playground.knobs import as_text
from playground.words import ENGLISH, say


def report_splits(pairs: Any) -> list[str]:
    """Reports given validation and test pairs, and training pairs dropped because their source is among them."""
    validation, test = pairs.given
    if not validation + test:
        return []
    held_out = {pair.src for pair in pairs.pairs[-validation - test :]}
    both = sum(pair.src in held_out for pair in pairs.pairs[: -validation - test])
    return [f"To validate on: {validation:,}; to test on: {test:,}; left out of training, for their source is among these: {both:,}."]


def suggest_options(pairs: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    """Returns suggested options beside those `chosen` by the user; prints them and the reasons to stderr."""
    from playground.data.suggestion import suggest

    suggestion = suggest(pairs, chosen)
    options = {name: value for name, value in suggestion.knobs.items() if name not in chosen}
    if options:
        print(say(ENGLISH, "suggestion.taken", options=_options(options)), *suggestion.sentences(ENGLISH), sep="\n", file=sys.stderr)
    return options


def report_outlook(experiment: Experiment, pairs: Any, corpora: Any) -> list[str]:
    """Returns an estimate of the training's amount and time, and a sentence for each likely problem, with the options that help. Raises
    Refusal when these pairs can't be learnt with these settings."""
    from playground.data.suggestion import suggest
    from playground.data.warnings import find_epochs, find_spoilers
    from playground.runs.forecast import estimate

    corpus, statistics = corpora.get_for_preview(experiment, pairs)
    lines = [estimate(experiment, pairs, find_epochs(experiment, statistics), ENGLISH)]
    for spoiler in find_spoilers(experiment, pairs, corpus, statistics, partial(suggest, pairs)):
        lines.append(say(ENGLISH, f"sentences.warn_{spoiler.name}", **spoiler.slots))
        lines += [f"    {_mend(mend, pairs)}" for mend in spoiler.mends]
    return lines


def _mend(mend: Any, pairs: Any) -> str:
    """Returns a remedy, with the options that apply it."""
    if mend.columns is None:
        return f"{say(ENGLISH, f'sentences.mend_{mend.name}', **mend.slots)}: {_options(mend.knobs)}"
    source, target, joined = mend.columns
    name = pairs.columns[joined[-1]].name or say(ENGLISH, "page.column", number=joined[-1] + 1)
    options = f"--source {source + 1} --target {target + 1} --join {' '.join(str(place + 1) for place in joined)}"
    return f"{say(ENGLISH, f'sentences.mend_{mend.name}', name=name)}: {options}"


def _options(knobs: Mapping[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {as_text(value)}" for name, value in knobs.items())
