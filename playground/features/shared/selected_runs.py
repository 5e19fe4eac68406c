"""Runs viewed together, whatever their tasks: those that can be ticked, the pinned one, and those that differ only in their seed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from playground.config import Experiment, Refusal
from playground.features.shared import blocks, naming
from playground.features.shared.figures import runs as pictures
from playground.features.shared.naming import disclosed, label, shown_setting, shown_value, title
from playground.features.shared.queries.validation import learning_curve
from playground.features.shared.view import View
from playground.runs.run import Run
from playground.words import listed, percentage

POLL_MS = 1500  # milliseconds between polls for the training runs' progress
MAX_TICKED = len(pictures.DASHES)
MAX_LISTED = 60  # of the visitor's own runs
MAX_NAMED = 4  # settings in one line
MAX_IN_LEGEND = 2  # settings per run: the heading over the figures and the table have all
NONE = "-"  # in the cursor's `runs`: no run is ticked
FIRST_SEEDS = (1, 2, 3, 4, 5)
MAX_CHANGES = 40  # characters of changes beside the outcome; longer ones stand behind "more"


class Ticked(NamedTuple):
    """The overlaid runs, and how many of the address's runs are `missing` or over the limit (`left_out`)."""

    runs: list[Run]
    missing: int = 0
    left_out: int = 0


def ticked(view: View) -> Ticked:
    """Returns the cursor's `runs`. By default the run on screen and its nearest relation, as an example."""
    field = view.field("runs")
    if field == NONE:
        return Ticked([])
    if not field:
        return Ticked([view.run, *_nearest_relation(view)])
    ids = dict.fromkeys(field.split(","))
    found_runs = [run for run in (view.runs.find(id) for id in ids) if run]
    return Ticked(found_runs[:MAX_TICKED], len(ids) - len(found_runs), max(len(found_runs) - MAX_TICKED, 0))


def pinned(view: View) -> Run | None:
    """Returns the pinned run, whose curves stand behind the others, and marks it as viewed."""
    run = view.runs.find(view.field("pin"))
    if run:
        run.mark_seen(view.token)
    return run


def group_runs(view: View, chosen: list[Run]) -> dict[str, list[Run]]:
    """Returns all runs that can be ticked, by group: "mine", newest first, "other", shared by another visitor, and "shipped"."""
    own_runs, shipped = view.runs.list_owned(view.token), view.runs.shipped()
    listed = own_runs[:MAX_LISTED]
    named = dict.fromkeys([view.run, *chosen, *naming.origins(view.runs, view.token), *([pin] if (pin := pinned(view)) else [])])
    listed += [run for run in named if run in own_runs and run not in listed]
    by_group = {"mine": listed, "other": [run for run in named if run not in own_runs and run not in shipped], "shipped": shipped}
    return {name: runs for name, runs in by_group.items() if runs}


def describe_changes(view: View, run: Run) -> str:
    """Describes how a run differs: from its parent, else from the run it was started beside, else from the defaults; of a shipped run its
    size. Its task is in its title."""
    if run.shipped:
        flat = run.experiment.flat()
        return listed(view.language, [shown_setting(knob, flat[knob], view.language) for knob in ("d_model", "encoder_layers")])
    parent = view.runs.find(run.parent[0]) if run.parent else None
    origin = parent or (view.runs.find(run.beside) if run.beside and run.beside != run.id else None)
    origin_settings = disclosed(origin) if origin else Experiment().with_(task=run.experiment.data.task)
    changes = naming.describe_difference(disclosed(run), origin_settings, view.language, run.edits)
    if not origin:
        return changes or view.say("compare.defaults")
    named, changes = naming.name(origin, view.language, view.token), changes or view.say("compare.same_settings")
    if parent:
        return view.say("compare.forked", parent=named, step=f"{run.parent[1]:,}", changes=changes)
    return view.say("compare.beside", name=named, changes=changes)


