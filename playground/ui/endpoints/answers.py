"""What each endpoint answers: plain numbers, texts and lists. Whoever has a run's id may look at it; only its owner changes anything."""

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
from playground.ui.endpoints.arguments import Argument, check_owner, these
from playground.ui.endpoints.caller import Caller
from playground.ui.endpoints.labs import lab
from playground.ui.titles import disclosed
from playground.ui.upload import uploading
from playground.ui.view import steps as decoder_rows
from playground.ui.view import texts

ANY_OWNER = {"owner": Argument(str, "")}  # not given: one who has made no run
MAX_WEIGHTS = 500_000  # of attention in one answer; a layer or a head alone has fewer


@dataclass(frozen=True)
class Endpoint:
    """`at_once` calls of all endpoints of a `group` are worked on at a time; the others wait."""

    answer: Callable[..., dict[str, Any]]
    arguments: Mapping[str, Argument]
    group: str
    at_once: int


def train(caller: Caller, owner: str, label: str, **knobs: Any) -> dict[str, Any]:
    """A new run, which is queued. Raises Refusal."""
    check_owner(owner)
    if knobs["steps"] is None:
        knobs["steps"] = TASK_STEPS.get(knobs["task"], default("steps"))
    experiment = Experiment().with_(**knobs)
    pairs, credit = uploading.pairs(caller.runs, experiment, owner)
    return state(caller, caller.runs.create(experiment, owner, pairs=pairs, credit=credit, label=label), owner)


def status(caller: Caller, run: str) -> dict[str, Any]:
    return state(caller, caller.run(run))


def state(caller: Caller, run: Run, owner: str = "") -> dict[str, Any]:
    """How far a run is, as its owner or anybody else may see it; what isn't known yet is None."""
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
        "exact_match": _number(last.get("exact_match")),
        "token_accuracy": _number(last.get("token_accuracy")),
        "validation_loss": _number(last.get("loss")),
        "link": caller.link(run),
    }


def translate(caller: Caller, run: str, text: str, step: int | None, owner: str, **how: Any) -> dict[str, Any]:
    way = translating.DecodingOptions(
        how["method"], how["beam"], how["penalty"], how["temperature"], how["top_k"], how["top_p"], how["draw"], how["prefix"]
    )
    found = translating.translate(caller.reader, caller.readable(run, owner), step, text, way)
    best, *others = map(_output, found.candidates)
    references = list(found.references) if found.references is not None else None
    return {"run": run, "step": found.step, "source": texts(found.source), **best, "references": references, "others": others}


def _output(found: Candidate) -> dict[str, Any]:
    return {
        "text": found.text,
        "tokens": texts(found.pieces),
        "probabilities": list(found.probabilities),
        "score": _number(found.score),
        "finished": found.finished,
        "right": found.correct,
    }


def attention(
    caller: Caller, run: str, text: str, kind: str, layer: int | None, head: int | None, step: int | None, owner: str
) -> dict[str, Any]:
    """Layers and heads are counted from 1. Raises Refusal for those that there are not, and for more numbers than one answer holds."""
    look = caller.reader.look(caller.readable(run, owner), step, text)
    weights = getattr(look, kind)
    if not weights.size:
        raise Refusal("course.no_attention")
    chosen = [_chosen(name, asked, count) for name, asked, count in zip(("layer", "head"), (layer, head), weights.shape, strict=False)]
    weights = weights[chosen[0]][:, chosen[1]]
    if weights.size > MAX_WEIGHTS:
        raise Refusal("api.too_much", most=MAX_WEIGHTS, count=weights.size)
    rows = texts(look.source) if kind == "encoder" else list(map(str, decoder_rows(look)))
    return {
        "run": run,
        "step": look.step,
        "kind": kind,
        "layers": [number + 1 for number in range(chosen[0].start, chosen[0].stop)],
        "heads": [number + 1 for number in range(chosen[1].start, chosen[1].stop)],
        "rows": rows,
        "columns": texts(look.fed if kind == "decoder" else look.source),
        "weights": weights.tolist(),
    }


def _chosen(name: str, asked: int | None, count: int) -> slice:
    """Of so many layers or heads, the one that is asked for; all when None. Raises Refusal."""
    if asked is not None and asked > count:
        raise Refusal("config.not_in_range", name=name, value=str(asked), low="1", high=str(count))
    return slice(0, count) if asked is None else slice(asked - 1, asked)


def curves(caller: Caller, run: str) -> dict[str, Any]:
    history = caller.run(run).history
    return {"run": run, "steps": _columns(history.steps), "validations": _columns(history.validations)}


def _columns(table: Columns) -> dict[str, list[float | None]]:
    return {name: [_number(value) for value in column] for name, column in table.rows().items()}


def runs(caller: Caller, owner: str) -> dict[str, Any]:
    listed: dict[str, Iterable[Run]] = {"shipped": caller.runs.shipped(), "mine": caller.runs.list_owned(owner)}
    return {name: [state(caller, run, owner) for run in found] for name, found in listed.items()}


def _number(value: float | None) -> float | None:
    """JSON has no word for what is not finite."""
    return value if value is not None and math.isfinite(value) else None


ENDPOINTS: dict[str, Endpoint] = {
    "train": Endpoint(train, these("owner", *KNOBS, "label"), "train", 1),
    "status": Endpoint(status, these("run"), "look", 2),
    "translate": Endpoint(
        translate,
        these("run", "text", "step", "method", "beam", "penalty", "temperature", "top_k", "top_p", "draw", "prefix") | ANY_OWNER,
        "read",  # the page reads on two threads (see queries/reader.py): one of them is always its own
        1,
    ),
    "attention": Endpoint(attention, these("run", "text", "kind", "layer", "head", "step") | ANY_OWNER, "read", 1),
    "curves": Endpoint(curves, these("run"), "look", 2),
    "runs": Endpoint(runs, ANY_OWNER, "look", 2),
    "lab": Endpoint(lab, these("name", "seeds") | ANY_OWNER, "lab", 1),
}
