"""Nobody waits for another visitor's disk: what takes long is done without the registry's lock, and the limits hold all the same."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from playground.config import Refusal
from playground.runs import registry
from playground.runs.run import UNFINISHED, Run
from tests.runs.tiny import ME, YOU, at_step, done, limits, tiny, wait


@pytest.fixture
def aside():
    """aside(work) -> a future: the work of another visitor, in a thread of its own."""
    with ThreadPoolExecutor(8) as pool:
        yield pool.submit


class Gate:
    """Stands in the way of a function until it is opened; `reached` when somebody has come."""

    def __init__(self, monkeypatch, thing, name, only=lambda *_: True):
        self.reached, self.opened, self.real = threading.Event(), threading.Event(), getattr(thing, name)
        self.only = only
        monkeypatch.setattr(thing, name, self)

    def __call__(self, *arguments, **options):
        if self.only(*arguments):
            self.reached.set()
            assert self.opened.wait(60)
        return self.real(*arguments, **options)


def others_go_on(runs, aside, run):
    """Another visitor begins a run, moves a live knob, stops and renames; none of it takes as long as a save may."""

    def visit():
        runs.set_live(run.id, YOU, "learning_rate", 0.002)
        runs.rename(run.id, YOU, "mine")
        runs.stop(run.id, YOU)
        return runs.create(tiny(steps=1), YOU)

    assert done(aside(visit).result(20)).status == "done"


def test_a_resume_that_waits_for_a_save_holds_nobody_up(runs, aside, monkeypatch):
    mine, other = (at_step(runs.create(tiny(steps=100_000), owner), 1) for owner in (ME, YOU))
    runs.stop(mine.id, ME)
    done(mine)
    gate = Gate(monkeypatch, runs._workers, "wait", only=lambda run: run is mine)
    try:
        resumed = aside(runs.resume, mine.id, ME)
        assert gate.reached.wait(20)
        others_go_on(runs, aside, other)
    finally:
        gate.opened.set()
    resumed.result(20)
    assert mine.working


def test_an_experiment_that_is_written_slowly_holds_nobody_up(runs, aside, monkeypatch):
    other = at_step(runs.create(tiny(steps=100_000), YOU), 1)
    gate = Gate(monkeypatch, runs.store, "create", only=lambda run, *_: run.label.startswith("arm"))
    try:
        made = aside(runs.create_all, [tiny(steps=1), tiny(steps=2)], ME, ["arm 1", "arm 2"])
        assert gate.reached.wait(20)
        others_go_on(runs, aside, other)
        assert runs.mine(ME) == []  # nobody sees a run that isn't written yet
    finally:
        gate.opened.set()
    assert [done(run).status for run in made.result(20)] == ["done", "done"]
    assert len(runs.mine(ME)) == 2


def test_places_are_reserved_while_runs_are_written(serve, aside, monkeypatch):
    """What is being written counts already, for its owner and for all; it counts once, not twice, when it is there."""
    runs = serve(limits(runs_each=3, runs_unfinished=4))
    gate = Gate(monkeypatch, runs.store, "create", only=lambda run, *_: run.label == "slow")
    try:
        made = aside(runs.create_all, [tiny(steps=100_000)] * 2, ME, ["slow", "slow"])
        assert gate.reached.wait(20)
        with pytest.raises(Refusal) as refusal:
            runs.create_all([tiny()] * 2, ME, ["", ""])
        assert refusal.value.key == "runs.too_many_yours"
        with pytest.raises(Refusal) as refusal:
            runs.create_all([tiny()] * 3, YOU, [""] * 3)
        assert refusal.value.key == "runs.too_many"
    finally:
        gate.opened.set()
    made.result(20)
    runs.create(tiny(steps=100_000), ME)
    runs.create(tiny(steps=100_000), YOU)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ZeroDivisionError()])
def test_an_experiment_that_cannot_be_written_leaves_nothing_and_frees_its_places(serve, monkeypatch, error):
    runs = serve(limits(runs_each=3, runs_unfinished=3))
    real, begun = runs.store.create, []

    def create(run, contents=None):
        if len(begun) == 2:
            raise error
        begun.append(run)
        real(run, contents)

    monkeypatch.setattr(runs.store, "create", create)
    with pytest.raises(Refusal if isinstance(error, OSError) else ZeroDivisionError):
        runs.create_all([tiny(steps=100_000)] * 3, ME, [""] * 3)
    assert len(begun) == 2
    assert runs.mine(ME) == []
    assert list(runs.store.root.iterdir()) == []
    assert runs._workers._jobs == {}
    monkeypatch.undo()
    made = runs.create_all([tiny(steps=1)] * 3, ME, [""] * 3)
    assert [done(run).status for run in made] == ["done"] * 3


def test_a_run_that_a_full_disk_refuses_leaves_nothing_on_it(runs, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("playground.runs.disk.files._write_new", full)
    with pytest.raises(Refusal, match="disk"):
        runs.create(tiny(), ME)
    assert list(runs.store.root.iterdir()) == []


def test_runs_may_come_and_go_while_they_are_counted(runs, monkeypatch):
    made = [done(runs.create(tiny(steps=1), ME)) for _ in range(3)]
    there = runs._admission.runs

    def unfinished(run):
        there.pop(made[0].id, None)  # somebody deletes it at that very moment
        return run.status in UNFINISHED

    monkeypatch.setattr(Run, "unfinished", property(unfinished))
    assert done(runs.create(tiny(steps=1), ME)).status == "done"


def test_the_limits_hold_when_twenty_come_at_once(serve, aside):
    runs = serve(limits(runs_each=2, runs_unfinished=5))
    start, refused, most = threading.Barrier(20), [], []

    def visit(number):
        start.wait(30)
        try:
            if number % 2:
                runs.create(tiny(steps=100_000), f"owner {number % 5}")
            else:
                runs.create_all([tiny(steps=100_000)] * 2, f"owner {number % 5}", ["", ""])
        except Refusal as refusal:
            refused.append(refusal.key)
        most.append(sum(run.unfinished for owner in range(5) for run in runs.mine(f"owner {owner}")))

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 20
    found = [[run for run in runs.mine(f"owner {owner}") if run.unfinished] for owner in range(5)]
    assert max(most) == sum(map(len, found)) <= 5
    assert all(len(of_one) <= 2 for of_one in found)
    assert set(refused) <= {"runs.too_many", "runs.too_many_yours"}
    assert len({run.name for of_one in found for run in of_one}) == sum(map(len, found))


def test_two_who_resume_the_same_run_start_it_once(runs, aside, monkeypatch):
    run = at_step(runs.create(tiny(steps=100), ME), 1)
    runs.stop(run.id, ME)
    done(run)
    started, real = [], runs._workers.start
    monkeypatch.setattr(runs._workers, "start", lambda *arguments: started.append(1) or real(*arguments))
    both = [aside(runs.resume, run.id, ME) for _ in range(2)]
    for one in both:
        one.result(20)
    assert started == [1]
    assert done(run).status == "done"


def test_a_run_that_is_deleted_while_it_is_resumed_is_gone(runs, aside, monkeypatch):
    run = at_step(runs.create(tiny(steps=100_000), ME), 1)
    runs.stop(run.id, ME)
    done(run)
    gate = Gate(monkeypatch, registry, "bytes_needed")
    try:
        resumed = aside(runs.resume, run.id, ME)
        assert gate.reached.wait(20)
        runs.delete(run.id, ME)
    finally:
        gate.opened.set()
    with pytest.raises(Refusal, match="no such run"):
        resumed.result(20)
    assert runs._workers._jobs == {}
    assert not runs.store.path(run).exists()


def test_a_job_is_forgotten_before_anybody_learns_that_it_is_over(runs):
    """Else its end would take away the job of a run that was resumed at that very moment."""
    run = at_step(runs.create(tiny(steps=100_000), ME), 1)
    job, seen = runs._workers._jobs[run.id], []
    job.done.set = lambda: seen.append(runs._workers.busy(run))
    runs.stop(run.id, ME)
    wait(lambda: seen)
    assert seen == [False]
    threading.Event.set(job.done)
