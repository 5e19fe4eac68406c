"""A stop of the tour: its explanation, its formula, and the number to read off the open stage."""

from __future__ import annotations

import math

from playground.inspection.formulas import divisor, formula
from playground.lessons.tour import STOPS, find_reading, list_notes
from playground.model.attention import head_widths
from playground.queries.activations import SentenceActivations
from playground.ui import blocks
from playground.ui.panels.map.stage import name_columns, name_rows
from playground.ui.view import View
from playground.words import paragraph
from playground.words.amounts import percentage

OWN_FORMULA = {"projections", "sublayer", "cross", "loop"}  # of stops whose formula covers more than the open stage
# Variant -> the one whose formula it shares: like pre-norm, no norm has none around the sum; the text explains memory_mode.
SAME_FORMULA = {"sublayer_none": "sublayer_pre", "sublayer_alone_none": "sublayer_alone_pre", "cross_mean": "cross", "cross_cut": "cross"}
OWN_QUESTION = {"positions_rotary", "positions_none"}  # stops that ask for another number than in the paper's model
WORDS = ("label", "check", "previous", "next", "skip", "end", "keys", "sign", "no_number", "nearly")


def build_stop(view: View, forward: SentenceActivations, stop: str, head: int) -> dict:
    """Builds the stop; `head` counts from 0."""
    names, config = tuple(STOPS), view.run.experiment.model
    at, question = names.index(stop), find_reading(forward.stages, config, stop, head)
    stage = forward.stages[question.address]
    rows, columns = name_rows(view, forward, stage)[0], name_columns(view, forward, stage)[0]
    variant = f"{stop}_{question.variant}".removesuffix("_")
    column = question.cell[-1] if question.cell else 0
    place = {"row": rows[question.row], "number": question.row + 1, "column": columns[column], "at": column + 1}
    unit = stop if question.is_whole else "cell" if stage.axes[-1] in "STV" else "dimension"

    def write_slip(name: str, index: int) -> str:
        """Writes the hint for reading another row or column, or for counting the hatched cells."""
        names = {"row": rows, "column": columns}.get(name)
        return view.say(f"tour.slip_{name}", number=index + 1, name=names[index] if names else "")

    return blocks.tour(
        "tour",
        stop=stop,
        place=view.say("tour.place", number=at + 1, count=len(names)),
        title=view.say(f"tour.title_{stop}"),
        text=_write_text(view, stop, variant, head),
        formula=_write_formula(view, forward, question.address, SAME_FORMULA.get(variant, variant) if stop in OWN_FORMULA else ""),
        ask=view.say(f"tour.ask_{variant if variant in OWN_QUESTION else stop}", **place),
        answer=question.value if math.isfinite(question.value) else None,
        tolerance=question.tolerance if math.isfinite(question.value) else 0.0,
        right=view.say("tour.right", value=f"{question.value:.0f}" if question.is_whole else f"{question.value:.4f}"),
        where=view.say(f"tour.where_{unit}", **place),
        mistakes=[{"value": value, "text": write_slip(name, index)} for value, name, index in question.mistaken],
        previous=names[at - 1] if at else "",
        next=names[at + 1] if at + 1 < len(names) else "",
        words={name: view.say(f"tour.{name}") for name in WORDS} | {"not_finite": view.say("tour.not_finite")},
    )


def _write_text(view: View, stop: str, variant: str, head: int) -> str:
    """Writes the explanation of the stop, with this model's deviations from the formula."""
    config = view.run.experiment.model
    values = {"head": head + 1, "heads": config.n_heads, "width": config.d_model, "layers": config.encoder_layers}
    scale = divisor(config) if config.attention_scale else ""
    d_k, d_v = head_widths(config)
    note_values = {"d_k": d_k, "d_v": d_v, "percent": percentage(config.dropout, None)}
    sentences = [view.say(f"tour.note_{name}", **note_values) for name in list_notes(config, stop)]
    return paragraph([view.say(f"tour.text_{variant}", scale=scale, d_k=d_k, **values), *sentences])


def _write_formula(view: View, forward: SentenceActivations, address: str, key: str) -> str:
    """Writes the formula of a stage, or of a stop by its words `key`."""
    config = view.run.experiment.model
    if not key:
        words_key, values = formula(config, forward.stages[address])
        return view.say(words_key, **values)
    bias = {letter: f" + b_{letter}" if config.bias else "" for letter in "QKVO"}
    return view.say(f"tour.formula_{key}", **bias, scale=f" / {divisor(config)}" if config.attention_scale else "")
