"""A lab for programs: repeated calls train missing runs, and return the verdict once all arms have ended."""

from __future__ import annotations

from typing import Any

from playground.config import Refusal
from playground.lessons import labs
from playground.lessons.controlled import ControlledExperiment, is_complete
from playground.lessons.lab import Lab, Outcome
from playground.rooms.class_settings import USUAL
from playground.runs.run import Run
from playground.ui.actions import Command, act
from playground.ui.endpoints.arguments import check_owner
from playground.ui.endpoints.caller import Caller
from playground.ui.panels.lessons.experiment import measure_result
from playground.words import ENGLISH

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
        outcome = chosen_lab.verdict(
            [
                [measure_result(caller.runs, caller.reader, chosen_lab, arm, seed, arms[seed][arm]) for seed in arms]
                for arm in arms[seeds[0]]
            ]
        )
    states = {str(seed): {arm: _run_state(run) for arm, run in arm_runs.items()} for seed, arm_runs in arms.items()}
    return _report(chosen_lab, seeds, states, outcome)


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
            started = act(caller.runs, Command(owner, ENGLISH, "experiment", "", {"lab": experiment.name, "seed": seed}))
        except Refusal as refusal:
            if not runs_by_seed or refusal.key not in NO_ROOM:
                raise
            break
        runs_by_seed[seed] = [caller.run(id) for id in started["arms"]]
    return runs_by_seed


def _run_state(run: Run) -> dict[str, Any]:
    return {"run": run.id, "status": run.status, "step": run.step, "steps": run.steps}


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
