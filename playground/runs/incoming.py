"""Runs that begin with parameters from elsewhere: another run's, to be fine-tuned on other data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from typing import Any, NamedTuple

from playground.config import Experiment, Refusal
from playground.data.corpus import draw_pairs, unknown_shares
from playground.reading.pairs import Pairs
from playground.runs.disk.folder import Folder, pack_run
from playground.runs.making import new_run
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.words.amounts import percentage


class Tuning(NamedTuple):
    """A training that goes on from another run's `step` with other sentences: the settings, the pairs with that run's tokenizers, the
    parameters to begin with, and what the vocabularies lack."""

    experiment: Experiment
    pairs: Pairs
    step: int
    parameters: Parameters
    message: Refusal


def plan_tuning(source: Run, step: int | None, wanted: Experiment, pairs: Pairs | None) -> Tuning:
    """Plans to fine-tune the run's parameters nearest to `step` on other pairs, or on sentences of the task that is `wanted`. Model and
    tokenizers are the run's, all else is as wanted. Raises Refusal when it has no parameters yet."""
    actual, parameters = source.parameters_at(step)
    if wanted.data.task != "own":
        pairs = draw_pairs(wanted.data)
    if pairs is None:
        raise Refusal("data.no_own_pairs")
    shares = [percentage(share, None) for share in unknown_shares(pairs, source.tokenizers)]
    message = Refusal("runs.tuned", name=source.name, step=actual, src=shares[0], tgt=shares[1])
    pairs = replace(pairs, tokenizers=tuple(tokenizer.to_bytes().decode() for tokenizer in source.tokenizers))
    return Tuning(wanted.with_(task="own", **kept_knobs(source)), pairs, actual, parameters, message)


def kept_knobs(source: Run, chosen: Collection[str] = ()) -> dict[str, Any]:
    """Returns what a fine-tuned run has of its source: the knobs of the model, but dropout, and of the tokenizers. Raises Refusal where
    `chosen` names one of them."""
    names = {knob.name for knob in fields(source.experiment.model)} - {"dropout"} | {"tokenizer", "vocab_size"}
    if both := sorted(names & set(chosen)):
        raise Refusal("runs.keeps_its_settings", names=both)
    return {name: value for name, value in source.experiment.flat().items() if name in names}


def tune_run(folder: Folder, step: int | None, wanted: Experiment, pairs: Pairs | None, token: str) -> tuple[Run, dict[str, bytes]]:
    """Creates the caller's run of `plan_tuning`, from step 0 and with a fresh optimiser, and its files. Raises Refusal."""
    source, tuning = folder.run, plan_tuning(folder.run, step, wanted, pairs)
    run = new_run(
        tuning.experiment, token, data=tuning.pairs, credit=tuning.pairs.credit, secret=source.secret, parent=(source.id, tuning.step),
        checkpoint_step=0, message=tuning.message,
    )  # fmt: skip
    run.parts["tokenizers"] = source.tokenizers
    return run, pack_run(run, tuning.parameters)
