"""Nobody waits for another visitor's disk: what takes long is done without the registry's lock, and the limits hold all the same."""


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


def test_two_who_resume_the_same_run_start_it_once_and_one_that_is_deleted_meanwhile_is_gone(world, meanwhile):
    run, gone, started = begun(world, order="stop"), begun(world, order="stop"), []
    meanwhile(registry, "bytes_needed", lambda: world.runs.resume(run.id, ME))
    meanwhile(world.runs._workers, "start", lambda: started.append(1))
    world.runs.resume(run.id, ME)
    assert started == [1]
    meanwhile(registry, "bytes_needed", lambda: world.runs.delete(gone.id, ME))
    with refused("runs.unknown"):
        world.runs.resume(gone.id, ME)
    assert [*world.runs._workers._jobs] == [run.id]
    assert not world.runs.store.path(gone).exists()
