"""What a run has come to, in a sentence that is computed when it ends, and what to try next."""

from __future__ import annotations

from playground.queries.probes import find_first_right
from playground.runs.run import FINISHED, Run
from playground.ui import blocks
from playground.ui.controls import label
from playground.ui.view import View
from playground.words import paragraph
from playground.words.amounts import duration, percentage

LEARNT = 0.5  # exact match from which a model is worth taking apart; below, it is to be trained better
BY_HEART = 3  # times the training loss: a higher validation loss is of a model that knows its training pairs and no rule
RECENT = 10  # steps, over which a training loss is taken


def outcome(view: View) -> dict:
    """The line above the curves: while the run trains the page fills it with a bar of its steps; then the sentence, and the ways on: the
    replay, the model as files, and the knob to try next."""
    if view.run.status not in FINISHED:
        return blocks.row("ended", blocks.outcome("outcome", ""), css="ended")
    knob = _knob(view)
    ways = [blocks.button("change", "knob", view.say("outcome.change", knob=label(knob, view.language)), knob=knob)] if knob else []
    if view.run.snapshot and view.run.snapshot.step and not view.run.secret:
        ways.insert(0, blocks.button("take", "take", view.say("page.take_home")))
    if len(view.run.replay.steps) > 1:
        ways.insert(0, blocks.button("play", "play", view.say("outcome.play")))
    return blocks.row("ended", blocks.outcome("outcome", _told(view)), *ways, css="ended")


def _told(view: View) -> str:
    """What was reached, after how long, and when the first sample output was wholly right."""
    run, last = view.run, view.run.history.validations.last()
    took = {"step": f"{run.step:,}", "time": duration(run.seconds, view.language)}
    if run.status in ("failed", "diverged") or last is None:
        return view.say("outcome.broken" if run.status in ("failed", "diverged") else "outcome.unmeasured", **took)
    reached = view.say("outcome.reached", percent=percentage(last["exact_match"]), **took)
    right = view.open_reader.remember(run, ("first_right", run.step, run.status), lambda: find_first_right(run))
    first = view.say("outcome.never_right") if right is None else view.say("outcome.first_right", step=f"{right:,}")
    return paragraph([reached, first, view.say("outcome.by_heart", times=BY_HEART) if _knows_by_heart(run) else ""])


def _knows_by_heart(run: Run) -> bool:
    """Whether a model that gets little right knows its training pairs all the same: more steps are of no use to it."""
    losses, last = run.history.steps.column("loss")[-RECENT:], run.history.validations.last()
    return bool(losses) and last is not None and last["exact_match"] < LEARNT and last["loss"] > BY_HEART * sum(losses) / len(losses)


def _knob(view: View) -> str:
    """The knob to try next: a gentler learning rate where training broke, more pairs where it knows those that it has by heart, positions
    where it has none, more steps where it was too short, else what the model is; "" where there are no more pairs to be had."""
    run, last = view.run, view.run.history.validations.last()
    if run.status in ("failed", "diverged"):
        return "learning_rate"
    if _knows_by_heart(run):
        return "" if run.experiment.data.task == "own" else "train_size"
    is_short = not last or last["exact_match"] < LEARNT
    return "steps" if is_short and run.experiment.model.positions != "none" else "positions"
