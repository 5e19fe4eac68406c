"""Names on the page: of knobs and their values, of runs and what makes them differ, of sublayers; and which runs can be compared."""

from collections.abc import Sequence

from playground.config import KNOBS, Experiment, default, limits
from playground.features.shared.view import View
from playground.knobs import label, shown_setting, shown_value
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.words import listed, say

CONTROLLED = [name for name in KNOBS if not limits(name).text]
MAX_RUNS = 5  # beside the run on screen
MAX_OFFERED = 12
MAX_NAMED = 3  # differences that are named


def title(run: Run, chosen: str, token: str) -> str:
    """Returns a visitor's title of a run: its label or name, and its task."""
    task = say(chosen, f"tasks.{run.experiment.data.task}.label")
    if run.shipped:
        return task
    return f"{run.label_for(token) or run.name} · {task}"


def disclosed(run: Run) -> Experiment:
    """Returns a run's settings, without the change in a mystery run."""
    return run.experiment.with_(variant=default("variant")) if run.secret else run.experiment


def variant_name(run: Run, chosen: str) -> str:
    """Names the deliberate change in a run's model, or its other architecture; "" for the paper's model."""
    model = run.experiment.model
    if model.altered_by == "none":
        return ""
    knob = "architecture" if model.alteration.decoder_only else "variant"
    return "?" if run.secret else shown_value(knob, model.altered_by, chosen)


def part_key(run: Run, part: str) -> str:
    """Returns the key of the name of a part of attention: "encoder", "decoder" or "cross", of a decoder-only model a block of one matrix;
    with "_about" after it, of what its rows and columns are."""
    return f"page.part_{part}_joint" if run.experiment.model.alteration.decoder_only else f"page.part_{part}"


def describe_difference(experiment: Experiment, other: Experiment, chosen: str, edits: int = 0) -> str:
    """Describes in a line what differs from `other`, such as “Heads 4 → 1, Positions sinusoids → none”, after the number of `edits` in the
    parameters. The task, the largest difference, comes first in case the line is cut."""
    ours, theirs = experiment.flat(), other.flat()
    changed = sorted(filter(CONTROLLED.__contains__, experiment.difference(other)), key=lambda name: name != "task")
    typed = [say(chosen, "compare.edited", count=edits)] if edits else []
    values = ([shown_value(name, flat[name], chosen) for flat in (theirs, ours)] for name in changed)
    return listed(chosen, [*typed, *(f"{label(name, chosen)} {' → '.join(pair)}" for name, pair in zip(changed, values, strict=True))])


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
