"""The Attention tab: every head small, one large; which keys a query attends to, by how much, and which are masked."""

from __future__ import annotations

import numpy as np

from playground.cursor import choices
from playground.figures import attention as pictures, theme
from playground.inspection import attention as facts, masks
from playground.inspection.heads import HeadScores
from playground.queries.heads import KINDS
from playground.queries.reader import REFERENCE
from playground.ui import blocks
from playground.ui.blocks.general import Saved
from playground.ui.panels import attention_views as views, head_choice, heads, model_view
from playground.ui.panels.head_choice import choose_head
from playground.ui.view import LARGE, View, steps, texts, tokens
from playground.words import paragraph

MAX_THUMBNAIL_CELLS = 400_000


def panel(view: View) -> dict:
    look, part = view.look, view.part
    layer, head = choose_head(view, part)
    if (mode := view.choice("view")) == "all":
        grid = model_view.build_model_view(view, (part, layer, head), {kind: compute_mask(view, kind) for kind in KINDS})
        return {"step": look.step, "held": head_choice.format_head(part, layer, head), "blocks": [build_controls(view, part, mode), *grid]}
    mask, scored = compute_mask(view, part), heads.score_heads(view)
    large_blocks, side_blocks = build_picture(view, mode, layer, head, mask)
    return {
        "step": look.step,
        "held": head_choice.format_head(part, layer, head),
        "blocks": [
            build_controls(view, part, mode),
            blocks.row(
                "main",
                blocks.column("large", *large_blocks),
                blocks.column(
                    "small",
                    *side_blocks,
                    build_thumbnails(view, layer, head, mask, scored),
                    *views.build_explanation(view, layer, head, *name_axes(view, part), mask),
                ),
                css="large-small",
            ),
            blocks.chips("tokens", *list_token_lines(view, part)),
            blocks.text("what", paragraph([view.say(f"page.part_{part}_about"), view.rounding_note(look.step)]), css="pg-caption"),
            blocks.row(
                "all-heads",
                blocks.column("names", *heads.build_table(view, scored)),
                blocks.column("training", *heads.draw_over_training(view, scored, (layer, head))),
                css="large-small",
            ),
        ],
    }


def build_controls(view: View, part: str, mode: str) -> dict:
    """Builds the choices: mode; kind of attention where one is shown; decoder input, which doesn't affect the encoder."""
    modes = [{"value": name, "label": view.say(f"heads.view_{name}")} for name in choices("view")]
    parts = [{"value": name, "label": view.say(f"page.part_{name}"), "hue": name} for name in KINDS]
    feeds = [{"value": name, "label": view.say(f"page.feed_{name}")} for name in choices("target")]
    single = mode != "all"
    return blocks.row(
        "choices",
        blocks.choice("view", "view", view.say("heads.view"), modes, mode),
        blocks.choice("part", "part", view.say("page.part"), parts, part) if single else None,
        head_choice.build_follow_choice(view) if single else None,
        blocks.choice("feed", "target", view.say("page.feed"), feeds, view.choice("target")) if part != "encoder" or not single else None,
        css="controls",
    )


def list_token_lines(view: View, part: str) -> list[dict]:
    """Builds the tokens of rows and columns, highlighted with the pointer. A decoder row is marked by whether its next token is right."""
    look, (rows, _) = view.look, name_axes(view, part)
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
    rows, columns = name_axes(view, view.part)
    weights = view.weights[layer, head]
    if mode == "lines":
        caption = write_caption(view, view.part, layer, head, weights, mask)
        file = describe_file(view, view.part, layer, head)
        figure = views.build_lines(view, write_title(view, view.part, layer, head), caption, weights, mask, rows, columns, file)
        return [figure, *describe_pinned(view, "attention", weights, mask, rows, columns)], []
    if mode == "product":
        return views.build_product(view, write_title(view, view.part, layer, head), layer, head), []
    if mode == "rollout":
        flow = views.draw_rollout(view, weights, mask, rows, columns)
        return [flow, blocks.text("rollout-about", view.say("heads.rollout_about"), css="pg-caption")], draw_large_head(view, "attention")
    return draw_large_head(view, "attention", above=110), []


def build_thumbnails(view: View, layer: int, head: int, mask: np.ndarray, scored: HeadScores) -> dict:
    """Builds a thumbnail of every head, with its name."""
    label = view.say("page.heads_label", sentences=scored.sentences)
    return build_small_heads(view, "heads", label, (layer, head), view.weights, mask, heads.label_heads(view, scored))


def build_small_heads(
    view: View, id: str, label: str, selected: tuple[int, int], weights: np.ndarray, mask: np.ndarray, names: list | None = None
) -> dict:
    """Builds a thumbnail of each head of `weights` (L, H, Q, K), without pictures when there are more than MAX_THUMBNAIL_CELLS."""
    small = np.round(weights, 2).tolist() if weights.size <= MAX_THUMBNAIL_CELLS else []
    return blocks.heads(id, label, *selected, weights=small, mask=mask.astype(int).tolist(), colours=pick_colours(view), names=names)


