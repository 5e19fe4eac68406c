"""A stop of the tour: what happens at it, its formula, and the number that is to be read off the open stage."""

from __future__ import annotations

import math

from playground.inspection.formulas import divisor, formula
from playground.lessons.tour import STOPS, find_reading
from playground.lessons.tour_notes import list_notes
from playground.model.attention import head_widths
from playground.queries.activations import SentenceActivations
from playground.ui import blocks
from playground.ui.panels.map.stage import columns_of, rows_of
from playground.ui.view import View
from playground.words import paragraph
from playground.words.amounts import percentage

OWN_FORMULA = {"projections", "sublayer", "cross", "loop"}  # those of which the open stage is only a part
# Variants of a stop that have the formula of another: where the norm stands before there is none in the sum either, and what the memory
# is made of the words say.
SAME_FORMULA = {"sublayer_none": "sublayer_pre", "sublayer_alone_none": "sublayer_alone_pre", "cross_mean": "cross", "cross_cut": "cross"}
OWN_QUESTION = {"positions_rotary", "positions_none"}  # where another number is asked for than in the paper's model
WORDS = ("label", "check", "previous", "next", "skip", "end", "keys", "sign", "no_number", "nearly")


def block(view: View, found: SentenceActivations, stop: str, head: int) -> dict:
    """The stop as a block; `head` counts from 0."""
    names, config = tuple(STOPS), view.run.experiment.model
    at, asked = names.index(stop), find_reading(found.stages, config, stop, head)
    stage = found.stages[asked.address]
    rows, columns = rows_of(view, found, stage)[0], columns_of(view, found, stage)[0]
    variant = f"{stop}_{asked.variant}".removesuffix("_")
    column = asked.cell[-1] if asked.cell else 0
    place = {"row": rows[asked.row], "number": asked.row + 1, "column": columns[column], "at": column + 1}
    where = stop if asked.is_whole else "cell" if stage.axes[-1] in "STV" else "dimension"

    def other(name: str, index: int) -> str:
        """What to say to whoever looked at another row or column, or counted what is hatched."""
        names = {"row": rows, "column": columns}.get(name)
        return view.say(f"tour.slip_{name}", number=index + 1, name=names[index] if names else "")

    return blocks.tour(
        "tour",
        stop=stop,
        place=view.say("tour.place", number=at + 1, count=len(names)),
        title=view.say(f"tour.title_{stop}"),
        text=_text(view, stop, variant, head),
        formula=_formula(view, found, asked.address, SAME_FORMULA.get(variant, variant) if stop in OWN_FORMULA else ""),
        ask=view.say(f"tour.ask_{variant if variant in OWN_QUESTION else stop}", **place),
        answer=asked.value if math.isfinite(asked.value) else None,
        tolerance=asked.tolerance if math.isfinite(asked.value) else 0.0,
        right=view.say("tour.right", value=f"{asked.value:.0f}" if asked.is_whole else f"{asked.value:.4f}"),
        where=view.say(f"tour.where_{where}", **place),
        mistakes=[{"value": value, "text": other(name, index)} for value, name, index in asked.mistaken],
        previous=names[at - 1] if at else "",
        next=names[at + 1] if at + 1 < len(names) else "",
        words={name: view.say(f"tour.{name}") for name in WORDS} | {"not_finite": view.say("tour.not_finite")},
    )


def _text(view: View, stop: str, variant: str, head: int) -> str:
    """What happens at the stop, and in what this model differs from what its formula would be taken for."""
    config = view.run.experiment.model
    values = {"head": head + 1, "heads": config.n_heads, "width": config.d_model, "layers": config.encoder_layers}
    scale = divisor(config) if config.attention_scale else ""
    d_k, d_v = head_widths(config)
    of_notes = {"d_k": d_k, "d_v": d_v, "percent": percentage(config.dropout, None)}
    said = [view.say(f"tour.note_{name}", **of_notes) for name in list_notes(config, stop)]
    return paragraph([view.say(f"tour.text_{variant}", scale=scale, d_k=d_k, **values), *said])


def _formula(view: View, found: SentenceActivations, address: str, own: str) -> str:
    """The formula of a stage, or a stop's `own`."""
    config = view.run.experiment.model
    if not own:
        key, values = formula(config, found.stages[address])
        return view.say(key, **values)
    bias = {letter: f" + b_{letter}" if config.bias else "" for letter in "QKVO"}
    return view.say(f"tour.formula_{own}", **bias, scale=f" / {divisor(config)}" if config.attention_scale else "")
