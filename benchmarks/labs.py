"""Every experiment of the labs as the page runs it: all arms side by side on this machine's cores, up to the verdict."""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.suite import Missing, note, some_of
from benchmarks.tables import markdown, seconds, shown, summary, whole
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.labs import LABS
from playground.runs.model_cache import ModelCache
from playground.runs.queue.warmup import warm_up
from playground.runs.registry import Runs

ABOUT = "every experiment of the labs, its models trained side by side: seconds to the verdict, and whether the seeds agree"
BENCHES = [name for name, lab in LABS.items() if isinstance(lab, ControlledExperiment)]
TINY = [("d_model", 8), ("d_ff", 8), ("n_heads", 2), ("steps", 2), ("batch_size", 4), ("validation_size", 10), ("eval_every", 1)]
SMOKE = {"labs": ["skip", "bug_source"], "seeds": 2, "set": TINY}
LOOK = 0.02  # seconds between two looks


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labs", type=some_of(BENCHES), default=BENCHES, metavar="A,B")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 1 to this")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"lab", "arms", "seconds": summary over the seeds, "answers": of each seed, "overall": the answer over all of them, but
    of a mystery, "numbers": of that verdict}]}.

    Raises Missing when an arm came to no end.
    """
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder), shipped=None)
        try:
            return {"rows": [_row(runs, LABS[name], options) for name in options.labs]}
        finally:
            runs.close()


def _row(runs: Runs, bench: ControlledExperiment, options: argparse.Namespace) -> dict:
    bench = replace(bench, base={**bench.base, **dict(options.set)})
    found = [_train(runs, bench, seed) for seed in range(1, options.seeds + 1)]
    answers = [bench.verdict([[result] for result in results]).answer for _, results in found]
    over_all = bench.verdict([list(results) for results in zip(*(results for _, results in found), strict=True)])
    took = summary(time for time, _ in found)
    overall = "" if bench.is_mystery else over_all.answer
    note(f"{bench.name:<20} {shown(took, seconds)} s   {', '.join(answers)}; overall: {overall or '–'}")
    numbers = dict(over_all.numbers)
    return {"lab": bench.name, "arms": len(found[0][1]), "seconds": took, "answers": answers, "overall": overall, "numbers": numbers}


def _train(runs: Runs, bench: ControlledExperiment, seed: int) -> tuple[float, list]:
    """(seconds, a result for each arm)."""
    arms, started = bench.arms_of(seed), time.perf_counter()
    made = runs.create_all([bench.experiment(arm, seed) for arm in arms], "benchmark", list(arms))
    while any(one.unfinished for one in made):
        time.sleep(LOOK)
    if any(one.snapshot is None for one in made):
        raise Missing(f"{bench.name}: an arm came to no end")
    results = [bench.result(arm, seed, one, bench.measured(one, runs.corpora, ModelCache())) for arm, one in zip(arms, made, strict=True)]
    return time.perf_counter() - started, results


def table(result: dict) -> str:
    head = ("lab", "models", "seconds", "answers", "alike", "overall")
    rows = (
        (
            row["lab"],
            whole(row["arms"]),
            shown(row["seconds"], seconds),
            ", ".join(dict.fromkeys(row["answers"])),
            "yes" if len(set(row["answers"])) == 1 else "no",
            row["overall"] or "–",
        )
        for row in result["rows"]
    )
    return markdown(head, rows)
