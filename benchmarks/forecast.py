"""What is said before Train against what then is: seconds of a step, and megabytes, from narrow to wide and from few words to many."""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import torch

from benchmarks.page import numbers
from benchmarks.suite import note
from benchmarks.tables import markdown, milliseconds, ratio, whole
from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.model.costs import training_bytes
from playground.reading.uploads import Pairs
from playground.runs.cache import keep_free_pages
from playground.runs.forecast import forecast
from playground.runs.machine_speed import TINY, execution_plan
from playground.runs.upload_process import read
from playground.training.loop import Training

ABOUT = "processor time of a step and memory of a training, forecast and real, for own pairs of several widths and vocabularies"
WORDS = (6, 16)  # of a sentence, at least and at most
COLD = 2  # steps that are not timed
OWN, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
SMOKE = {"widths": [16], "vocabularies": [50], "pairs": 200, "steps": 2}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--widths", type=numbers, default=[32, 64, 128, 256], metavar="N,M", help="d_model; d_ff is four times as much")
    parser.add_argument("--vocabularies", type=numbers, default=[50, 1000, 4000, 8000], metavar="N,M", help="different words of each side")
    parser.add_argument("--pairs", type=int, default=2500)
    parser.add_argument("--steps", type=int, default=10, help=f"that are timed, after {COLD} that find the caches cold")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"d_model", "words", "precision", "forecast": seconds of a step, "seconds": of the processor, a median, "ratio",
    "admitted": bytes, "peak": bytes, "memory_ratio"}]}; each training has a process of its own, whose peak nobody else has raised."""
    rows = []
    for words in options.vocabularies:
        for width in options.widths:
            knobs = {"task": "own", "tokenizer": "words", "vocab_size": 8000, "batch_size": 64, "d_model": width, "d_ff": 4 * width}
            experiment = Experiment().with_(**{**knobs, "threads": 1, "steps": COLD + options.steps, **dict(options.set)})
            said = forecast(experiment, sentences(words, options.pairs)).step_seconds
            with get_context("spawn").Pool(1) as alone:
                found = alone.apply(trained, (experiment, words, options.pairs, options.steps))
            ratios = {"ratio": said / found["seconds"], "memory_ratio": found["admitted"] / max(found["peak"], 1)}
            rows.append({"d_model": experiment.model.d_model, "words": words, "forecast": said, **found, **ratios})
            note("{words} words, d_model {d_model}: forecast to real {ratio:.2f}, memory {memory_ratio:.2f}".format(**rows[-1]))
    return {"rows": rows}


def trained(experiment: Experiment, words: int, pairs: int, steps: int) -> dict:
    """What a training really takes, a validation included, and in which precision; and the bytes that were admitted for it."""
    torch.set_num_threads(1)
    keep_free_pages()
    corpus, precision = build_corpus(experiment.data, sentences(words, pairs)), execution_plan(experiment, "cpu")["precision"]
    admitted = training_bytes(experiment, corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, corpus.longest)
    next(Training(Experiment().with_(**TINY), build_corpus(Experiment().with_(**TINY).data)).steps())  # what torch takes once is nobody's
    before, training = _now(), Training(experiment, corpus, precision=precision)
    every, took = training.steps(), []
    for _ in islice(every, COLD):
        pass
    for _ in range(steps):
        started = time.thread_time()
        next(every)
        took.append(time.thread_time() - started)
    training.validate()
    return {"precision": precision, "seconds": statistics.median(took), "admitted": admitted, "peak": _peak() - before}


def sentences(words: int, count: int) -> Pairs:
    """Pairs of sentences in which every word comes as often as any other."""
    dice = random.Random(1)
    some = iter(lambda: " ".join(f"w{dice.randrange(words)}" for _ in range(dice.randint(*WORDS))), None)
    return read([("made.tsv", "\n".join(f"{next(some)}\t{next(some)}" for _ in range(count)).encode())])


def _now() -> int:
    """Bytes that this process holds, from where its peak is counted anew: what was free before is no room for what comes. Where the system
    doesn't say, the most that it has held."""
    if not OWN.exists():
        return _peak()
    RESET.write_text("5", encoding="ascii")
    return _own("VmRSS:")


def _own(name: str) -> int:
    return 1024 * int(OWN.read_text(encoding="ascii").partition(name)[2].split()[0])


def _peak() -> int:
    """Bytes: the most that this process has held. Linux gives a child the peak of its parent in getrusage, and its own in /proc."""
    if OWN.exists():
        return _own("VmHWM:")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts it in bytes


def table(result: dict) -> str:
    head = ("d_model", "words", "precision", "forecast, CPU ms a step", "real", "ratio", "admitted, MB", "real", "ratio")
    rows = (
        (
            str(row["d_model"]), whole(row["words"]), row["precision"], milliseconds(row["forecast"]), milliseconds(row["seconds"]),
            ratio(row["ratio"]), whole(row["admitted"] / 2**20), whole(row["peak"] / 2**20), ratio(row["memory_ratio"]),
        )
        for row in result["rows"]
    )  # fmt: skip
    return markdown(head, rows)
