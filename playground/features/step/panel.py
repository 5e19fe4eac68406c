"""The Step tab: one training step in slow motion, from the batch to the optimiser's update."""

from collections.abc import Callable

import numpy as np

from playground.config import PAD
from playground.cursor import choices
from playground.features.shared import blocks, panels
from playground.features.shared.figures import tensor as pictures
from playground.features.shared.figures.tokens import Name, steps
from playground.features.shared.naming import classify_sublayer, name_sublayer
from playground.features.shared.view import LARGE, View
from playground.features.step import batch, gradient, rows_query
from playground.features.step.batch import build_arithmetic, build_sheet, format_4g, lay_out_sides, spell_joined, spell_tokens
from playground.features.step.gradient import (
    choose_first,
    choose_parameter,
    draw_matrix,
    find_index,
    list_sublayers,
    offer_parameters,
    offer_sublayers,
    orient,
)
from playground.features.step.query import TakenStep, entry, singular_values, training_step
from playground.features.step.rows_query import BatchRows
from playground.inspection.backward import explain_update
from playground.inspection.backward_sublayer import explain_score, explain_stream, explain_weight
from playground.knobs import shown_value
from playground.training.slow_step import slow_step
from playground.words import paragraph, percentage


@panels.declare("step", "train", 2, panels.FORMULA)
def panel(view: View) -> dict:
    step = training_step(view.reader, view.runs, view.run, view.step)
    rows, moment = rows_query.batch_rows(step.slow), view.choice("moment")
    options = [{"value": name, "label": f"{at} {view.say(f'step.moment_{name}')}"} for at, name in enumerate(choices("moment"), 1)]
    choice = blocks.choice("moment", "moment", view.say("step.moment", step=f"{step.slow.number:,}"), options, moment)
    drawn = MOMENTS[moment](view, step, rows)
    picture = _find_picture(drawn)
    about = [_write_head(view, step, rows), view.say(f"step.about_{moment}"), _describe_origin(view, step)]
    picture["caption"] = paragraph([picture["caption"], *about])
    code = blocks.code("source", slow_step)
    return {
        "step": step.start.step,
        "recorded": True,
        "blocks": [blocks.row("moments", choice, _build_next(view, moment), css="controls"), *drawn, code],
    }


def _find_picture(drawn: list[dict]) -> dict:
    """Finds the first figure of these blocks, whose caption also holds what is to be known of the moment."""
    first = next(block for block in drawn if block["kind"] in ("figure", "row"))
    return first if first["kind"] == "figure" else _find_picture(first["blocks"])


def _build_next(view: View, moment: str) -> dict:
    """Builds the button to the next moment, from the last to the first."""
    names = choices("moment")
    at = (names.index(moment) + 1) % len(names)
    return blocks.button("next", "move", view.say("step.next" if at else "step.again"), to={"moment": names[at]})


def _write_head(view: View, step: TakenStep, rows: BatchRows) -> str:
    """Writes the step's batch, and its loss before and after."""
    loss = {"loss": format_4g(step.slow.loss), "after": format_4g(step.slow.loss_after)}
    return view.say("step.head", pairs=rows.pairs, rows=len(rows.tgt_out), **loss)


def _describe_origin(view: View, step: TakenStep) -> str:
    """Describes the step's origin, and its differences from the run's own step."""
    values = {"before": f"{step.start.step:,}", "recorded": format_4g(step.recorded) if step.recorded is not None else ""}
    kind = "next" if step.recorded is None else "made"
    if step.start.exact and kind == "made" and step.recorded != step.slow.loss:
        kind = "close"  # trained on another machine
    one_pass = view.run.experiment.model.alteration.decoder_only  # which sums in another order than the run's two
    is_exact = step.start.exact and not (one_pass and kind == "next")
    sentences = [view.say(f"step.{'exact' if is_exact else 'fresh'}_{kind}", **values)]
    if not step.start.exact:
        sentences.append(view.say("step.fresh", **values))
    if not step.start.exact and step.start.step in view.run.replay.parameters_by_step:
        sentences.append(view.say("step.rounded"))
    if step.start.step != view.step and view.step is not None:
        sentences.append(view.say("page.nearest_step", wanted=view.step, actual=step.start.step))
    if view.step is None and kind != "next" and step.slow.number < view.run.steps:  # the page's replay is at the end
        sentences.append(view.say("step.last_kept", end=f"{view.run.steps:,}", before=values["before"], number=f"{step.slow.number:,}"))
    return paragraph(sentences)


