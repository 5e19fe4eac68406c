"""What a link asks for, read once: the settings, the run, where to look; and which of it can't be used, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from playground.config import MAX_POSITIONS, Experiment, Refusal, limits, read_query
from playground.inspection.interventions import MEMORIES
from playground.lessons.course import COURSE
from playground.lessons.labs import LABS
from playground.runs.registry import Runs
from playground.ui.panels import TABS, data, interventions, masks, positions, translate
from playground.ui.panels.lessons import guessing, labs
from playground.ui.titles import disclosed
from playground.words import LANGUAGES, glossary, say

CHOICES = {
    "tab": TABS,
    "part": ("cross", "encoder", "decoder"),
    "method": tuple(translate.METHODS),
    "target": ("output", "reference"),
    "mask": masks.KINDS,
    "pos": positions.KINDS,
    "split": data.SPLITS,
    "change": interventions.WHATS,
    "squeeze": MEMORIES,
    "lang": LANGUAGES,
    "lab": tuple(LABS),
    "sure": guessing.SURE,
    "lesson": tuple(COURSE),
    "notes": ("on",),
    "certain": guessing.SURE,
    "glossary": ("all", *glossary.names()),
    "hide": ("on",),
    "digits": ("on",),
}
WHOLE = {  # both ends included
    "step": (0, 10**9),
    "layer": (1, int(limits("encoder_layers").high)),
    "head": (1, max(limits("n_heads").choices)),
    "q": (0, MAX_POSITIONS),
    "k": (0, MAX_POSITIONS),
    "beam": (1, 10),
    "draw": (0, 10**6),
    "shift": (0, 32),
    "row": (0, MAX_POSITIONS),
    "col": (0, 10**6),
    "window": (0, 10**6),
    "toss": (1, labs.TOSSES),
}
NUMBERS = {"penalty": (0.0, 2.0), "temperature": (0.1, 3.0)}


def read(runs: Runs, query: Mapping[str, str]) -> tuple[Experiment, dict[str, Refusal]]:
    """The settings a link describes, or those of the run it shows when it describes none; and why which of its values are ignored."""
    experiment, refused = read_query(query)
    ignored = {str(refusal.values["name"]): refusal for refusal in refused}
    try:
        run = runs.get(query["run"]) if query.get("run") else None
        if run and not experiment.difference():
            experiment = disclosed(run)
        elif run and experiment.data.task == "own":  # which sentences these are no link says but by the run
            experiment = experiment.with_(own=run.experiment.data.own)
    except Refusal as refusal:
        ignored["run"] = refusal
    for name in (*CHOICES, *WHOLE, *NUMBERS):
        refusal = _refusal(name, query[name]) if query.get(name) else None
        if refusal:
            ignored[name] = refusal
    return experiment, ignored


def sentence(ignored: Mapping[str, Refusal], language: str) -> str:
    """What of the link was ignored, and why; empty when nothing was."""
    return say(language, "page.link_ignored", what=" ".join(refusal.say(language) for refusal in ignored.values())) if ignored else ""


def _refusal(name: str, value: str) -> Refusal | None:
    """Why a field of the cursor can't have this value; None when it can."""
    shown = value if len(value) <= 40 else value[:39] + "…"
    if name in CHOICES:
        good = value in CHOICES[name]
        return None if good else Refusal("config.not_a_choice", name=name, value=shown, choices=", ".join(CHOICES[name]))
    low, high = WHOLE.get(name) or NUMBERS[name]
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    good = low <= number <= high and (name in NUMBERS or (value.isascii() and value.isdigit()))
    return None if good else Refusal("config.not_in_range", name=name, value=shown, low=low, high=high)
