"""Runs before anybody knows of them: new ones, and those that begin from another: a copy is the same run once more, a fork goes on from one
of its steps.

A copy and a fork are made as files, so that they are on the disk, whole, before anybody sees them. What is secret in a run is secret in
both. Whoever has no token is refused.
"""

from __future__ import annotations

from typing import Any

from playground.config import Experiment, Refusal
from playground.runs.disk.folder import Folder, pack_run
from playground.runs.names import new_id, owner_of
from playground.runs.run import Run
from playground.runs.steady_clock import now


def new_run(experiment: Experiment, token: str, **values: Any) -> Run:
    """One to be named and settled. Raises Refusal when its data are missing."""
    owner = _owner(token)
    if experiment.data.task == "own" and values.get("data") is None:
        raise Refusal("data.no_own_pairs")
    return Run(new_id(), "", experiment, owner, device="", **values)


def copied(folder: Folder, token: str) -> tuple[Run, dict[str, bytes]]:
    """The run of a folder as the caller's, still without a name, and its files. In the copy one at work is paused, and one that was cut
    off is stopped: it doesn't go on by itself. Raises Refusal when it has no parameters yet."""
    owner = _owner(token)
    if not folder.has("weights.safetensors"):
        raise Refusal("runs.nothing_yet")
    run = folder.run
    if run.working:
        run.status, run.message = "paused", None
    elif run.status == "interrupted":
        run.status, run.message = "stopped", None
    run.id, run.name, run.label, run.owner, run.created, run.shipped, run.beside = new_id(), "", "", owner, now(), False, run.id
    run.sentences_shared = run.visited = False
    return run, folder.files()


def forked(folder: Folder, step: int | None, token: str) -> tuple[Run, dict[str, bytes]]:
    """A run of the caller's that goes on from the parameters which the run of a folder kept nearest to `step` (None: the newest), and the
    files it goes on from. All is of this one save. Raises Refusal when it has no parameters yet.

    Steps count on, so the learning rate does too; history and replay up to there are the parent's. It has its parent's last step, or
    as many steps again when there is none left. Live knobs are as they were; the optimiser goes on where its state is kept, and is
    fresh elsewhere.
    """
    source, file = folder.run, "state.safetensors"
    actual, parameters = source.parameters_at(step)
    newest = source.snapshot
    goes_on = folder.has(file) and (step is None or abs(newest.step - step) <= abs(actual - step))
    if goes_on:
        actual, parameters = newest.step, newest.parameters
    state = {file: folder.read(file)} if goes_on else {}
    left = source.steps - actual
    experiment = source.experiment if left > 0 else source.experiment.with_(steps=actual + source.steps - source.first_step)
    run = new_run(
        experiment, token, data=source.pairs, credit=source.credit, secret=source.secret, parent=(source.id, actual), first_step=actual,
        step=actual, checkpoint_step=actual, live=source.live_at(actual),
    )  # fmt: skip
    history, replay = source.history.until(actual), source.replay.until(actual, run.steps, parameters)
    run.parts |= {"history": history, "replay": replay, "tokenizers": source.tokenizers}
    return run, pack_run(run, parameters) | state


def _owner(token: str) -> str:
    if not token:
        raise Refusal("runs.no_token")
    return owner_of(token)
