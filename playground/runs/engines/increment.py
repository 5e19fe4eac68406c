"""Increments of a remote training's run: the records since the last call, as plain values, arrays and bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from playground.config import Refusal
from playground.runs.history import Columns, Probe
from playground.runs.replay import Completion, Parameters
from playground.runs.run import Run, Snapshot

Arrays = Mapping[str, np.ndarray]


def to_arrays(parameters: Parameters) -> Arrays:
    """Converts to arrays, which are sent by value: a tensor would be sent as a file shared by both processes."""
    return {name: tensor.numpy() for name, tensor in parameters.items()}


def to_tensors(values: Arrays) -> Parameters:
    """Converts back to tensors."""
    return {name: torch.from_numpy(array) for name, array in values.items()}


@dataclass(frozen=True)
class Picture:
    """A replay frame: its completions, and the parameters to save, if any."""

    step: int
    completions: tuple[Completion, ...]
    parameters: Arrays | None


@dataclass(frozen=True)
class Increment:
    """New rows of the history, new probes and parameters if there is a new snapshot, and new replay frames."""

    step: int
    seconds: float
    message: Refusal | None
    steps: Sequence[tuple[float, ...]]
    validations: Sequence[tuple[float, ...]]
    diagnostics: Sequence[Mapping[str, float]]
    events: Sequence[tuple[int, str, Any]]
    probes: tuple[Probe, ...]
    snapshot: tuple[int, Arrays] | None
    pictures: Sequence[Picture]


class Cursor:
    """The position up to which a run's records have been sent."""

    def __init__(self, run: Run) -> None:
        self._run, history = run, run.history
        self._rows, self._validations, self._events = len(history.steps), len(history.validations), len(history.events)
        self._diagnostics, self._diagnostic_rows = history.diagnostics, len(history.diagnostics or ())
        self._snapshot, self._message = run.snapshot, run.message

    def increment(self, pictures: Sequence[Picture]) -> Increment:
        """Returns the records since the last increment, with these frames."""
        run, history = self._run, self._run.history
        steps, self._rows = _since(history.steps, self._rows), len(history.steps)
        validations, self._validations = _since(history.validations, self._validations), len(history.validations)
        if history.diagnostics is not self._diagnostics:  # restarted with other columns
            self._diagnostics, self._diagnostic_rows = history.diagnostics, 0
        diagnostics = [dict(zip(self._diagnostics.names, row, strict=True)) for row in _since(self._diagnostics, self._diagnostic_rows)]
        self._diagnostic_rows = len(self._diagnostics or ())
        events, self._events = history.events[self._events :], len(history.events)
        has_snapshot, has_message = run.snapshot is not self._snapshot, run.message is not self._message
        self._snapshot, self._message = run.snapshot, run.message
        return Increment(
            run.step, run.seconds, run.message if has_message else None, steps, validations, diagnostics, events,
            run.probes if has_snapshot else (), (run.snapshot.step, to_arrays(run.snapshot.parameters)) if has_snapshot else None, pictures,
        )  # fmt: skip


def _since(table: Columns | None, start: int) -> list[tuple[float, ...]]:
    return list(zip(*table.rows(start).values(), strict=True)) if table else []


def apply_increment(increment: Increment, run: Run) -> None:
    """Applies an increment to the run, as a local recording would."""
    history, replay = run.history, run.replay
    for row in increment.steps:
        history.steps.append(*row)
    for row in increment.validations:
        history.validations.append(*row)
    for row in increment.diagnostics:
        history.add_diagnostics(int(row["step"]), {name: number for name, number in row.items() if name != "step"})
    history.events += increment.events
    history.probes = increment.probes or history.probes
    run.step, run.seconds = increment.step, increment.seconds
    run.message = increment.message or run.message
    for picture in increment.pictures:
        if picture.parameters:
            replay.save_parameters(picture.step, to_tensors(picture.parameters))
        replay.capture(picture.step, partial(tuple, picture.completions))
    if increment.snapshot:
        step, values = increment.snapshot
        run.parts["snapshot"] = Snapshot(run.version + 1, step, to_tensors(values), run.probes)
        run.touch()
