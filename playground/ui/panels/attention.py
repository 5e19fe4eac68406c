"""Attention: every head small, one large; which keys a query attends to, by how much, and which are masked."""

from __future__ import annotations

import numpy as np

from playground.cursor import choices
from playground.figures import attention as pictures
from playground.figures import theme
from playground.inspection import attention as facts
from playground.inspection import masks
from playground.inspection.heads import HeadScores
from playground.queries.heads import KINDS
from playground.queries.reader import REFERENCE
from playground.ui import blocks
from playground.ui.blocks.general import Saved
from playground.ui.panels import attention_views as views
from playground.ui.panels import head_choice, heads, model_view
from playground.ui.panels.head_choice import chosen
from playground.ui.view import LARGE, View, steps, texts, tokens
from playground.words import paragraph

MOST_THUMBNAIL_CELLS = 400_000


def panel(view: View) -> dict:
    look, part = view.look, view.part
    layer, head = chosen(view, part)
    if (shown := view.choice("view")) == "all":
        everything = model_view.blocks_of(view, (part, layer, head), {kind: seen(view, kind) for kind in KINDS})
        return {"step": look.step, "held": head_choice.named(part, layer, head), "blocks": [controls(view, part, shown), *everything]}
    mask, scored = seen(view, part), heads.scores(view)
    picture, beside = pictured(view, shown, layer, head, mask)
    return {
        "step": look.step,
        "held": head_choice.named(part, layer, head),
        "blocks": [
            controls(view, part, shown),
            blocks.row(
                "main",
                blocks.column("large", *picture),
                blocks.column(
                    "small",
                    *beside,
                    thumbnails(view, layer, head, mask, scored),
                    *views.beside(view, layer, head, *axes(view, part), mask),
                ),
                css="large-small",
            ),
            blocks.chips("tokens", *sides(view, part)),
            blocks.text("what", paragraph([view.say(f"page.part_{part}_about"), view.rounding_note(look.step)]), css="pg-caption"),
            blocks.row(
                "all-heads",
                blocks.column("names", *heads.table(view, scored)),
                blocks.column("training", *heads.over_training(view, scored, (layer, head))),
                css="large-small",
            ),
        ],
    }


def controls(view: View, part: str, shown: str) -> dict:
    """Seen in which way, which attention where one is shown, and what the decoder is fed, on which the encoder doesn't depend."""
    views = [{"value": name, "label": view.say(f"heads.view_{name}")} for name in choices("view")]
    parts = [{"value": name, "label": view.say(f"page.part_{name}"), "hue": name} for name in KINDS]
    feeds = [{"value": name, "label": view.say(f"page.feed_{name}")} for name in choices("target")]
    one = shown != "all"
    return blocks.row(
        "choices",
        blocks.choice("view", "view", view.say("heads.view"), views, shown),
        blocks.choice("part", "part", view.say("page.part"), parts, part) if one else None,
        head_choice.follow(view) if one else None,
        blocks.choice("feed", "target", view.say("page.feed"), feeds, view.choice("target")) if part != "encoder" or not one else None,
        css="controls",
    )


def sides(view: View, part: str) -> list[dict]:
    """The tokens of rows and columns, to be lit up. In the decoder's rows it is the next token that is right or wrong."""
    look, (rows, _) = view.look, axes(view, part)
    if part == "encoder":
        queries, side = tokens(look.source), "src"
    else:
        queries, side = tokens(look.targets, look.right, look.probabilities), "tgt"
    keys, other = (tokens(look.fed), "fed") if part == "decoder" else (tokens(look.source), "src")
    named = [{**token, "text": name} for token, name in zip(queries, rows, strict=True)]
    return [
        {"label": view.say(f"figures.rows_{part}"), "tokens": named, "side": side, "role": "query"},
        {"label": view.say(f"figures.columns_{part}"), "tokens": keys, "side": other, "role": "key"},
    ]


def pictured(view: View, shown: str, layer: int, head: int, mask: np.ndarray) -> tuple[list[dict], list[dict]]:
    """The large picture, and what belongs beside it."""
    rows, columns = axes(view, view.part)
    weights = view.weights[layer, head]
    if shown == "lines":
        said = caption(view, view.part, layer, head, weights, mask)
        file = saved(view, view.part, layer, head)
        drawn = views.lines(view, title(view, view.part, layer, head), said, weights, mask, rows, columns, file)
        return [drawn, *cell(view, "attention", weights, mask, rows, columns)], []
    if shown == "product":
        return views.product(view, title(view, view.part, layer, head), layer, head), []
    if shown == "rollout":
        flow = views.rollout(view, weights, mask, rows, columns)
        return [flow, blocks.text("rollout-about", view.say("heads.rollout_about"), css="pg-caption")], large(view, "attention")
    return large(view, "attention", above=110), []


def thumbnails(view: View, layer: int, head: int, mask: np.ndarray, scored: HeadScores) -> dict:
    """Every head small, with its name."""
    label = view.say("page.heads_label", sentences=scored.sentences)
    return small_heads(view, "heads", label, (layer, head), view.weights, mask, heads.names(view, scored))


