"""Inside of the backward pass: along the residual stream, sublayer by sublayer, and through the softmax to the attention scores."""

from __future__ import annotations

import numpy as np

from playground.config import PAD
from playground.figures import tensor as pictures
from playground.figures.tokens import Name, steps
from playground.inspection.backward_sublayer import explain_score, explain_stream, explain_weight
from playground.queries.step_sublayers import norm_before, readers, residual_gradient, score_gradients, stream_gradient
from playground.queries.training_rows import BatchRows
from playground.queries.training_step import TakenStep
from playground.ui import blocks
from playground.ui.panels.step.gradient import kind_of, route_name, routes_of
from playground.ui.panels.step.sums import sheet, short, tokens
from playground.ui.view import LARGE, View

FIRST = "decoder.0.cross_attention"  # while none is chosen


def stream(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    """One row of the batch: how long the gradient of the stream is before every sublayer, at every token."""
    slow, line = taken.slow, _line(view, rows)
    name, choice = _sublayer(view, taken, list(slow.sums), "step.stream_sublayer")
    labels = _tokens(view, rows, line, name.partition(".")[0])
    gradients = {one: stream_gradient(slow, one, line) for one in slow.sums}
    lengths = {one: np.linalg.norm(found, axis=-1) for one, found in gradients.items()}
    asked = view.number("place", len(labels) - 1)
    place = int(lengths[name][: len(labels)].argmax()) if asked is None else asked
    of_x, config = gradients[name][place], view.run.experiment.model
    dim = view.number("grad_col", len(of_x) - 1)
    dim = int(np.abs(of_x).argmax()) if dim is None else dim
    norm = norm_before(slow, name, line, place) if config.norm == "pre" else None
    passed = float(residual_gradient(slow, name, line, place)[dim]) if config.residual else None
    reading = [] if norm else readers(slow, name, line, place, dim)
    derivation = explain_stream(reading, norm, dim, passed, name, (place, dim), float(of_x[dim]))
    title = view.say("step.sheet_stream", sublayer=route_name(view, name), token=labels[place], dim=dim + 1)
    arithmetic = [
        blocks.text("invite", view.say("step.invite_stream"), "pg-caption"),
        sheet(view, rows, derivation, title, "step.own_gradient", still=asked is None),
    ]
    controls = [
        choice,
        _slider_line(view, rows, line),
        blocks.slider("place", "place", view.say("step.place"), place, len(labels) - 1, first=1),
        blocks.slider("grad-col", "grad_col", view.say("step.axis_dimension"), dim, len(of_x) - 1, first=1),
    ]
    drawn = [_lengths(view, taken, rows, line, stack, lengths, (name, place)) for stack in ("encoder", "decoder")]
    said, title = view.say("step.caption_stream", row=line + 1), view.say("step.title_stream")
    figures = [blocks.figure("step-stream-encoder", drawn[0], said, title), blocks.figure("step-stream", drawn[1], "", "")]
    return [blocks.row("sides", blocks.column("picture", *figures, *controls), blocks.column("arithmetic", *arithmetic), css="large-small")]


def _lengths(
    view: View, taken: TakenStep, rows: BatchRows, line: int, stack: str, lengths: dict[str, np.ndarray], chosen: tuple[str, int]
) -> dict:
    """The picture of encoder or decoder, on the scale of both; `chosen` is a sublayer with a place."""
    names, labels, all_routes = [one for one in lengths if one.startswith(stack)], _tokens(view, rows, line, stack), routes_of(view, taken)
    return view.draw(
        pictures.heatmap,
        np.array([lengths[one][: len(labels)] for one in names]),
        [Name(route_name(view, one)) for one in names],
        labels,
        kind=stack,
        scale="positive",
        limit=max(float(found.max()) for found in lengths.values()) or None,
        chosen=(names.index(chosen[0]), chosen[1]) if chosen[0] in names else None,
        titles=(view.say("step.axis_sublayer"), view.say(f"step.axis_token_{stack}")),
        at=list(range(len(labels))),
        down=[all_routes.index(one) for one in names],
        numbers=False,
        fields=("module", "place"),
        share=LARGE,
    )


def scores(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    """One head on one row of the batch: the gradient of every score, and of the weight that the softmax makes of it."""
    slow, line = taken.slow, _line(view, rows)
    name, choice = _sublayer(view, taken, list(slow.attentions), "step.score_sublayer")
    heads = view.run.experiment.model.n_heads
    head = (view.number("head", heads) or 1) - 1
    queries, keys = _sides(view, rows, line, name)
    found = score_gradients(slow, name, line, head)
    values, mask = found.scores[: len(queries), : len(keys)], found.mask[: len(queries), : len(keys)]
    asked = view.inside("grad_row", "grad_col", values.shape)
    chosen = asked or tuple(int(at) for at in np.unravel_index(int(np.abs(values).argmax()), values.shape))
    picture = view.draw(
        pictures.heatmap,
        values,
        queries,
        keys,
        kind=kind_of(name),
        limit=float(np.abs(values).max()) or None,
        mask=mask,
        chosen=chosen,
        titles=(view.say("step.axis_query"), view.say("step.axis_key")),
        at=list(range(len(keys))),
        down=list(range(len(queries))),
        numbers=False,
        fields=("grad_row", "grad_col"),
        share=LARGE,
    )
    (query, key), row = chosen, found.rows[chosen[0]]
    place = {"query": queries[query], "token": keys[key]}
    score = explain_score(row, key, name, chosen, float(found.scores[chosen]))
    weight = explain_weight(row, key, name, chosen, float(found.weights[chosen]))
    arithmetic = [
        blocks.text("invite", view.say("step.invite_scores"), "pg-caption"),
        sheet(view, rows, score, view.say("step.sheet_score", **place), "step.own_gradient", still=asked is None),
        sheet(view, rows, weight, view.say("step.sheet_weight", **place), "step.own_gradient", still=True) | {"id": "sheet-weight"},
    ]
    controls = [
        choice,
        blocks.slider("head", "head", view.say("step.attention_head"), head + 1, heads),
        _slider_line(view, rows, line),
        blocks.slider("grad-row", "grad_row", view.say("step.axis_query"), query, len(queries) - 1, first=1),
        blocks.slider("grad-col", "grad_col", view.say("step.axis_key"), key, len(keys) - 1, first=1),
    ]
    up, down = (int((sign * values[mask] < 0).sum()) for sign in (1, -1))
    most = short(float(np.abs(values).max()))
    caption = view.say("step.caption_scores", row=line + 1, head=head + 1, up=up, down=down, most=most)
    figure = blocks.figure("step-scores", picture, caption, view.say("step.title_scores"))
    return [blocks.row("sides", blocks.column("picture", figure, *controls), blocks.column("arithmetic", *arithmetic), css="large-small")]


def _line(view: View, rows: BatchRows) -> int:
    return view.number("line", len(rows.tgt_out) - 1) or 0


def _slider_line(view: View, rows: BatchRows, line: int) -> dict:
    return blocks.slider("line", "line", view.say("step.line", rows=len(rows.tgt_out)), line, len(rows.tgt_out) - 1, first=1)


def _sublayer(view: View, taken: TakenStep, names: list[str], title: str) -> tuple[str, dict]:
    """The chosen one of these sublayers, and the choice."""
    routes = routes_of(view, taken)
    asked = view.number("module", len(routes) - 1)
    name = routes[asked] if asked is not None and routes[asked] in names else FIRST
    options = [{"value": str(routes.index(one)), "label": route_name(view, one)} for one in names]
    return name, blocks.choice("sublayer", "module", view.say(title), options, str(routes.index(name)))


def _tokens(view: View, rows: BatchRows, line: int, stack: str) -> list[str]:
    """What encoder or decoder read in this row of the batch, without padding."""
    ids = rows.src[line] if stack == "encoder" else rows.tgt_in[line]
    return tokens(view, ids[ids != PAD], "src" if stack == "encoder" else "tgt")


def _sides(view: View, rows: BatchRows, line: int, name: str) -> tuple[list[str], list[str]]:
    """Queries and keys of an attention; a query of the decoder is named by its step."""
    source = _tokens(view, rows, line, "encoder")
    if name.startswith("encoder"):
        return source, source
    fed = _tokens(view, rows, line, "decoder")
    asked = steps(fed, tokens(view, rows.tgt_out[line, : len(fed)], "tgt"))
    return asked, source if name.endswith("cross_attention") else fed
