"""What is likely to spoil a training on own sentences, each with a button that mends it where one can."""

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


def warnings(experiment: Experiment, pairs: Pairs, corpus: Corpus, found: Statistics, screen: Screen) -> list[dict[str, Any]]:
    """The blocks: a sentence and its buttons for each."""
    made = []
    for spoiler in find_spoilers(experiment, pairs, corpus, found, partial(uploading.suggestion, pairs, experiment.data.own)):
        made.append(blocks.text(f"warning-{spoiler.name}", screen.say(f"sentences.warn_{spoiler.name}", **spoiler.slots), css="pg-warning"))
        buttons = [_button(f"mend-{spoiler.name}-{place}", mend, pairs, screen) for place, mend in enumerate(spoiler.mends)]
        made += [blocks.row(f"mend-{spoiler.name}", *buttons)] if buttons else []
    return made


def _button(place: str, mend: Mend, pairs: Pairs, screen: Screen) -> dict[str, Any]:
    """One that sets knobs, or has the sentences read with other columns."""
    if mend.columns is None:
        return blocks.button(place, "set", screen.say(f"sentences.mend_{mend.name}", **mend.slots), values=dict(mend.knobs))
    source, target, joined = mend.columns
    name = pairs.columns[joined[-1]].name or screen.say("page.column", number=joined[-1] + 1)
    values = {"source": source, "target": target, "swap": False, "joined": list(joined)}
    return blocks.button(place, "read", screen.say(f"sentences.mend_{mend.name}", name=name), values=values)
