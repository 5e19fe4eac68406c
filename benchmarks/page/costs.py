"""What it costs a training to be written down: validation, replay, live pictures and saving, as share of its steps."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.pace import cores
from benchmarks.suite import note
from benchmarks.tables import markdown, milliseconds, percent, shown, summary, whole
from playground.config import Experiment
from playground.data.corpus import Corpus, build_corpus
from playground.runs.disk.folder import pack_run, pack_state
from playground.runs.disk.store import write_run
from playground.runs.limits import Limits, machine_cores
from playground.runs.machine_speed import warm_up
from playground.runs.queue import train_inline
from playground.runs.recording import Recording, copy_parameters
from playground.runs.run import Run
from playground.training.loop import Training, TrainingStep
from playground.training.metrics import Validation

ROWS = {
    "step": "a training step",
    "validation": "a validation",
    "replay": "a frame of the replay, kept to be materialised",
    "materialise": "materialising a frame, after the training",
    "live": "a live picture, while somebody watches",
    "rest": "writing the step down",
    "snapshot": "of a picture: the copy of the parameters",
    "last_good": "of a step: the copy to go back to after a NaN",
    "save": "saving everything to the disk",
}


class Spent:
    """Seconds and times by name. What happens inside something that is measured belongs to the outer one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.times: dict[str, int] = {}
        self._inside = False

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        if self._inside:
            yield
            return
        self._inside, started = True, time.perf_counter()
        try:
            yield
        finally:
            self._inside = False
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
            self.times[name] = self.times.get(name, 0) + 1


class TimedTraining(Training):
    spent: Spent

    def steps(self) -> Iterator[TrainingStep]:
        steps = super().steps()
        while self.step < self.experiment.training.steps:
            with self.spent.on("step"):
                step = next(steps)
            yield step

    def validate(self, split: str = "heldout", most: int | None = None) -> Validation:
        with self.spent.on("validation"):
            return super().validate(split, most)


class TimedRecording(Recording):
    def _capture_frame(self, look: bool) -> None:
        with self.training.spent.on("replay"):
            super()._capture_frame(look)

    def show(self) -> tuple:
        with self.training.spent.on("live"):
            return super().show()


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"what", "each", "times", "share"}], "all": {"unwatched", "watched"}, "recording", "steps", "save_seconds"}.

    Summaries over the repeats: each in seconds; times in a training; share of the time of all its steps. "rest" is the time between a step
    and the next that is none of the others. The share of a save is that of one save against the training between two saves. "all" sums
    validation, replay and rest, without and with live pictures; "recording" is replay and rest.
    """
    warm_up()
    experiment = Experiment().with_(**dict(options.set))
    corpus, samples = build_corpus(experiment.data), []
    _recorded(experiment, corpus, False)  # warm
    for _ in range(options.repeats):
        quiet, watched = _recorded(experiment, corpus, False), _recorded(experiment, corpus, True)
        samples.append(quiet | {"live": watched["live"]})
        shares = ", ".join(f"{name} {found['share']:.1%}" for name, found in samples[-1].items())
        note(f"a step {1000 * quiet['step']['each']:.1f} ms; {shares}")
    rows = []
    for what in ROWS:
        found = [sample[what] for sample in samples]
        rows.append({"what": what} | {name: summary(one[name] for one in found) for name in ("each", "times", "share")})
    quiet = [sum(sample[name]["share"] for name in ("validation", "replay", "rest")) for sample in samples]
    watched = [share + sample["live"]["share"] for share, sample in zip(quiet, samples, strict=True)]
    recording = summary(sample["replay"]["share"] + sample["rest"]["share"] for sample in samples)
    return {
        "rows": rows,
        "all": {"unwatched": summary(quiet), "watched": summary(watched)},
        "recording": recording,
        "steps": experiment.training.steps,
        "save_seconds": Limits().save_seconds,
    }


def _recorded(experiment: Experiment, corpus: Corpus, watched: bool) -> dict[str, dict[str, float]]:
    """One training with its replay, from its first to its last step."""
    made = train_inline.new_run(experiment)
    made.seen_at = float("-inf")
    with cores(min(made.threads, machine_cores())) as parallel_map:
        training = TimedTraining(experiment, corpus, made.device)
        spent = training.spent = Spent()
        training.parallel_map = parallel_map
        started = time.perf_counter()
        recording = TimedRecording(made, training)
        for _ in recording.steps():
            if watched:
                made.mark_seen()
        with spent.on("materialise"):
            _ = made.replay.frames
        recording.finish()
        spent.seconds["rest"] = time.perf_counter() - started - sum(spent.seconds.values())
    spent.times["rest"], spent.times["materialise"] = spent.times["step"], spent.times["replay"]
    steps = spent.seconds["step"]
    found = {name: {"each": s / spent.times[name], "times": spent.times[name], "share": s / steps} for name, s in spent.seconds.items()}
    found.setdefault("live", {"each": 0.0, "times": 0, "share": 0.0})
    pictures = found["replay"]["times"] + found["live"]["times"]
    copies = {
        "snapshot": (_each(lambda: copy_parameters(training.model)), pictures),
        "last_good": (_each(training._remember), training.step),
    }
    found |= {name: {"each": each, "times": times, "share": each * times / steps} for name, (each, times) in copies.items()}
    save = _save_seconds(made, training)
    return found | {"save": {"each": save, "times": 1, "share": save / Limits().save_seconds}}


def _each(act, times: int = 50) -> float:
    started = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - started) / times


def _save_seconds(made: Run, training: Training) -> float:
    """Everything that a save in mid-training writes."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        contents = pack_run(made, copy_parameters(training.model)) | {"state.safetensors": pack_state(training)}
        write_run(Path(folder) / "run", made, contents)
        return time.perf_counter() - started


def table(result: dict) -> str:
    head = (f"in a training of {result['steps']} steps", "ms each", "times", "share of the steps' time")
    said = ROWS | {"save": f"saving everything, every {result['save_seconds']:g} s of training"}
    rows = [
        (said[row["what"]], shown(row["each"], milliseconds), shown(row["times"], whole), shown(row["share"], percent))
        for row in result["rows"]
    ]
    rows.append(("replay and writing down", "", "", shown(result["recording"], percent)))
    rows += [(f"validation, replay and the rest, {name}", "", "", shown(found, percent)) for name, found in result["all"].items()]
    return markdown(head, rows)
