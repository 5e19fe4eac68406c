"""Experiments: the arms of a bench train side by side, each a run like any other; what they show so far, and what they say at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from playground.config import Refusal, limits
from playground.lessons.controlled import NATS, SEEDS, ControlledExperiment, Result, is_complete
from playground.lessons.lab import Outcome
from playground.runs.model_cache import ModelCache
from playground.runs.run import Run
from playground.ui import blocks
from playground.ui.panels.lessons import guessing
from playground.ui.panels.lessons.exhibits import exhibits, label
from playground.ui.view import View

POLL_MS = 700  # milliseconds before a page asks again how far the arms are
SEED = int(limits("seed").high)
MAX_ARMS = 40  # runs that an address may name
MYSTERIES_OFFERED = 10  # of mysteries to choose from at a time
Arms = dict[str, Run]


class ExperimentState(NamedTuple):
    """What is to be seen of an experiment: its blocks, whether an arm still trains, whether there is something to look at, and what came
    out, once one seed went to the end with all its arms."""

    blocks: list[dict]
    works: bool
    visible: bool
    outcome: Outcome | None


def show(view: View, bench: ControlledExperiment) -> ExperimentState:
    asked, seeds = view.number("toss"), _seeds(view, bench)
    if bench.is_mystery and seeds:
        asked = max(seeds)
        seeds = {asked: seeds[asked]}
    runs = [run for arms in seeds.values() for run in arms.values()]
    works = any(run.working for run in runs)
    ended = {seed: arms for seed, arms in seeds.items() if all(map(is_complete, arms.values()))}
    outcome = bench.verdict(_results(view, bench, ended)) if ended else None
    begun = {seed: arms for seed, arms in seeds.items() if all(_begun(run) for run in arms.values())}
    found = outcome.exhibits if outcome else bench.exhibits(_results(view, bench, begun)) if begun else ()
    train = []
    if not seeds:
        train = [_train(view, bench, asked, "lessons.train")]
    elif not works and not bench.is_mystery and len(seeds) < SEEDS:
        train = [_train(view, bench, max(seeds) % SEED + 1, "lessons.another_seed")]
    shown = [
        blocks.text("about", bench.say(view.language, "about"), css="pg-caption"),
        *([_progress(view, runs)] if works else []),
        *_unended(view, bench, seeds),
        blocks.row("controls", *_numbers(view, bench, asked), *_looks(view, bench, seeds), *train, css="controls"),
        *([blocks.row("exhibits", *exhibits(view, bench, found), css="grids")] if found else []),
    ]
    return ExperimentState(shown, works, bool(found), outcome)


def verdict(view: View, bench: ControlledExperiment, outcome: Outcome, guess: str, sure: str) -> list[dict]:
    """What came of a guess, and over how many seeds."""
    several = "lessons.spread_loss" if bench.judged in NATS else "lessons.spread"
    spread = "" if bench.is_mystery else view.say(several if outcome.numbers["seeds"] > 1 else "lessons.one_seed", **outcome.numbers)
    return guessing.verdict(view, bench.say, bench.name, outcome.answer, outcome.numbers, guess, sure, spread)


def _seeds(view: View, bench: ControlledExperiment) -> dict[int, Arms]:
    """The runs that the address names, by seed and arm; only seeds with all their arms, and no run of anything else."""
    found: dict[int, Arms] = {}
    for id in view.field("arms").split(".")[-MAX_ARMS:]:
        try:
            run = view.runs.get(id)
        except Refusal:  # deleted since
            continue
        if place := bench.recognise(run):
            run.seen()  # else a long experiment would be stopped because nobody looks at its arms
            found.setdefault(place[1], {})[place[0]] = run
    order = {seed: bench.arms_of(seed) for seed in sorted(found)}
    return {seed: {arm: found[seed][arm] for arm in arms} for seed, arms in order.items() if len(found[seed]) == len(arms)}


def _begun(run: Run) -> bool:
    return bool(len(run.history.validations) and len(run.history.steps))


def _results(view: View, bench: ControlledExperiment, seeds: dict[int, Arms]) -> list[list[Result]]:
    """A list for each arm, with all seeds."""
    arms = next(iter(seeds.values()))
    return [[_result(view, bench, arm, seed, runs[arm]) for seed, runs in seeds.items()] for arm in arms]


def _result(view: View, bench: ControlledExperiment, arm: str, seed: int, run: Run) -> Result:
    if run.status != "done" or not bench.more:
        return bench.result(arm, seed, run)
    measured = view.reader.remember(run, ("bench", bench.name, run.step), lambda: bench.measured(run, view.runs.corpora, ModelCache()))
    return bench.result(arm, seed, run, measured)


def _train(view: View, bench: ControlledExperiment, seed: int, key: str) -> dict:
    said = view.say(key, count=len(bench.arms_of(seed)), seed=seed)
    return blocks.button("train", "command", said, command="experiment", values={"lab": bench.name, "seed": seed})


def _numbers(view: View, bench: ControlledExperiment, seed: int) -> list[dict]:
    """Which mystery: this one and its neighbours, ten in all."""
    if not bench.is_mystery:
        return []
    first = (seed - 1) // MYSTERIES_OFFERED * MYSTERIES_OFFERED + 1
    options = [{"value": str(number), "label": str(number)} for number in range(first, min(first + MYSTERIES_OFFERED, SEED + 1))]
    return [blocks.choice("number", "toss", view.say("lessons.number"), options, str(seed), {"arms": "", "guess": "", "sure": ""})]


def _progress(view: View, runs: Sequence[Run]) -> dict:
    done, steps = sum(run.step for run in runs), sum(run.steps for run in runs)
    return blocks.progress("progress", done, steps, view.say("lessons.training", done=done, steps=steps))


def _unended(view: View, bench: ControlledExperiment, seeds: dict[int, Arms]) -> list[dict]:
    """Why some seeds have no verdict: which arms didn't go to the end, or not with the settings they began with."""
    lines = [
        view.say(
            "lessons.touched" if run.status == "done" else "lessons.unended",
            arm=label(view, bench, arm),
            seed=seed,
            status=view.say(f"runs.status_{run.status}"),
            step=run.step,
            steps=run.steps,
            why=run.message.say(view.language) if run.message else "",
        ).rstrip()
        for seed, arm, run in _all(seeds)
        if not run.working and not is_complete(run)
    ]
    return [blocks.text("unended", " ".join([view.say("lessons.no_verdict"), *lines]), css="pg-cell")] if lines else []


def _all(seeds: dict[int, Arms]) -> Iterable[tuple[int, str, Run]]:
    return ((seed, arm, run) for seed, arms in seeds.items() for arm, run in arms.items())


def _looks(view: View, bench: ControlledExperiment, seeds: dict[int, Arms]) -> list[dict]:
    """A way into every arm of the newest seed."""
    newest = seeds[max(seeds)] if seeds else {}
    return [
        blocks.button(f"look-{arm}", "move", view.say("lessons.look", arm=label(view, bench, arm)), to={"run": run.id, "tab": "learn"})
        for arm, run in newest.items()
    ]
