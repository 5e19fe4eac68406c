"""Implements the endpoints: plain numbers, texts and lists. A run's id gives read access; only its owner can change it. Repeated calls of a
lab train missing runs, and return the verdict once all arms have ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from playground.config import KNOBS, Experiment, Refusal, with_task_steps
from playground.features.shared import uploading
from playground.features.shared.experiment import measure_result
from playground.features.shared.naming import disclosed
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.results import Candidate
from playground.features.shared.view import steps as decoder_rows, texts
from playground.features.translate import query as translating
from playground.lessons import labs
from playground.lessons.controlled import ControlledExperiment, is_complete
from playground.lessons.lab import Lab, Outcome
from playground.reading.pairs import as_json
from playground.rooms.room import USUAL
from playground.runs.history import Columns
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.command import ACTIONS, Command, act
from playground.ui.endpoints.arguments import DECODING, Argument, check_owner, pick_arguments
from playground.ui.network import address_of, run_link
from playground.ui.rights import LINK, OWNER, PUBLIC, READER, VISITOR, Right
from playground.words import ENGLISH

ANY_OWNER = {"owner": Argument(str, "")}  # by default a client without runs
MAX_WEIGHTS = 500_000  # in one answer; a single layer or head has fewer
ENDED_EARLY = ("failed", "diverged")
NO_ROOM = ("runs.too_many", "runs.too_many_yours", "runs.too_many_near", *(f"rooms.{limit}" for limit in USUAL))


def lab(caller: Caller, name: str, seeds: list[int], owner: str) -> dict[str, Any]:
    """Returns a worked example's outcome at once, for the first seed; starts an experiment with as many seeds as there is room for."""
    chosen_lab = labs.get(name)
    if not isinstance(chosen_lab, ControlledExperiment):
        return _report(chosen_lab, seeds[:1], {}, chosen_lab.outcome(seeds[0]))
    seeds = seeds[:1] if chosen_lab.is_mystery else seeds  # its seed is the question: several can't be combined
    runs_by_seed = _start_runs(caller, chosen_lab, seeds, owner)
    arms = {seed: {match[0]: run for run in runs if (match := chosen_lab.recognise(run))} for seed, runs in runs_by_seed.items()}
    has_ended = len(runs_by_seed) == len(seeds) and all(is_complete(run) for runs in runs_by_seed.values() for run in runs)
    outcome = None
    if has_ended:
        measure = partial(measure_result, caller.runs, caller.reader, chosen_lab)
        outcome = chosen_lab.verdict([[measure(arm, seed, arms[seed][arm]) for seed in arms] for arm in arms[seeds[0]]])
    trained: dict[str, Any] = {}
    for seed, runs in arms.items():
        trained[str(seed)] = {arm: {"run": run.id, "status": run.status, "step": run.step, "steps": run.steps} for arm, run in runs.items()}
    return _report(chosen_lab, seeds, trained, outcome)


def _start_runs(caller: Caller, experiment: ControlledExperiment, seeds: list[int], owner: str) -> dict[int, list[Run]]:
    """Returns the runs of each seed that found room. Raises Refusal if none did."""
    check_owner(owner)
    runs_by_seed: dict[int, list[Run]] = {}
    own_runs = [(run, match) for run in caller.runs.list_owned(owner) if (match := experiment.recognise(run))]
    for seed in seeds:
        for run, match in own_runs:
            if match[1] == seed and run.status in ENDED_EARLY:  # the same seed would end alike
                raise Refusal("api.arm_ended", name=run.name, seed=seed)
        try:
            started = act(caller.runs, Command(owner, ENGLISH, "experiment", "", {"lab": experiment.name, "seed": seed}), ACTIONS)
        except Refusal as refusal:
            if not runs_by_seed or refusal.key not in NO_ROOM:
                raise
            break
        runs_by_seed[seed] = [caller.run(id) for id in started["arms"]]
    return runs_by_seed


def _report(chosen_lab: Lab, seeds: list[int], trained: dict[str, Any], outcome: Outcome | None) -> dict[str, Any]:
    return {
        "lab": chosen_lab.name,
        "question": chosen_lab.say(ENGLISH, "question"),
        "seeds": seeds,
        "runs": trained,
        "done": outcome is not None,
        "answer": outcome and outcome.answer,
        "verdict": outcome and chosen_lab.say(ENGLISH, f"why_{outcome.answer}", **outcome.numbers),
        "numbers": dict(outcome.numbers) if outcome else {},
    }


@dataclass(frozen=True)
class Caller:
    runs: Runs
    reader: Reader
    request: gr.Request | None = None

    def run(self, id: str) -> Run:
        """Returns a run and marks it as viewed. Raises Refusal."""
        run = self.runs.get(id)
        run.mark_seen()
        return run

    def readable(self, id: str, owner: str) -> Run:
        """Returns a run to look inside, which reveals its sentences. Raises Refusal where they are not open to `owner`."""
        self.runs.require_reader(id, owner)
        return self.run(id)

    def link(self, run: Run) -> str:
        """Returns the page's address for a run."""
        return run_link(run.id, getattr(self.request, "base_url", "") or "/")


