"""The Attention tab: every head small, one large, also as the products behind one score and as attention rollout through all layers; which
keys a query attends to, by how much, and which are masked."""

import inspect
from dataclasses import replace
from functools import cache

import numpy as np

from playground.config import Refusal
from playground.cursor import choices
from playground.features.attention import bars, build_model_view, build_table, draw_over_training, induction, score_heads
from playground.features.attention.query import KINDS, cross, own, rollout, strongest
from playground.features.shared import blocks, heads, panels
from playground.features.shared.naming import part_key, variant_name
from playground.features.shared.queries.activations import SentenceActivations, edited_activations
from playground.features.shared.view import LARGE, View, steps, texts, tokens
from playground.inspection import attention as facts, percent
from playground.inspection.attention import product_fact, signed
from playground.inspection.edits import parse
from playground.model import attention
from playground.words import paragraph

MASKS = {"encoder": "padding", "decoder": "target", "cross": "memory"}
SUBLAYER = {"encoder": "encoder.{}.self_attention", "decoder": "decoder.{}.self_attention", "cross": "decoder.{}.cross_attention"}


@panels.declare("attention", "inside", 2, panels.ATTENTION)
def panel(view: View) -> dict:
    notice = _follow_edits(view)
    look, part = view.look, view.part
    layer, head = heads.choose_head(view, part)
    if (mode := view.choice("view", _list_modes(view))) == "all":
        grid = build_model_view(view, (part, layer, head), {kind: heads.compute_mask(view, kind) for kind in KINDS})
        all_blocks = [*notice, build_controls(view, part, mode), *grid]
        return {"step": look.step, "held": heads.format_head(part, layer, head), "blocks": all_blocks}
    mask, scored = heads.compute_mask(view, part), score_heads(view)
    label, names = view.say("page.heads_label", sentences=scored.sentences), heads.label_heads(view, scored, view.part)
    thumbnails = heads.build_small_heads(view, "heads", label, (layer, head), view.weights, mask, names)
    large_blocks, side_blocks = build_picture(view, mode, layer, head, mask)
    about = paragraph([view.say(f"{part_key(view.run, part)}_about"), view.rounding_note(look.step)])
    return {
        "step": look.step,
        "held": heads.format_head(part, layer, head),
        "blocks": [
            *notice,
            blocks.row(
                "main",
                blocks.column("large", *large_blocks),
                blocks.column("small", thumbnails, build_controls(view, part, mode)),
                css="stage",
            ),
            *side_blocks,
            *build_explanation(view, layer, head, *heads.name_axes(view, part), mask),
            blocks.chips("tokens", *list_token_lines(view, part)),
            blocks.text("what", about, css="pg-caption"),
            blocks.row(
                "all-heads",
                blocks.column("names", *build_table(view, scored)),
                blocks.column("training", *draw_over_training(view, scored, (layer, head))),
                css="large-small",
            ),
            *induction.defer_induction(view),
        ],
    }


def _follow_edits(view: View) -> list[dict]:
    """Shows the attention with the numbers that are typed over on the map, and builds the line that says so and undoes them."""
    if not (text := view.field("edits")):
        return []
    try:
        edits = parse(text)
        view.edited, _ = edited_activations(view.reader, view.run, view.step, view.text, view.reference, None, edits)
        if view.edited.after.step == view.look.step:  # else training moved on
            stages, layers = view.edited.after.stages, view.run.experiment.model.attention_layers
            weights = {}
            for kind in KINDS:
                at, top, left = _locate_block(view, view.edited.after, "{}", kind)
                *_, rows, columns = getattr(view.look, kind).shape
                stack = [stages[f"{at.format(n)}.weights"].values[:, top : top + rows, left : left + columns] for n in range(layers(kind))]
                weights[kind] = np.stack(stack)
            view.look = replace(view.look, **weights)
        sentence = view.say("edits.followed", count=len(edits))
    except Refusal as refusal:
        sentence = refusal.say(view.language)
    undo = blocks.button("undo-edits", "move", view.say("edits.undo_all"), to={"edits": ""})
    return [blocks.row("edits", blocks.text("edits-typed", sentence, css="pg-cell"), undo, css="controls")]


