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
from tests.runs.tiny import ME, PAIRS, YOU, alone, at_step, curve, done, limits, tiny, wait

ROOT = Path(__file__).parents[3]


@pytest.mark.fault("a loss that diverges", "the run says so and keeps its last good step; others train on")
def test_a_run_that_diverges_says_so_and_keeps_the_last_good_step(runs, monkeypatch):
    real = Training.steps

    def steps(self):
        for step in real(self):
            yield step
            if step.step == 12:
                raise Diverged(13)

    monkeypatch.setattr(Training, "steps", steps)
    run, other = runs.create(tiny(), ME), runs.create(tiny(steps=5), YOU)
    assert done(run).status == "diverged"
    assert run.message.key == "runs.diverged"
    assert "13" in str(run.message)
    assert run.step == 12 == run.snapshot.step == run.replay.steps[-1]
    assert done(other).status == "done"


@pytest.mark.fault("NaN in the parameters", "the run ends as diverged; what is kept has none")
def test_nan_in_the_numbers_themselves(runs, monkeypatch):
    run = done(
        runs.create(tiny(learning_rate=1.0, optimiser="adam", norm="pre", residual=False, max_grad_norm=0.0, attention_scale=0.0), ME)
    )
    assert run.status in ("done", "diverged")
    real = Training._update

    def update(self, batch):
        if self.experiment.training.seed == 666 and self.step == 4:
            with torch.no_grad():
                next(self.model.parameters()).fill_(float("nan"))
        return real(self, batch)

    monkeypatch.setattr(Training, "_update", update)
    poisoned = runs.create(tiny(steps=100, seed=666), ME)
    assert done(poisoned).status == "diverged"
    assert all(bool(tensor.isfinite().all()) for tensor in poisoned.snapshot.parameters.values())
    assert all(np.isfinite(c.top_probabilities).all() for frame in poisoned.replay.frames for c in frame.completions)
    assert runs.store.open(poisoned).run.replay.steps == poisoned.replay.steps  # and it can be read back
    json.loads(runs.update(poisoned)[0], parse_constant=pytest.fail)  # no number in it is NaN


@pytest.mark.fault("an exception, no memory, or SystemExit in a step", "that run fails with a sentence; others train on")
@pytest.mark.parametrize(
    ("error", "key"),
    [(RuntimeError("shapes differ"), "runs.failed"), (MemoryError(), "runs.out_of_memory"),
     (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."), "runs.out_of_memory"), (SystemExit(1), "runs.failed"),
     (KeyboardInterrupt(), "runs.failed")],
)  # fmt: skip
def test_an_exception_in_the_model_fails_one_run_only(runs, monkeypatch, error, key, caplog):
    real = Training._update

    def update(self, batch):
        if self.experiment.training.seed == 666 and self.step == 4:
            raise error
        return real(self, batch)

    monkeypatch.setattr(Training, "_update", update)
    run, other = runs.create(tiny(seed=666), ME), runs.create(tiny(), YOU)
    assert done(run).status == "failed"
    assert run.message.key == key
    assert run.step == 4
    assert "Traceback" not in run.message.say("en") + run.message.say("zh")
    assert type(error).__name__ in caplog.text
    wait(lambda: not runs._workers.busy(run))
    assert done(other).status == "done"
    assert curve(other) == curve(alone(tiny())[0])


@pytest.mark.fault("an exception while a run ends", "it ends nevertheless")
def test_an_exception_while_it_ends_still_ends_it(runs, monkeypatch):
    monkeypatch.setattr("playground.runs.recording.Recording.finish", lambda self: 1 / 0)
    run = done(runs.create(tiny(steps=2), ME))
    assert run.status == "failed"
    assert not runs._workers.busy(run)


def test_a_refusal_while_it_is_prepared_is_its_message(runs):
    run = done(runs.create(tiny(task="own", tokenizer="bpe", vocab_size=16), ME, pairs=PAIRS))
    assert run.status == "failed"
    assert run.message.key.startswith("data.")


def test_a_full_disk_stops_no_training(runs, monkeypatch):
    run = at_step(runs.create(tiny(steps=100), ME), 1)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("playground.runs.disk.files._write_new", full)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    assert run.message.key == "runs.end_not_on_disk"
    with pytest.raises(Refusal, match="disk"):
        runs.create(tiny(), YOU)
    assert runs.mine(YOU) == []
    monkeypatch.undo()
    runs.resume(run.id, ME)
    done(run)
    assert (run.status, run.message) == ("done", None)
    assert curve(run) == curve(alone(tiny(steps=100))[0])


def test_close_leaves_no_thread_and_everything_on_the_disk(serve):
    before = set(threading.enumerate())
    runs = serve()
    run = at_step(runs.create(tiny(steps=100_000), ME), 3)
    runs.close()
    assert set(threading.enumerate()) <= before
    assert run.status == "interrupted"
    again = serve()
    back = again.get(run.id)
    assert (back.status, back.step, back.name) == ("interrupted", run.step, run.name)
    assert back.message.key == "runs.interrupted"
    assert curve(back) == curve(run)


@pytest.mark.fault("the browser of a run that trains closed for good", "the run is stopped, saved, and can be resumed")
def test_nobody_looks(serve):
    runs = serve(limits(idle_seconds=0.2))
    run = runs.create(tiny(steps=100_000), ME)
    wait(lambda: run.seen() or run.step > 20)
    assert run.status == "training"
    done(run)
    assert run.status == "stopped"
    assert run.message.key == "runs.nobody_looked"
    assert run.resumable


def test_a_run_trains_though_the_machine_can_be_neither_warmed_up_nor_measured(serve, monkeypatch, caplog):
    def fail(*arguments):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr("playground.runs.queue.warmup._once", threading.Lock())
    monkeypatch.setattr("playground.runs.queue.warmup._ready", set())
    monkeypatch.setattr("playground.runs.queue.warmup.build_corpus", fail)
    monkeypatch.setattr("playground.runs.machine_speed._measured", fail)
    monkeypatch.setattr("playground.runs.machine_speed.product_rate", fail)
    runs = serve()
    run = done(runs.create(tiny(), ME))
    assert run.status == "done"
    assert curve(run) == curve(alone(tiny())[0])
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
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("knob", ["label", "live", "status"])
def test_what_a_full_disk_did_not_take_holds_for_now_and_is_said(runs, monkeypatch, knob, caplog):
    run = at_step(runs.create(tiny(steps=1000), ME), 1)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    version = run.version

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    change = {
        "label": lambda: runs.rename(run.id, ME, "the same"),
        "live": lambda: runs.set_live(run.id, ME, "learning_rate", 0.002),
        "status": lambda: runs.stop(run.id, ME),
    }[knob]
    monkeypatch.setattr("playground.runs.disk.files._write_new", full)
    with pytest.raises(Refusal) as refusal:
        change()
    assert refusal.value.key == "runs.change_not_saved"
    assert {"label": run.label, "live": run.live["learning_rate"], "status": run.status}[knob] in ("the same", 0.002, "stopped")
    assert run.version > version  # every page is told
    assert "No space" in caplog.text
    monkeypatch.undo()
    runs.resume(run.id, ME)  # nothing else is harmed
    at_step(run, run.step + 1)
