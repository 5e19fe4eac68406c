"""A step that never ends: its run is given up and goes on from its last save, and what the step comes to in the end changes nothing."""

import threading

import pytest

from playground.config import Refusal
from playground.runs.health import health
from playground.runs.queue.scheduler import Turn
from playground.runs.queue.watchdog import DELETED_LONGER, DELETED_S, FIRST, LONGER, Watchdog
from playground.runs.queue.workers import CLOSE_TIMEOUT_S
from playground.runs.runtime import Runtime
from playground.training.loop import Training
from tests.runs.by_hand import begun
from tests.runs.queue.test_scheduler import Job
from tests.runs.tiny import ME, YOU, alone, curve, tiny

HANGS = 666  # seed of the runs that do
AT = 4  # the step before the one that hangs
HUNG = tiny(seed=HANGS, steps=20)


@pytest.fixture
def hang(world, monkeypatch):
    """hang(*meanwhile): the fifth step of a run with the seed HANGS goes on for a day, in which all this happens."""
    plans, real = [], Training._update

    def update(self, batch):
        if plans and self.experiment.training.seed == HANGS and self.step == AT:
            world.clock.passed += 86_400
            for do in plans.pop():
                do()
        return real(self, batch)

    monkeypatch.setattr(Training, "_update", update)

    def begin(*meanwhile):
        plans.append(meanwhile)
        return world.runs.create(HUNG, ME)

    return begin


def test_it_is_given_up_and_goes_on_from_its_last_save_and_what_the_step_comes_to_changes_nothing(world, hang):
    reports = []

    def given_up():
        other.seen()  # a day has passed
        world.round()
        back = world.runs.get(run.id)
        assert back is not run
        assert (back.status, back.message.key, back.message.values["step"]) == ("interrupted", "runs.step_hung", AT + 1)
        assert world.scheduler.count() == {"training": 1, "waiting": 0, "alive": 2, "replaced": 0, "lost": 1}
        assert world.scheduler.reserved > 0, "it still holds its memory"
        world.runs.resume(run.id, ME)
        world.until(lambda: back.status == "done")
        reports.append((back, back.version, back.step, len(back.history.steps), files_of(back)))

    def files_of(run):
        return [path.read_bytes() for path in sorted(world.runs.store.path(run).iterdir())]

    run = hang(given_up)
    other = world.runs.create(tiny(), YOU)
    world.until(lambda: reports and other.status == "done")
    world.until(lambda: not world.turn())
    ((back, *before),) = reports
    assert world.runs.get(run.id) is back
    assert before == [back.version, back.step, len(back.history.steps), files_of(back)]
    assert (back.status, world.scheduler.count()["lost"], world.scheduler.reserved) == ("done", 0, 0)
    assert curve(back) == curve(alone(HUNG)[0])
    assert curve(other) == curve(alone(tiny())[0])


@pytest.mark.parametrize(("order", "is_known"), [("pause", False), ("stop", True), ("delete", False), ("delete", True)])
def test_an_order_to_a_hung_run_is_answered(world, hang, order, is_known):
    """Before the watchdog has seen it, and after."""
    answers = []

    def ask():
        if is_known:
            world.round()
        try:
            answers.append(getattr(world.runs, order)(run.id, ME))
        except Refusal as refusal:
            answers.append(refusal.key)
        world.round()

    run = hang(ask)
    world.until(lambda: answers)
    assert answers == ["runs.not_at_work" if order == "stop" else None]
    if order == "delete":
        assert world.runs.find(run.id) is None
        assert not world.runs.store.path(run).exists()
    else:
        assert world.runs.get(run.id).status == "interrupted"


@pytest.mark.fault("a step that hangs on every worker", "its run is given up; all others go on")
def test_a_step_that_hangs_on_every_worker_is_given_up_and_all_others_go_on(world, hang, caplog):
    reports, held = [], []

    def given_up():
        other.seen()
        world.round()
        world.until(lambda: other.status == "done")
        assert [world.runs.get(run.id).message.key for run in held] == ["runs.step_hung"] * 2
        reports.append(health(world.runs)["workers"])

    held += [hang(given_up), hang(lambda: world.until(lambda: reports))]
    other = world.runs.create(tiny(), YOU)
    world.until(lambda: reports)
    assert reports == [{"alive": 2, "replaced": 0, "lost": 2}]
    assert curve(other) == curve(alone(tiny())[0])
    assert "run_hung" in caplog.text
    assert health(world.runs)["workers"]["lost"] == 0


@pytest.mark.fault("a server that is to end while a step hangs", "it ends; the other runs are saved")
def test_a_server_with_a_hung_step_can_be_closed(world, hang, monkeypatch):
    closed = []

    def close(real=world.scheduler.close):
        monkeypatch.setattr(world.scheduler, "close", lambda seconds: closed.append(seconds) or real(seconds))
        world.end(killed=False)

    other = begun(world, YOU)
    run = hang(close)
    world.until(lambda: closed or not run.working)
    assert 0 < closed[0] <= CLOSE_TIMEOUT_S, "it is waited for only so long"
    store = world.runs.store
    assert (other.status, store.open(other).run.step) == ("interrupted", other.step)
    assert store.open(run).run.step == 0, "what a thread still writes to is not saved"


def turn(longest=0.0, job=None):
    return Turn(job, 1, threading.current_thread(), 0.0, longest)


@pytest.fixture
def watchdog():
    """Over nothing, with ten seconds of patience, and no thread of its own."""
    runtime = Runtime(monotonic=lambda: 0.0, spawn=lambda work, name: threading.Thread())
    return lambda waits=lambda thread: False: Watchdog((), 10.0, waits, print, runtime)


def test_patience_is_as_long_as_the_steps_of_the_run(watchdog):
    dropped = Job("dropped")
    dropped.unwanted = True
    cases = {(0.0, None): FIRST * 10, (0.1, None): 10, (3.0, None): LONGER * 3}
    cases |= {(0.1, dropped): DELETED_S, (3.0, dropped): DELETED_LONGER * 3, (0.0, dropped): FIRST * 10}  # it may be making a tokenizer
    assert {case: watchdog().patience(turn(*case)) for case in cases} == cases


def test_a_thread_that_waits_for_the_disk_is_left_alone(watchdog):
    waiting = [True]
    watch = watchdog(lambda thread: waiting[0] and thread == threading.get_ident())
    assert not watch._is_overdue(turn(1.0), now=1e9)
    waiting[0] = False
    assert not watch._is_overdue(turn(1.0), now=1e9 + 1), "nor when the disk has come back in this moment"
    assert watch._is_overdue(turn(1.0), now=1e9 + 100)