def _list_modes(view: View) -> list[str]:
    """Lists the ways to show attention; only that of a decoder-only model is one matrix."""
    return [mode for mode in choices("view") if mode != "whole" or view.run.experiment.model.alteration.decoder_only]


def build_controls(view: View, part: str, mode: str) -> dict:
    """Builds the choices: mode; kind of attention where one is shown; decoder input, which doesn't affect the encoder."""
    modes = [{"value": name, "label": view.say(f"heads.view_{name}")} for name in _list_modes(view)]
    parts = [{"value": name, "label": view.say(part_key(view.run, name)), "hue": name} for name in KINDS]
    single = mode != "all"
    return blocks.row(
        "choices",
        blocks.choice("view", "view", view.say("heads.view"), modes, mode),
        blocks.choice("part", "part", view.say("page.part"), parts, part) if single else None,
        view.offer("follow", "follow", "page.follow") if single else None,
        view.offer_feed() if part != "encoder" or not single else None,
        css="controls",
    )


def list_token_lines(view: View, part: str) -> list[dict]:
    """Builds the tokens of rows and columns, highlighted with the pointer. A decoder row is marked by whether its next token is right."""
    look, (rows, _) = view.look, heads.name_axes(view, part)
    if part == "encoder":
        queries, side = tokens(look.source), "src"
    else:
        queries, side = tokens(look.targets, look.right, look.probabilities), "tgt"
    keys, key_side = (tokens(look.fed), "fed") if part == "decoder" else (tokens(look.source), "src")
    labelled = [{**token, "text": name} for token, name in zip(queries, rows, strict=True)]
    return [
        {"label": view.say(f"figures.rows_{part}"), "tokens": labelled, "side": side, "role": "query"},
        {"label": view.say(f"figures.columns_{part}"), "tokens": keys, "side": key_side, "role": "key"},
    ]


def build_picture(view: View, mode: str, layer: int, head: int, mask: np.ndarray) -> tuple[list[dict], list[dict]]:
    """Returns (the blocks of the large picture, the blocks beside it)."""
    rows, columns = heads.name_axes(view, view.part)
    weights = view.weights[layer, head]
    if mode == "lines":
        return heads.draw_threads(view, view.part, (layer, head), stage=True), []
    if mode == "whole":
        return [heads.draw_joined_head(view, layer, head)], []
    if mode == "product":
        return build_product(view, heads.write_title(view, view.part, layer, head), layer, head), []
    if mode == "rollout":
        flow = draw_rollout(view, weights, mask, rows, columns)
        about = blocks.text("rollout-about", view.say("heads.rollout_about"), css="pg-caption")
        return [flow, about], heads.draw_large_head(view, "attention")
    return heads.draw_large_head(view, "attention", stage=True), []


