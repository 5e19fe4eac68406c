"""Nobody waits for another visitor's disk: what takes long is done without the registry's lock, and the limits hold all the same."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from playground.config import Refusal
from playground.runs import registry
from playground.runs.disk import files
from tests.runs.by_hand import LONG, at_rest, begun, ordered, refused
from tests.runs.tiny import ME, YOU, tiny


@pytest.fixture
def meanwhile(monkeypatch):
    """meanwhile(thing, name, act): what happens while this function of it runs."""

    def during(thing, name, act):
        real, inside = getattr(thing, name), []

        def call(*arguments, **options):
            if not inside:
                inside.append(1)
                act()
                inside.clear()
            return real(*arguments, **options)

        monkeypatch.setattr(thing, name, call)

    return during


def test_what_takes_long_is_done_without_the_lock(world, meanwhile):
    runs, done = world.runs, set()
    long = dict.fromkeys(("create", "save", "note", "delete"), runs.store)
    long |= {"bytes_needed": registry, "wait": runs._workers}
    for name, thing in long.items():
        meanwhile(thing, name, lambda name=name: done.add((name, runs._admission.lock.locked())))
    run = begun(world, order="stop")
    ordered(world, run, "step_once")
    runs.create_all([tiny(steps=1), tiny(steps=2)], YOU, ["arm 1", "arm 2"])
    for make in (runs.copy(run.id, YOU), runs.fork(run.id, None, YOU)):
        runs.rename(make.id, YOU, "mine")
        runs.delete(make.id, YOU)
    runs.stop(run.id, ME)
    assert done == {(name, False) for name in long}


def test_places_are_reserved_while_runs_are_written(world, meanwhile):
    """What is being written counts already, for its owner and for all, and is there for no one."""
    runs, seen = world.restart(runs_each=3, runs_unfinished=4), []

    def ask():
        seen.append(runs.mine(ME))
        for owner, count, key in ((ME, 2, "runs.too_many_yours"), (YOU, 3, "runs.too_many")):
            with refused(key):
                runs.create_all([tiny()] * count, owner, [""] * count)

    meanwhile(runs.store, "create", ask)
    arms = [tiny(steps=LONG), tiny(steps=LONG, seed=2)]
    made = runs.create_all(arms, ME, ["one", "two"])
    assert [(run.experiment, run.label) for run in made] == list(zip(arms, ["one", "two"], strict=True))
    assert (seen, runs.mine(ME)) == ([[], []], made[::-1])


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(("error", "name"), [(FULL, "create"), (FULL, "_write_new"), (ZeroDivisionError(), "create")])
def test_an_experiment_that_cannot_be_written_leaves_nothing_and_frees_its_places(world, monkeypatch, error, name):
    runs, begins = world.restart(runs_each=3, runs_unfinished=3), []
    thing = files if name == "_write_new" else runs.store
    real = getattr(thing, name)

    def write(*arguments):
        if len(begins) == 2:
            raise error
        begins.append(1)
        return real(*arguments)

    monkeypatch.setattr(thing, name, write)
    with pytest.raises(Refusal if error is FULL else ZeroDivisionError):
        runs.create_all([tiny(steps=LONG)] * 3, ME, [""] * 3)
    monkeypatch.undo()
    assert len(begins) == 2
    assert (runs.mine(ME), list(runs.store.root.iterdir()), runs._workers._jobs) == ([], [], {})
    made = runs.create_all([tiny(steps=1)] * 3, ME, [""] * 3)
    assert [at_rest(world, run).status for run in made] == ["done"] * 3


def test_the_limits_hold_when_twenty_come_at_once(world):
    runs, start = world.restart(runs_each=2, runs_unfinished=5), threading.Barrier(20)

    def visit(number):
        start.wait(60)
        count = 1 + number % 2
        with contextlib.suppress(Refusal):
            runs.create_all([tiny(steps=LONG)] * count, f"owner {number % 5}", [""] * count)
        return len(runs.kept())

    with ThreadPoolExecutor(20) as pool:
        assert max(pool.map(visit, range(20))) == len(runs.kept()) <= 5
    assert all(len(runs.mine(f"owner {number}")) <= 2 for number in range(5))
    assert len({run.name for run in runs.kept()}) == len(runs.kept())


def test_two_who_resume_the_same_run_start_it_once(world, meanwhile):
    run, started = begun(world, order="stop"), []
    meanwhile(registry, "bytes_needed", lambda: world.runs.resume(run.id, ME))
    meanwhile(world.runs._workers, "start", lambda: started.append(1))
    world.runs.resume(run.id, ME)
    assert started == [1]
    world.until(lambda: run.status == "training")


def test_a_run_that_is_deleted_while_it_is_resumed_is_gone(world, meanwhile):
    run = begun(world, order="stop")
    meanwhile(registry, "bytes_needed", lambda: world.runs.delete(run.id, ME))
    with refused("runs.unknown"):
        world.runs.resume(run.id, ME)
    assert world.runs._workers._jobs == {}
    assert not world.runs.store.path(run).exists()


def test_a_job_is_forgotten_before_it_is_known_that_it_is_over(world, meanwhile):
    """Else its end would take away the job of a run that was resumed at that very moment."""
    run, busy = begun(world), []
    meanwhile(world.runs._workers._jobs[run.id].done, "set", lambda: busy.append(world.runs._workers.busy(run)))
    ordered(world, run, "stop")
    assert busy == [False]
