"""The Positions tab: the encoding as a table, as waves and as similarity; a shift as a rotation; and the run's own position table."""

from __future__ import annotations

import numpy as np

from playground.features.positions import figure as pictures
from playground.features.positions.figure import clocks
from playground.features.shared import blocks, panels
from playground.features.shared.view import View
from playground.inspection import vectors as facts
from playground.model import positions as model
from playground.words import paragraph

SHOWN_POSITIONS = 64
STARTS = (2, 20)  # positions at which the clocks' hands start


@panels.declare("positions", "inside", 4, panels.PLACES)
def panel(view: View) -> dict:
    kind, encoding = view.choice("pos"), view.run.experiment.model.encoding
    encoding_key = (encoding.added or "none") + ("_rotary" if encoding.rotary else "")
    trained = view.reader.longest(view.run)
    length = min(max(SHOWN_POSITIONS, trained + 16), 128)
    if kind == "learned":
        content, source = _build_learned(view, encoding_key, length, trained), model.LearnedPositions
    else:
        table = facts.sinusoids(length, view.run.experiment.model.d_model)
        content, source = SINUSOIDS[kind](view, table, trained), facts.rotation if kind == "shift" else model.sinusoids
    return {
        "step": None if kind != "learned" else view.step,
        "blocks": [
            view.offer("pos", "pos", "page.pos"),
            blocks.text("this", view.say(f"page.pos_run_{encoding_key}"), css="pg-caption"),
            *content,
            blocks.code("source", source),
        ],
    }


def _build_heatmap(view: View, table: np.ndarray, trained: int) -> list[dict]:
    length, d_model = table.shape
    picture = view.draw(pictures.heatmap, table, trained=trained, tallest=view.below(90))
    return [_build_figure(view, "heatmap", picture, view.say("page.pos_heatmap_caption", length=length, dims=d_model, trained=trained))]


def _build_waves(view: View, table: np.ndarray, trained: int) -> list[dict]:
    d_model = table.shape[1]
    dims = sorted({min(dim, d_model - 1) for dim in (0, 1, d_model // 8 * 2, d_model // 4 * 2, d_model - 2)})
    slow = 2 * np.pi / facts.frequencies(d_model)[-1]
    picture = view.draw(pictures.waves, {"sinusoidal": table}, dims, trained=trained)
    return [_build_figure(view, "waves", picture, view.say("page.pos_waves_caption", fast=f"{2 * np.pi:.1f}", slow=f"{slow:,.0f}"))]


def _build_similarity(view: View, table: np.ndarray, trained: int) -> list[dict]:
    similarities = facts.cosines(table)
    picture = view.draw(pictures.similarity, similarities, trained=trained, width=min(view.width, 620))
    caption = view.say("page.pos_similarity_caption", near=f"{similarities[10, 11]:.2f}", far=f"{similarities[10, 40]:.2f}")
    return [_build_figure(view, "similarity", picture, caption)]


def _build_shift(view: View, table: np.ndarray, trained: int) -> list[dict]:
    d_model, shift = table.shape[1], view.number("shift")
    errors, turned = facts.shift_errors(table, shift), shift * facts.frequencies(d_model)
    pairs = sorted({0, *(d_model // part for part in (16, 8, 4))})
    picture = view.draw(clocks, table, STARTS, pairs, shift, [float(turned[pair]) for pair in pairs])
    caption = view.say("page.pos_shift_caption", shift=shift, error=f"{errors.max():.1e}")
    return [blocks.slider("shift", "shift", view.say("page.pos_shift_by"), shift), _build_figure(view, "shift", picture, caption)]


SINUSOIDS = {"heatmap": _build_heatmap, "waves": _build_waves, "similarity": _build_similarity, "shift": _build_shift}


def _build_figure(view: View, id: str, figure: dict, caption: str) -> dict:
    return blocks.figure(f"pos-{id}", figure, caption, view.say(f"page.pos_title_{id}"))


def _build_learned(view: View, encoding_key: str, length: int, trained: int) -> list[dict]:
    """Builds the run's learned position table beside the sinusoids, or a sentence if it has none."""
    if view.run.experiment.model.encoding.added != "learned":
        return [
            blocks.text("none", view.say(f"page.pos_no_table_{encoding_key}"), css="pg-caption"),
            blocks.button("try", "knob", view.say("page.pos_try_learned"), knob="positions"),
        ]
    learned, actual_step = view.reader.position_table(view.run, view.step)
    learned = learned[:length]
    inside, outside = facts.row_norms(learned[:trained]).mean(), facts.row_norms(learned[trained:]).mean() if length > trained else 0.0
    caption = view.say("page.pos_learned_caption", trained=trained, inside=f"{inside:.2f}", outside=f"{outside:.2f}")
    note, sinusoids = view.step_note(actual_step), facts.sinusoids(length, view.run.experiment.model.d_model)
    return [
        _build_figure(view, "learnt", view.draw(pictures.heatmap, learned, trained=trained), paragraph([caption, note])),
        _build_figure(view, "beside", view.draw(pictures.heatmap, sinusoids, trained=trained), view.say("page.pos_beside_caption")),
    ]