def build_product(view: View, title: str, layer: int, head: int) -> list[dict]:
    """Builds the query-key view of the pinned pair, else of the strongest: two vectors, their products, and the resulting weight."""
    try:
        forward = _read_stages(view)
    except Refusal as refusal:
        return [blocks.text("variant", refusal.say(view.language), css="pg-error")]
    stages, (at, top, left) = forward.stages, _locate_block(view, forward, layer, view.part)
    rows = texts(forward.source) if view.part == "encoder" else steps(forward)
    columns = texts(forward.fed if view.part == "decoder" else forward.source)
    weights, mask = stages[f"{at}.weights"].values[head], stages[f"{at}.weights"].mask
    q, k = choose_pair(view, weights[top : top + len(rows), left : left + len(columns)])
    sum_to_weight = write_arithmetic(view, forward, at, head, (top + q, left + k))
    is_rotated, vectors = f"{at}.q_turned" in stages, (("q", top + q), ("k", left + k))
    query, key = (stages[f"{at}.{name}_turned" if is_rotated else f"{at}.{name}"].values[head, n] for name, n in vectors)
    score = stages[f"{at}.scores"].values[head, top + q]
    scaled = stages[f"{at}.scaled"].values[head, top + q] if f"{at}.scaled" in stages else None
    fact = product_fact(query, key, score if scaled is None else scaled, mask[top + q], left + k)
    notes = [view.say(fact.key, query_token=rows[q], key_token=columns[k], **fact.values)]
    notes += [view.say("heads.product_turned")] * is_rotated
    picture = view.draw(bars, query, key, kind=view.part, share=LARGE)
    return [
        blocks.row(
            "pair",
            blocks.slider("query", "q", f"{view.say('heads.query')} “{rows[q]}”", q, len(rows) - 1, first=1),
            blocks.slider("key", "k", f"{view.say('heads.key')} “{columns[k]}”", k, len(columns) - 1, first=1),
            css="controls",
        ),
        blocks.figure("product", picture, paragraph([*notes, heads.write_fed_note(view, view.part), view.step_note(forward.step)]), title),
        blocks.text("product-sum", sum_to_weight, css="pg-cell"),
    ]


def _read_stages(view: View) -> SentenceActivations:
    """Returns every stage of the sentence. Raises Refusal for a model variant, and for a decoder-only model without a single sequence."""
    if not view.run.experiment.model.alteration.is_built_of_layers:
        raise Refusal("page.has_variant", variant=variant_name(view.run, view.language))
    return view.activations


def _locate_block(view: View, forward: SentenceActivations, layer: int | str, part: str) -> tuple[str, int, int]:
    """Returns the address of a kind of attention in a layer, and the first row and column of its block there: in a decoder-only
    model's matrix the target comes after the source."""
    if not view.run.experiment.model.alteration.decoder_only:
        return SUBLAYER[part].format(layer), 0, 0
    source = len(forward.source)
    return f"layers.{layer}.self_attention", source * (part != "encoder"), source * (part == "decoder")


def write_arithmetic(view: View, forward: SentenceActivations, at: str, head: int, cell: tuple[int, int]) -> str:
    """Writes the arithmetic from a cell's score to its weight."""
    stages, (q, k) = forward.stages, cell
    weights, mask = stages[f"{at}.weights"].values[head], stages[f"{at}.weights"].mask
    numbers = {
        "sum": signed(stages[f"{at}.scores"].values[head, q, k], 4),
        "weight": heads.format_weight(weights[q, k]) if mask[q, k] else view.say("page.cell_masked"),
    }
    if f"{at}.scaled" not in stages:
        return view.say("heads.arithmetic", **numbers)
    scaled = signed(stages[f"{at}.scaled"].values[head, q, k], 4)
    return view.say("heads.arithmetic_scaled", dims=stages[f"{at}.q"].values.shape[-1], score=scaled, **numbers)


