"""The outcome of a run: a sentence computed when it ends, and the knob to try next."""

from __future__ import annotations

from playground.queries.probes import find_first_right
from playground.runs.orders import FINISHED
from playground.runs.run import Run
from playground.ui import blocks
from playground.ui.controls import label
from playground.ui.view import View
from playground.words import paragraph
from playground.words.amounts import duration, percentage

MIN_EXACT = 0.5  # below, a model should be trained better before it is examined
OVERFIT = 3  # validation / training loss above which a model has memorised its pairs
RECENT = 10  # steps averaged for the training loss


def build_outcome(view: View) -> dict:
    """Builds the line above the curves: a progress bar in training; then the outcome, the replay, the export, and a knob to try."""
    if view.run.status not in FINISHED:
        return blocks.row("ended", blocks.outcome("outcome", ""), css="ended")
    knob = _suggest_knob(view)
    buttons = [blocks.button("change", "knob", view.say("outcome.change", knob=label(knob, view.language)), knob=knob)] if knob else []
    if view.run.snapshot and view.run.snapshot.step and not view.run.secret:
        buttons.insert(0, blocks.button("take", "take", view.say("page.take_home")))
    if len(view.run.replay.steps) > 1:
        buttons.insert(0, blocks.button("play", "play", view.say("outcome.play")))
    return blocks.row("ended", blocks.outcome("outcome", _write_outcome(view)), *buttons, css="ended")


def _write_outcome(view: View) -> str:
    """Writes the exact match reached, the time it took, and the step of the first fully right sample output."""
    run, last = view.run, view.run.history.validations.last()
    values = {"step": f"{run.step:,}", "time": duration(run.seconds, view.language)}
    if run.status in ("failed", "diverged") or last is None:
        return view.say("outcome.broken" if run.status in ("failed", "diverged") else "outcome.unmeasured", **values)
    reached = view.say("outcome.reached", percent=percentage(last["exact_match"]), **values)
    first_step = view.open_reader.remember(run, ("first_right", run.step, run.status), lambda: find_first_right(run))
    first = view.say("outcome.never_right") if first_step is None else view.say("outcome.first_right", step=f"{first_step:,}")
    return paragraph([reached, first, view.say("outcome.by_heart", times=OVERFIT) if _has_overfit(run) else ""])


def _has_overfit(run: Run) -> bool:
    """Returns whether the model overfits: little is right, and validation loss far exceeds training loss, so more steps are useless."""
    losses, last = run.history.steps.column("loss")[-RECENT:], run.history.validations.last()
    return bool(losses) and last is not None and last["exact_match"] < MIN_EXACT and last["loss"] > OVERFIT * sum(losses) / len(losses)


def _suggest_knob(view: View) -> str:
    """Suggests the knob to try next: a lower learning rate after divergence, more pairs after overfitting ("" if there are no more),
    positions for a model without them, more steps for a short run, else positions."""
    run, last = view.run, view.run.history.validations.last()
    if run.status in ("failed", "diverged"):
        return "learning_rate"
    if _has_overfit(run):
        return "" if run.experiment.data.task == "own" else "train_size"
    is_short = not last or last["exact_match"] < MIN_EXACT
    return "steps" if is_short and run.experiment.model.positions != "none" else "positions"
