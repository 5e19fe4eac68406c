"""What people call a run, and what makes it different from another."""

from __future__ import annotations

from playground.config import Experiment
from playground.runs.run import Run
from playground.ui.controls import CONTROLLED, label, shown_value
from playground.words import say


def title(run: Run, chosen: str) -> str:
    """What people call a run: its label or name, and its task."""
    task = say(chosen, f"tasks.{run.experiment.data.task}.label")
    if run.shipped:
        return task
    return f"{run.label or run.name} · {task}"


def difference(experiment: Experiment, other: Experiment, chosen: str) -> str:
    """One line: what is different from `other`, such as “Heads 4 → 1, Positions sinusoids → none”."""
    theirs = other.flat()
    return ", ".join(
        f"{label(name, chosen)} {shown_value(name, theirs[name], chosen)} → {shown_value(name, value, chosen)}"
        for name, value in experiment.difference(other).items()
        if name in CONTROLLED
    )
