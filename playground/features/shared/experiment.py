"""Controlled experiments: the arms of a lab train side by side, each as an ordinary run; their exhibits so far, and the verdict."""

from typing import NamedTuple

from playground.config import Refusal, limits
from playground.features.shared import blocks, labs
from playground.features.shared.labs import build_aside, build_results, say_label
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View
from playground.lessons.controlled import NATS, REACH, SEEDS, ControlledExperiment, Result, is_complete
from playground.lessons.lab import Outcome
from playground.runs.corpora import ModelCache
from playground.runs.identity import owns
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.words import paragraph

ARMS_POLL_MS = 700  # milliseconds between polls for the arms' progress
SEED = int(limits("seed").high)
MAX_ARMS = 40  # runs in a link
MYSTERIES_OFFERED = 10  # at a time
Arms = dict[str, Run]


class ExperimentState(NamedTuple):
    """An experiment's blocks, progress, exhibits beside the question and other ones, whether an arm trains, and the outcome once all arms
    of a seed ended."""

    blocks: list[dict]
    progress: list[dict]
    aside: list[dict]
    remaining: list[dict]
    is_training: bool
    outcome: Outcome | None


def build_experiment(view: View, lab: ControlledExperiment) -> ExperimentState:
    seed_shown, seeds = view.number("toss"), _find_seeds(view, lab)
    if lab.is_mystery and seeds:
        seed_shown = max(seeds)
        seeds = {seed_shown: seeds[seed_shown]}
    runs = [run for arms in seeds.values() for run in arms.values()]
    is_training = any(run.working for run in runs)
    ended = {seed: arms for seed, arms in seeds.items() if all(map(is_complete, arms.values()))}
    outcome = lab.verdict(_measure_results(view, lab, ended)) if ended else None
    begun = [run for run in runs if len(run.history.validations) and len(run.history.steps)]
    started = {seed: arms for seed, arms in seeds.items() if all(run in begun for run in arms.values())}
    shown_exhibits = outcome.exhibits if outcome else lab.exhibits(_measure_results(view, lab, started)) if started else ()
    train_button = []
    if not seeds:
        train_button = [_build_train_button(view, lab, seed_shown, "lessons.train")]
    elif not lab.is_mystery and len(seeds) < SEEDS:
        train_button = [_build_train_button(view, lab, max(seeds) % SEED + 1, "lessons.another_seed")]
    done, steps = sum(run.step for run in runs), sum(run.steps for run in runs)
    content = [
        blocks.text("about", lab.say(view.language, "about"), css="pg-caption"),
        *_build_unended(view, lab, seeds),
        blocks.row("controls", *_build_mystery(view, lab, seed_shown), *_build_links(view, lab, seeds), *train_button, css="controls"),
    ]
    progress = [blocks.progress("progress", done, steps, view.say("lessons.training", done=done, steps=steps))] if is_training else []
    exhibits = build_results(view, lab, shown_exhibits) if shown_exhibits else (build_aside(view, lab, lab.axes(), "?"), [])
    return ExperimentState(content, progress, *exhibits, is_training, outcome)


def build_verdict(view: View, lab: ControlledExperiment, outcome: Outcome, guess: str, sure: str) -> list[dict]:
    """Builds the verdict on a guess, with the number of seeds and the strength of the evidence."""
    caveats = paragraph(list_caveats(view, lab, outcome))
    is_open = lab.leaves_open(outcome)
    return labs.build_verdict(
        view, lab.say, lab.name, outcome.answer, outcome.numbers, guess, sure, caveats, also=outcome.also, is_open=is_open
    )


def list_caveats(view: View, lab: ControlledExperiment, outcome: Outcome) -> list[str]:
    """Lists the caveats of a verdict: its number of seeds, weak evidence, and the margin to another verdict."""
    weak, seeds_key = outcome.numbers["weak"], "lessons.spread_loss" if lab.judged in NATS else "lessons.spread"
    keys = [f"lessons.weak_{weak}"] if weak else []
    keys += ["lessons.open"] if lab.expects == "" else []
    keys += [] if lab.is_mystery else [seeds_key if outcome.numbers["seeds"] > 1 else "lessons.one_seed"]
    return [*(view.say(key, **outcome.numbers) for key in keys), *([] if lab.is_mystery else [_write_margin(view, lab, outcome)])]


def _write_margin(view: View, lab: ControlledExperiment, outcome: Outcome) -> str:
    """Writes the margin to another verdict, in numbers of the table."""
    if outcome.margin is None:
        return view.say("lessons.margin_none", most=REACH)
    change, arm, number, answer = outcome.margin
    direction = view.say("lessons.margin_more" if change > 0 else "lessons.margin_less")
    in_nats, hundredths = number in NATS, round(abs(100 * change))
    counted = f"{hundredths / 100:.2f}" if in_nats else hundredths
    distance = view.say("lessons.margin_loss" if in_nats else "lessons.margin_points", count=counted, direction=direction)
    arm_label, number_label = (lab.say(view.language, f"name_{name}") for name in (arm, number))
    return view.say("lessons.margin", change=distance, arm=arm_label, number=number_label, answer=lab.say(view.language, f"guess_{answer}"))


