"""Runs beside one another: which of them do the same task, and what to call each so that the difference is seen."""

from __future__ import annotations

from collections.abc import Sequence

from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.controls import CONTROLLED, shown_setting
from playground.ui.titles import disclosed, title
from playground.ui.view import View

MAX_RUNS = 5  # runs beside the one on screen
MAX_OFFERED = 12
KNOBS = 3  # differences that are named


def chosen(view: View) -> list[Run]:
    """The run on screen, then those of the cursor's `compare` that do the same task; what is no such run is left out."""
    found = {view.run.id: view.run}
    for id in view.field("compare").split(",")[: 4 * MAX_RUNS]:
        run = view.runs.find(id)
        if run and len(found) <= MAX_RUNS and _same_task(run, view.run):
            found[run.id] = run
    return list(found.values())


def offered(view: View) -> list[Run]:
    """What can be put beside the run on screen: what is there already, the visitor's own runs of the same task, and the shipped ones."""
    beside = [*chosen(view)[1:], *view.runs.list_owned(view.token), *view.runs.shipped()]
    return list({run.id: run for run in beside if run is not view.run and _same_task(run, view.run)}.values())[:MAX_OFFERED]


def origins(runs: Runs, token: str) -> list[Run]:
    """The runs of others from which the visitor's own came, or beside which they were started: seen once, they can be found again."""
    mine = runs.list_owned(token)
    ids = dict.fromkeys(id for run in mine for id in (run.parent[0] if run.parent else "", run.beside) if id)
    found = [run for id in ids if (run := runs.find(id))]
    return [run for run in found if run not in mine and not run.shipped]


def names(runs: Sequence[Run], language: str, token: str, most: int = KNOBS) -> list[str]:
    """What each run is called beside the others: its name, and the settings in which they differ, at `most` so many of them."""
    settings = [disclosed(run).flat() for run in runs]
    apart = differing(settings)
    values = [_values(flat, apart, language, most) for flat in settings]
    return [" · ".join([name(run, language, token), *more]) for run, more in zip(runs, values, strict=True)]


def differing(settings: Sequence[dict]) -> list[str]:
    """The knobs in which settings differ; first the one that decides how far a skill reaches."""
    found = [knob for knob in CONTROLLED if len({flat[knob] for flat in settings}) > 1]
    return sorted(found, key=lambda knob: knob != "positions")


def _values(flat: dict, differing: Sequence[str], language: str, most: int) -> list[str]:
    said = [shown_setting(knob, flat[knob], language) for knob in differing[:most]]
    return [*said, f"+{len(differing) - most}"] if len(differing) > most else said


def name(run: Run, language: str, token: str) -> str:
    """A run by its name alone; one that came with the app by its task."""
    return title(run, language, token) if run.shipped else run.label_for(token) or run.name


def task_of(run: Run) -> tuple[str, str]:
    """What a run learns: its task, and which own sentences."""
    data = run.experiment.data
    return data.task, data.own


def _same_task(run: Run, other: Run) -> bool:
    """Only what has learnt from the same kind of sentences can be compared, and only once there is something to see."""
    return task_of(run) == task_of(other) and run.snapshot is not None and run.tokenizers is not None
