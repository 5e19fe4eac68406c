"""What goes wrong in one run stays in that run, and is said in plain words; one whose step never ends goes on from its last save."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from playground.config import Refusal
from playground.runs.engines import PREPARE_FACTOR, InProcess
from playground.runs.forecast import forecast
from playground.runs.queue.scheduler import Turn
from playground.runs.queue.workers import CLOSE_TIMEOUT_S, DELETION_FACTOR, DELETION_TIMEOUT_S, TURN_FACTOR, Watchdog
from playground.runs.runtime import Runtime
from playground.training.loop import Diverged, Training
from playground.ui.operator import health
from tests.runs.queue.test_scheduler import Job
from tests.runs.tiny import ME, PAIRS, YOU, alone, at_rest, begun, curve, done, ended, ended_as_if_alone, tiny

BAD, AT = 666, 1  # the seed of the runs that something happens to, and the step before it
HUNG = tiny(seed=BAD, steps=8)
ERRORS = {
    RuntimeError("shapes differ"): "runs.failed", MemoryError(): "runs.out_of_memory", SystemExit(1): "runs.failed",
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."): "runs.out_of_memory", KeyboardInterrupt(): "runs.failed",
}  # fmt: skip
CLOSED_MEANWHILE = """
import sys, threading, time
from pathlib import Path
import torch
from playground.runs.limits import Limits
from playground.runs import machine_speed
from playground.runs.queue import workers
from playground.runs.registry import Runs

begun, product = threading.Event(), torch.ones(500, 500)

def full_machine(device):
    begun.set()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        product @ product

