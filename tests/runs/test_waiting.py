"""Nobody waits for another visitor's disk: what takes long is done without the registry's lock, and the limits hold all the same."""

import threading

import pytest

from playground.config import Refusal
from playground.runs import registry
from playground.runs.disk import files
from playground.runs.run import UNFINISHED, Run
from tests.runs.by_hand import LONG, at_rest, begun, ended, ordered, refused
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
    """What is being written counts already, for its owner and for all, and is there for no one; it counts once when it is there."""
    runs = world.restart(runs_each=3, runs_unfinished=4)
    asked = []

    def ask():
        asked.append(runs.mine(ME))
        for owner, count, key in ((ME, 2, "runs.too_many_yours"), (YOU, 3, "runs.too_many")):
            with refused(key):
                runs.create_all([tiny()] * count, owner, [""] * count)

    meanwhile(runs.store, "create", ask)
    made = runs.create_all([tiny(steps=LONG)] * 2, ME, ["", ""])
    assert asked == [[], []]
    assert {*runs.mine(ME)} == {*made}
    runs.store.create = type(runs.store).create.__get__(runs.store)
    for owner in (ME, YOU):
        runs.create(tiny(steps=LONG), owner)
    with refused("runs.too_many"):
        runs.create(tiny(), YOU)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ZeroDivisionError()])
def test_an_experiment_that_cannot_be_written_leaves_nothing_and_frees_its_places(world, monkeypatch, error):
    runs = world.restart(runs_each=3, runs_unfinished=3)
    for name, written in ((runs.store, "create"), (files, "_write_new")):
        real, begins = getattr(name, written), []

        def write(*arguments, real=real, begins=begins):
            if len(begins) == 2:
                raise error
            begins.append(1)
            return real(*arguments)

        monkeypatch.setattr(name, written, write)
        with pytest.raises(Refusal if isinstance(error, OSError) else ZeroDivisionError):
            runs.create_all([tiny(steps=LONG)] * 3, ME, [""] * 3)
        monkeypatch.undo()
        assert len(begins) == 2
        assert (runs.mine(ME), list(runs.store.root.iterdir()), runs._workers._jobs) == ([], [], {})
    made = runs.create_all([tiny(steps=1)] * 3, ME, [""] * 3)
    assert [at_rest(world, run).status for run in made] == ["done"] * 3


def test_runs_may_come_and_go_while_they_are_counted(world, monkeypatch):
    first, *_ = [ended(world, steps=1) for _ in range(3)]
    there = world.runs._admission.runs

    def unfinished(run):
        there.pop(first.id, None)  # it is deleted at that very moment
        return run.status in UNFINISHED

    monkeypatch.setattr(Run, "unfinished", property(unfinished))
    assert world.runs.create(tiny(), ME) in world.runs.mine(ME)


def test_the_limits_hold_when_twenty_come_at_once(world):
    runs = world.restart(runs_each=2, runs_unfinished=5)
    start, reasons, most = threading.Barrier(20), [], []
    owners = [f"owner {number}" for number in range(5)]

    def visit(number):
        start.wait(60)
        try:
            runs.create_all([tiny(steps=LONG)] * (1 + number % 2), owners[number % 5], [""] * (1 + number % 2))
        except Refusal as refusal:
            reasons.append(refusal.key)
        most.append(sum(len(runs.mine(owner)) for owner in owners))

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 20
    made = [runs.mine(owner) for owner in owners]
    assert max(most) == sum(map(len, made)) <= 5
    assert all(len(of_one) <= 2 for of_one in made)
    assert {*reasons} <= {"runs.too_many", "runs.too_many_yours"}
    assert len({run.name for of_one in made for run in of_one}) == sum(map(len, made))


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
