"""What goes wrong in one run stays in that run, and is said in plain words."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from playground.config import Refusal
from playground.runs.forecast import forecast
from playground.training.loop import Diverged, Training
from tests.runs.by_hand import at_rest, ended
from tests.runs.tiny import ME, PAIRS, YOU, alone, curve, done, ended_as_if_alone, tiny

ROOT = Path(__file__).parents[3]
BAD, AT = 666, 4  # the seed of the runs that something happens to, and the step before it


@pytest.fixture
def happens(monkeypatch):
    """happens(what): in the fifth step of runs with the seed BAD."""

    def begin(what, real=Training._update):
        def update(self, batch):
            if self.experiment.training.seed == BAD and self.step == AT:
                what(self)
            return real(self, batch)

        monkeypatch.setattr(Training, "_update", update)

    return begin


@pytest.mark.fault("a loss that diverges", "the run says so and keeps its last good step; others train on")
def test_a_run_that_diverges_says_so_and_keeps_the_last_good_step(world, monkeypatch):
    def steps(self, real=Training.steps):
        for step in real(self):
            yield step
            if step.step == 12:
                raise Diverged(13)

    monkeypatch.setattr(Training, "steps", steps)
    run, other = world.runs.create(tiny(), ME), world.runs.create(tiny(steps=5), YOU)
    assert (at_rest(world, run).status, run.message.key, run.message.values["step"]) == ("diverged", "runs.diverged", 13)
    assert run.step == 12 == run.snapshot.step == run.replay.steps[-1]
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


ERRORS = {
    RuntimeError("shapes differ"): "runs.failed", MemoryError(): "runs.out_of_memory", SystemExit(1): "runs.failed",
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."): "runs.out_of_memory", KeyboardInterrupt(): "runs.failed",
}  # fmt: skip


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

    monkeypatch.setattr("playground.runs.queue.warmup._once", threading.Lock())
    monkeypatch.setattr("playground.runs.queue.warmup._ready", set())
    for name in ("queue.warmup.build_corpus", "machine_speed._measured", "machine_speed.product_rate"):
        monkeypatch.setattr(f"playground.runs.{name}", fail)
    runs = serve()
    assert curve(done(runs.create(tiny(), ME))) == curve(alone(tiny())[0])
    wide = done(runs.create(tiny(d_model=256, steps=1), ME))
    assert (wide.status, wide.precision) == ("done", "float32")
    assert "no such instruction" in caplog.text
    with pytest.raises(Refusal, match="could not be measured"):
        forecast(tiny())


CLOSED_MEANWHILE = """
import sys, threading, time
from pathlib import Path
import torch
from playground.runs.limits import Limits
from playground.runs.queue import warmup, workers
from playground.runs.registry import Runs

begun, product = threading.Event(), torch.ones(500, 500)

def full_machine(device):
    begun.set()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        product @ product

warmup._train_smallest = full_machine
workers.CLOSE_TIMEOUT_S = 0.0
runs = Runs(Path(sys.argv[1]), limits=Limits())
assert begun.wait(60)
runs.close()
"""


@pytest.mark.night
@pytest.mark.fault("runs that are closed while the machine is still being warmed up", "the interpreter ends when that is over, with code 0")
def test_closed_while_it_is_warmed_up_the_interpreter_is_not_aborted(tmp_path):
    command = [sys.executable, "-c", CLOSED_MEANWHILE, str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
