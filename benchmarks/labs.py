"""Every lab that trains, over several seeds: the answer of each, whether it is the one that the lab expects, and what it costs."""

import argparse
import time
from dataclasses import replace

import torch

from benchmarks.suite import note, some_of
from benchmarks.tables import seconds, show_summary, summary, tabulate, whole
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.labs import LABS

ABOUT = "every lab that trains: the answer of each seed, whether it is the one that the lab expects, CPU seconds of a verdict"
BENCHES = [name for name, lab in LABS.items() if isinstance(lab, ControlledExperiment)]
TINY = [("d_model", 8), ("d_ff", 8), ("n_heads", 2), ("steps", 2), ("batch_size", 4), ("validation_size", 10), ("eval_every", 1)]
SMOKE = {"labs": ["skip", "bug_source"], "seeds": 2, "set": TINY}
SEEDS, ENOUGH = 5, 0.8  # and the share of the seeds for which an answer has to come out
CORES, BUDGET_S = 2, 60.0  # on so many, a verdict takes no longer than this


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labs", "--lab", type=some_of(BENCHES), default=BENCHES, metavar="A,B")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds 1 to this")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="what everything is computed in")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"lab", "arms", "cpu_seconds": summary over the seeds, "answers": of each seed, "expects", "holds": see `holds`, "overall":
    the answer over all seeds, but of a mystery, "numbers": of that verdict}]}."""
    torch.set_default_dtype(getattr(torch, options.dtype))  # the same seed draws other numbers in another type: another beginning too
    return {"rows": [_row(LABS[name], options) for name in options.labs]}


def _row(bench: ControlledExperiment, options: argparse.Namespace) -> dict:
    bench = replace(bench, base={**bench.base, **dict(options.set)})
    answers, per_seed, took = [], [], []
    for seed in range(1, options.seeds + 1):
        began = time.process_time()
        results = list(bench.train(seed))
        answers.append(bench.verdict([[result] for result in results]).answer)
        took.append(time.process_time() - began)
        per_seed.append(results)
    over_all = bench.verdict([list(results) for results in zip(*per_seed, strict=True)])
    row = {
        "lab": bench.name, "arms": len(per_seed[0]), "cpu_seconds": summary(took), "answers": answers, "expects": bench.expects,
        "holds": holds(bench, answers), "overall": "" if bench.is_mystery else over_all.answer, "numbers": dict(over_all.numbers),
    }  # fmt: skip
    note(f"{bench.name:<20} {show_summary(row['cpu_seconds'], seconds)} s   {', '.join(answers)}; {row['holds'] or '–'}")
    return row


def holds(bench: ControlledExperiment, answers: list[str]) -> str:
    """Returns whether seeds bear out what a lab expects: "yes", "open" where it expects nothing and no answer prevails, else "NO". "" where
    no expectation is declared, or none can be: each mystery is another bug."""
    if bench.is_mystery or bench.expects is None:
        return ""
    needed = ENOUGH * len(answers)
    prevails = next((answer for answer in dict.fromkeys(answers) if answers.count(answer) >= needed), "")
    return "NO" if prevails != bench.expects else "yes" if prevails else "open"


def table(result: dict) -> str:
    def verdict_time(row: dict) -> str:
        took = row["cpu_seconds"]["median"] / CORES
        return f"{took:.1f} s" + (" (too long)" if took > BUDGET_S else "")

    def count_answers(row: dict) -> str:
        """Of each seed in turn where they differ, else how many times the same."""
        answers = row["answers"]
        return f"{answers[0]} × {len(answers)}" if len(set(answers)) == 1 else ", ".join(answers)

    return tabulate(result["rows"], {
        "lab": lambda row: row["lab"],
        "models": lambda row: whole(row["arms"]),
        "CPU seconds": lambda row: show_summary(row["cpu_seconds"], seconds),
        f"at once on {CORES} cores": verdict_time,
        "answers": count_answers,
        "expected": lambda row: {None: "–", "": "open"}.get(row["expects"], row["expects"]),
        "holds": lambda row: row["holds"] or "–",
    })  # fmt: skip
