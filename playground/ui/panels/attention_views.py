"""Other ways to look at one head: as lines, as the products behind one score, and followed through all layers."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np

from playground.figures import attention as pictures
from playground.figures import products, theme
from playground.figures.tokens import longest, shortened
from playground.inspection import attention as facts
from playground.inspection import rollout as flows
from playground.inspection.fact import percent, short
from playground.inspection.products import product_fact, signed
from playground.model import attention
from playground.queries.activations import SentenceActivations, activations
from playground.ui import blocks
from playground.ui.blocks.general import Saved
from playground.ui.titles import variant_name
from playground.ui.view import LARGE, View, steps, texts
from playground.words import paragraph

MASKS = {"encoder": "padding", "decoder": "target", "cross": "memory"}
SUBLAYER = {"encoder": "encoder.{}.self_attention", "decoder": "decoder.{}.self_attention", "cross": "decoder.{}.cross_attention"}


def lines(
    view: View, title: str, caption: str, weights: np.ndarray, mask: np.ndarray, rows: list[str], columns: list[str], saved: Saved
) -> dict:
    """The head view: a line for each weight, a row at a time when one is pointed at or pinned."""
    pinned, palette = view.pinned(*weights.shape), theme.colors(view.dark)

    def fitted(names: list[str]) -> list[str]:
        return [shortened(name, longest(view.room(LARGE))) for name in names]

    return blocks.lines(
        "lines",
        title,
        f"{caption} {view.say('heads.lines_caption')}",
        view.part,
        rows=rows,
        columns=columns,
        short={"rows": fitted(rows), "columns": fitted(columns)},
        weights=theme.rounded(weights),
        mask=mask.astype(int).tolist(),
        alignment=view.look.alignment if view.part == "cross" else None,
        saved=saved,
        hint=view.say("heads.lines_hint"),
        row=view.row(len(rows)),
        column=pinned[1] if pinned else None,
        width=view.room(LARGE),
        colours={"hue": theme.hue(view.part, view.dark), "guide": palette["second"]},
        words={
            "query": view.labels[f"rows_{view.part}"],
            "key": view.labels[f"columns_{view.part}"],
            "weight": view.labels["weight"],
            "right_place": view.labels["right_place"],
        },
    )


def product(view: View, title: str, layer: int, head: int) -> list[dict]:
    """The query-key view of the pinned pair, else of the strongest: two vectors, their products, and how their sum becomes the weight."""
    if variant := variant_name(view.run, view.language):
        return [blocks.text("variant", view.say("page.has_variant", variant=variant), css="pg-error")]
    found, _ = activations(view.reader, view.run, view.step, view.text, view.reference)
    stages, at = found.stages, SUBLAYER[view.part].format(layer)
    rows = texts(found.source) if view.part == "encoder" else steps(found)
    columns = texts(found.fed if view.part == "decoder" else found.source)
    weights, mask = stages[f"{at}.weights"].values[head], stages[f"{at}.weights"].mask
    q, k = pair(view, weights)
    sum_to_weight = calculated(view, found, at, head, (q, k))
    turned = f"{at}.q_turned" in stages
    query, key = (stages[f"{at}.{name}_turned" if turned else f"{at}.{name}"].values[head, n] for name, n in (("q", q), ("k", k)))
    score = stages[f"{at}.scores"].values[head, q]
    scaled = stages[f"{at}.scaled"].values[head, q] if f"{at}.scaled" in stages else None
    fact = product_fact(query, key, score if scaled is None else scaled, mask[q], k)
    said = [view.say(fact.key, query_token=rows[q], key_token=columns[k], **fact.values)]
    said += [view.say("heads.product_turned")] * turned
    picture = view.draw(products.bars, query, key, kind=view.part, share=LARGE)
    return [
        blocks.row(
            "pair",
            blocks.slider("query", "q", f"{view.say('heads.query')} “{rows[q]}”", q, len(rows) - 1, first=1),
            blocks.slider("key", "k", f"{view.say('heads.key')} “{columns[k]}”", k, len(columns) - 1, first=1),
            css="controls",
        ),
        blocks.figure("product", picture, paragraph([*said, fed_note(view, view.part), view.step_note(found.step)]), title),
        blocks.text("product-sum", sum_to_weight, css="pg-cell"),
    ]


def calculated(view: View, found: SentenceActivations, at: str, head: int, cell: tuple[int, int]) -> str:
    """How the weight of a cell comes from its score, as a sentence."""
    stages, (q, k) = found.stages, cell
    weights, mask = stages[f"{at}.weights"].values[head], stages[f"{at}.weights"].mask
    numbers = {
        "sum": signed(stages[f"{at}.scores"].values[head, q, k], 4),
        "weight": weight(weights[q, k]) if mask[q, k] else view.say("page.cell_masked"),
    }
    if f"{at}.scaled" not in stages:
        return view.say("heads.arithmetic", **numbers)
    scaled = signed(stages[f"{at}.scaled"].values[head, q, k], 4)
    return view.say("heads.arithmetic_scaled", dims=stages[f"{at}.q"].values.shape[-1], score=scaled, **numbers)


def beside(view: View, layer: int, head: int, rows: list[str], columns: list[str], mask: np.ndarray) -> list[dict]:
    """What belongs to the picture: the arithmetic of one weight, which mask is applied, and the code in which both are done. Of a model
    that was changed on purpose only the code; of a step without parameters no arithmetic."""
    code = blocks.code("source", attention.scaled_dot_product_attention, lit=_masking_lines())
    if variant_name(view.run, view.language):
        return [code]
    hidden = int(mask.size - mask.sum())
    key = "heads.mask_hides" if hidden else "heads.mask_open"
    said = [view.say(key, mask=view.say(f"page.mask_{MASKS[view.part]}"), hidden=hidden, cells=mask.size)]
    found, _ = activations(view.reader, view.run, view.step, view.text, view.reference)
    at, weights = SUBLAYER[view.part].format(layer), view.weights[layer, head]
    if found.step == view.look.step and found.stages[f"{at}.weights"].values.shape[-2:] == weights.shape:  # while it trains, two may differ
        told = facts.crossing(weights) if view.part == "cross" and view.step is None else None  # by the caption
        q, k = pair(view, weights * (mask.sum(axis=-1, keepdims=True) > 1), told)  # rather a query that has a choice
        value = calculated(view, found, at, head, (q, k))
        said.insert(0, view.say("heads.weight_from", query_token=rows[q], key_token=columns[k], arithmetic=value))
    return [*(blocks.text(f"how-{at}", text, css="pg-caption") for at, text in enumerate(said)), code]


@cache
def _masking_lines() -> tuple[int, ...]:
    """The lines of the attention function, counted from 1, in which the mask is applied."""
    lines = inspect.getsource(attention.scaled_dot_product_attention).splitlines()
    return tuple(n for n, line in enumerate(lines, 1) if "mask" in line and "torch.where" in line)


def weight(value: float) -> str:
    """A weight with four digits, or two that count: what is not 0 is not written as 0."""
    return f"{value:.4f}" if value >= 0.001 or value == 0 else short(value)


def pair(view: View, weights: np.ndarray, told: tuple[int, int] | None = None) -> tuple[int, int]:
    """The query and the key: as far as they are chosen the cursor's, else those that are told of, or of the largest weight."""
    row = view.row(len(weights))
    if told and row is None and view.number("k") is None:
        return told
    q = int(np.unravel_index(int(weights.argmax()), weights.shape)[0]) if row is None else row
    k = view.number("k")
    return q, k if k is not None and k < weights.shape[1] else int(weights[q].argmax())


