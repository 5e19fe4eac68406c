"""A step that never ends, for real: a thread that can't be killed stands in it until the test lets it go."""

import threading
import time

import pytest

from playground.config import Refusal
from playground.runs.health import health
from playground.runs.queue.scheduler import Scheduler, Turn
from playground.runs.queue.watchdog import DELETED_LONGER, DELETED_S, FIRST, LONGER, Watchdog
from playground.training.loop import Training
from tests.runs.queue.test_scheduler import Fake
from tests.runs.tiny import ME, YOU, alone, at_step, curve, done, limits, tiny, wait

UPDATE = Training._update
HANGS = 666  # seed of the runs that do
AT = 4  # the step before the one that hangs


@pytest.fixture
def gate(monkeypatch):
    """The runs with the seed HANGS do so in their fifth step until this is set."""
    opened, real = threading.Event(), Training._update
    opened.inside = []

    def update(self, batch):
        if self.experiment.training.seed == HANGS and self.step == AT:
            opened.inside.append(1)
            assert opened.wait(60)
        return real(self, batch)

    monkeypatch.setattr(Training, "_update", update)
    yield opened
    opened.set()


@pytest.fixture
def little(monkeypatch):
    """Patience with what hangs alone: on a busy machine a step that is well may take longer than a test would wait."""
    patience = Watchdog.patience
    monkeypatch.setattr(Watchdog, "patience", lambda watch, turn: patience(watch, turn) if is_hanging(turn.job.run) else 300.0)


@pytest.fixture
def patient(serve, little):
    """serve() with little patience, and never with so much that a test would wait."""
    return serve(limits(step_seconds=0.5))


def is_hanging(run):
    return run.experiment.training.seed == HANGS and run.step == AT


def hung(runs, gate, owner=ME):
    run, before = runs.create(tiny(seed=HANGS, steps=20), owner), len(gate.inside)
    wait(lambda: len(gate.inside) > before)
    return run


def over(runs, run):
    """The run that has taken its place."""
    wait(lambda: runs.get(run.id) is not run)
    return runs.get(run.id)


@pytest.mark.fault("a step that hangs on every worker", "its run is given up; all others go on")
def test_a_step_that_hangs_on_every_worker_is_given_up_and_all_others_go_on(patient, gate, caplog):
    first = [hung(patient, gate, f"owner {n}") for n in range(2)]
    other = patient.create(tiny(), YOU)
    assert done(other).status == "done"
    assert curve(other) == curve(alone(tiny())[0])
    for run in first:
        back = over(patient, run)
        assert (back.status, back.message.key, back.message.values["step"]) == ("interrupted", "runs.step_hung", AT + 1)
        assert "Step 5 did not come to an end" in str(back.message)
    assert "run_hung" in caplog.text
    workers = health(patient)["workers"]
    assert workers == {"alive": 2, "replaced": 2, "lost": 2}


def test_what_it_comes_to_in_the_end_changes_nothing_and_its_thread_goes(serve, gate, little, monkeypatch):
    """Though its time to be saved has come."""
    monkeypatch.setattr("playground.runs.queue.saving.SAVE_SHARE", 1e9)
    others = {*threading.enumerate()}  # of other tests
    patient = serve(limits(step_seconds=0.5, save_seconds=0.0))
    run = hung(patient, gate)
    back = over(patient, run)
    wait(lambda: patient.store.open(back).run.status == "interrupted")
    before = (back.version, back.step, len(back.history.steps), [path.read_bytes() for path in sorted(patient.store.path(back).iterdir())])
    reserved = patient.memory.by_share()["trainings"]
    gate.set()
    wait(lambda: health(patient)["workers"]["lost"] == 0)
    assert before == (
        back.version, back.step, len(back.history.steps), [path.read_bytes() for path in sorted(patient.store.path(back).iterdir())]
    )  # fmt: skip
    assert (reserved > 0, patient.memory.by_share()["trainings"]) == (True, 0)
    assert sum(thread.name.startswith("worker-") for thread in {*threading.enumerate()} - others) == health(patient)["workers"]["alive"]


