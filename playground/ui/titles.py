"""Titles of runs, and the differences between them."""

from __future__ import annotations

from playground.config import Experiment, default
from playground.runs.run import Run
from playground.ui.knob_names import CONTROLLED, label, shown_value
from playground.words import listed, say


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
    """Names the deliberate change in a run's model; "" for the paper's."""
    variant = run.experiment.model.variant
    if variant == default("variant"):
        return ""
    return "?" if run.secret else shown_value("variant", variant, chosen)


def describe_difference(experiment: Experiment, other: Experiment, chosen: str) -> str:
    """Describes in a line what differs from `other`, such as “Heads 4 → 1, Positions sinusoids → none”. The task, the largest difference,
    comes first in case the line is cut."""
    ours, theirs = experiment.flat(), other.flat()
    changed = sorted(filter(CONTROLLED.__contains__, experiment.difference(other)), key=lambda name: name != "task")
    return listed(
        chosen,
        (f"{label(name, chosen)} {shown_value(name, theirs[name], chosen)} → {shown_value(name, ours[name], chosen)}" for name in changed),
    )
