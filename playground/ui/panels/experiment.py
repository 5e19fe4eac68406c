"""Experiments: the arms of a bench train side by side, each a run like any other; what they show so far, and what they say at the end."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import Refusal, limits
from playground.lessons.bench import SEEDS, Bench, Result
from playground.lessons.lab import Outcome
from playground.runs.models import Models
from playground.runs.run import Run
from playground.ui import blocks
from playground.ui.panels.exhibits import exhibits, label
from playground.ui.panels.guessing import verdict
from playground.ui.view import View

PAUSE = 700  # milliseconds before a page asks again how far the arms are
SEED = int(limits("seed").high)
SHOWN = 40  # runs that an address may name


def blocks_of(view: View, bench: Bench, guess: str, sure: str) -> tuple[list[dict], bool]:
    """What is to be seen below a guess, and whether there will be more."""
    seed = view.whole("toss", 1, 1, SEED)
    seeds = _seeds(view, bench, seed)
    first = blocks.text("about", bench.say(view.language, "about"), css="pg-caption")
    if not seeds:
        number = [blocks.text("number", view.say("lessons.number", number=seed), css="pg-heading")] if bench.alone else []
        return [
            *number,
            first,
            blocks.row("controls", _train(view, bench, seed, "lessons.train"), *_others(view, bench, seed), css="controls"),
        ], False
    results = [[_result(view, bench, arm, seed, runs[arm]) for seed, runs in seeds.items()] for arm in bench.arms_of(min(seeds))]
    done = all(result.done for found in results for result in found)
    shown = bench.verdict(results) if all(result.curve["step"] and "train" in result.numbers for row in results for result in row) else None
    said = []
    if done and shown:
        said = verdict(view, bench.say, bench.name, shown.answer, shown.numbers, guess, sure, _spread(view, bench, shown))
    page = [
        *said,
        first,
        *([] if done else [_progress(view, results)]),
        blocks.row(
            "controls",
            *_looks(view, bench, results),
            *(_again(view, bench, seeds) if done else ()),
            *_others(view, bench, seed),
            css="controls",
        ),
        *([blocks.row("exhibits", *exhibits(view, bench, shown), css="grids")] if shown else []),
    ]
    return page, not done


def _seeds(view: View, bench: Bench, seed: int) -> dict[int, dict[str, Run]]:
    """The runs that the address names, by seed and arm; only seeds with all their arms, and no run of anything else."""
    found: dict[int, dict[str, Run]] = {}
    for id in view.parameters.get("arms", "").split(".")[:SHOWN]:
        try:
            run = view.runs.get(id)
        except Refusal:  # deleted since
            continue
        place = bench.recognise(run)
        if place and (not bench.alone or place[1] == seed):
            found.setdefault(place[1], {})[place[0]] = run
    return {seed: runs for seed, runs in sorted(found.items()) if len(runs) == len(bench.arms_of(seed))}


def _result(view: View, bench: Bench, arm: str, seed: int, run: Run) -> Result:
    if run.working or not run.snapshot or not bench.more:
        return bench.result(arm, seed, run)
    measured = view.reader.remember(run, ("bench", bench.name, run.step), lambda: bench.measured(run, view.runs.corpora, Models()))
    return bench.result(arm, seed, run, measured)


def _train(view: View, bench: Bench, seed: int, key: str) -> dict:
    said = view.say(key, count=len(bench.arms_of(seed)), seed=seed)
    return blocks.button("train", "command", said, command="experiment", values={"lab": bench.name, "seed": seed})


def _again(view: View, bench: Bench, seeds: dict[int, dict[str, Run]]) -> list[dict]:
    return [_train(view, bench, max(seeds) + 1, "lessons.another_seed")] if len(seeds) < SEEDS and not bench.alone else []


def _others(view: View, bench: Bench, seed: int) -> list[dict]:
    """A way on to the next mystery."""
    to = {"toss": seed % SEED + 1, "arms": "", "guess": "", "sure": ""}
    return [blocks.button("other", "move", view.say("lessons.other", number=to["toss"]), to=to)] if bench.alone else []


def _progress(view: View, results: Sequence[Sequence[Result]]) -> dict:
    runs = [result.run for found in results for result in found]
    done, steps = sum(run.step for run in runs), sum(run.steps for run in runs)
    return blocks.progress("progress", done, steps, view.say("lessons.training", done=done, steps=steps))


def _looks(view: View, bench: Bench, results: Sequence[Sequence[Result]]) -> list[dict]:
    """A way into every arm of the newest seed."""
    newest = [found[-1] for found in results]
    names = [view.say("lessons.look", arm=label(view, bench, result.arm)) for result in newest]
    return [
        blocks.button(f"look-{result.arm}", "move", name, to={"run": result.run.id, "tab": "learn"})
        for result, name in zip(newest, names, strict=True)
    ]


def _spread(view: View, bench: Bench, shown: Outcome) -> str:
    if bench.alone:
        return ""
    return view.say("lessons.spread" if shown.numbers["seeds"] > 1 else "lessons.one_seed", **shown.numbers)