def test_it_is_resumed_from_its_last_save_while_the_old_step_still_hangs(patient, gate, monkeypatch):
    run = hung(patient, gate)
    back = over(patient, run)
    monkeypatch.setattr(Training, "_update", UPDATE)
    patient.resume(back.id, ME)
    done(back)
    assert (back.status, back.step) == ("done", 20)
    assert curve(back) == curve(alone(tiny(seed=HANGS, steps=20))[0])
    gate.set()
    wait(lambda: health(patient)["workers"]["lost"] == 0)
    assert (patient.get(back.id), back.status, back.step) == (back, "done", 20)


@pytest.mark.parametrize("ask", ["pause", *(pytest.param(ask, marks=pytest.mark.night) for ask in ("stop", "delete"))])
def test_what_is_asked_of_a_hung_run_is_answered_at_once(serve, gate, ask):
    """Before the watch has given it up, and after."""
    runs = serve(limits(step_seconds=300.0, cores=1))
    run = hung(runs, gate)
    runs._workers._watchdog.patience = lambda turn: 0.1 if ask == "delete" and turn.job.unwanted else 300.0
    began = time.monotonic()
    getattr(runs, ask)(run.id, ME)
    runs._workers._watchdog.patience = lambda turn: 0.1
    if ask == "delete":
        assert runs.find(run.id) is None
    else:
        back = over(runs, run)
        assert back.status == "interrupted"
        with pytest.raises(Refusal):
            runs.pause(back.id, ME)
        runs.delete(back.id, ME)
        assert runs.find(run.id) is None
    assert time.monotonic() - began < 30
    assert not runs.store.path(run).exists()


@pytest.mark.fault("a server that is to end while a step hangs", "it ends; the other runs are saved")
def test_a_server_with_a_hung_step_can_be_closed(serve, gate, monkeypatch):
    # waited out whole: in it the healthy run has to be saved, however busy the machine
    monkeypatch.setattr("playground.runs.queue.workers.CLOSE_TIMEOUT_S", 3.0)
    runs = serve()
    run, other = hung(runs, gate), at_step(runs.create(tiny(steps=100_000), YOU), 3)
    runs.close()
    assert (other.status, runs.store.open(other).run.step) == ("interrupted", other.step)
    assert runs.store.open(run).run.step == 0, "nobody saved what somebody else still writes to"


def turn(longest=0.0, job=None):
    return Turn(job, 1, threading.current_thread(), 0.0, longest)


def test_patience_is_as_long_as_the_steps_of_the_run(monkeypatch):
    watch = Watchdog((), 10.0, lambda thread: False, print)
    watch.close()
    dropped = Fake("dropped")
    dropped.unwanted = True
    assert watch.patience(turn()) == FIRST * 10
    assert watch.patience(turn(0.1)) == 10
    assert watch.patience(turn(3.0)) == LONGER * 3
    assert watch.patience(turn(0.1, dropped)) == DELETED_S
    assert watch.patience(turn(3.0, dropped)) == DELETED_LONGER * 3
    assert watch.patience(turn(0.0, dropped)) == FIRST * 10, "it may be making a tokenizer"


def test_a_thread_that_waits_for_the_disk_is_left_alone():
    watch = Watchdog((), 10.0, lambda thread: thread == threading.get_ident(), print)
    watch.close()
    assert not watch._is_overdue(turn(1.0), now=1e9)
    watch._waits = lambda thread: False
    assert not watch._is_overdue(turn(1.0), now=1e9 + 1), "nor when the disk has come back in this moment"
    assert watch._is_overdue(turn(1.0), now=1e9 + 100)


@pytest.mark.fault("a worker thread that dies", "another one takes its place")
def test_a_dead_worker_is_replaced_and_every_job_gets_its_turns(caplog, monkeypatch):
    real, dying = Scheduler._work, [1, 1]

    def work(self):
        if dying:
            dying.pop()
        else:
            real(self)

    monkeypatch.setattr(Scheduler, "_work", work)
    scheduler = Scheduler(2, 100, 0.01)
    jobs = [Fake(n, owner=n) for n in range(3)]
    for job in jobs:
        scheduler.add(job)
    wait(lambda: scheduler.count()["alive"] == 0)
    assert scheduler.replace(lambda turn: False) == [], "nobody had a turn"
    assert all(job.done.wait(30) for job in jobs)
    assert scheduler.count() == {"training": 0, "waiting": 0, "alive": 2, "replaced": 2, "lost": 0}
    assert "worker_replaced" in caplog.text
    scheduler.close()
