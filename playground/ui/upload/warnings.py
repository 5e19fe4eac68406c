"""Warnings about own sentences that are likely to spoil training, each with buttons that mend it if possible."""

from __future__ import annotations

from functools import partial
from typing import Any

from playground.config import Experiment
from playground.data.corpus import Corpus
from playground.data.statistics import Statistics
from playground.data.warnings import Mend, find_spoilers
from playground.reading.uploads import Pairs
from playground.ui import blocks
from playground.ui.upload import uploading
from playground.ui.view import Screen


def draw_warnings(experiment: Experiment, pairs: Pairs, corpus: Corpus, statistics: Statistics, screen: Screen) -> list[dict[str, Any]]:
    """Returns the blocks: a sentence and its buttons per warning."""
    drawn = []
    for spoiler in find_spoilers(experiment, pairs, corpus, statistics, partial(uploading.suggest_for, pairs, experiment.data.own)):
        drawn.append(
            blocks.text(f"warning-{spoiler.name}", screen.say(f"sentences.warn_{spoiler.name}", **spoiler.slots), css="pg-warning")
        )
        buttons = [_make_button(f"mend-{spoiler.name}-{place}", mend, pairs, screen) for place, mend in enumerate(spoiler.mends)]
        drawn += [blocks.row(f"mend-{spoiler.name}", *buttons)] if buttons else []
    return drawn


def _make_button(place: str, mend: Mend, pairs: Pairs, screen: Screen) -> dict[str, Any]:
    """Returns a button that sets knobs, or reads the sentences with other columns."""
    if mend.columns is None:
        return blocks.button(place, "set", screen.say(f"sentences.mend_{mend.name}", **mend.slots), values=dict(mend.knobs))
    source, target, joined = mend.columns
    name = pairs.columns[joined[-1]].name or screen.say("page.column", number=joined[-1] + 1)
    values = {"source": source, "target": target, "swap": False, "joined": list(joined)}
    return blocks.button(place, "read", screen.say(f"sentences.mend_{mend.name}", name=name), values=values)
