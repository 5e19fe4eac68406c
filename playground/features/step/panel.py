"""The Step tab: one training step in slow motion, from the batch to the optimiser's update."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from playground.cursor import choices
from playground.features.shared import blocks, panels
from playground.features.shared.view import View
from playground.features.step import batch, gradient, sublayer
from playground.features.step.batch import build_arithmetic, build_sheet, format_4g, lay_out_sides
from playground.features.step.gradient import choose_parameter, draw_matrix, find_index, offer_parameters, offer_sublayers, orient
from playground.features.step.query import TakenStep, entry, singular_values, training_step
from playground.features.step.rows_query import BatchRows, batch_rows
from playground.inspection.update import explain_update
from playground.knobs import shown_value
from playground.training.slow_step import slow_step
from playground.words import paragraph
from playground.words.amounts import percentage


@panels.declare("step", "train", 2, panels.FORMULA)
def panel(view: View) -> dict:
    step = training_step(view.reader, view.runs, view.run, view.step)
    rows, moment = batch_rows(step.slow), view.choice("moment")
    options = [{"value": name, "label": f"{at} {view.say(f'step.moment_{name}')}"} for at, name in enumerate(choices("moment"), 1)]
    choice = blocks.choice("moment", "moment", view.say("step.moment"), options, moment)
    about = [_write_head(view, step, rows), view.say(f"step.about_{moment}"), _describe_origin(view, step)]
    return {
        "step": step.start.step,
        "recorded": True,
        "blocks": [
            blocks.row("moments", choice, _build_next(view, moment), css="controls"),
            blocks.text("moment-about", paragraph(about), css="pg-caption"),
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
    if not step.start.exact:
        sentences.append(view.say("step.fresh", **values))
    if not step.start.exact and step.start.step in view.run.replay.parameters_by_step:
        sentences.append(view.say("step.rounded"))
    if step.start.step != view.step and view.step is not None:
        sentences.append(view.say("page.nearest_step", wanted=view.step, actual=step.start.step))
    if view.step is None and kind != "next" and step.slow.number < view.run.steps:  # the page's replay is at the end
        sentences.append(view.say("step.last_kept", end=f"{view.run.steps:,}", before=values["before"], number=f"{step.slow.number:,}"))
    return paragraph(sentences)


def build_optimiser(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    slow, name = step.slow, choose_parameter(view, step)
    values = orient(step, name, step.moved(name))
    figure, cell = draw_matrix(view, step, name, values, "update", view.say("step.title_update", name=name))
    index = find_index(step, name, cell)
    derivation = explain_update(entry(slow, view.run, name, index), name, index)
    title = view.say("step.sheet_update", name=name, row=cell[0] + 1, column=cell[1] + 1)
    sheet = build_sheet(view, rows, derivation, title, "step.own_parameter", still=view.number("grad_row") is None)
    sentences = [*_describe_rule(view, step, name), *_describe_singular_values(view, step, name)]
    return [
        offer_sublayers(view, step),
        *offer_parameters(view, step, name),
        blocks.text("rule", paragraph(sentences), css="pg-caption"),
        lay_out_sides(figure, build_arithmetic(view, "update", sheet)),
    ]


def _describe_rule(view: View, step: TakenStep, name: str) -> list[str]:
    """Describes the optimiser's update rule for this parameter, with its numbers."""
    slow, rule = step.slow, step.slow.rules[name]
    config = view.run.experiment.training
    rate = format_4g(slow.rate * slow.rest_rate[name])
    key, name_shown = "step.rule_muon" if rule == "muon" else "step.rule_adam", shown_value("optimiser", rule, view.language)
    sentences = [view.say(key, name=name_shown, rate=rate, beta1=f"{config.beta1:g}", beta2=f"{config.beta2:g}")]
    if slow.live.max_grad_norm:
        key = "step.clipped" if slow.clipped < 1 else "step.not_clipped"
        sentences.append(view.say(key, norm=format_4g(slow.grad_norm), most=f"{slow.live.max_grad_norm:g}", factor=format_4g(slow.clipped)))
    if config.weight_decay:
        sentences.append(view.say("step.decay", decay=f"{config.weight_decay:g}"))
    length, move = (float(np.linalg.norm(values)) for values in (step.before(name), step.moved(name)))
    return [*sentences, view.say("step.ratio", percent=percentage(move / length, None)) if length else view.say("step.from_zero")]


def _describe_singular_values(view: View, step: TakenStep, name: str) -> list[str]:
    """Describes Muon's effect on the singular values."""
    if step.slow.rules[name] != "muon":
        return []
    before, after = singular_values(step.slow, view.run, name)
    if not before[0]:
        return []
    ends = {"max_before": before[0], "min_before": before[-1], "max_after": after[0], "min_after": after[-1]}
    return [view.say("step.singular", **{end: format_4g(float(value)) for end, value in ends.items()})]


MOMENTS: dict[str, Callable[[View, TakenStep, BatchRows], list[dict]]] = {
    "loss": batch.build_loss,
    "logits": gradient.build_logits,
    "stream": sublayer.build_stream,
    "scores": sublayer.build_scores,
    "gradient": gradient.build_parameters,
    "optimiser": build_optimiser,
    "after": batch.build_after,
}