machine_speed._train_smallest = full_machine
workers.CLOSE_TIMEOUT_S = 0.0
runs = Runs(Path(sys.argv[1]), limits=Limits())
assert begun.wait(60)
runs.close()
"""


@pytest.fixture
def happens(monkeypatch):
    """happens(what): in the second step of runs with the seed BAD."""

    def begin(what, real=Training._update):
        def update(self, batch):
            if self.experiment.training.seed == BAD and self.step == AT:
                what(self)
            return real(self, batch)

        monkeypatch.setattr(Training, "_update", update)

    return begin


@pytest.fixture
def hang(world, happens):
    """hang(*meanwhile): the second step of a run goes on for a day, in which all this happens."""
    plans = []

    def go_on(training):
        if plans:
            world.clock.passed += 86_400
            for do in plans.pop():
                do()

    def begin(*meanwhile):
        plans.append(meanwhile)
        return world.runs.create(HUNG, ME)

    happens(go_on)
    return begin


def test_it_is_given_up_and_goes_on_from_its_last_save_and_what_the_step_comes_to_changes_nothing(world, hang):
    reports = []

    def state(run):
        files = [path.read_bytes() for path in sorted(world.runs.store.path(run).iterdir())]
        return run.version, run.step, len(run.history.steps), files

    def given_up():
        world.round()
        back = world.runs.get(run.id)
        assert back is not run
        assert (back.status, back.message.key, back.message.values["step"]) == ("interrupted", "runs.step_hung", AT + 1)
        assert world.scheduler.count() == {"training": 0, "waiting": 0, "alive": 2, "replaced": 0, "lost": 1}
        assert world.scheduler.reserved > 0, "it still holds its memory"
        world.runs.resume(run.id, ME)
        world.until(lambda: back.status == "done")
        reports.append((back, state(back)))

    run = hang(given_up)
    world.until(lambda: reports and not world.turn())
    ((back, before),) = reports
    assert (world.runs.get(run.id), state(back), back.status) == (back, before, "done")
    assert (world.scheduler.count()["lost"], world.scheduler.reserved, curve(back)) == (0, 0, curve(alone(HUNG)[0]))


def test_a_hang_in_the_release_of_its_model_leaves_an_ended_run_as_it_ended(world, monkeypatch):
    run, close, hangs = begun(world, steps=12), InProcess.close, [world.hang]
    monkeypatch.setattr(InProcess, "close", lambda trainer: (hangs.pop()() if hangs else None, close(trainer)))
    world.until(lambda: not hangs)
    world.round()
    assert world.runs.get(run.id) is run
    ended_as_if_alone(run, tiny())


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
    reports, held, hung = [], [], []

    def given_up():
        hung.append("step")
        for run in (other, *held):
            run.mark_seen()
        if len(hung) == 1:  # the other one is still to hang
            return world.until(lambda: reports)
        world.round()
        world.until(lambda: other.status == "done")
        assert [world.runs.get(run.id).message.key for run in held] == ["runs.step_hung"] * 2
        reports.append(health(world.runs)["workers"])

    held += [hang(given_up), hang(given_up)]
    other = world.runs.create(tiny(), YOU)
    world.until(lambda: reports)
    assert (reports, curve(other)) == ([{"alive": 2, "replaced": 0, "lost": 2}], curve(alone(tiny())[0]))
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


def test_patience_is_as_long_as_the_steps_of_the_run_and_a_thread_that_waits_for_the_disk_is_left_alone(watchdog):
    dropped = Job("dropped")
    dropped.is_dropped = True
    cases = {(0.0, None): PREPARE_FACTOR * 10, (0.1, None): 10, (3.0, None): TURN_FACTOR * 3}
    cases |= {(0.1, dropped): DELETION_TIMEOUT_S, (3.0, dropped): DELETION_FACTOR * 3, (0.0, dropped): PREPARE_FACTOR * 10}  # prepares
    assert {case: watchdog().timeout(turn(*case)) for case in cases} == cases
    waiting = [True]
    watch = watchdog(lambda thread: waiting[0] and thread == threading.get_ident())
    assert not watch._is_overdue(turn(1.0), now=1e9)
    waiting[0] = False
    assert not watch._is_overdue(turn(1.0), now=1e9 + 1), "nor when the disk has come back in this moment"
    assert watch._is_overdue(turn(1.0), now=1e9 + 100)


ROOT = Path(__file__).parents[3]


@pytest.mark.fault("a loss that diverges", "the run says so and keeps its last good step; others train on")
def test_a_run_that_diverges_says_so_and_keeps_the_last_good_step(world, monkeypatch):
    def steps(self, real=Training.steps):
        for step in real(self):
            yield step
            if step.step == 6:
                raise Diverged(7)

    monkeypatch.setattr(Training, "steps", steps)
    run, other = world.runs.create(tiny(), ME), world.runs.create(tiny(steps=5), YOU)
    assert (at_rest(world, run).status, run.message.key, run.message.values["step"]) == ("diverged", "runs.diverged", 7)
    assert run.step == 6 == run.snapshot.step == run.replay.steps[-1]
    assert at_rest(world, other).status == "done"


@pytest.mark.fault("NaN in the parameters", "the run ends as diverged; what is kept has none")
def test_nan_in_the_numbers_themselves(world, happens):
    happens(lambda training: next(training.model.parameters()).data.fill_(float("nan")))
    run = at_rest(world, world.runs.create(tiny(steps=100, seed=BAD), ME))
    assert run.status == "diverged"
    assert all(bool(tensor.isfinite().all()) for tensor in run.snapshot.parameters.values())
    assert all(np.isfinite(c.top_probabilities).all() for frame in run.replay.frames for c in frame.completions)
    assert world.runs.store.open(run).run.replay.steps == run.replay.steps  # and it can be read back
    json.loads(world.runs.update(run)[0], parse_constant=pytest.fail)  # no number in it is NaN


@pytest.mark.fault("an exception, no memory, or SystemExit in a step", "that run fails with a sentence; others train on")
def test_an_exception_in_the_model_fails_one_run_only(world, happens, caplog):
    left = list(ERRORS)

    def fail(training):
        raise left[0]

    happens(fail)
    other = world.runs.create(tiny(), YOU)
    while left:
        run = at_rest(world, world.runs.create(tiny(seed=BAD), ME))
        assert (run.status, run.message.key, run.step) == ("failed", ERRORS[left[0]], AT)
        assert "Traceback" not in run.message.say("en") + run.message.say("zh")
        assert type(left.pop(0)).__name__ in caplog.text
    ended_as_if_alone(at_rest(world, other), tiny())


@pytest.mark.fault("an exception while a run ends", "it ends nevertheless")
def test_an_exception_while_it_ends_still_ends_it(world, monkeypatch):
    monkeypatch.setattr("playground.runs.recording.Recording.finish", lambda self: 1 / 0)
    assert ended(world, steps=2).status == "failed"


def test_a_refusal_while_it_is_prepared_is_its_message(world):
    run = at_rest(world, world.runs.create(tiny(task="own", tokenizer="bpe", vocab_size=16), ME, pairs=PAIRS))
    assert (run.status, run.message.key.partition(".")[0]) == ("failed", "data")


def test_a_run_trains_though_the_machine_can_be_neither_warmed_up_nor_measured(serve, monkeypatch, caplog):
    def fail(*arguments):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr("playground.runs.machine_speed._warming_up", threading.Lock())
    monkeypatch.setattr("playground.runs.machine_speed._ready", set())
    for name in ("machine_speed.build_corpus", "machine_speed._measure_speed", "machine_speed.measure_rate"):
        monkeypatch.setattr(f"playground.runs.{name}", fail)
    runs = serve()
    assert curve(done(runs.create(tiny(), ME))) == curve(alone(tiny())[0])
    wide = done(runs.create(tiny(d_model=256, steps=1), ME))
    assert (wide.status, wide.precision) == ("done", "float32")
    assert "no such instruction" in caplog.text
    with pytest.raises(Refusal, match="can’t be measured"):
        forecast(tiny())


@pytest.mark.night
@pytest.mark.fault("runs that are closed while the machine is still being warmed up", "the interpreter ends when that is over, with code 0")
def test_closed_while_it_is_warmed_up_the_interpreter_is_not_aborted(tmp_path):
    command = [sys.executable, "-c", CLOSED_MEANWHILE, str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
