"""What is said of own pairs before they are trained on: what was read, what is suggested, what would spoil it, and how long it takes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from playground.config import Experiment
from playground.knobs import as_text
from playground.words import ENGLISH, say


def splits(pairs: Any) -> list[str]:
    """What became of pairs that were given to validate and to test on: what is judged by is never trained on."""
    validation, test = pairs.given
    if not validation + test:
        return []
    apart = {pair.src for pair in pairs.pairs[-validation - test :]}
    both = sum(pair.src in apart for pair in pairs.pairs[: -validation - test])
    return [f"To validate on: {validation:,}; to test on: {test:,}; left out of training, for their source is among these: {both:,}."]


def suggested(pairs: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The options that suit these pairs and are not `given`; stderr says which, and why."""
    from playground.data.suggestion import suggest

    found = suggest(pairs, given)
    options = {name: value for name, value in found.knobs.items() if name not in given}
    if options:
        print(say(ENGLISH, "suggestion.taken", options=_options(options)), *found.sentences(ENGLISH), sep="\n", file=sys.stderr)
    return options


def outlook(experiment: Experiment, pairs: Any, corpora: Any) -> list[str]:
    """How much is trained and how long that takes here, and a sentence for whatever is likely to spoil it, with the options that help.
    Raises Refusal when these pairs can't be learnt with these settings."""
    from playground.data.suggestion import suggest
    from playground.data.warnings import passes, spoilers
    from playground.runs.forecast import estimate

    corpus, found = corpora.get_for_preview(experiment, pairs)
    said = [estimate(experiment, pairs, passes(experiment, found), ENGLISH)]
    for spoiler in spoilers(experiment, pairs, corpus, found, partial(suggest, pairs)):
        said.append(say(ENGLISH, f"sentences.warn_{spoiler.name}", **spoiler.said))
        said += [f"    {_mend(mend, pairs)}" for mend in spoiler.mends]
    return said


def _mend(mend: Any, pairs: Any) -> str:
    """What helps, and the options that do it."""
    if mend.columns is None:
        return f"{say(ENGLISH, f'sentences.mend_{mend.name}', **mend.said)}: {_options(mend.knobs)}"
    source, target, joined = mend.columns
    name = pairs.columns[joined[-1]].name or say(ENGLISH, "page.column", number=joined[-1] + 1)
    options = f"--source {source + 1} --target {target + 1} --join {' '.join(str(place + 1) for place in joined)}"
    return f"{say(ENGLISH, f'sentences.mend_{mend.name}', name=name)}: {options}"


def _options(knobs: Mapping[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {as_text(value)}" for name, value in knobs.items())
