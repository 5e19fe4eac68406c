"""The Step tab: one training step in slow motion, in seven moments from the loss to the same batch after the update."""

from __future__ import annotations

from collections.abc import Callable

from playground.cursor import choices
from playground.features.shared import blocks, panels
from playground.features.shared.view import View
from playground.features.step import batch, gradient, optimiser, sublayer
from playground.features.step.query import TakenStep, training_step
from playground.features.step.rows_query import BatchRows, batch_rows
from playground.features.step.sums import format_4g
from playground.training.slow_step import slow_step
from playground.words import paragraph

MOMENTS: dict[str, Callable[[View, TakenStep, BatchRows], list[dict]]] = {
    "loss": batch.build_loss,
    "logits": gradient.build_logits,
    "stream": sublayer.build_stream,
    "scores": sublayer.build_scores,
    "gradient": gradient.build_parameters,
    "optimiser": optimiser.build_optimiser,
    "after": batch.build_after,
}


@panels.declare("step", "train", 2, panels.FORMULA)
def panel(view: View) -> dict:
    step = training_step(view.reader, view.runs, view.run, view.step)
    rows, moment = batch_rows(step.slow), view.choice("moment")
    options = [{"value": name, "label": f"{at} {view.say(f'step.moment_{name}')}"} for at, name in enumerate(choices("moment"), 1)]
    choice = blocks.choice("moment", "moment", view.say("step.moment"), options, moment)
    return {
        "step": step.start.step,
        "recorded": True,
        "blocks": [
            blocks.text("head", _write_head(view, step, rows), css="pg-caption"),
            blocks.text("which", _describe_origin(view, step), css="pg-caption"),
            blocks.row("moments", choice, _build_next(view, moment), css="controls"),
            blocks.text("moment-about", view.say(f"step.about_{moment}"), css="pg-caption"),
            *MOMENTS[moment](view, step, rows),
            blocks.code("source", slow_step),
        ],
    }


def _build_next(view: View, moment: str) -> dict:
    """Builds the button to the next moment, from the last to the first."""
    names = choices("moment")
    at = (names.index(moment) + 1) % len(names)
    label = view.say("step.next" if at else "step.again", number=at + 1, moment=view.say(f"step.moment_{names[at]}"))
    return blocks.button("next", "move", label, to={"moment": names[at]})


def _write_head(view: View, step: TakenStep, rows: BatchRows) -> str:
    """Writes the step in one sentence."""
    slow = step.slow
    numbers = {"loss": format_4g(slow.loss), "after": format_4g(slow.loss_after), "pairs": rows.pairs, "rows": len(rows.tgt_out)}
    return view.say("step.head", step=f"{slow.number:,}", tokens=f"{slow.tokens:,}", **numbers)


def _describe_origin(view: View, step: TakenStep) -> str:
    """Describes the step's origin, and its differences from the run's own step."""
    values = {"before": f"{step.start.step:,}", "recorded": format_4g(step.recorded) if step.recorded is not None else ""}
    kind = "next" if step.recorded is None else "made"
    if step.start.exact and kind == "made" and step.recorded != step.slow.loss:
        kind = "close"  # trained on another machine
    sentences = [view.say(f"step.{'exact' if step.start.exact else 'fresh'}_{kind}", **values)]
    if not step.start.exact and step.start.step in view.run.replay.parameters_by_step:
        sentences.append(view.say("step.rounded"))
    if step.start.step != view.step and view.step is not None:
        sentences.append(view.say("page.nearest_step", wanted=view.step, actual=step.start.step))
    if view.step is None and kind != "next" and step.slow.number < view.run.steps:  # the page's replay is at the end
        sentences.append(view.say("step.last_kept", end=f"{view.run.steps:,}", before=values["before"], number=f"{step.slow.number:,}"))
    return paragraph(sentences)
