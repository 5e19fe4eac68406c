"""Comparison of runs: which do the same task, and names that show their differences."""

from __future__ import annotations

from collections.abc import Sequence

from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.knob_names import CONTROLLED, shown_setting
from playground.ui.titles import disclosed, title
from playground.ui.view import View

MAX_RUNS = 5  # beside the run on screen
MAX_OFFERED = 12
MAX_NAMED = 3  # differences that are named


def compared_runs(view: View) -> list[Run]:
    """Returns the run on screen, then those of the cursor's `compare` with the same task; others are left out."""
    by_id = {view.run.id: view.run}
    for id in view.field("compare").split(",")[: 4 * MAX_RUNS]:
        run = view.runs.find(id)
        if run and len(by_id) <= MAX_RUNS and _same_task(run, view.run):
            by_id[run.id] = run
    return list(by_id.values())


def offered_runs(view: View) -> list[Run]:
    """Returns the runs to offer for comparison: those compared already, the visitor's own with the same task, and the shipped ones."""
    candidates = [*compared_runs(view)[1:], *view.runs.list_owned(view.token), *view.runs.shipped()]
    return list({run.id: run for run in candidates if run is not view.run and _same_task(run, view.run)}.values())[:MAX_OFFERED]


def origins(runs: Runs, token: str) -> list[Run]:
    """Returns other visitors' runs that the visitor's own came from or were started beside: seen once, they can be found again."""
    own_runs = runs.list_owned(token)
    ids = dict.fromkeys(id for run in own_runs for id in (run.parent[0] if run.parent else "", run.beside) if id)
    related_runs = [run for id in ids if (run := runs.find(id))]
    return [run for run in related_runs if run not in own_runs and not run.shipped]


def names(runs: Sequence[Run], language: str, token: str, most: int = MAX_NAMED) -> list[str]:
    """Names each run by its name and up to `most` settings in which the runs differ."""
    settings = [disclosed(run).flat() for run in runs]
    knobs = diff_knobs(settings)
    values = [_format_values(flat, knobs, language, most) for flat in settings]
    return [" · ".join([name(run, language, token), *more]) for run, more in zip(runs, values, strict=True)]


def diff_knobs(settings: Sequence[dict]) -> list[str]:
    """Returns the knobs in which settings differ; first the one that decides how far a skill generalises."""
    knobs = [knob for knob in CONTROLLED if len({flat[knob] for flat in settings}) > 1]
    return sorted(knobs, key=lambda knob: knob != "positions")


def _format_values(flat: dict, differing: Sequence[str], language: str, most: int) -> list[str]:
    settings = [shown_setting(knob, flat[knob], language) for knob in differing[:most]]
    return [*settings, f"+{len(differing) - most}"] if len(differing) > most else settings


def name(run: Run, language: str, token: str) -> str:
    """Returns a run's name alone; the task of a shipped one."""
    return title(run, language, token) if run.shipped else run.label_for(token) or run.name


def task_of(run: Run) -> tuple[str, str]:
    """Returns a run's task and the id of its own sentences."""
    data = run.experiment.data
    return data.task, data.own


def _same_task(run: Run, other: Run) -> bool:
    """Whether two runs can be compared: the same sentences, and something to see."""
    return task_of(run) == task_of(other) and run.snapshot is not None and run.tokenizers is not None


def name_sublayer(view: View, sublayer: str) -> str:
    stack, _, rest = sublayer.partition(".")
    layer, _, part = rest.partition(".")
    return view.say(f"diagnostics.part_{stack}_{part}", layer=int(layer) + 1) if part else view.say(f"diagnostics.part_{stack}")


def classify_sublayer(sublayer: str) -> str:
    return "cross" if sublayer.endswith("cross_attention") else "encoder" if sublayer.startswith(("src", "encoder")) else "decoder"
