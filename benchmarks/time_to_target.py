"""From Train to a model that is right: the training alone, in the background with its replay, and with the page open and watched."""

from __future__ import annotations

import argparse
import random
from contextlib import ExitStack

from benchmarks.modes import MODES, SETTLE, Bench
from benchmarks.suite import note, some_of
from benchmarks.tables import markdown, percent, ratio, seconds, shown, summary, whole
from playground.config import PRESETS, limits, preset

ABOUT = "seconds from Train to 99 % of new reversals right, and to 95 % of German-English: alone, with replay, with the page watched"
TARGETS = {"reverse": 0.99, "german_english": 0.95}
SMOKE = {
    "tasks": ["reverse"],
    "presets": ["default"],
    "modes": ["headless", "replay"],
    "seeds": 1,
    "target": 0.0,
    "settle": 0.3,
    "cold": True,
    "set": [("d_model", 16), ("d_ff", 32), ("train_size", 200), ("validation_size", 20), ("steps", 6), ("eval_every", 3), ("threads", 1)],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=some_of(TARGETS), default=list(TARGETS), metavar="A,B", help=", ".join(TARGETS))
    parser.add_argument("--presets", type=some_of(PRESETS), default=["default", "fast"], metavar="A,B", help=", ".join(PRESETS))
    parser.add_argument("--modes", type=some_of(MODES), default=list(MODES), metavar="A,B", help=", ".join(MODES))
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first-seed", type=int, help="repeats an earlier benchmark; otherwise drawn, so that no tuning has seen them")
    parser.add_argument("--target", type=float, help="another share of right sentences for every task")
    parser.add_argument("--cold", action="store_true", help="without warming up")
    parser.add_argument("--settle", type=float, default=SETTLE, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> dict:
    """{"first_seed", "targets", "rows": [...], "ratios": [...], "trainings": [...], "chromium"}.

    A row is one task, preset and mode, each value a summary over the seeds: "seconds" from Train to the validation that reached the target
    (sentences, model, steps and validations included), "shown" the same as the page shows it from the click on (mode "page" only), "steps",
    "reached" how many did, and "others" the exact match on pairs that had no part in stopping (mode "headless" only: the other modes train
    the same experiments to the same step). A ratio divides seconds seed by seed. Modes, presets and tasks alternate within a seed.
    """
    first = options.first_seed if options.first_seed is not None else random.SystemRandom().randrange(1000, 900_000)
    targets = {task: TARGETS[task] if options.target is None else options.target for task in options.tasks}
    trainings = []
    with ExitStack() as stack:
        bench = Bench(stack, options.modes, options.settle)
        if not options.cold:
            bench.warm_up(dict(options.set))
        for seed in range(first, first + options.seeds):
            for task, target in targets.items():
                for name in options.presets:
                    knobs = {"task": task, "seed": seed, "data_seed": (seed + 500_000) % limits("data_seed").high} | dict(options.set)
                    experiment = preset(name).with_(**knobs)
                    for mode in options.modes:
                        found = {"task": task, "preset": name, "mode": mode, "seed": seed} | bench.train(mode, experiment, target)
                        note("{task:<16} {preset:<8} {mode:<9} {seconds:6.2f} s, step {step}, {exact_match:.1%} right".format(**found))
                        trainings.append(found)
    return {
        "first_seed": first,
        "targets": targets,
        "rows": _rows(trainings),
        "ratios": _ratios(trainings),
        "trainings": trainings,
        "chromium": bench.chromium,
    }


def _rows(trainings: list[dict]) -> list[dict]:
    groups: dict[tuple, list[dict]] = {}
    for found in trainings:
        groups.setdefault((found["task"], found["preset"], found["mode"]), []).append(found)
    return [
        {
            "task": task,
            "preset": name,
            "mode": mode,
            "seconds": summary(_seconds(one) for one in group),
            "shown": summary(one.get("shown") for one in group) if mode == "page" else None,
            "steps": summary(one["step"] for one in group),
            "reached": sum(one["reached"] for one in group),
            "of": len(group),
            "others": summary(one["others"] for one in group) if mode == "headless" else None,
        }
        for (task, name, mode), group in groups.items()
    ]


def _seconds(found: dict) -> float | None:
    """None when the target was not reached."""
    return found["seconds"] if found["reached"] else None


def _ratios(trainings: list[dict]) -> list[dict]:
    """Seconds of one against seconds of another, on the same seeds, where both reached the target."""
    times = {(t["task"], t["preset"], t["mode"], t["seed"]): _seconds(t) for t in trainings}
    tasks, presets, modes, seeds = ({key[at]: None for key in times} for at in range(4))
    against = (("replay", "headless"), ("page", "headless"), ("page", "replay"))
    asked = [(task, (p, a), (p, b)) for task in tasks for p in presets for a, b in against]
    asked += [(task, (p, m), ("default", m)) for task in tasks for p in presets for m in modes if p != "default"]
    found = []
    for task, one, other in asked:
        pairs = [(times.get((task, *one, seed)), times.get((task, *other, seed))) for seed in seeds]
        values = [a / b for a, b in pairs if a and b]
        if values:
            found.append({"task": task, "of": " ".join(one), "to": " ".join(other), "ratio": summary(values)})
    return found


def table(result: dict) -> str:
    head = ("task", "preset", "how", "seconds to target", "seen on the page", "steps", "reached", "other pairs right")
    rows = (
        (
            f"{row['task']} to {result['targets'][row['task']]:.0%}",
            row["preset"],
            MODES[row["mode"]],
            shown(row["seconds"], seconds),
            shown(row["shown"] or {}, seconds),
            shown(row["steps"], whole),
            f"{row['reached']}/{row['of']}",
            shown(row["others"] or {}, percent),
        )
        for row in result["rows"]
    )
    ratios = ((row["task"], row["of"], row["to"], shown(row["ratio"], ratio)) for row in result["ratios"])
    again = f"Fresh seeds from {result['first_seed']} on; --first-seed {result['first_seed']} repeats them."
    return f"{markdown(head, rows)}\n\n{again}\n\n{markdown(('task', 'seconds of', 'against', 'ratio'), ratios)}"
