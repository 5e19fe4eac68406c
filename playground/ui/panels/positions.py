"""The Positions tab: the encoding as a table, as waves and as similarity; a shift as a rotation; and the run's own position table."""

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

SHOWN_POSITIONS = 64
STARTS = (2, 20)  # positions at which the clocks' hands start


def panel(view: View) -> dict:
    kind = view.choice("pos")
    d_model, trained = view.run.experiment.model.d_model, view.reader.longest(view.run)
    length = min(max(SHOWN_POSITIONS, trained + 16), 128)
    table = facts.sinusoids(length, d_model)
    encoding = view.run.experiment.model.encoding
    encoding_key = (encoding.added or "none") + ("_rotary" if encoding.rotary else "")
    kinds = [{"value": name, "label": view.say(f"page.pos_{name}")} for name in choices("pos")]
    extra, source = [], model.sinusoids
    if kind == "heatmap":
        figures = [
            _build_figure(
                view,
                "heatmap",
                view.draw(pictures.heatmap, table, trained=trained, tallest=view.below(90)),
                view.say("page.pos_heatmap_caption", length=length, dims=d_model, trained=trained),
            )
        ]
    elif kind == "waves":
        dims = [0, 1, d_model // 8 * 2, d_model // 4 * 2, d_model - 2]
        dims = sorted({min(dim, d_model - 1) for dim in dims})
        slow = 2 * np.pi / facts.frequencies(d_model)[-1]
        figures = [
            _build_figure(
                view,
                "waves",
                view.draw(pictures.waves, {"sinusoidal": table}, dims, trained=trained),
                view.say("page.pos_waves_caption", fast=f"{2 * np.pi:.1f}", slow=f"{slow:,.0f}"),
            )
        ]
    elif kind == "similarity":
        similarities = facts.similarity(table)
        figures = [
            _build_figure(
                view,
                "similarity",
                view.draw(pictures.similarity, similarities, trained=trained, width=min(view.width, 620)),
                view.say("page.pos_similarity_caption", near=f"{similarities[10, 11]:.2f}", far=f"{similarities[10, 40]:.2f}"),
            )
        ]
    elif kind == "shift":
        shift = view.number("shift")
        errors, turned = facts.shift_errors(table, shift), shift * facts.frequencies(d_model)
        pairs = sorted({0, *(d_model // part for part in (16, 8, 4))})
        extra = [blocks.slider("shift", "shift", view.say("page.pos_shift_by"), shift)]
        figures = [
            _build_figure(
                view,
                "shift",
                view.draw(clocks, table, STARTS, pairs, shift, [float(turned[pair]) for pair in pairs]),
                view.say("page.pos_shift_caption", shift=shift, error=f"{errors.max():.1e}"),
            )
        ]
        source = facts.rotation
    else:
        figures, source = _build_learned(view, encoding_key, length, d_model, trained)
    return {
        "step": None if kind != "learned" else view.step,
        "blocks": [
            blocks.choice("pos", "pos", view.say("page.pos"), kinds, kind),
            blocks.text("this", view.say(f"page.pos_run_{encoding_key}"), css="pg-caption"),
            *extra,
            *figures,
            blocks.code("source", source),
        ],
    }


def _build_figure(view: View, id: str, figure: dict, caption: str) -> dict:
    return blocks.figure(f"pos-{id}", figure, caption, view.say(f"page.pos_title_{id}"))


def _build_learned(view: View, encoding_key: str, length: int, d_model: int, trained: int) -> tuple[list[dict], object]:
    """Builds the run's learned position table beside the sinusoids, or a sentence if it has none."""
    if view.run.experiment.model.encoding.added != "learned":
        return [
            blocks.text("none", view.say(f"page.pos_no_table_{encoding_key}"), css="pg-caption"),
            blocks.button("try", "knob", view.say("page.pos_try_learned"), knob="positions"),
        ], model.LearnedPositions
    learned, actual_step = view.reader.position_table(view.run, view.step)
    learned = learned[:length]
    inside, outside = facts.row_norms(learned[:trained]).mean(), facts.row_norms(learned[trained:]).mean() if length > trained else 0.0
    caption = view.say("page.pos_learned_caption", trained=trained, inside=f"{inside:.2f}", outside=f"{outside:.2f}")
    note, sinusoids = view.step_note(actual_step), facts.sinusoids(length, d_model)
    return [
        _build_figure(view, "learnt", view.draw(pictures.heatmap, learned, trained=trained), paragraph([caption, note])),
        _build_figure(view, "beside", view.draw(pictures.heatmap, sinusoids, trained=trained), view.say("page.pos_beside_caption")),
    ], model.LearnedPositions
