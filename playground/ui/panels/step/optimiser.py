"""The optimiser of a training step: how each number of a parameter moves, and from what."""

from __future__ import annotations

import numpy as np

from playground.inspection.update import explain_update
from playground.queries.training_rows import BatchRows
from playground.queries.training_step import TakenStep, entry, singular_values
from playground.ui import blocks
from playground.ui.panels.step.gradient import as_in_the_paper, choose, choose_part, chosen_parameter, index_of, matrix
from playground.ui.panels.step.sums import sheet, short
from playground.ui.view import View
from playground.words import paragraph
from playground.words.amounts import percentage


def optimiser(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    slow, name = taken.slow, chosen_parameter(view, taken)
    values = as_in_the_paper(taken, name, taken.moved(name))
    figure, cell = matrix(view, taken, name, values, "update", view.say("step.title_update", name=name))
    index = index_of(taken, name, cell)
    derivation = explain_update(entry(slow, view.run, name, index), name, index)
    title = view.say("step.sheet_update", name=name, row=cell[0] + 1, column=cell[1] + 1)
    arithmetic = [
        blocks.text("invite", view.say("step.invite_update"), "pg-caption"),
        sheet(view, rows, derivation, title, "step.own_parameter", still=view.number("grad_row") is None),
    ]
    said = [*_rules(view, taken, name), *_singular(view, taken, name)]
    return [
        choose_part(view, taken),
        *choose(view, taken, name),
        blocks.text("rule", paragraph(said), css="pg-caption"),
        blocks.row("sides", blocks.column("picture", *figure), blocks.column("arithmetic", *arithmetic), css="large-small"),
    ]


def _rules(view: View, taken: TakenStep, name: str) -> list[str]:
    """What this run's optimiser does with the gradient, with its numbers."""
    slow, rule = taken.slow, taken.slow.rules[name]
    config = view.run.experiment.training
    rate = short(slow.rate * slow.rest_rate[name])
    said = [view.say(f"step.rule_{rule}", rate=rate, beta1=f"{config.beta1:g}", beta2=f"{config.beta2:g}")]
    if slow.live.max_grad_norm:
        key = "step.clipped" if slow.clipped < 1 else "step.not_clipped"
        said.append(view.say(key, norm=short(slow.grad_norm), most=f"{slow.live.max_grad_norm:g}", factor=short(slow.clipped)))
    if config.weight_decay:
        said.append(view.say("step.decay", decay=f"{config.weight_decay:g}"))
    length, step = (float(np.linalg.norm(values)) for values in (taken.before(name), taken.moved(name)))
    return [*said, view.say("step.ratio", percent=percentage(step / length, None)) if length else view.say("step.from_zero")]


def _singular(view: View, taken: TakenStep, name: str) -> list[str]:
    """Muon: what orthogonalising does to the singular values."""
    if taken.slow.rules[name] != "muon":
        return []
    before, after = singular_values(taken.slow, view.run, name)
    if not before[0]:
        return []
    ends = {"max_before": before[0], "min_before": before[-1], "max_after": after[0], "min_after": after[-1]}
    return [view.say("step.singular", **{end: short(float(value)) for end, value in ends.items()})]
