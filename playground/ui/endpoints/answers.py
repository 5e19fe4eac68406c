"""Implements the endpoints: plain numbers, texts and lists. A run's id gives read access; only its owner can change it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.config import KNOBS, TASK_STEPS, Experiment, Refusal, default
from playground.queries import translate as translating
from playground.queries.results import Candidate
from playground.runs.history import Columns
from playground.runs.run import Run
from playground.ui.endpoints.arguments import Argument, check_owner, pick_arguments
from playground.ui.endpoints.caller import Caller
from playground.ui.endpoints.labs import lab
from playground.ui.rights import LINK, PUBLIC, READER, VISITOR, Right
from playground.ui.titles import disclosed
from playground.ui.upload import uploading
from playground.ui.view import steps as decoder_rows, texts

ANY_OWNER = {"owner": Argument(str, "")}  # by default a client without runs
MAX_WEIGHTS = 500_000  # in one answer; a single layer or head has fewer


@dataclass(frozen=True)
class Endpoint:
    """At most `at_once` calls of all endpoints of a `group` run at a time; others wait."""

    right: Right
    answer: Callable[..., dict[str, Any]]
    arguments: Mapping[str, Argument]
    group: str
    at_once: int


def train(caller: Caller, owner: str, label: str, **knobs: Any) -> dict[str, Any]:
    """Queues a new run. Raises Refusal."""
    check_owner(owner)
    if knobs["steps"] is None:
        knobs["steps"] = TASK_STEPS.get(knobs["task"], default("steps"))
    experiment = Experiment().with_(**knobs)
    pairs, credit = uploading.experiment_pairs(caller.runs, experiment, owner)
    return run_state(caller, caller.runs.create(experiment, owner, pairs=pairs, credit=credit, label=label), owner)


def status(caller: Caller, run: str) -> dict[str, Any]:
    return run_state(caller, caller.run(run))


def run_state(caller: Caller, run: Run, owner: str = "") -> dict[str, Any]:
    """Returns a run's progress, as its owner or another client may see it; None for unknown values."""
    try:
        last = run.history.validations.last() or {}
    except Refusal:  # damaged on the disk
        last = {}
    return {
        "run": run.id,
        "name": run.name,
        "label": run.label_for(owner),
        "task": run.experiment.data.task,
        "settings": disclosed(run).with_(own="").difference(),
        "status": run.status,
        "message": str(run.message) if run.message else None,
        "place": run.place,
        "step": run.step,
        "steps": run.steps,
        "seconds": round(run.seconds, 3),
        "seconds_left": run.eta and [round(seconds, 1) for seconds in run.eta],
        "exact_match": _finite(last.get("exact_match")),
        "token_accuracy": _finite(last.get("token_accuracy")),
        "validation_loss": _finite(last.get("loss")),
        "link": caller.link(run),
    }


def translate(caller: Caller, run: str, text: str, step: int | None, owner: str, **how: Any) -> dict[str, Any]:
    options = translating.DecodingOptions(
        how["method"], how["beam"], how["penalty"], how["temperature"], how["top_k"], how["top_p"], how["draw"], how["prefix"]
    )
    translation = translating.translate(caller.reader, caller.readable(run, owner), step, text, options)
    best, *rest = map(_describe_candidate, translation.candidates)
    references = list(translation.references) if translation.references is not None else None
    return {"run": run, "step": translation.step, "source": texts(translation.source), **best, "references": references, "others": rest}


def _describe_candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "text": candidate.text,
        "tokens": texts(candidate.pieces),
        "probabilities": list(candidate.probabilities),
        "score": _finite(candidate.score),
        "finished": candidate.finished,
        "right": candidate.correct,
    }


def attention(
    caller: Caller, run: str, text: str, kind: str, layer: int | None, head: int | None, step: int | None, owner: str
) -> dict[str, Any]:
    """Counts layers and heads from 1. Raises Refusal for missing ones, and for more than MAX_WEIGHTS numbers."""
    trace = caller.reader.look(caller.readable(run, owner), step, text)
    weights = getattr(trace, kind)
    if not weights.size:
        raise Refusal("course.no_attention")
    slices = [*map(_select_slice, ("layer", "head"), (layer, head), weights.shape)]
    weights = weights[slices[0]][:, slices[1]]
    if weights.size > MAX_WEIGHTS:
        raise Refusal("api.too_much", most=MAX_WEIGHTS, count=weights.size)
    rows = texts(trace.source) if kind == "encoder" else list(map(str, decoder_rows(trace)))
    return {
        "run": run,
        "step": trace.step,
        "kind": kind,
        "layers": [number + 1 for number in range(slices[0].start, slices[0].stop)],
        "heads": [number + 1 for number in range(slices[1].start, slices[1].stop)],
        "rows": rows,
        "columns": texts(trace.fed if kind == "decoder" else trace.source),
        "weights": weights.tolist(),
    }


def _select_slice(name: str, number: int | None, count: int) -> slice:
    """Returns the slice of the requested layer or head; of all for None. Raises Refusal."""
    if number is not None and number > count:
        raise Refusal("config.not_in_range", name=name, value=str(number), low="1", high=str(count))
    return slice(0, count) if number is None else slice(number - 1, number)


def curves(caller: Caller, run: str) -> dict[str, Any]:
    history = caller.run(run).history
    return {"run": run, "steps": _columns(history.steps), "validations": _columns(history.validations)}


def _columns(table: Columns) -> dict[str, list[float | None]]:
    return {name: [_finite(value) for value in column] for name, column in table.rows().items()}


def runs(caller: Caller, owner: str) -> dict[str, Any]:
    listed: dict[str, Iterable[Run]] = {"shipped": caller.runs.shipped(), "mine": caller.runs.list_owned(owner)}
    return {name: [run_state(caller, run, owner) for run in group] for name, group in listed.items()}


def _finite(value: float | None) -> float | None:
    """Returns a finite number, else None: JSON has neither NaN nor infinity."""
    return value if value is not None and math.isfinite(value) else None


ENDPOINTS: dict[str, Endpoint] = {
    "train": Endpoint(VISITOR, train, pick_arguments("owner", *KNOBS, "label"), "train", 1),
    "status": Endpoint(LINK, status, pick_arguments("run"), "look", 2),
    "translate": Endpoint(
        READER,
        translate,
        pick_arguments("run", "text", "step", "method", "beam", "penalty", "temperature", "top_k", "top_p", "draw", "prefix") | ANY_OWNER,
        "read",  # the page reads on two threads (see queries/reader.py): one of them is always its own
        1,
    ),
    "attention": Endpoint(READER, attention, pick_arguments("run", "text", "kind", "layer", "head", "step") | ANY_OWNER, "read", 1),
    "curves": Endpoint(LINK, curves, pick_arguments("run"), "look", 2),
    "runs": Endpoint(PUBLIC, runs, ANY_OWNER, "look", 2),
    "lab": Endpoint(PUBLIC, lab, pick_arguments("name", "seeds") | ANY_OWNER, "lab", 1),  # an experiment: VISITOR
}


def explain_mismatch(name: str) -> Refusal:
    """Explains why there is no such endpoint, or these are not its arguments."""
    if name not in ENDPOINTS:
        return Refusal("api.no_endpoint", name=name[:40], names=", ".join(ENDPOINTS))
    needed = [argument for argument, argument_kind in ENDPOINTS[name].arguments.items() if argument_kind.required]
    return Refusal("api.not_its_arguments", name=name, needed=", ".join(needed) or "–")
