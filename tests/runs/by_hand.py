"""Runs of a server without threads (`world`), and how far a test has them come."""

import pytest

from playground.config import Refusal
from playground.runs.run import Run
from tests.runs.tiny import ME, tiny
from tests.simulation.world import World

LONG = 100_000  # steps of a run that is not to end


def refused(key: str) -> pytest.RaisesExc:
    """What happens in here is refused for this reason."""
    return pytest.raises(Refusal, check=lambda refusal: refusal.key == key)


def begun(world: World, owner: str = ME, step: int = 3, order: str | None = None, **knobs) -> Run:
    """A new run that has come to this step, or the first after it, and has carried out the order since."""
    run = world.runs.create(tiny(**{"steps": LONG, **knobs}), owner)
    world.until(lambda: run.step >= step)
    return ordered(world, run, order, owner) if order else run


def ordered(world: World, run: Run, order: str, owner: str = ME) -> Run:
    getattr(world.runs, order)(run.id, owner)
    return at_rest(world, run)


def at_rest(world: World, run: Run) -> Run:
    world.until(lambda: not run.working and not world.runs._workers.busy(run))
    return run


def ended(world: World, owner: str = ME, **knobs) -> Run:
    return at_rest(world, world.runs.create(tiny(**knobs), owner))
