"""Creates runs before they are registered: new ones, copies, and forks, which continue from a step of another run.

Copies and forks are made as files, so that they are complete on the disk before any request sees them. They inherit `secret`. Raises
Refusal without a token.
"""

from __future__ import annotations

from typing import Any

from playground.config import Experiment, Refusal
from playground.runs.disk.folder import Folder, pack_run
from playground.runs.names import new_id, owner_of
from playground.runs.run import Run
from playground.runs.runtime import now


def new_run(experiment: Experiment, token: str, **values: Any) -> Run:
    """Creates a run without a name and a device. Raises Refusal when its data are missing."""
    owner = _owner(token)
    if experiment.data.task == "own" and values.get("data") is None:
        raise Refusal("data.no_own_pairs")
    return Run(new_id(), "", experiment, owner, device="", **values)


def copy_run(folder: Folder, token: str) -> tuple[Run, dict[str, bytes]]:
    """Copies a folder's run for the caller; returns it, still unnamed, and its files. A run at work becomes paused, an interrupted one
    stopped, so that it doesn't resume automatically. Raises Refusal when it has no parameters yet."""
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


def fork_run(folder: Folder, step: int | None, token: str) -> tuple[Run, dict[str, bytes]]:
    """Creates the caller's fork from the saved parameters nearest to `step` (None: the newest), and its files, all from this one save.
    Raises Refusal when it has no parameters yet.

    Step numbers continue, hence the learning rate too; history and replay up to there are the parent's. The last step is the parent's, or
    as many steps again when none are left. Live knobs keep their values; the optimiser state is restored if saved there, otherwise fresh.
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
    history, replay = source.history.until(actual), source.replay.resume_at(actual, run.steps, parameters)
    run.parts |= {"history": history, "replay": replay, "tokenizers": source.tokenizers}
    return run, pack_run(run, parameters) | state


def _owner(token: str) -> str:
    if not token:
        raise Refusal("runs.no_token")
    return owner_of(token)
