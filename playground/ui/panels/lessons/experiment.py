"""Experiments: the arms of a lab train side by side, each a run like any other; what they show so far, and what they say at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from playground.config import Refusal, limits
from playground.lessons.controlled import NATS, REACH, SEEDS, ControlledExperiment, Result, is_complete
from playground.lessons.lab import Outcome
from playground.queries.reader import Reader
from playground.runs.model_cache import ModelCache
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui import blocks
from playground.ui.panels.lessons import guessing
from playground.ui.panels.lessons.exhibits import exhibits, label
from playground.ui.view import View
from playground.words import paragraph

POLL_MS = 700  # milliseconds before a page asks again how far the arms are
SEED = int(limits("seed").high)
MAX_ARMS = 40  # runs that an address may name
MYSTERIES_OFFERED = 10  # of mysteries to choose from at a time
Arms = dict[str, Run]


class ExperimentState(NamedTuple):
    """What is to be seen of an experiment: its blocks, whether an arm still trains, whether there is something to look at, and what came
    out, once one seed went to the end with all its arms."""

    blocks: list[dict]
    works: bool
    visible: bool
    outcome: Outcome | None


def show(view: View, lab: ControlledExperiment) -> ExperimentState:
    asked, seeds = view.number("toss"), _seeds(view, lab)
    if lab.is_mystery and seeds:
        asked = max(seeds)
        seeds = {asked: seeds[asked]}
    runs = [run for arms in seeds.values() for run in arms.values()]
    works = any(run.working for run in runs)
    ended = {seed: arms for seed, arms in seeds.items() if all(map(is_complete, arms.values()))}
    outcome = lab.verdict(_results(view, lab, ended)) if ended else None
    begun = {seed: arms for seed, arms in seeds.items() if all(_begun(run) for run in arms.values())}
    found = outcome.exhibits if outcome else lab.exhibits(_results(view, lab, begun)) if begun else ()
    train = []
    if not seeds:
        train = [_train(view, lab, asked, "lessons.train")]
    elif not works and not lab.is_mystery and len(seeds) < SEEDS:
        train = [_train(view, lab, max(seeds) % SEED + 1, "lessons.another_seed")]
    shown = [
        blocks.text("about", lab.say(view.language, "about"), css="pg-caption"),
        *([_progress(view, runs)] if works else []),
        *_unended(view, lab, seeds),
        blocks.row("controls", *_numbers(view, lab, asked), *_looks(view, lab, seeds), *train, css="controls"),
        *([blocks.row("exhibits", *exhibits(view, lab, found), css="grids")] if found else []),
    ]
    return ExperimentState(shown, works, bool(found), outcome)


def verdict(view: View, lab: ControlledExperiment, outcome: Outcome, guess: str, sure: str) -> list[dict]:
    """What came of a guess, over how many seeds, and whether the evidence is weak."""
    said = paragraph(reserves(view, lab, outcome))
    is_open = lab.leaves_open(outcome)
    return guessing.verdict(
        view, lab.say, lab.name, outcome.answer, outcome.numbers, guess, sure, said, also=outcome.also, is_open=is_open
    )


def reserves(view: View, lab: ControlledExperiment, outcome: Outcome) -> list[str]:
    """Over how many seeds a verdict is, why it is weak, and how near another one is."""
    weak, several = outcome.numbers["weak"], "lessons.spread_loss" if lab.judged in NATS else "lessons.spread"
    keys = [f"lessons.weak_{weak}"] if weak else []
    keys += ["lessons.open"] if lab.expects == "" else []
    keys += [] if lab.is_mystery else [several if outcome.numbers["seeds"] > 1 else "lessons.one_seed"]
    return [*(view.say(key, **outcome.numbers) for key in keys), *([] if lab.is_mystery else [_margin(view, lab, outcome)])]


def _margin(view: View, lab: ControlledExperiment, outcome: Outcome) -> str:
    """How far the verdict is from another one, in numbers that the table shows."""
    if outcome.margin is None:
        return view.say("lessons.margin_none", most=REACH)
    change, arm, number, answer = outcome.margin
    direction = view.say("lessons.margin_more" if change > 0 else "lessons.margin_less")
    in_nats, hundredths = number in NATS, round(abs(100 * change))
    counted = f"{hundredths / 100:.2f}" if in_nats else hundredths
    by = view.say("lessons.margin_loss" if in_nats else "lessons.margin_points", count=counted, direction=direction)
    arm_label, number_label = (lab.say(view.language, f"name_{name}") for name in (arm, number))
    return view.say("lessons.margin", change=by, arm=arm_label, number=number_label, answer=lab.say(view.language, f"guess_{answer}"))


def _seeds(view: View, lab: ControlledExperiment) -> dict[int, Arms]:
    """The runs that the address names, by seed and arm; only seeds with all their arms, and no run of anything else."""
    found: dict[int, Arms] = {}
    for id in view.field("arms").split(".")[-MAX_ARMS:]:
        try:
            run = view.runs.get(id)
        except Refusal:  # deleted since
            continue
        if place := lab.recognise(run):
            run.mark_seen()  # else a long experiment would be stopped because nobody looks at its arms
            found.setdefault(place[1], {})[place[0]] = run
    order = {seed: lab.arms_of(seed) for seed in sorted(found)}
    return {seed: {arm: found[seed][arm] for arm in arms} for seed, arms in order.items() if len(found[seed]) == len(arms)}


def _begun(run: Run) -> bool:
    return bool(len(run.history.validations) and len(run.history.steps))


def _results(view: View, lab: ControlledExperiment, seeds: dict[int, Arms]) -> list[list[Result]]:
    """A list for each arm, with all seeds."""
    arms = next(iter(seeds.values()))
    return [[result(view.runs, view.open_reader, lab, arm, seed, runs[arm]) for seed, runs in seeds.items()] for arm in arms]


def result(runs: Runs, reader: Reader, lab: ControlledExperiment, arm: str, seed: int, run: Run) -> Result:
    """What became of one arm, with all that the lab measures of a run that has ended."""
    if run.status != "done" or not lab.more:
        return lab.result(arm, seed, run)
    measured = reader.remember(run, ("ablation", lab.name, run.step), lambda: lab.measured(run, runs.corpora, ModelCache()))
    return lab.result(arm, seed, run, measured)


def _train(view: View, lab: ControlledExperiment, seed: int, key: str) -> dict:
    said = view.say(key, count=len(lab.arms_of(seed)), seed=seed)
    return blocks.button("train", "command", said, command="experiment", values={"lab": lab.name, "seed": seed})


def _numbers(view: View, lab: ControlledExperiment, seed: int) -> list[dict]:
    """Which mystery: this one and its neighbours, ten in all."""
    if not lab.is_mystery:
        return []
    first = (seed - 1) // MYSTERIES_OFFERED * MYSTERIES_OFFERED + 1
    options = [{"value": str(number), "label": str(number)} for number in range(first, min(first + MYSTERIES_OFFERED, SEED + 1))]
    return [blocks.choice("number", "toss", view.say("lessons.number"), options, str(seed), {"arms": "", "guess": "", "sure": ""})]


def _progress(view: View, runs: Sequence[Run]) -> dict:
    done, steps = sum(run.step for run in runs), sum(run.steps for run in runs)
    return blocks.progress("progress", done, steps, view.say("lessons.training", done=done, steps=steps))


def _unended(view: View, lab: ControlledExperiment, seeds: dict[int, Arms]) -> list[dict]:
    """Why some seeds have no verdict: which arms didn't go to the end, or not with the settings they began with."""
    lines = [
        view.say(
            "lessons.touched" if run.status == "done" else "lessons.unended",
            arm=label(view, lab, arm),
            seed=seed,
            status=view.say(f"runs.status_{run.status}"),
            step=run.step,
            steps=run.steps,
            why=run.message.say(view.language) if run.message else "",
        ).rstrip()
        for seed, arm, run in _all(seeds)
        if not run.working and not is_complete(run)
    ]
    return [blocks.text("unended", paragraph([view.say("lessons.no_verdict"), *lines]), css="pg-cell")] if lines else []


def _all(seeds: dict[int, Arms]) -> Iterable[tuple[int, str, Run]]:
    return ((seed, arm, run) for seed, arms in seeds.items() for arm, run in arms.items())


def _looks(view: View, lab: ControlledExperiment, seeds: dict[int, Arms]) -> list[dict]:
    """A way into every arm of the newest seed, and to all of them side by side."""
    if not seeds:
        return []
    newest = seeds[max(seeds)]
    together = {"tab": "runs", "runs": ",".join(run.id for run in newest.values())}
    arms = [
        blocks.button(f"look-{arm}", "move", view.say("lessons.look", arm=label(view, lab, arm)), to={"run": run.id, "tab": "training"})
        for arm, run in newest.items()
    ]
    return [*arms, blocks.button("compare", "move", view.say("compare.arms"), to=together)]