def rollout(view: View, weights: np.ndarray, mask: np.ndarray, rows: list[str], columns: list[str]) -> dict:
    """The rollout of this kind of attention, drawn like one head."""
    look, part, residual = view.look, view.part, view.run.experiment.model.residual
    alignment = look.alignment if part == "cross" else None
    if part == "cross":
        flow, share = flows.cross(look.encoder, look.decoder, look.cross, residual)
        fact = flows.strongest(flow, rows, columns)
    else:
        flow, share = flows.rollout(getattr(look, part), residual), 1.0
        fact = flows.own(flow, rows, columns)
    said = [view.say(fact.key, **fact.values)]
    if alignment and facts.aligned(*flow.shape, alignment).any():
        flown, raw = (percent(facts.alignment_mass(each, alignment)) for each in (flow, weights))
        said.append(view.say("heads.rollout_aligned", percent=flown, raw=raw))
    if share < 1:
        said.append(view.say("heads.rollout_share", percent=percent(share)))
    said.append(view.say("heads.rollout_residual" if residual else "heads.rollout_no_residual"))
    picture = view.draw(
        pictures.matrix,
        flow,
        rows,
        columns,
        mask=mask,
        kind=part,
        pinned=view.pinned(*flow.shape),
        alignment=alignment,
        share=LARGE,
        labels=view.labels | {"weight": view.labels["flow"], "hover_weight": view.labels["hover_flow"]},
    )
    title = view.say(f"heads.rollout_title_{part}", layers=len(getattr(look, part)))
    return blocks.figure("rollout", picture, paragraph([*said, fed_note(view, view.part)]), title)


def fed_note(view: View, part: str) -> str:
    """What the decoder is fed (see `View.fed_note`); nothing of the encoder, which doesn't depend on it."""
    return "" if part == "encoder" else view.fed_note