def describe_differences(view: View, runs: list[Run]) -> str:
    """Describes in a line the settings in which runs differ, a value per run, or that there are none."""
    flats = [disclosed(run).flat() for run in runs]
    differing = naming.diff_knobs(flats)
    if not differing:
        return view.say("compare.all_same")
    settings = [
        f"{label(knob, view.language)} {' | '.join(shown_value(knob, flat[knob], view.language) for flat in flats)}"
        for knob in differing[:MAX_NAMED]
    ]
    more = [view.say("compare.more_settings", count=len(differing) - MAX_NAMED)] if len(differing) > MAX_NAMED else []
    return view.say("compare.differ_in", settings=listed(view.language, [*settings, *more]))


def describe_values(view: View, runs: list[Run], run: Run) -> str:
    """Describes the values of one run for the settings in which `runs` differ."""
    flat = disclosed(run).flat()
    differing = naming.diff_knobs([disclosed(other).flat() for other in runs])
    settings = [shown_setting(knob, flat[knob], view.language) for knob in differing]
    return listed(view.language, settings) or view.say("compare.same_settings")


def names(view: View, runs: list[Run]) -> list[str]:
    """Names runs for a legend: with one task by their different settings, else by their tasks."""
    if len({run.experiment.data.task for run in runs}) > 1:
        return [title(run, view.language, view.token) for run in runs]
    return naming.names(runs, view.language, view.token, MAX_IN_LEGEND)


def brief_names(view: View, runs: list[Run]) -> list[str]:
    """Names runs in a sentence: by their names alone, as in the table, if these are unique."""
    run_names = [naming.name(run, view.language, view.token) for run in runs]
    return run_names if len(set(run_names)) == len(run_names) else names(view, runs)


def line_numbers(view: View, runs: list[Run]) -> dict[Run, int]:
    """Returns the number of each run's line in the figures: runs that differ only in their seed may share one."""
    lines = [[run] for run in runs] if view.choice("seeds") == "each" else group_by_settings(runs)
    numbers = {run: at for at, shared in enumerate(lines) for run in shared}
    return {run: numbers[run] for run in runs}


def line_keys(view: View, runs: list[Run]) -> list[blocks.LineKey]:
    """Returns the style of each run's line."""
    return [blocks.LineKey(**pictures.line_key(at, view.dark)) for at in line_numbers(view, runs).values()]


def find_before(view: View) -> Run | None:
    """Returns the run whose curves stand in grey behind those of the run on screen: the pinned one; else, for a visitor's own run, the one
    of its task that they trained last before it, or one that ships with the app."""
    if run := pinned(view):
        return None if run is view.run else run
    if view.run.parent or not view.runs.owns(view.run.id, view.token):
        return None  # a fork begins with the curve of its parent
    earlier = (run for run in view.runs.list_owned(view.token) if run.created < view.run.created)
    candidates = (run for run in (*earlier, *view.runs.shipped()) if run.step and naming.task_of(run) == naming.task_of(view.run))
    return next(candidates, None)


def draw_behind(view: View, figures: dict[str, dict], run: Run | None) -> dict[str, dict]:
    """Returns the figures "loss" and "accuracy" of a training run with the curves of another `run` in grey behind them."""
    if run is None:
        return figures
    curve, name = learning_curve(run), naming.name(run, view.language, view.token)

    def behind(figure: str, column: str) -> dict:
        names = view.labels[f"line_{column}"], name
        return view.draw(pictures.add_pinned, figures[figure], column, curve.steps, getattr(curve, column), names)

    return figures | {"loss": behind("loss", "validation_loss"), "accuracy": behind("accuracy", "exact_match")}


