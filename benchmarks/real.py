"""Own data with the suggested settings, beside the settings of before there was a suggestion: steps for the number of pairs alone, tokens
as they are natural for each side. Budgets are steps and seconds of the processor: they are the same however busy the machine is."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.made_words import MadeFile, inflections, pronunciations
from benchmarks.own import scores_of
from benchmarks.suite import Missing, note, some_of
from benchmarks.tables import markdown, percent, seconds, whole
from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.data.suggestion import LONG, PASSES, SHORT, suggest
from playground.reading.column_mapping import Choices
from playground.reading.pairs import Pairs
from playground.runs.upload_process import read
from playground.training.loop import Training

ABOUT = "own data with the suggested settings and with those of before: Tatoeba, SCAN, made-up inflections and pronunciations of new words"
FILES = {"tatoeba": "tatoeba/cmn-eng/cmn-eng.2021-07.attrib3col.txt.gz", "scan": "scan/tasks_train_simple.txt.gz"}
MADE: dict[str, Callable[[int, int, int], MadeFile]] = {"inflections": inflections, "pronunciations": pronunciations}
BEFORE = 96  # pairs of a batch
SMOKE = {"asked": 10, "words": 40, "tasks": list(MADE), "set": [("steps", 3), ("d_model", 16), ("d_ff", 16)]}


class Task(NamedTuple):
    """Pairs to learn from, and new ones to ask beside those that are held out."""

    pairs: Pairs
    asked: tuple[tuple[str, str], ...] = ()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder that holds scan/ and tatoeba/")
    parser.add_argument("--tasks", type=some_of([*FILES, *MADE]), default=[*FILES, *MADE], metavar="A,B", help=", ".join([*FILES, *MADE]))
    parser.add_argument("--words", type=int, default=800, help="made-up lemmas to learn from; eight times as many words with their sounds")
    parser.add_argument("--asked", type=int, default=500, help="the most new pairs that are asked")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"task", "settings", "pairs", "steps", "cpu_seconds", "held_out", "new", "knobs"}]}; "held_out" and "new" have "asked",
    "exact", "bleu" and "chrf", and "new" is None where there are no others. Raises Missing when a file is not there."""
    for name in options.tasks:
        if name in FILES and not (options.data / FILES[name]).exists():
            raise Missing(f"{options.data / FILES[name]} is not here; --data says where it is, --tasks leaves it out.")
    torch.set_num_threads(1)
    ways: dict[str, Callable[[Pairs], dict[str, Any]]] = {"before": _before, "suggested": lambda pairs: suggest(pairs).knobs}
    return {"rows": [_row(name, way, knobs, options) for name in options.tasks for way, knobs in ways.items()]}


def _task(name: str, options: argparse.Namespace) -> Task:
    if name in FILES:
        path = options.data / FILES[name]
        return Task(read([(path.name, path.read_bytes())], Choices(swap=name == "tatoeba")))
    scale = 1 if name == "inflections" else 8
    made = MADE[name](scale * options.words, options.asked, 1)
    return Task(read([(made.name, made.content)]), made.asked[: options.asked])


def _before(pairs: Pairs) -> dict[str, Any]:
    steps = max(round(PASSES * len(pairs.pairs) / BEFORE), SHORT[0])
    return {"steps": steps, "batch_size": BEFORE, "learning_rate": SHORT[1] if steps <= 3 * SHORT[0] else LONG}


def _row(name: str, way: str, knobs: Callable[[Pairs], dict[str, Any]], options: argparse.Namespace) -> dict:
    task = _task(name, options)
    experiment = Experiment().with_(**{"task": "own", "threads": 1, **knobs(task.pairs), **dict(options.set)})
    corpus = build_corpus(experiment.data, task.pairs, experiment.model.share_embeddings == "all")
    training, started = Training(experiment, corpus), time.process_time()
    for step in training.steps():
        if step.step % 200 == 0:
            note(f"{name}, {way}: step {step.step}, loss {step.loss:.3f}, {time.process_time() - started:.0f} s of the processor")
    took, score = time.process_time() - started, partial(scores_of, training.model, corpus)
    held = [item.src for item in corpus.heldout[: options.asked]]
    new = score([src for src, _ in task.asked], [(tgt,) for _, tgt in task.asked]) if task.asked else None
    return {
        "task": name, "settings": way, "pairs": len(task.pairs.pairs), "steps": training.step, "cpu_seconds": took,
        "held_out": score(held, [corpus.references[src] for src in held]), "new": new, "knobs": experiment.difference(),
    }  # fmt: skip


def table(result: dict) -> str:
    head = ("task", "settings", "pairs", "steps", "processor", "held out: exact", "BLEU", "chrF", "new words: exact")
    rows = (
        (
            row["task"], row["settings"], whole(row["pairs"]), whole(row["steps"]), seconds(row["cpu_seconds"]),
            percent(row["held_out"]["exact"]), f"{row['held_out']['bleu']:.1f}", f"{row['held_out']['chrf']:.1f}",
            percent(row["new"]["exact"]) if row["new"] else "–",
        )
        for row in result["rows"]
    )  # fmt: skip
    return markdown(head, rows)
