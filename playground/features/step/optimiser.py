"""The optimiser of a training step: each number's update, and its derivation."""

from __future__ import annotations

import numpy as np

from playground.features.shared import blocks
from playground.features.shared.view import View
from playground.features.step.gradient import choose_parameter, draw_matrix, find_index, offer_parameters, offer_sublayers, orient
from playground.features.step.query import TakenStep, entry, singular_values
from playground.features.step.rows_query import BatchRows
from playground.features.step.sums import build_sheet, format_4g
from playground.inspection.update import explain_update
from playground.words import paragraph
from playground.words.amounts import percentage


def build_optimiser(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    slow, name = step.slow, choose_parameter(view, step)
    values = orient(step, name, step.moved(name))
    figure, cell = draw_matrix(view, step, name, values, "update", view.say("step.title_update", name=name))
    index = find_index(step, name, cell)
    derivation = explain_update(entry(slow, view.run, name, index), name, index)
    title = view.say("step.sheet_update", name=name, row=cell[0] + 1, column=cell[1] + 1)
    arithmetic = [
        blocks.text("invite", view.say("step.invite_update"), "pg-caption"),
        build_sheet(view, rows, derivation, title, "step.own_parameter", still=view.number("grad_row") is None),
    ]
    sentences = [*_describe_rule(view, step, name), *_describe_singular_values(view, step, name)]
    return [
        offer_sublayers(view, step),
        *offer_parameters(view, step, name),
        blocks.text("rule", paragraph(sentences), css="pg-caption"),
        blocks.row("sides", blocks.column("picture", *figure), blocks.column("arithmetic", *arithmetic), css="large-small"),
    ]


def _describe_rule(view: View, step: TakenStep, name: str) -> list[str]:
    """Describes the optimiser's update rule for this parameter, with its numbers."""
    slow, rule = step.slow, step.slow.rules[name]
    config = view.run.experiment.training
    rate = format_4g(slow.rate * slow.rest_rate[name])
    sentences = [view.say(f"step.rule_{rule}", rate=rate, beta1=f"{config.beta1:g}", beta2=f"{config.beta2:g}")]
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