def build_explanation(view: View, layer: int, head: int, rows: list[str], columns: list[str], mask: np.ndarray) -> list[dict]:
    """Builds the explanation of the picture: the arithmetic of one weight, the mask applied, and their code. A model variant gets only the
    code; a step without saved parameters gets no arithmetic."""
    code = blocks.code("source", attention.scaled_dot_product_attention, lit=_masking_lines())
    try:
        forward = _read_stages(view)
    except Refusal:
        return [code]
    hidden = int(mask.size - mask.sum())
    key = "heads.mask_hides" if hidden else "heads.mask_open"
    alteration = view.run.experiment.model.alteration
    name = "gpt" if alteration.causal else "prefix" if alteration.decoder_only else MASKS[view.part]
    sentences = [view.say(key, mask=view.say(f"page.mask_{name}"), hidden=hidden, cells=mask.size)]
    weights = view.weights[layer, head]
    at, top, left = _locate_block(view, forward, layer, view.part)
    lengths = [(len(each.source), len(each.fed)) for each in (forward, view.look)]
    if forward.step == view.look.step and lengths[0] == lengths[1]:  # else training moved on
        crossing = facts.crossing(weights) if view.part == "cross" and view.step is None else None  # the caption's pair
        q, k = choose_pair(view, weights * (mask.sum(axis=-1, keepdims=True) > 1), crossing)  # prefer a query with several visible keys
        arithmetic = write_arithmetic(view, forward, at, head, (top + q, left + k))
        sentences.insert(0, view.say("heads.weight_from", query_token=rows[q], key_token=columns[k], arithmetic=arithmetic))
    return [*(blocks.text(f"how-{at}", text, css="pg-caption") for at, text in enumerate(sentences)), code]


@cache
def _masking_lines() -> tuple[int, ...]:
    """Returns the lines of the attention function, counted from 1, that apply the mask."""
    build_lines = inspect.getsource(attention.scaled_dot_product_attention).splitlines()
    return tuple(n for n, line in enumerate(build_lines, 1) if "mask" in line and "torch.where" in line)


def choose_pair(view: View, weights: np.ndarray, preferred: tuple[int, int] | None = None) -> tuple[int, int]:
    """Returns (query, key) of the cursor; where the cursor has none, `preferred`, else the pair of the largest weight."""
    row = view.row(len(weights))
    if preferred and row is None and view.number("k") is None:
        return preferred
    q = int(np.unravel_index(int(weights.argmax()), weights.shape)[0]) if row is None else row
    k = view.number("k")
    return q, k if k is not None and k < weights.shape[1] else int(weights[q].argmax())


def draw_rollout(view: View, weights: np.ndarray, mask: np.ndarray, rows: list[str], columns: list[str]) -> dict:
    """Draws the attention rollout of this kind of attention like one head."""
    look, part, residual = view.look, view.part, view.run.experiment.model.residual
    alignment = look.alignment if part == "cross" else None
    if view.run.experiment.model.alteration.decoder_only:  # one stack: the whole matrix, of which a block is shown
        s, share = len(look.source), 1.0
        of_rows, of_columns = slice(s) if part == "encoder" else slice(s, None), slice(s, None) if part == "decoder" else slice(s)
        flow = rollout(look.joined, residual)[of_rows, of_columns]
        fact = (strongest if part == "cross" else own)(flow, rows, columns)
    elif part == "cross":
        flow, share = cross(look.encoder, look.decoder, look.cross, residual)
        fact = strongest(flow, rows, columns)
    else:
        flow, share = rollout(getattr(look, part), residual), 1.0
        fact = own(flow, rows, columns)
    sentences = [view.say(fact.key, **fact.values)]
    if alignment and facts.aligned(*flow.shape, alignment).any():
        rolled_out, raw = (percent(facts.alignment_mass(each, alignment)) for each in (flow, weights))
        sentences.append(view.say("heads.rollout_aligned", percent=rolled_out, raw=raw))
    if share < 1:
        sentences.append(view.say("heads.rollout_share", percent=percent(share)))
    sentences.append(view.say("heads.rollout_residual" if residual else "heads.rollout_no_residual"))
    labels = view.labels | {"weight": view.labels["flow"], "hover_weight": view.labels["hover_flow"]}
    picture = heads.draw_matrix(view, part, flow, mask, labels=labels)
    is_joint = view.run.experiment.model.alteration.decoder_only
    key = "heads.rollout_title_joint" if is_joint else f"heads.rollout_title_{part}"
    title = view.say(key, part=view.say(part_key(view.run, part)), layers=len(getattr(look, part)))
    return blocks.figure("rollout", picture, paragraph([*sentences, heads.write_fed_note(view, view.part)]), title)
