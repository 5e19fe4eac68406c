"""Positions: the encoding as a table, as waves, as similarity; that a shift is a rotation; and what this run learnt, or adds, itself."""

from __future__ import annotations

import numpy as np

from playground.cursor import choices
from playground.figures import positions as pictures
from playground.figures.clocks import clocks
from playground.inspection import positions as facts
from playground.model import positions as model
from playground.ui import blocks
from playground.ui.view import View
from playground.words import paragraph

SHOWN_POSITIONS = 64  # positions
STARTS = (2, 20)  # positions from which the hands of the clocks turn


def panel(view: View) -> dict:
    kind = view.choice("pos")
    d_model, trained = view.run.experiment.model.d_model, view.reader.longest(view.run)
    length = min(max(SHOWN_POSITIONS, trained + 16), 128)
    table = facts.sinusoids(length, d_model)
    encoding = view.run.experiment.model.encoding
    told = (encoding.added or "none") + ("_rotary" if encoding.rotary else "")
    kinds = [{"value": name, "label": view.say(f"page.pos_{name}")} for name in choices("pos")]
    extra, source = [], model.sinusoids
    if kind == "heatmap":
        shown = [
            _figure(
                view,
                "heatmap",
                view.draw(pictures.heatmap, table, trained=trained, tallest=view.below(90)),
                view.say("page.pos_heatmap_caption", length=length, dims=d_model, trained=trained),
            )
        ]
    elif kind == "waves":
        dims = [0, 1, d_model // 8 * 2, d_model // 4 * 2, d_model - 2]
        dims = sorted({min(dim, d_model - 1) for dim in dims})
        slow = 2 * np.pi * 10000 ** ((d_model - 2) / d_model)
        shown = [
            _figure(
                view,
                "waves",
                view.draw(pictures.waves, {"sinusoidal": table}, dims, trained=trained),
                view.say("page.pos_waves_caption", fast=f"{2 * np.pi:.1f}", slow=f"{slow:,.0f}"),
            )
        ]
    elif kind == "similarity":
        alike = facts.similarity(table)
        shown = [
            _figure(
                view,
                "similarity",
                view.draw(pictures.similarity, alike, trained=trained, width=min(view.width, 620)),
                view.say("page.pos_similarity_caption", near=f"{alike[10, 11]:.2f}", far=f"{alike[10, 40]:.2f}"),
            )
        ]
    elif kind == "shift":
        shift = view.number("shift")
        errors, turned = facts.shift_errors(table, shift), shift * facts.frequencies(d_model)
        pairs = sorted({0, *(d_model // part for part in (16, 8, 4))})
        extra = [blocks.slider("shift", "shift", view.say("page.pos_shift_by"), shift)]
        shown = [
            _figure(
                view,
                "shift",
                view.draw(clocks, table, STARTS, pairs, shift, [float(turned[pair]) for pair in pairs]),
                view.say("page.pos_shift_caption", shift=shift, error=f"{errors.max():.1e}"),
            )
        ]
        source = facts.rotation
    else:
        shown, source = _own_table(view, told, length, d_model, trained)
    return {
        "step": None if kind != "learned" else view.step,
        "blocks": [
            blocks.choice("pos", "pos", view.say("page.pos"), kinds, kind),
            blocks.text("this", view.say(f"page.pos_run_{told}"), css="pg-caption"),
            *extra,
            *shown,
            blocks.code("source", source),
        ],
    }


def _figure(view: View, id: str, figure: dict, caption: str) -> dict:
    return blocks.figure(f"pos-{id}", figure, caption, view.say(f"page.pos_title_{id}"))


def _own_table(view: View, told: str, length: int, d_model: int, trained: int) -> tuple[list[dict], object]:
    """What this very run adds to its embeddings: its learnt table beside the sinusoids, or a sentence when there is none."""
    if view.run.experiment.model.encoding.added != "learned":
        return [
            blocks.text("none", view.say(f"page.pos_no_table_{told}"), css="pg-caption"),
            blocks.button("try", "knob", view.say("page.pos_try_learned"), knob="positions"),
        ], model.LearnedPositions
    learnt, actual = view.reader.position_table(view.run, view.step)
    learnt = learnt[:length]
    inside, outside = facts.row_norms(learnt[:trained]).mean(), facts.row_norms(learnt[trained:]).mean() if length > trained else 0.0
    caption = view.say("page.pos_learned_caption", trained=trained, inside=f"{inside:.2f}", outside=f"{outside:.2f}")
    note, beside = view.step_note(actual), facts.sinusoids(length, d_model)
    return [
        _figure(view, "learnt", view.draw(pictures.heatmap, learnt, trained=trained), paragraph([caption, note])),
        _figure(view, "beside", view.draw(pictures.heatmap, beside, trained=trained), view.say("page.pos_beside_caption")),
    ], model.LearnedPositions