@dataclass(frozen=True)
class Endpoint:
    """At most `at_once` calls of all endpoints of a `group` run at a time; others wait."""

    right: Right
    answer: Callable[..., dict[str, Any]]
    arguments: Mapping[str, Argument]
    group: str
    at_once: int


def train(caller: Caller, owner: str, label: str, base: str, **knobs: Any) -> dict[str, Any]:
    """Queues a new run, or one that fine-tunes the run `base`. Raises Refusal."""
    check_owner(owner)
    experiment = Experiment().with_(**with_task_steps(knobs))
    if base:
        return run_state(caller, caller.runs.tune(base, None, *uploading.tuning_pairs(caller.runs, experiment, owner), owner, label), owner)
    pairs, credit = uploading.experiment_pairs(caller.runs, experiment, owner)
    return run_state(caller, caller.runs.create(experiment, owner, pairs=pairs, credit=credit, label=label), owner)


def status(caller: Caller, run: str) -> dict[str, Any]:
    return run_state(caller, caller.run(run))


def read_pairs(caller: Caller, pairs: str, owner: str) -> dict[str, Any]:
    return _read(caller, owner, None, pairs)


def read_file(caller: Caller, file: str, owner: str, aligned: str | None, tokenizer_file: str | None) -> dict[str, Any]:
    return _read(caller, owner, [path for path in (file, aligned, tokenizer_file) if path], None)


def _read(caller: Caller, owner: str, files: list[str] | None, text: str | None) -> dict[str, Any]:
    """Reads pairs as the page reads uploaded or pasted ones. Raises Refusal."""
    check_owner(owner)
    address, ticket = address_of(caller.request.request) if caller.request else "", uploading.ticket_of(owner)
    answer = uploading.read_upload(files, text, None, "", ENGLISH, ticket, address)
    if "ask" in answer:
        raise Refusal("data.same_language")
    return {"own": answer["own"], **as_json(uploading.find_pairs(caller.runs, answer["own"], ticket))}


def open_run(caller: Caller, file: str, owner: str) -> dict[str, Any]:
    """Opens a downloaded run as the owner's. Raises Refusal."""
    check_owner(owner)
    return run_state(caller, caller.runs.open_zip(*uploading.read_paths([file])[0], owner), owner)


def stop(caller: Caller, run: str, owner: str) -> dict[str, Any]:
    """Stops an owner's run. Raises Refusal."""
    return _order(caller, "stop", run, owner) or run_state(caller, caller.run(run), owner)


def delete(caller: Caller, run: str, owner: str) -> dict[str, Any]:
    """Deletes an owner's run for good. Raises Refusal."""
    return _order(caller, "delete", run, owner) or {"run": run, "deleted": True}


def _order(caller: Caller, action: str, run: str, owner: str) -> None:
    """Performs an action of the page's. Raises Refusal."""
    check_owner(owner)
    act(caller.runs, Command(owner, ENGLISH, action, run), ACTIONS)


def list_labs(caller: Caller) -> dict[str, Any]:
    texts_of = {name: {text: each.say(ENGLISH, text) for text in ("title", "question")} for name, each in labs.LABS.items()}
    return {"labs": [{"name": name, "kind": labs.LABS[name].kind, **entry} for name, entry in texts_of.items()]}


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
    words = {name: tuple(how[name].split()) for name in ("must", "must_not")}
    options = translating.DecodingOptions(*(how[name] for name in DECODING), **words)
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
    "train": Endpoint(VISITOR, train, pick_arguments("owner", *KNOBS, "label", "base"), "train", 1),
    "status": Endpoint(LINK, status, pick_arguments("run"), "look", 2),
    "translate": Endpoint(  # the page reads on two threads (see features/shared/queries/reader.py): one of them is always its own
        READER, translate, pick_arguments("run", "text", "step", *DECODING) | ANY_OWNER | pick_arguments("must", "must_not"), "read", 1
    ),
    "attention": Endpoint(READER, attention, pick_arguments("run", "text", "kind", "layer", "head", "step") | ANY_OWNER, "read", 1),
    "read_pairs": Endpoint(VISITOR, read_pairs, pick_arguments("pairs", "owner"), "upload", 1),
    "read_file": Endpoint(VISITOR, read_file, pick_arguments("file", "owner", "aligned", "tokenizer_file"), "upload", 1),
    "open_run": Endpoint(VISITOR, open_run, pick_arguments("file", "owner"), "upload", 1),
    "stop": Endpoint(OWNER, stop, pick_arguments("run", "owner"), "look", 2),
    "delete": Endpoint(OWNER, delete, pick_arguments("run", "owner"), "look", 2),
    "labs": Endpoint(PUBLIC, list_labs, {}, "look", 2),
    "curves": Endpoint(LINK, curves, pick_arguments("run"), "look", 2),
    "runs": Endpoint(PUBLIC, runs, ANY_OWNER, "look", 2),
    "lab": Endpoint(PUBLIC, lab, pick_arguments("name", "seeds") | ANY_OWNER, "lab", 1),  # an experiment: VISITOR
}