def _find_seeds(view: View, lab: ControlledExperiment) -> dict[int, Arms]:
    """Finds the runs of this lab that the link names, by seed and arm; only seeds with all their arms."""
    arms_by_seed: dict[int, Arms] = {}
    for id in view.field("arms").split(".")[-MAX_ARMS:]:
        try:
            run = view.runs.get(id)
        except Refusal:  # deleted in the meantime
            continue
        if arm_seed := lab.recognise(run):
            run.mark_seen()  # keeps a long experiment from being stopped as unwatched
            arms_by_seed.setdefault(arm_seed[1], {})[arm_seed[0]] = run
    order = {seed: lab.arms_of(seed) for seed in sorted(arms_by_seed)}
    return {seed: {arm: arms_by_seed[seed][arm] for arm in arms} for seed, arms in order.items() if len(arms_by_seed[seed]) == len(arms)}


def _measure_results(view: View, lab: ControlledExperiment, seeds: dict[int, Arms]) -> list[list[Result]]:
    """Returns a list for each arm, with all seeds."""
    arms = next(iter(seeds.values()))
    return [[measure_result(view.runs, view.open_reader, lab, arm, seed, runs[arm]) for seed, runs in seeds.items()] for arm in arms]


def measure_result(runs: Runs, reader: Reader, lab: ControlledExperiment, arm: str, seed: int, run: Run) -> Result:
    """Returns the result of one arm, with all the lab's measures if the run has ended."""
    if run.status != "done" or not lab.more:
        return lab.result(arm, seed, run)
    measured = reader.remember(run, ("ablation", lab.name, run.step), lambda: lab.measured(run, runs.corpora, ModelCache()))
    return lab.result(arm, seed, run, measured)


def find_guess(view: View, lab: ControlledExperiment) -> dict[str, str]:
    """Returns the guess with which the visitor trained the arms, as fields of the cursor: it holds whatever the page says later. A mystery
    is guessed afterwards."""
    runs = [run for arms in _find_seeds(view, lab).values() for run in arms.values() if owns(run.owner, view.token)]
    guesses = [run.guess for run in runs if run.guess and not lab.is_mystery]
    return dict(zip(labs.FIELDS["lab"], guesses[0].partition("~")[::2], strict=True)) if guesses else {}


def _build_train_button(view: View, lab: ControlledExperiment, seed: int, key: str) -> dict:
    label = view.say(key, count=len(lab.arms_of(seed)), seed=seed)
    guess = {name: value for name in labs.FIELDS["lab"] if (value := view.read_raw(name))}
    return blocks.button("train", "command", label, command="experiment", values={"lab": lab.name, "seed": seed} | guess)


def _build_mystery(view: View, lab: ControlledExperiment, seed: int) -> list[dict]:
    """Builds the choice among ten mysteries, this one included."""
    if not lab.is_mystery:
        return []
    first = (seed - 1) // MYSTERIES_OFFERED * MYSTERIES_OFFERED + 1
    options = [{"value": str(number), "label": str(number)} for number in range(first, min(first + MYSTERIES_OFFERED, SEED + 1))]
    return [blocks.choice("number", "toss", view.say("lessons.number"), options, str(seed), {"arms": "", "guess": "", "sure": ""})]


def _build_unended(view: View, lab: ControlledExperiment, seeds: dict[int, Arms]) -> list[dict]:
    """Lists the arms without which seeds have no verdict: not trained to the end, or not with their initial settings."""
    lines = [
        view.say(
            "lessons.touched" if run.status == "done" else "lessons.unended",
            arm=say_label(view, lab, arm),
            seed=seed,
            status=view.say(f"runs.status_{run.status}"),
            step=run.step,
            steps=run.steps,
            why=run.message.say(view.language) if run.message else "",
        ).rstrip()
        for seed, arms in seeds.items()
        for arm, run in arms.items()
        if not run.working and not is_complete(run)
    ]
    return [blocks.text("unended", paragraph([view.say("lessons.no_verdict"), *lines]), css="pg-cell")] if lines else []


def _build_links(view: View, lab: ControlledExperiment, seeds: dict[int, Arms]) -> list[dict]:
    """Builds links to every arm of the newest seed, and to their comparison."""
    if not seeds:
        return []
    newest = seeds[max(seeds)]
    comparison = {"tab": "runs", "runs": ",".join(run.id for run in newest.values())}
    arms = [
        blocks.button(f"look-{arm}", "move", view.say("lessons.look", arm=say_label(view, lab, arm)), to={"run": run.id, "tab": "training"})
        for arm, run in newest.items()
    ]
    return [*arms, blocks.button("compare", "move", view.say("compare.arms"), to=comparison)]