def small_heads(
    view: View, id: str, label: str, chosen: tuple[int, int], weights: np.ndarray, mask: np.ndarray, names: list | None = None
) -> dict:
    """A thumbnail of each head of `weights` (L, H, Q, K), without its picture where these are too many."""
    small = np.round(weights, 2).tolist() if weights.size <= MOST_THUMBNAIL_CELLS else []
    return blocks.heads(id, label, *chosen, weights=small, mask=mask.astype(int).tolist(), colours=shades(view), names=names)


def shades(view: View) -> dict:
    """The colours of thumbnails."""
    palette = theme.colors(view.dark)
    return {"scale": theme.sequential(view.dark), "masked": palette["masked"], "hatch": palette["hatch"]}


def title(view: View, part: str, layer: int, head: int) -> str:
    return view.say("page.head_title", part=view.say(f"page.part_{part}"), layer=layer + 1, head=head + 1)


def axes(view: View, part: str) -> tuple[list[str], list[str]]:
    """What the rows are called, which are queries, and the columns, which are keys."""
    source, fed, decoder = texts(view.look.source), texts(view.look.fed), steps(view.look)
    return {"encoder": (source, source), "decoder": (decoder, fed), "cross": (decoder, source)}[part]


def seen(view: View, part: str) -> np.ndarray:
    """True where a query can attend, by the model's own mask functions: (Q, K). Of a model with a bug nothing is believed: what it masks,
    its weights say."""
    source, fed = [piece.id for piece in view.look.source], [piece.id for piece in view.look.fed]
    found = masks.batch([source], [fed])
    mask = {"encoder": found["padding"], "decoder": found["target"], "cross": found["memory"]}[part][0]
    if view.run.experiment.model.alteration.kind == "bug":
        mask = np.ones_like(mask)
    return np.broadcast_to(mask, (len(source) if part == "encoder" else len(fed), mask.shape[-1]))


def large(view: View, id: str, part: str | None = None, above: int = 0) -> list[dict]:
    """The large picture of one head with its caption, and what the pinned cell says. `above`: so many pixels stand above it."""
    part = part or view.part
    rows, columns = axes(view, part)
    layer, head = chosen(view, part)
    weights, mask = getattr(view.look, part)[layer, head], seen(view, part)
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
    said = caption(view, part, layer, head, weights, mask)
    drawn = blocks.figure(id, picture, said, title(view, part, layer, head), saved=saved(view, part, layer, head))
    return [drawn, *cell(view, id, weights, mask, rows, columns)]


def saved(view: View, part: str, layer: int, head: int) -> Saved:
    """How a picture of this head is saved."""
    step, fed = view.look.step, REFERENCE if view.reference else "output"
    return {
        "file": f"attention-{part}-L{layer + 1}H{head + 1}",
        "run": view.run.name,
        "step": step,
        "arrays": {"run": view.run.id, "step": str(step), "text": view.text, "part": part, "target": fed},
    }


def cell(view: View, id: str, weights: np.ndarray, mask: np.ndarray, rows: list[str], columns: list[str]) -> list[dict]:
    """What the pinned cell says, or the pinned row; nothing without a pin."""
    pinned, row = view.pinned(*weights.shape), view.row(weights.shape[0])
    if pinned:
        q, k = pinned
        value = view.say("page.cell_masked") if not mask[q, k] else views.weight(weights[q, k])
        said = view.say("page.cell", query_token=rows[q], row=q + 1, key_token=columns[k], column=k + 1, value=value)
    elif row is not None:
        k = int(weights[row].argmax())
        said = view.say("page.row", query_token=rows[row], row=row + 1, key_token=columns[k], value=f"{weights[row, k]:.3f}")
    else:
        return []
    return [blocks.text(f"{id}-cell", said, css="pg-cell")]


def caption(view: View, part: str, layer: int, head: int, weights: np.ndarray, mask: np.ndarray) -> str:
    """At which step; what to see in this head, computed from its weights: where its weight lies, how much of that is right, and what the
    mask does; whether another one keeps to the right places far better; and what the decoder is fed, where that isn't the reference."""
    alignment = view.look.alignment if part == "cross" else None
    names, columns = axes(view, part)
    rows = names if part == "encoder" else texts(view.look.targets)
    found = [facts.facts(weights, part, mask=mask, alignment=alignment, rows=rows, columns=columns, names=names)]
    if alignment and found[-1].key != "figures.looks_aligned":
        found.append(facts.alignment_fact(weights, alignment))
    if part == "cross" and view.step is None:
        found.insert(0, facts.crossing_fact(weights, rows, columns))
    found.append(facts.masked_fact(weights, mask, "future"))
    said = [view.say(fact.key, **{"layer": layer + 1, "head": head + 1, **fact.values}) for fact in found if fact]
    if view.step is None and (other := head_choice.clearer(view.look, part, layer, head)):
        said.append(view.say("page.clearer_head", layer=other[0] + 1, head=other[1] + 1))
    said.append(views.fed_note(view, part))
    said.append(view.step_note(view.look.step))
    return paragraph([view.say("page.caption_step", step=view.look.step), *said])
