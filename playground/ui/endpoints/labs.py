"""A lab for a program: asked again and again it trains what is missing, and says the verdict when all arms have ended."""

from __future__ import annotations

from typing import Any

from playground.config import Refusal
from playground.lessons import labs
from playground.lessons.controlled import ControlledExperiment, is_complete
from playground.lessons.lab import Lab, Outcome
from playground.rooms.run_limits import USUAL
from playground.runs.run import Run
from playground.ui.actions import Command, act
from playground.ui.endpoints.arguments import check_owner
from playground.ui.endpoints.caller import Caller
from playground.ui.panels.lessons.experiment import result
from playground.words import ENGLISH

HOPELESS = ("failed", "diverged")
NO_ROOM = ("runs.too_many", "runs.too_many_yours", "runs.too_many_near", *(f"rooms.{limit}" for limit in USUAL))


def lab(caller: Caller, name: str, seeds: list[int], owner: str) -> dict[str, Any]:
    """A worked example answers at once, for the first seed; an experiment begins with as many seeds as there is room for."""
    asked = labs.get(name)
    if not isinstance(asked, ControlledExperiment):
        return _told(asked, seeds[:1], {}, asked.outcome(seeds[0]))
    seeds = seeds[:1] if asked.is_mystery else seeds  # its seed is the question: several can't be put together
    begun = _begin(caller, asked, seeds, owner)
    arms = {seed: {place[0]: run for run in runs if (place := asked.recognise(run))} for seed, runs in begun.items()}
    ended = len(begun) == len(seeds) and all(is_complete(run) for runs in begun.values() for run in runs)
    outcome = None
    if ended:
        outcome = asked.verdict(
            [[result(caller.runs, caller.reader, asked, arm, seed, arms[seed][arm]) for seed in arms] for arm in arms[seeds[0]]]
        )
    return _told(asked, seeds, {str(seed): {arm: _state(run) for arm, run in by.items()} for seed, by in arms.items()}, outcome)


def _begin(caller: Caller, asked: ControlledExperiment, seeds: list[int], owner: str) -> dict[int, list[Run]]:
    """The runs of each seed for which there was room. Raises Refusal when there was none for any."""
    check_owner(owner)
    begun: dict[int, list[Run]] = {}
    mine = [(run, place) for run in caller.runs.list_owned(owner) if (place := asked.recognise(run))]
    for seed in seeds:
        for run, place in mine:
            if place[1] == seed and run.status in HOPELESS:  # the same seed would come to the same end
                raise Refusal("api.arm_ended", name=run.name, seed=seed)
        try:
            made = act(caller.runs, Command(owner, ENGLISH, "experiment", "", {"lab": asked.name, "seed": seed}))
        except Refusal as refusal:
            if not begun or refusal.key not in NO_ROOM:
                raise
            break
        begun[seed] = [caller.run(id) for id in made["arms"]]
    return begun


def _state(run: Run) -> dict[str, Any]:
    return {"run": run.id, "status": run.status, "step": run.step, "steps": run.steps}


def _told(asked: Lab, seeds: list[int], trained: dict[str, Any], outcome: Outcome | None) -> dict[str, Any]:
    return {
        "lab": asked.name,
        "question": asked.say(ENGLISH, "question"),
        "seeds": seeds,
        "runs": trained,
        "done": outcome is not None,
        "answer": outcome and outcome.answer,
        "verdict": outcome and asked.say(ENGLISH, f"why_{outcome.answer}", **outcome.numbers),
        "numbers": dict(outcome.numbers) if outcome else {},
    }
