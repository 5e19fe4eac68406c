"""One training step in slow motion, in seven moments: loss, gradient of the logits, of the residual stream, of the attention scores and of
the parameters, optimiser, and the same batch afterwards."""

from __future__ import annotations

from collections.abc import Callable

from playground.cursor import choices
from playground.queries.training_rows import BatchRows, batch_rows
from playground.queries.training_step import TakenStep, training_step
from playground.training.slow_step import slow_step
from playground.ui import blocks
from playground.ui.panels.step import batch, gradient, optimiser, sublayer
from playground.ui.panels.step.sums import short
from playground.ui.view import View
from playground.words import paragraph

MOMENTS: dict[str, Callable[[View, TakenStep, BatchRows], list[dict]]] = {
    "loss": batch.loss,
    "logits": gradient.logits,
    "stream": sublayer.stream,
    "scores": sublayer.scores,
    "gradient": gradient.parameters,
    "optimiser": optimiser.optimiser,
    "after": batch.after,
}


def panel(view: View) -> dict:
    taken = training_step(view.reader, view.runs, view.run, view.step)
    rows, moment = batch_rows(taken.slow), view.choice("moment")
    options = [{"value": name, "label": f"{at} {view.say(f'step.moment_{name}')}"} for at, name in enumerate(choices("moment"), 1)]
    return {
        "step": taken.start.step,
        "recorded": True,
        "blocks": [
            blocks.text("head", _head(view, taken, rows), css="pg-caption"),
            blocks.text("which", _which(view, taken), css="pg-caption"),
            blocks.row(
                "moments", blocks.choice("moment", "moment", view.say("step.moment"), options, moment), _next(view, moment), css="controls"
            ),
            blocks.text("moment-about", view.say(f"step.about_{moment}"), css="pg-caption"),
            *MOMENTS[moment](view, taken, rows),
            blocks.code("source", slow_step),
        ],
    }


def _next(view: View, moment: str) -> dict:
    """On to the moment after this one, and from the last to the first."""
    names = choices("moment")
    at = (names.index(moment) + 1) % len(names)
    label = view.say("step.next" if at else "step.again", number=at + 1, moment=view.say(f"step.moment_{names[at]}"))
    return blocks.button("next", "move", label, to={"moment": names[at]})


def _head(view: View, taken: TakenStep, rows: BatchRows) -> str:
    """The step in one sentence."""
    slow = taken.slow
    numbers = {"loss": short(slow.loss), "after": short(slow.loss_after), "pairs": rows.pairs, "rows": len(rows.tgt_out)}
    return view.say("step.head", step=f"{slow.number:,}", tokens=f"{slow.tokens:,}", **numbers)


def _which(view: View, taken: TakenStep) -> str:
    """Whose step it is, and what of it is not the run's own."""
    values = {"before": f"{taken.start.step:,}", "recorded": short(taken.recorded) if taken.recorded is not None else ""}
    kind = "next" if taken.recorded is None else "made"
    if taken.start.exact and kind == "made" and taken.recorded != taken.slow.loss:
        kind = "close"  # it was trained on another machine
    said = [view.say(f"step.{'exact' if taken.start.exact else 'fresh'}_{kind}", **values)]
    if not taken.start.exact and taken.start.step in view.run.replay.parameters_by_step:
        said.append(view.say("step.rounded"))
    if taken.start.step != view.step and view.step is not None:
        said.append(view.say("page.nearest_step", wanted=view.step, actual=taken.start.step))
    if view.step is None and kind != "next" and taken.slow.number < view.run.steps:  # the replay beside it stands at the end
        said.append(view.say("step.last_kept", end=f"{view.run.steps:,}", before=values["before"], number=f"{taken.slow.number:,}"))
    return paragraph(said)