def build_optimiser(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    slow, name = step.slow, choose_parameter(view, step)
    values = orient(step, name, step.moved(name))
    figure, cell = draw_matrix(view, step, name, values, "update", view.say("step.title_update", name=name))
    index = find_index(step, name, cell)
    derivation = explain_update(entry(slow, view.run, name, index), name, index)
    title = view.say("step.sheet_update", name=name, row=cell[0] + 1, column=cell[1] + 1)
    sheet = build_sheet(view, rows, derivation, title, "step.own_parameter", still=view.number("grad_row") is None)
    sentences = [*_describe_rule(view, step, name), *_describe_singular_values(view, step, name)]
    return [
        offer_sublayers(view, step),
        *offer_parameters(view, step, name),
        blocks.text("rule", paragraph(sentences), css="pg-caption"),
        lay_out_sides(figure, build_arithmetic(view, "update", sheet)),
    ]


def _describe_rule(view: View, step: TakenStep, name: str) -> list[str]:
    """Describes the optimiser's update rule for this parameter, with its numbers."""
    slow, rule = step.slow, step.slow.rules[name]
    config = view.run.experiment.training
    rate = format_4g(slow.rate * slow.rest_rate[name])
    key, name_shown = "step.rule_muon" if rule == "muon" else "step.rule_adam", shown_value("optimiser", rule, view.language)
    sentences = [view.say(key, name=name_shown, rate=rate, beta1=f"{config.beta1:g}", beta2=f"{config.beta2:g}")]
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

# ---- inside the backward pass: along the residual stream, sublayer by sublayer, and through the softmax to the attention scores ----


def build_stream(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    """Builds one row of the batch: the norm of the residual stream's gradient before every sublayer, at every token."""
    slow, line = step.slow, _read_line(view, rows)
    name, choice = _build_sublayer_choice(view, step, list(slow.sums), "step.stream_sublayer")
    labels = _list_tokens(view, rows, line, name.partition(".")[0])
    gradients = {sublayer: rows_query.stream_gradient(slow, sublayer, line) for sublayer in slow.sums}
    norms = {sublayer: np.linalg.norm(gradient, axis=-1) for sublayer, gradient in gradients.items()}
    pinned = view.number("place", len(labels) - 1)
    place = int(norms[name][: len(labels)].argmax()) if pinned is None else pinned
    vector, config = gradients[name][place], view.run.experiment.model
    dim = view.number("grad_col", len(vector) - 1)
    dim = int(np.abs(vector).argmax()) if dim is None else dim
    norm = rows_query.norm_before(slow, name, line, place) if config.norm == "pre" else None
    residual = float(rows_query.residual_gradient(slow, name, line, place)[dim]) if config.residual else None
    terms = [] if norm else rows_query.readers(slow, name, line, place, dim)
    derivation = explain_stream(terms, norm, dim, residual, name, (place, dim), float(vector[dim]))
    title = view.say("step.sheet_stream", sublayer=name_sublayer(view, name), token=labels[place], dim=dim + 1)
    sheet = build_sheet(view, rows, derivation, title, "step.own_gradient", still=pinned is None)
    controls = [
        choice,
        _build_line_slider(view, rows, line),
        blocks.slider("place", "place", view.say("step.place"), place, len(labels) - 1, first=1),
        blocks.slider("grad-col", "grad_col", view.say("step.axis_dimension"), dim, len(vector) - 1, first=1),
    ]
    stacks = ("layers",) if config.alteration.decoder_only else ("encoder", "decoder")
    heatmaps = [_draw_norms(view, step, rows, line, stack, norms, (name, place)) for stack in stacks]
    caption, title = view.say("step.caption_stream", row=line + 1), view.say("step.title_stream")
    figures = [blocks.figure(f"step-stream-{stacks[0]}", heatmaps[0], caption, title)]
    figures += [blocks.figure("step-stream", picture, "", "") for picture in heatmaps[1:]]
    return [lay_out_sides([*figures, *controls], build_arithmetic(view, "stream", sheet))]


def _draw_norms(
    view: View, step: TakenStep, rows: BatchRows, line: int, stack: str, norms: dict[str, np.ndarray], chosen: tuple[str, int]
) -> dict:
    """Draws these norms for encoder or decoder, on a common scale; `chosen` is (sublayer, place)."""
    names, labels = [sublayer for sublayer in norms if sublayer.startswith(stack)], _list_tokens(view, rows, line, stack)
    sublayers = list_sublayers(view, step)
    axis = view.say("map.axis_joined" if stack == "layers" else f"step.axis_token_{stack}")
    return view.draw(
        pictures.heatmap,
        np.array([norms[sublayer][: len(labels)] for sublayer in names]),
        [Name(name_sublayer(view, sublayer)) for sublayer in names],
        labels,
        kind="decoder" if stack == "layers" else stack,
        scale="positive",
        limit=max(float(norm.max()) for norm in norms.values()) or None,
        chosen=(names.index(chosen[0]), chosen[1]) if chosen[0] in names else None,
        titles=(view.say("step.axis_sublayer"), axis),
        at=list(range(len(labels))),
        down=[sublayers.index(sublayer) for sublayer in names],
        numbers=False,
        fields=("module", "place"),
        share=LARGE,
    )


def build_scores(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    """Builds one head on one row of the batch: the gradient of every score, and of its softmax weight."""
    slow, line = step.slow, _read_line(view, rows)
    name, choice = _build_sublayer_choice(view, step, list(slow.attentions), "step.score_sublayer")
    heads = view.run.experiment.model.n_heads
    head = (view.number("head", heads) or 1) - 1
    queries, keys = _name_axes(view, rows, line, name)
    gradients = rows_query.score_gradients(slow, name, line, head)
    values, mask = gradients.scores[: len(queries), : len(keys)], gradients.mask[: len(queries), : len(keys)]
    pinned = view.inside("grad_row", "grad_col", values.shape)
    chosen = pinned or tuple(int(at) for at in np.unravel_index(int(np.abs(values).argmax()), values.shape))
    picture = view.draw(
        pictures.heatmap,
        values,
        queries,
        keys,
        kind=classify_sublayer(name),
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
    (query, key), row = chosen, gradients.rows[chosen[0]]
    place = {"query": queries[query], "token": keys[key]}
    score = explain_score(row, key, name, chosen, float(gradients.scores[chosen]))
    weight = explain_weight(row, key, name, chosen, float(gradients.weights[chosen]))
    sheets = [
        build_sheet(view, rows, score, view.say("step.sheet_score", **place), "step.own_gradient", still=pinned is None),
        build_sheet(view, rows, weight, view.say("step.sheet_weight", **place), "step.own_gradient", still=True) | {"id": "sheet-weight"},
    ]
    controls = [
        choice,
        blocks.slider("head", "head", view.say("step.attention_head"), head + 1, heads),
        _build_line_slider(view, rows, line),
        blocks.slider("grad-row", "grad_row", view.say("step.axis_query"), query, len(queries) - 1, first=1),
        blocks.slider("grad-col", "grad_col", view.say("step.axis_key"), key, len(keys) - 1, first=1),
    ]
    up, down = (int((sign * values[mask] < 0).sum()) for sign in (1, -1))
    largest = format_4g(float(np.abs(values).max()))
    caption = view.say("step.caption_scores", row=line + 1, head=head + 1, up=up, down=down, most=largest)
    figure = blocks.figure("step-scores", picture, caption, view.say("step.title_scores"))
    return [lay_out_sides([figure, *controls], build_arithmetic(view, "scores", *sheets))]


def _read_line(view: View, rows: BatchRows) -> int:
    return view.number("line", len(rows.tgt_out) - 1) or 0


def _build_line_slider(view: View, rows: BatchRows, line: int) -> dict:
    return blocks.slider("line", "line", view.say("step.line"), line, len(rows.tgt_out) - 1, first=1)


def _build_sublayer_choice(view: View, step: TakenStep, names: list[str], title: str) -> tuple[str, dict]:
    """Returns the chosen one of these sublayers, and its choice."""
    sublayers = list_sublayers(view, step)
    index = view.number("module", len(sublayers) - 1)
    name = sublayers[index] if index is not None and sublayers[index] in names else choose_first(view)
    options = [{"value": str(sublayers.index(sublayer)), "label": name_sublayer(view, sublayer)} for sublayer in names]
    return name, blocks.choice("sublayer", "module", view.say(title), options, str(sublayers.index(name)))


def _list_tokens(view: View, rows: BatchRows, line: int, stack: str) -> list[str]:
    """Lists the tokens that the encoder or decoder reads in this row of the batch, without padding; those of the one stack with it."""
    if stack == "layers":
        return spell_joined(view, rows, line)
    ids = rows.src[line] if stack == "encoder" else rows.tgt_in[line]
    return spell_tokens(view, ids[ids != PAD], "src" if stack == "encoder" else "tgt")


def _name_axes(view: View, rows: BatchRows, line: int, name: str) -> tuple[list[str], list[str]]:
    """Names an attention's queries and keys; a decoder query is named by its step."""
    if name.startswith("layers"):
        tokens, width = spell_joined(view, rows, line), rows.source_width(line)
        following = spell_tokens(view, rows.tgt_out[line, : len(tokens) - width], "tgt")
        return [*tokens[:width], *steps(tokens[width:], following)], tokens
    source = _list_tokens(view, rows, line, "encoder")
    if name.startswith("encoder"):
        return source, source
    fed = _list_tokens(view, rows, line, "decoder")
    queries = steps(fed, spell_tokens(view, rows.tgt_out[line, : len(fed)], "tgt"))
    return queries, source if name.endswith("cross_attention") else fed


MOMENTS: dict[str, Callable[[View, TakenStep, BatchRows], list[dict]]] = {
    "loss": batch.build_loss,
    "logits": gradient.build_logits,
    "stream": build_stream,
    "scores": build_scores,
    "gradient": gradient.build_parameters,
    "optimiser": build_optimiser,
    "after": batch.build_after,
}
