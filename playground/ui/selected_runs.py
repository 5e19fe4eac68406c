"""Runs that are looked at together, whatever they learn: which of them can be ticked, which are, and which one is pinned."""

from __future__ import annotations

from typing import NamedTuple

from playground.config import Experiment
from playground.figures import runs as pictures
from playground.queries.learning_curves import learning_curve
from playground.runs.run import Run
from playground.ui import blocks, compare, seeds, titles
from playground.ui.controls import label, shown_setting, shown_value
from playground.ui.titles import disclosed, title
from playground.ui.view import View
from playground.words import listed

MAX_TICKED = len(pictures.DASHES)
MAX_LISTED = 60  # of the visitor's own
MAX_NAMED = 4  # settings in one line
MAX_IN_LEGEND = 2  # of one run: the heading over the figures and the table have all of them
NONE = "-"  # in the cursor's `runs`: every tick was taken away


class Ticked(NamedTuple):
    """The runs to lay over each other, and how many of those that the address names are `missing` or beyond the most (`left_out`)."""

    runs: list[Run]
    missing: int = 0
    left_out: int = 0


def ticked(view: View) -> Ticked:
    """Those of the cursor's `runs`. While nobody has chosen: the run on screen and its nearest relation, which shows what this is for."""
    asked = view.field("runs")
    if asked == NONE:
        return Ticked([])
    if not asked:
        return Ticked([view.run, *_relation(view)])
    ids = dict.fromkeys(asked.split(","))
    found = [run for run in (view.runs.find(id) for id in ids) if run]
    return Ticked(found[:MAX_TICKED], len(ids) - len(found), max(len(found) - MAX_TICKED, 0))


def pinned(view: View) -> Run | None:
    """The run whose curves stand behind those of the others: who has pinned it is looking at it."""
    run = view.runs.find(view.field("pin"))
    if run:
        run.seen(view.token)
    return run


def groups(view: View, chosen: list[Run]) -> dict[str, list[Run]]:
    """Every run that can be ticked, by whose it is: "mine", newest first, "other", which somebody shared, and "shipped"."""
    mine, shipped = view.runs.mine(view.token), view.runs.shipped()
    listed = mine[:MAX_LISTED]
    named = dict.fromkeys([view.run, *chosen, *compare.origins(view.runs, view.token), *([pin] if (pin := pinned(view)) else [])])
    listed += [run for run in named if run in mine and run not in listed]
    found = {"mine": listed, "other": [run for run in named if run not in mine and run not in shipped], "shipped": shipped}
    return {name: runs for name, runs in found.items() if runs}


def one_line(view: View, run: Run) -> str:
    """What makes a run different: from its parent, else from the run it was started beside, else from the defaults."""
    parent = view.runs.find(run.parent[0]) if run.parent else None
    origin = parent or (view.runs.find(run.beside) if run.beside and run.beside != run.id else None)
    changes = titles.difference(disclosed(run), disclosed(origin) if origin else Experiment(), view.language)
    if not origin:
        return changes or view.say("compare.defaults")
    named, changes = compare.name(origin, view.language, view.token), changes or view.say("compare.same_settings")
    if parent:
        return view.say("compare.forked", parent=named, step=f"{run.parent[1]:,}", changes=changes)
    return view.say("compare.beside", name=named, changes=changes)


def difference(view: View, runs: list[Run]) -> str:
    """One line: the settings in which runs differ, a value for each run in their order, or that there are none."""
    if len(runs) == 1:
        return f"{compare.name(runs[0], view.language, view.token)}: {one_line(view, runs[0])}"
    flats = [disclosed(run).flat() for run in runs]
    differing = compare.differing(flats)
    if not differing:
        return view.say("compare.all_same")
    said = [
        f"{label(knob, view.language)} {' | '.join(shown_value(knob, flat[knob], view.language) for flat in flats)}"
        for knob in differing[:MAX_NAMED]
    ]
    more = [view.say("compare.more_settings", count=len(differing) - MAX_NAMED)] if len(differing) > MAX_NAMED else []
    return view.say("compare.differ_in", settings=listed(view.language, [*said, *more]))


def apart(view: View, runs: list[Run], run: Run) -> str:
    """The values that one run has of the settings in which `runs` differ."""
    flat = disclosed(run).flat()
    differing = compare.differing([disclosed(one).flat() for one in runs])
    said = [shown_setting(knob, flat[knob], view.language) for knob in differing]
    return listed(view.language, said) or view.say("compare.same_settings")


def names(view: View, runs: list[Run]) -> list[str]:
    """What to call runs beside one another: of one task by the settings in which they differ, else by their tasks."""
    if len({run.experiment.data.task for run in runs}) > 1:
        return [title(run, view.language, view.token) for run in runs]
    return compare.names(runs, view.language, view.token, MAX_IN_LEGEND)


def brief_names(view: View, runs: list[Run]) -> list[str]:
    """The same in a sentence: by their names alone, as in the table, where these tell them apart."""
    found = [compare.name(run, view.language, view.token) for run in runs]
    return found if len(set(found)) == len(found) else names(view, runs)


def line_numbers(view: View, runs: list[Run]) -> dict[Run, int]:
    """Which line of the figures is that of each run: those that differ only in their seed may share one."""
    lines = [[run] for run in runs] if view.choice("seeds") == "each" else seeds.grouped(runs)
    found = {run: at for at, shared in enumerate(lines) for run in shared}
    return {run: found[run] for run in runs}


def line_keys(view: View, runs: list[Run]) -> list[blocks.LineKey]:
    """How the line of each run is drawn."""
    return [blocks.LineKey(**pictures.line_key(at, view.dark)) for at in line_numbers(view, runs).values()]


def with_pinned(view: View, figures: dict[str, dict]) -> dict[str, dict]:
    """The figures "loss" and "accuracy" of a training run with the curves of the pinned run in grey behind theirs."""
    run = pinned(view)
    if run is None or run is view.run:
        return figures
    curve, name = learning_curve(run), compare.name(run, view.language, view.token)

    def behind(figure: str, column: str) -> dict:
        said = view.say("compare.pinned_line", name=name, line=view.labels[f"line_{column}"])
        return view.draw(pictures.add_pinned, figures[figure], column, curve.steps, getattr(curve, column), said)

    return figures | {"loss": behind("loss", "validation_loss"), "accuracy": behind("accuracy", "exact_match")}


def unpin(view: View) -> list[dict]:
    """A way to let go of the pinned run, where one stands behind the curves."""
    run = pinned(view)
    if run is None or run is view.run:
        return []
    return [blocks.button("unpin", "move", view.say("compare.unpin", name=compare.name(run, view.language, view.token)), to={"pin": ""})]


def _relation(view: View) -> list[Run]:
    """The run to compare with the one on screen: its parent, else of those of its task the one from which it differs in one setting, or in
    as few as may be; among several that beside which it was started, then the visitor's newest, then shipped ones."""
    parent = view.runs.find(view.run.parent[0]) if view.run.parent else None
    if parent:
        return [parent]
    beside = view.runs.find(view.run.beside) if view.run.beside else None
    others = [*([beside] if beside else []), *view.runs.mine(view.token), *view.runs.shipped()]
    alike = [run for run in others if run is not view.run and run.step and compare.task_of(run) == compare.task_of(view.run)]
    mine = disclosed(view.run).flat()
    return sorted(alike, key=lambda run: abs(len(compare.differing([mine, disclosed(run).flat()])) - 1))[:1]  # 0: nothing to compare
