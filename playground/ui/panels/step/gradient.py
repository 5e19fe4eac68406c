"""The backward pass of a training step: p - y at the output, and from there the gradient of every part and of every parameter."""

from __future__ import annotations

import numpy as np

from playground.figures import diagnostics as parts_pictures
from playground.figures import tensor as pictures
from playground.figures.tokens import steps
from playground.inspection.backward import explain_gradient, explain_logit
from playground.model.sublayers import sublayer_of, sublayers
from playground.queries.training_rows import BatchRows
from playground.queries.training_step import TakenStep, sites
from playground.ui import blocks
from playground.ui.panels.step.batch import pick
from playground.ui.panels.step.sums import sheet, short, tokens
from playground.ui.view import LARGE, View
from playground.words import paragraph

LIKELIEST = 40  # tokens of a large vocabulary that are shown
DOWN, ACROSS = 64, 64  # rows and columns of a parameter at a time


def logits(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    """One row of the batch: p - y for every token of the vocabulary, at every place."""
    slow = taken.slow
    line = view.number("line", len(rows.tgt_out) - 1) or 0
    length = int(rows.real[line].sum())
    values = taken.logit_gradients(line, length)
    shown = _shown(values, rows.tgt_out[line, :length], view.number("logit", values.shape[1] - 1))
    names = tokens(view, shown, "tgt")
    read, asked = (tokens(view, ids[line, :length], "tgt") for ids in (rows.tgt_in, rows.tgt_out))
    asked_for = view.inside("place", "logit", values.shape)
    place = min(view.number("place") or 0, length - 1)
    chosen = asked_for or (place, int(rows.tgt_out[line, place]))
    picture = view.draw(
        pictures.heatmap,
        values[:, shown],
        steps(read, asked),
        names,
        kind="decoder",
        limit=float(np.abs(values).max()) or None,
        chosen=(chosen[0], shown.index(chosen[1])) if chosen[1] in shown else None,
        titles=(view.say("map.axis_next"), view.say("map.axis_vocabulary")),
        at=shown,
        numbers=False,
        fields=("place", "logit"),
        share=LARGE,
    )
    said = [view.say("step.caption_logits", row=line + 1, tokens=f"{slow.tokens:,}")]
    if len(shown) < values.shape[1]:
        said.append(view.say("step.only_likeliest", shown=len(shown), total=f"{values.shape[1]:,}"))
    place, token = chosen
    target, name = int(rows.tgt_out[line, place]), tokens(view, [token], "tgt")[0]
    derivation = explain_logit(taken.logits(line, place), target, token, slow.live.label_smoothing, slow.tokens, float(values[chosen]))
    title = view.say("step.sheet_logit", token=name, row=line + 1, place=place + 1)
    arithmetic = [
        blocks.text("invite", view.say("step.invite_logits"), "pg-caption"),
        sheet(view, rows, derivation, title, "step.own_gradient", still=asked_for is None),
    ]
    large = blocks.column(
        "picture", blocks.figure("step-logits", picture, paragraph(said), view.say("step.title_logits")), *pick(view, rows)
    )
    return [blocks.row("sides", large, blocks.column("arithmetic", *arithmetic), css="large-small")]


def _shown(values: np.ndarray, targets: np.ndarray, asked: int | None) -> list[int]:
    """The tokens that are shown: all, or of a large vocabulary those with the largest gradients, and the one asked for."""
    if values.shape[1] <= LIKELIEST:
        return list(range(values.shape[1]))
    strength = np.abs(values).max(axis=0)
    strength[np.unique(targets)] += strength.max()
    found = np.argsort(-strength, kind="stable")[:LIKELIEST].tolist()
    return sorted({*found, asked} if asked is not None else found)


def parameters(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    """The gradient of every part; of the chosen part one parameter, and of the chosen number its terms."""
    slow, name = taken.slow, chosen_parameter(view, taken)
    values = as_in_the_paper(taken, name, taken.gradient(name))
    figure, cell = matrix(view, taken, name, values, "gradient", view.say("step.title_parameter", name=name))
    index = index_of(taken, name, cell)
    derivation = explain_gradient(sites(slow, name), name, index, float(taken.gradient(name)[index]))
    title = view.say("step.sheet_gradient", name=name, row=cell[0] + 1, column=cell[1] + 1)
    arithmetic = [
        blocks.text("invite", view.say("step.invite_gradient"), "pg-caption"),
        sheet(view, rows, derivation, title, "step.own_gradient", still=view.number("grad_row") is None),
    ]
    picture = blocks.column("picture", *figure)
    return [
        blocks.row("by-part", parts(view, taken), blocks.column("which", *choose(view, taken, name)), css="large-small"),
        blocks.row("sides", picture, blocks.column("arithmetic", *arithmetic), css="large-small"),
    ]


def parts(view: View, taken: TakenStep) -> dict:
    """A dot for each part of the model: the length of its gradient. A click chooses the part."""
    lengths: dict[str, float] = {}
    for name in taken.slow.gradients:
        route = sublayer_of(name)
        lengths[route] = float(np.hypot(lengths.get(route, 0.0), np.linalg.norm(taken.gradient(name))))
    routes = routes_of(view, taken)
    values = [lengths.get(route, 0.0) for route in routes]
    picture = view.draw(
        parts_pictures.parts,
        values,
        [route_name(view, route) for route in routes],
        [kind_of(route) for route in routes],
        [short(value) for value in values],
        measure="gradient",
        chosen=_route(view, taken),
        field="module",
        share=LARGE,
    )
    whole = short(taken.slow.grad_norm)
    return blocks.figure("step-parts", picture, view.say("step.caption_parts", whole=whole), view.say("step.title_parts"))


def choose_part(view: View, taken: TakenStep) -> dict:
    """The parts by name, where the picture of them has been seen."""
    options = [{"value": str(at), "label": route_name(view, route)} for at, route in enumerate(routes_of(view, taken))]
    return blocks.choice("part", "module", view.say("step.part"), options, str(_route(view, taken)))


def choose(view: View, taken: TakenStep, name: str) -> list[dict]:
    """The parameters of the chosen part."""
    route, names = routes_of(view, taken)[_route(view, taken)], _names(view, taken)
    options = [{"value": one, "label": one.removeprefix(f"{route}.")} for one in names]
    gradient = taken.gradient(name)
    said = view.say("step.parameter_about", name=name, count=f"{gradient.size:,}", norm=short(float(np.linalg.norm(gradient))))
    return [
        blocks.choice("parameter", "parameter", view.say("step.parameter", part=route_name(view, route)), options, name),
        blocks.text("parameter-about", said, "pg-caption"),
    ]


def chosen_parameter(view: View, taken: TakenStep) -> str:
    """The one of the cursor when it belongs to the chosen part, else that part's first that has a gradient."""
    names, asked = _names(view, taken), view.field("parameter")
    return asked if asked in names else next((name for name in names if taken.gradient(name).any()), names[0])


def matrix(view: View, taken: TakenStep, name: str, values: np.ndarray, what: str, title: str) -> tuple[list[dict], tuple[int, int]]:
    """A window of a parameter's numbers as a picture with its sliders, and the cell that is chosen: while none is, the largest."""
    largest = tuple(int(at) for at in np.unravel_index(int(np.abs(values).argmax()), values.shape))
    cell = view.inside("grad_row", "grad_col", values.shape) or largest
    down, across = (_window(size, most, at) for size, most, at in zip(values.shape, (DOWN, ACROSS), cell, strict=True))
    names, way = _row_names(view, taken, name, values.shape[0]), taken.layout(name)
    picture = view.draw(
        pictures.heatmap,
        values[np.ix_(down, across)],
        [names[at] for at in down],
        [str(at + 1) for at in across],
        kind=kind_of(routes_of(view, taken)[_route(view, taken)]),
        limit=float(np.abs(values).max()) or None,
        chosen=(down.index(cell[0]), across.index(cell[1])) if cell[0] in down and cell[1] in across else None,
        titles=(view.say(f"step.axis_row_{way}"), view.say(f"step.axis_column_{way}")),
        at=across,
        down=down,
        numbers=False,
        fields=("grad_row", "grad_col"),
        share=LARGE,
    )
    caption = view.say(
        f"step.caption_{what}", largest=short(float(values[largest])), row=names[largest[0]], column=largest[1] + 1
    )  # fmt: skip
    sliders = [
        blocks.slider(field.replace("_", "-"), field, view.say(f"step.axis_{axis}_{way}"), at, size - 1, first=1)
        for field, axis, at, size in zip(("grad_row", "grad_col"), ("row", "column"), cell, values.shape, strict=True)
        if size > 1
    ]
    return [blocks.figure("step-parameter", picture, caption, title), *sliders], cell


def as_in_the_paper(taken: TakenStep, name: str, values: np.ndarray) -> np.ndarray:
    """A parameter as rows and columns: of a linear layer (in, out), as in x W; torch keeps it the other way round."""
    if values.ndim == 1:
        return values[None]
    return values.T if taken.layout(name) == "linear" else values


def index_of(taken: TakenStep, name: str, cell: tuple[int, int]) -> tuple[int, ...]:
    """Where torch keeps the number that stands in this cell."""
    way = taken.layout(name)
    return (cell[1],) if way == "vector" else cell[::-1] if way == "linear" else cell


def _row_names(view: View, taken: TakenStep, name: str, count: int) -> list[str]:
    """Tokens for a table of embeddings, else numbers."""
    if taken.layout(name) == "table" and "embedding" in name:
        return tokens(view, range(count), "src" if name.startswith("src") else "tgt")
    return [str(at + 1) for at in range(count)]


def _window(size: int, most: int, cell: int) -> list[int]:
    """The rows, or columns, that are shown: those round the chosen cell."""
    first = cell // most * most
    return list(range(first, min(first + most, size)))


def routes_of(view: View, taken: TakenStep) -> list[str]:
    """The parts of the model that have a parameter of their own."""
    owners = set(map(sublayer_of, taken.slow.gradients))
    return [route for route in sublayers(view.run.experiment.model) if route in owners]


def _route(view: View, taken: TakenStep) -> int:
    """The number of the chosen part; while none is, of the first decoder layer's cross-attention; where nothing reaches that, the last."""
    routes = routes_of(view, taken)
    asked = view.number("module", len(routes) - 1)
    if asked is not None:
        return asked
    first = "decoder.0.cross_attention"
    reached = any(taken.gradient(name).any() for name in taken.slow.gradients if name.startswith(f"{first}.W_q"))
    return routes.index(first) if reached else len(routes) - 1


def _names(view: View, taken: TakenStep) -> list[str]:
    """The parameters of the chosen part; a shared one belongs to the first that has it."""
    route = routes_of(view, taken)[_route(view, taken)]
    return [name for name in taken.slow.gradients if sublayer_of(name) == route]


def kind_of(route: str) -> str:
    return "cross" if route.endswith("cross_attention") else "encoder" if route.startswith(("src", "encoder")) else "decoder"


def route_name(view: View, route: str) -> str:
    stack, _, rest = route.partition(".")
    layer, _, part = rest.partition(".")
    return view.say(f"diagnostics.part_{stack}_{part}", layer=int(layer) + 1) if part else view.say(f"diagnostics.part_{stack}")