def describe_change(view: View, before: Run | None) -> list[str]:
    """Returns a sentence on what differs from the run `before`, and what came of it; none about a run that the visitor pinned."""
    if before is None or view.field("pin"):
        return []
    changes = naming.describe_difference(disclosed(view.run), disclosed(before), view.language)
    if view.run.exact_match is None or before.exact_match is None:
        return [view.say("compare.changed", changes=changes)] if changes else []
    reached = {"before": percentage(before.exact_match), "after": percentage(view.run.exact_match)}
    key = "run_again" if not changes else "changed_to" if len(changes) <= MAX_CHANGES else "changed_more"
    return [view.say(f"compare.{key}", changes=changes, **reached)]


def build_comparison(view: View, before: Run | None) -> list[dict]:
    """Returns the button that compares the run on screen with the one `before`, whose curve is grey; or that unpins it."""
    if before is None:
        return []
    if view.field("pin"):
        name = naming.name(before, view.language, view.token)
        return [blocks.button("unpin", "move", view.say("compare.unpin", name=name), to={"pin": ""})]
    return [blocks.button("compare", "move", view.say("compare.both"), to={"tab": "runs", "runs": f"{before.id},{view.run.id}"})]


def _nearest_relation(view: View) -> list[Run]:
    """Returns the run to compare with the one on screen: its parent, else the run of its task with the fewest different settings, at least
    one; of several the one it was started beside, then the visitor's newest, then shipped ones."""
    parent = view.runs.find(view.run.parent[0]) if view.run.parent else None
    if parent:
        return [parent]
    neighbour = view.runs.find(view.run.beside) if view.run.beside else None
    candidates = [*([neighbour] if neighbour else []), *view.runs.list_owned(view.token), *view.runs.shipped()]
    same_task = [run for run in candidates if run is not view.run and run.step and naming.task_of(run) == naming.task_of(view.run)]
    here = disclosed(view.run).flat()
    return sorted(same_task, key=lambda run: abs(len(naming.diff_knobs([here, disclosed(run).flat()])) - 1))[:1]  # 0: nothing to compare


def group_key(run: Run) -> tuple:
    """Returns a key that runs share exactly if they differ only in their seed."""
    flat = disclosed(run).flat() | {"seed": None}
    return (run.secret, run.parent, _read_events(run), *flat.items())


def runs_by_seed(run: Run, candidates: Iterable[Run]) -> dict[int, Run]:
    """Returns the unchanged runs among `candidates` that began at step 0 with the settings and base of `run`, by seed; the first of each
    seed."""
    same = group_key(run)[3:]
    by_seed: dict[int, Run] = {}
    for candidate in candidates:
        if not (candidate.unfinished or candidate.status == "done") or candidate.secret != run.secret or group_key(candidate)[3:] != same:
            continue
        if (candidate.parent, candidate.edits) == (run.base, 0) and _read_events(candidate) == ():
            by_seed.setdefault(candidate.experiment.training.seed, candidate)
    return by_seed


def missing_seeds(have: Mapping[int, Run], several: bool) -> list[int]:
    """Returns those of FIRST_SEEDS without a run, or only the lowest seed without one."""
    missing = [seed for seed in (FIRST_SEEDS if several else range(1, len(have) + 2)) if seed not in have]
    return missing if several else missing[:1]


def choose_overlaid(runs: Mapping[int, Run], new: Sequence[int]) -> list[Run]:
    """Returns as many runs as can be overlaid, the new ones among them, by seed."""
    first = [*new, *(seed for seed in sorted(runs) if seed not in new)]
    return [runs[seed] for seed in sorted(first[:MAX_TICKED])]


def group_by_settings(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups runs that differ only in their seed, in order; a run and its copy stay apart: they say nothing of chance."""
    groups: dict[tuple, list[Run]] = {}
    counts: Counter[tuple] = Counter()
    for run in runs:
        same, seed = group_key(run), run.experiment.training.seed
        groups.setdefault((same, counts[same, seed]), []).append(run)
        counts[same, seed] += 1
    return list(groups.values())


def _read_events(run: Run) -> tuple | None:
    """Returns the changes during training; None if the run's files are damaged."""
    try:
        return tuple(map(tuple, run.history.events))
    except Refusal:
        return None
