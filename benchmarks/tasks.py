"""Learning every toy task: exact match on new sentences and on the harder kind, at default settings and with less."""

import argparse
import time
from pathlib import Path

from benchmarks.machine import cores, machine, one_line
from benchmarks.suite import note, some_of, tiny
from benchmarks.tables import percent, seconds, show_summary, summary, tabulate, whole
from playground.config import TASK_STEPS, Experiment, default, preset
from playground.data.corpus import build_corpus
from playground.runs.limits import machine_cores, machine_devices
from playground.runs.machine_speed import warm_up
from playground.tasks.toy_tasks import TASKS
from playground.training.loop import Training

ABOUT = "every built-in task at default settings, and with one layer, without positions, with one head: exact match, steps, seconds"
KEPT = Path(__file__).parent / "results" / "tasks.md"
ONE_LAYER = {"encoder_layers": 1, "decoder_layers": 1}
VARIANTS = {
    "default": {},
    "one_layer": ONE_LAYER,
    "no_positions": ONE_LAYER | {"positions": "none"},
    "one_head": ONE_LAYER | {"n_heads": 1},
}
NAMES = {
    "default": "default, 2+2 layers",
    "one_layer": "1+1 layers",
    "no_positions": "1+1, no positions",
    "one_head": "1+1, one head",
    "paper_size": "paper's size, 6+6",
    "lookup": "preset, 1+1 layers",
}
BUILT_IN = list(TASKS)
OWN_PRESET = {"beer": "paper_size", "lookup": "lookup"}
SMOKE = {"tasks": ["reverse", "beer"], "variants": ["default", "no_positions"], "seeds": 2, "set": tiny(threads=1, steps=3)}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=some_of(BUILT_IN), default=BUILT_IN, metavar="A,B")
    parser.add_argument("--variants", type=some_of(VARIANTS), default=list(VARIANTS), metavar="A,B", help=", ".join(VARIANTS))
    parser.add_argument("--seeds", type=int, default=3, help="training and data seeds 1 to this")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"task", "variant", "parameters", "steps", "heldout", "harder", "seconds", "pairs"}], "seeds"}. Keeps the table in KEPT
    when nothing is left out or changed.

    heldout and harder are summaries of exact match over the seeds (harder None where a task has no harder kind), seconds of all training
    steps without validation; pairs how many sentences each split was judged by.
    """
    warm_up()
    rows = [_row(task, variant, options) for task in options.tasks for variant in _variants(task, options)]
    result = {"rows": rows, "seeds": options.seeds}
    if options.tasks == BUILT_IN and options.variants == list(VARIANTS) and not options.set:
        KEPT.write_text(_page(result), encoding="utf-8")
    return result


def _variants(task: str, options: argparse.Namespace) -> list[str]:
    own = [OWN_PRESET[task]] if task in OWN_PRESET else []
    return own if TASKS[task].memorised else [*own, *options.variants]


def _row(task: str, variant: str, options: argparse.Namespace) -> dict:
    results = [_learn(_experiment(task, variant, seed, options)) for seed in range(1, options.seeds + 1)]
    row = {"task": task, "variant": variant} | {name: results[0][name] for name in ("parameters", "steps", "pairs")}
    row |= {name: summary(each[name] for each in results) for name in ("heldout", "seconds")}
    row["harder"] = None if results[0]["harder"] is None else summary(each["harder"] for each in results)
    note(f"{task:<16} {NAMES[variant]:<20} {show_summary(row['heldout'], percent)} {show_summary(row['harder'] or {}, percent)}")
    return row


def _experiment(task: str, variant: str, seed: int, options: argparse.Namespace) -> Experiment:
    """Settings as the page has them when the task is chosen, then those of the variant. A preset of the task's own keeps its steps."""
    if variant == OWN_PRESET.get(task):
        base, knobs = preset(variant), {}
    else:
        base, knobs = Experiment(), {"steps": TASK_STEPS.get(task, default("steps"))} | VARIANTS[variant]
    return base.with_(task=task, seed=seed, data_seed=seed, **knobs | dict(options.set))


def _learn(experiment: Experiment) -> dict:
    """One training, judged at its end."""
    with cores(min(experiment.training.threads, machine_cores())) as parallel_map:
        corpus = build_corpus(experiment.data)
        training = Training(experiment, corpus, machine_devices()[0])
        training.parallel_map, started = parallel_map, time.perf_counter()
        for _ in training.steps():
            pass
        return {
            "seconds": time.perf_counter() - started,
            "heldout": training.validate().exact_match,
            "harder": training.validate("harder").exact_match if corpus.harder else None,
            "steps": training.step,
            "parameters": sum(parameter.numel() for parameter in training.model.parameters()),
            "pairs": {"heldout": len(corpus.heldout), "harder": len(corpus.harder)},
        }


def table(result: dict) -> str:
    return tabulate(result["rows"], {
        "task": lambda row: row["task"],
        "model": lambda row: NAMES[row["variant"]],
        "new sentences": lambda row: show_summary(row["heldout"], percent),
        "harder kind": lambda row: show_summary(row["harder"] or {}, percent),
        "steps": lambda row: whole(row["steps"]),
        "seconds": lambda row: show_summary(row["seconds"], seconds),
        "parameters": lambda row: whole(row["parameters"]),
    })  # fmt: skip


def _page(result: dict) -> str:
    """The table as it is kept: settings, machine and versions above it."""
    knobs = Experiment().flat()
    names = (
        "d_model", "n_heads", "d_ff", "positions", "norm", "dropout", "train_size", "batch_size", "optimiser", "schedule", "learning_rate",
        "warmup",
    )  # fmt: skip
    settings = ", ".join(f"{name} {knobs[name]}" for name in names)
    return f"""# What is learnt of every task

Made by `python -m benchmarks tasks`. Exact match: the share of sentences that greedy decoding gets wholly right, on sentences never trained
on and on the harder kind that the task keeps apart. Median (lowest to highest) of {result["seeds"]} seeds, each for training and data.
Seconds are those of all training steps, without validation.

Default settings: {settings}. The rows with 1+1 layers differ in that and in what they name; beer has the preset of the paper's own size.

Machine: {one_line(machine() | {"load_before": None})}

{table(result)}
"""
