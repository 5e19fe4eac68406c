"""The backward pass of a training step: p - y at the output, and the gradient of every sublayer and parameter."""

import numpy as np

from playground.features.shared import blocks
from playground.features.shared.figures import sublayers as parts_pictures, tensor as pictures
from playground.features.shared.figures.tokens import steps
from playground.features.shared.naming import classify_sublayer, name_sublayer
from playground.features.shared.view import LARGE, View
from playground.features.step.batch import build_arithmetic, build_sheet, build_sliders, format_4g, lay_out_sides, spell_tokens
from playground.features.step.query import TakenStep, sites
from playground.features.step.rows_query import BatchRows
from playground.inspection.backward import explain_gradient, explain_logit
from playground.model.costs import sublayer_of, sublayers
from playground.words import paragraph

LIKELIEST = 40  # tokens shown of a large vocabulary
DOWN, ACROSS = 64, 64  # rows and columns of a parameter at a time


def build_logits(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    """Builds one row of the batch: p - y for every token of the vocabulary, at every place."""
    slow = step.slow
    line = view.number("line", len(rows.tgt_out) - 1) or 0
    length = int(rows.real[line].sum())
    values = step.logit_gradients(line, length)
    token_ids = _select_tokens(values, rows.tgt_out[line, :length], view.number("logit", values.shape[1] - 1))
    names = spell_tokens(view, token_ids, "tgt")
    inputs, targets = (spell_tokens(view, ids[line, :length], "tgt") for ids in (rows.tgt_in, rows.tgt_out))
    cell = view.inside("place", "logit", values.shape)
    place = min(view.number("place") or 0, length - 1)
    chosen = cell or (place, int(rows.tgt_out[line, place]))
    picture = view.draw(
        pictures.heatmap,
        values[:, token_ids],
        steps(inputs, targets),
        names,
        kind="decoder",
        limit=float(np.abs(values).max()) or None,
        chosen=(chosen[0], token_ids.index(chosen[1])) if chosen[1] in token_ids else None,
        titles=(view.say("map.axis_next"), view.say("map.axis_vocabulary")),
        at=token_ids,
        numbers=False,
        fields=("place", "logit"),
        share=LARGE,
    )
    sentences = [view.say("step.caption_logits", row=line + 1, tokens=f"{slow.tokens:,}")]
    if len(token_ids) < values.shape[1]:
        sentences.append(view.say("step.only_likeliest", shown=len(token_ids), total=f"{values.shape[1]:,}"))
    place, token = chosen
    target, name = int(rows.tgt_out[line, place]), spell_tokens(view, [token], "tgt")[0]
    derivation = explain_logit(step.logits(line, place), target, token, slow.live.label_smoothing, slow.tokens, float(values[chosen]))
    title = view.say("step.sheet_logit", token=name, row=line + 1, place=place + 1)
    figure = blocks.figure("step-logits", picture, paragraph(sentences), view.say("step.title_logits"))
    sheet = build_sheet(view, rows, derivation, title, "step.own_gradient", still=cell is None)
    return [lay_out_sides([figure, *build_sliders(view, rows)], build_arithmetic(view, "logits", sheet))]


def _select_tokens(values: np.ndarray, targets: np.ndarray, token: int | None) -> list[int]:
    """Selects the shown tokens: all, or from a large vocabulary those with the largest gradients and the requested one."""
    if values.shape[1] <= LIKELIEST:
        return list(range(values.shape[1]))
    strength = np.abs(values).max(axis=0)
    strength[np.unique(targets)] += strength.max()
    strongest = np.argsort(-strength, kind="stable")[:LIKELIEST].tolist()
    return sorted({*strongest, token} if token is not None else strongest)


def build_parameters(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    """Builds every sublayer's gradient, one parameter of the chosen one, and the terms of its chosen number."""
    slow, name = step.slow, choose_parameter(view, step)
    values = orient(step, name, step.gradient(name))
    figure, cell = draw_matrix(view, step, name, values, "gradient", view.say("step.title_parameter", name=name))
    index = find_index(step, name, cell)
    derivation = explain_gradient(sites(slow, name), name, index, float(step.gradient(name)[index]))
    title = view.say("step.sheet_gradient", name=name, row=cell[0] + 1, column=cell[1] + 1)
    sheet = build_sheet(view, rows, derivation, title, "step.own_gradient", still=view.number("grad_row") is None)
    return [
        blocks.row("by-part", draw_parts(view, step), blocks.column("which", *offer_parameters(view, step, name)), css="large-small"),
        lay_out_sides(figure, build_arithmetic(view, "gradient", sheet)),
    ]


def draw_parts(view: View, step: TakenStep) -> dict:
    """Draws the gradient norm of each sublayer as a dot; a click chooses the sublayer."""
    lengths: dict[str, float] = {}
    for name in step.slow.gradients:
        sublayer = sublayer_of(name)
        lengths[sublayer] = float(np.hypot(lengths.get(sublayer, 0.0), np.linalg.norm(step.gradient(name))))
    names = list_sublayers(view, step)
    values = [lengths.get(sublayer, 0.0) for sublayer in names]
    picture = view.draw(
        parts_pictures.parts,
        values,
        [name_sublayer(view, sublayer) for sublayer in names],
        [classify_sublayer(sublayer) for sublayer in names],
        [format_4g(value) for value in values],
        measure="gradient",
        chosen=_choose_sublayer(view, step),
        field="module",
        share=LARGE,
    )
    whole = format_4g(step.slow.grad_norm)
    return blocks.figure("step-parts", picture, view.say("step.caption_parts", whole=whole), view.say("step.title_parts"))


def offer_sublayers(view: View, step: TakenStep) -> dict:
    """Builds the choice of a sublayer by name."""
    options = [{"value": str(at), "label": name_sublayer(view, sublayer)} for at, sublayer in enumerate(list_sublayers(view, step))]
    return blocks.choice("part", "module", view.say("step.part"), options, str(_choose_sublayer(view, step)))


def offer_parameters(view: View, step: TakenStep, name: str) -> list[dict]:
    """Builds the choice of the chosen sublayer's parameters."""
    sublayer, names = list_sublayers(view, step)[_choose_sublayer(view, step)], _list_parameters(view, step)
    options = [{"value": parameter, "label": parameter.removeprefix(f"{sublayer}.")} for parameter in names]
    gradient = step.gradient(name)
    about = view.say("step.parameter_about", name=name, count=f"{gradient.size:,}", norm=format_4g(float(np.linalg.norm(gradient))))
    return [
        blocks.choice("parameter", "parameter", view.say("step.parameter", part=name_sublayer(view, sublayer)), options, name),
        blocks.text("parameter-about", about, "pg-caption"),
    ]


def choose_parameter(view: View, step: TakenStep) -> str:
    """Returns the cursor's parameter if it belongs to the chosen sublayer, else the sublayer's first with a gradient."""
    names, parameter = _list_parameters(view, step), view.field("parameter")
    return parameter if parameter in names else next((name for name in names if step.gradient(name).any()), names[0])


def draw_matrix(view: View, step: TakenStep, name: str, values: np.ndarray, measure: str, title: str) -> tuple[list[dict], tuple[int, int]]:
    """Draws a window of a parameter with its sliders; returns its blocks and the chosen cell, by default the largest number's."""
    largest = tuple(int(at) for at in np.unravel_index(int(np.abs(values).argmax()), values.shape))
    cell = view.inside("grad_row", "grad_col", values.shape) or largest
    down, across = (_find_window(size, most, at) for size, most, at in zip(values.shape, (DOWN, ACROSS), cell, strict=True))
    names, layout = _name_rows(view, step, name, values.shape[0]), step.layout(name)
    picture = view.draw(
        pictures.heatmap,
        values[np.ix_(down, across)],
        [names[at] for at in down],
        [str(at + 1) for at in across],
        kind=classify_sublayer(list_sublayers(view, step)[_choose_sublayer(view, step)]),
        limit=float(np.abs(values).max()) or None,
        chosen=(down.index(cell[0]), across.index(cell[1])) if cell[0] in down and cell[1] in across else None,
        titles=(view.say(f"step.axis_row_{layout}"), view.say(f"step.axis_column_{layout}")),
        at=across,
        down=down,
        numbers=False,
        fields=("grad_row", "grad_col"),
        share=LARGE,
    )
    place = {"row": names[largest[0]], "column": largest[1] + 1}
    caption = view.say(f"step.caption_{measure}", largest=format_4g(float(values[largest])), **place)
    sliders = [
        blocks.slider(field.replace("_", "-"), field, view.say(f"step.axis_{axis}_{layout}"), at, size - 1, first=1)
        for field, axis, at, size in zip(("grad_row", "grad_col"), ("row", "column"), cell, values.shape, strict=True)
        if size > 1
    ]
    return [blocks.figure("step-parameter", picture, caption, title), *sliders], cell


def orient(step: TakenStep, name: str, values: np.ndarray) -> np.ndarray:
    """Returns a parameter as a matrix; a linear layer as (in, out), as in x W, which torch stores transposed."""
    if values.ndim == 1:
        return values[None]
    return values.T if step.layout(name) == "linear" else values


def find_index(step: TakenStep, name: str, cell: tuple[int, int]) -> tuple[int, ...]:
    """Returns torch's index of the number in this cell."""
    layout = step.layout(name)
    return (cell[1],) if layout == "vector" else cell[::-1] if layout == "linear" else cell


def _name_rows(view: View, step: TakenStep, name: str, count: int) -> list[str]:
    """Names rows by token in an embedding table, else by number."""
    if step.layout(name) == "table" and "embedding" in name:
        return spell_tokens(view, range(count), "src" if name.startswith("src") else "tgt")
    return [str(at + 1) for at in range(count)]


def _find_window(size: int, most: int, cell: int) -> list[int]:
    """Returns the rows or columns of the window with the chosen cell."""
    first = cell // most * most
    return list(range(first, min(first + most, size)))


def list_sublayers(view: View, step: TakenStep) -> list[str]:
    """Lists the sublayers that have a parameter of their own."""
    owners = set(map(sublayer_of, step.slow.gradients))
    return [sublayer for sublayer in sublayers(view.run.experiment.model) if sublayer in owners]


def choose_first(view: View) -> str:
    """Returns the sublayer that is shown first."""
    return "layers.0.self_attention" if view.run.experiment.model.alteration.decoder_only else "decoder.0.cross_attention"


def _choose_sublayer(view: View, step: TakenStep) -> int:
    """Returns the chosen sublayer's index; else the first cross-attention's, or the last if no gradient reaches it."""
    names = list_sublayers(view, step)
    index = view.number("module", len(names) - 1)
    if index is not None:
        return index
    first = choose_first(view)
    reached = any(step.gradient(name).any() for name in step.slow.gradients if name.startswith(f"{first}.W_q"))
    return names.index(first) if reached else len(names) - 1


def _list_parameters(view: View, step: TakenStep) -> list[str]:
    """Lists the chosen sublayer's parameters; a shared one belongs to its first sublayer."""
    sublayer = list_sublayers(view, step)[_choose_sublayer(view, step)]
    return [name for name in step.slow.gradients if sublayer_of(name) == sublayer]
