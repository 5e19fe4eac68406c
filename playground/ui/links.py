"""Parses a link: the settings, the run and the cursor; and explains in one sentence which values are ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from playground import cursor
from playground.config import KNOBS, Experiment, Refusal, read_query
from playground.features.diagnostics import panel as diagnostics
from playground.features.embeddings.query import STATES, TABLES
from playground.features.registry import TABS
from playground.features.shared.labs import UNKNOWN
from playground.features.shared.naming import disclosed
from playground.features.translate.query import METHODS
from playground.lessons.course import COURSE
from playground.lessons.lab import Lab
from playground.lessons.labs import LABS
from playground.lessons.run_questions import Question
from playground.lessons.tour import STOPS
from playground.runs.registry import Runs
from playground.words import glossary, paragraph, say


def _list_guesses(questions: Iterable[Lab | Question]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([UNKNOWN, *(guess for question in questions for guess in question.guesses)]))


# Values of cursor fields that are declared elsewhere in the project.
LISTS: cursor.Lists = {
    "tabs": TABS,
    "methods": METHODS,
    "embeddings": (*TABLES, *STATES),
    "gauges": tuple(diagnostics.QUANTITIES),
    "labs": tuple(LABS),
    "guesses": _list_guesses(LABS.values()),
    "lessons": tuple(COURSE),
    "stops": tuple(STOPS),
    "answers": _list_guesses(lesson.question for lesson in COURSE.values() if lesson.question),
    "terms": ("all", *glossary.names()),
}


def read(runs: Runs, query: Mapping[str, str]) -> tuple[Experiment, dict[str, Refusal]]:
    """Returns a link's settings, or if it has none those of its run, else of the run that a first visitor sees; and the reason for each
    ignored value."""
    experiment, refused = read_query(query)
    place, ignored = cursor.read_query(query, LISTS)
    ignored |= {str(refusal.values["name"]): refusal for refusal in refused}
    try:
        run = runs.get(place["run"]) if "run" in place else next(iter(runs.shipped()), None)
        if run and not experiment.difference() and not any(name in KNOBS and name not in ignored for name in query):
            experiment = disclosed(run)
        elif run and experiment.data.task == "own":  # a link names own sentences only by their run
            experiment = experiment.with_(own=run.experiment.data.own)
    except Refusal as refusal:
        ignored["run"] = refusal
    if "pin" in place and _is_missing(runs, place["pin"]):
        ignored["pin"] = Refusal("compare.pin_missing")
    return experiment, ignored


def _is_missing(runs: Runs, id: str) -> bool:
    try:
        return not runs.get(id)
    except Refusal:
        return True


def explain_ignored(ignored: Mapping[str, Refusal], language: str) -> str:
    """Explains the ignored values of a link; "" without any."""
    return say(language, "page.link_ignored", what=paragraph(refusal.say(language) for refusal in ignored.values())) if ignored else ""