def pick_colours(view: View) -> dict:
    """Returns the colours of thumbnails."""
    palette = theme.colors(view.dark)
    return {"scale": theme.sequential(view.dark), "masked": palette["masked"], "hatch": palette["hatch"]}


def write_title(view: View, part: str, layer: int, head: int) -> str:
    return view.say("page.head_title", part=view.say(f"page.part_{part}"), layer=layer + 1, head=head + 1)


def name_axes(view: View, part: str) -> tuple[list[str], list[str]]:
    """Returns the names of the rows (queries) and of the columns (keys)."""
    source, fed, decoder = texts(view.look.source), texts(view.look.fed), steps(view.look)
    return {"encoder": (source, source), "decoder": (decoder, fed), "cross": (decoder, source)}[part]


def compute_mask(view: View, part: str) -> np.ndarray:
    """Returns the mask (Q, K) by the model's own mask functions, True where a query can attend. All True for a model with a deliberate bug:
    its weights show what it masks."""
    source, fed = [piece.id for piece in view.look.source], [piece.id for piece in view.look.fed]
    batch_masks = masks.batch([source], [fed])
    mask = {"encoder": batch_masks["padding"], "decoder": batch_masks["target"], "cross": batch_masks["memory"]}[part][0]
    if view.run.experiment.model.alteration.kind == "bug":
        mask = np.ones_like(mask)
    return np.broadcast_to(mask, (len(source) if part == "encoder" else len(fed), mask.shape[-1]))


def draw_large_head(view: View, id: str, part: str | None = None, above: int = 0) -> list[dict]:
    """Draws one head large, with its caption and the sentence on the pinned cell. `above`: pixels taken above the picture."""
    part = part or view.part
    rows, columns = name_axes(view, part)
    layer, head = choose_head(view, part)
    weights, mask = getattr(view.look, part)[layer, head], compute_mask(view, part)
    picture = view.draw(
        pictures.matrix,
        weights,
        rows,
        columns,
        mask=mask,
        kind=part,
        pinned=view.pinned(*weights.shape),
        alignment=view.look.alignment if part == "cross" else None,
        share=LARGE,
        tallest=view.below(above),
    )
    caption = write_caption(view, part, layer, head, weights, mask)
    figure = blocks.figure(id, picture, caption, write_title(view, part, layer, head), saved=describe_file(view, part, layer, head))
    return [figure, *describe_pinned(view, id, weights, mask, rows, columns)]


def describe_file(view: View, part: str, layer: int, head: int) -> Saved:
    """Describes the files to which a picture of this head and its arrays are saved."""
    step, fed = view.look.step, REFERENCE if view.reference else "output"
    return {
        "file": f"attention-{part}-L{layer + 1}H{head + 1}",
        "run": view.run.name,
        "step": step,
        "arrays": {"run": view.run.id, "step": str(step), "text": view.text, "part": part, "target": fed},
    }


def describe_pinned(view: View, id: str, weights: np.ndarray, mask: np.ndarray, rows: list[str], columns: list[str]) -> list[dict]:
    """Describes the pinned cell or row in a sentence; nothing without a pin."""
    pinned, row = view.pinned(*weights.shape), view.row(weights.shape[0])
    if pinned:
        q, k = pinned
        value = view.say("page.cell_masked") if not mask[q, k] else views.format_weight(weights[q, k])
        sentence = view.say("page.cell", query_token=rows[q], row=q + 1, key_token=columns[k], column=k + 1, value=value)
    elif row is not None:
        k = int(weights[row].argmax())
        sentence = view.say("page.row", query_token=rows[row], row=row + 1, key_token=columns[k], value=f"{weights[row, k]:.3f}")
    else:
        return []
    return [blocks.text(f"{id}-cell", sentence, css="pg-cell")]


def write_caption(view: View, part: str, layer: int, head: int, weights: np.ndarray, mask: np.ndarray) -> str:
    """Writes the caption, computed from the weights: the step, where the weight lies, its mass on the right places, the effect of the mask;
    a head that keeps to the right places far better; the decoder's input unless it is the reference."""
    alignment = view.look.alignment if part == "cross" else None
    names, columns = name_axes(view, part)
    rows = names if part == "encoder" else texts(view.look.targets)
    statements = [facts.facts(weights, part, mask=mask, alignment=alignment, rows=rows, columns=columns, names=names)]
    if alignment and statements[-1].key != "figures.looks_aligned":
        statements.append(facts.alignment_fact(weights, alignment))
    if part == "cross" and view.step is None:
        statements.insert(0, facts.crossing_fact(weights, rows, columns))
    statements.append(facts.masked_fact(weights, mask, "future"))
    sentences = [view.say(fact.key, **{"layer": layer + 1, "head": head + 1, **fact.values}) for fact in statements if fact]
    if view.step is None and (other := head_choice.find_clearer_head(view.look, part, layer, head)):
        sentences.append(view.say("page.clearer_head", layer=other[0] + 1, head=other[1] + 1))
    sentences.append(views.write_fed_note(view, part))
    sentences.append(view.step_note(view.look.step))
    return paragraph([view.say("page.caption_step", step=view.look.step), *sentences])
