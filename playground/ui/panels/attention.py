"""Attention: every head small, one large; who looks at whom, by how much, and what can't be seen at all."""

from __future__ import annotations

import numpy as np

from playground.figures import attention as pictures
from playground.figures import theme
from playground.inspection import attention as facts
from playground.inspection import masks
from playground.model.attention import scaled_dot_product_attention
from playground.ui import blocks
from playground.ui.view import View, texts, tokens

MOST_THUMBNAIL_CELLS = 400_000


def panel(view: View) -> dict:
    look, part = view.look, view.part
    rows, columns, side = axes(view, part)
    layer, head = chosen(view, part)
    weights, mask = view.weights, seen(view, part)
    thumbnails = {
        "kind": "heads",
        "id": "heads",
        "label": view.say("page.heads_label"),
        "layer": layer,
        "head": head,
        "weights": np.round(weights, 2).tolist() if weights.size <= MOST_THUMBNAIL_CELLS else [],
        "mask": mask.astype(int).tolist(),
        "colours": {
            "scale": theme.sequential(view.dark),
            "masked": theme.colors(view.dark)["masked"],
            "hatch": theme.colors(view.dark)["hatch"],
        },
    }
    parts = [{"value": name, "label": view.say(f"page.part_{name}"), "hue": name} for name in ("encoder", "decoder", "cross")]
    feeds = [{"value": "output", "label": view.say("page.feed_output")}, {"value": "reference", "label": view.say("page.feed_reference")}]
    asks = tokens(rows, look.right if part != "encoder" else None, look.probabilities if part != "encoder" else None)
    lines = [
        {"label": view.say(f"figures.rows_{part}"), "tokens": asks, "side": side[0]},
        {"label": view.say(f"figures.columns_{part}"), "tokens": tokens(columns), "side": side[1]},
    ]
    return {
        "step": look.step,
        "uses": ["text", "step", "part", "layer", "head", "q", "k", "target"],
        "blocks": [
            blocks.row(
                "choices",
                blocks.choice("part", "part", view.say("page.part"), parts, part, resets={"q": "", "k": "", "layer": "", "head": ""}),
                blocks.choice(
                    "feed",
                    "target",
                    view.say("page.feed"),
                    feeds,
                    "reference" if view.parameters.get("target") == "reference" else "output",
                ),
                css="controls",
            ),
            blocks.row(
                "main",
                blocks.column("large", *large(view, "attention")),
                blocks.column("small", thumbnails, blocks.chips("tokens", *lines)),
                css="large-small",
            ),
            blocks.text("what", view.say(f"page.part_{part}_about"), css="pg-caption"),
            blocks.code("source", scaled_dot_product_attention),
        ],
    }


def axes(view: View, part: str) -> tuple[tuple, tuple, tuple[str, str]]:
    """Who asks (rows), who answers (columns), and the sides of the sentence they stand on."""
    look = view.look
    return {
        "encoder": (look.source, look.source, ("src", "src")),
        "decoder": (look.asked, look.fed, ("tgt", "fed")),
        "cross": (look.asked, look.source, ("tgt", "src")),
    }[part]


def seen(view: View, part: str) -> np.ndarray:
    """True where a query may look, by the model's own mask functions: (Q, K)."""
    source, fed = [piece.id for piece in view.look.source], [piece.id for piece in view.look.fed]
    found = masks.batch([source], [fed])
    mask = {"encoder": found["padding"], "decoder": found["target"], "cross": found["memory"]}[part][0]
    return np.broadcast_to(mask, (len(source) if part == "encoder" else len(fed), mask.shape[-1]))


def chosen(view: View, part: str) -> tuple[int, int]:
    """The head of the cursor, or the one that is worth a first look: best aligned where the task says so, else the most decided."""
    weights = getattr(view.look, part)
    layers, heads = weights.shape[:2]
    alignment = view.look.alignment if part == "cross" else None
    if alignment and any(at is not None for at in alignment):
        place = facts.aligned(*weights.shape[2:], alignment)
        scores = np.array([[facts.mass(weights[layer, head], place) for head in range(heads)] for layer in range(layers)])
    else:
        scores = -facts.entropy(weights).mean(axis=-1)
    best = np.unravel_index(int(scores.argmax()), scores.shape)
    return view.head(layers, heads, (int(best[0]), int(best[1])))


def large(view: View, id: str, part: str | None = None) -> list[dict]:
    """The large picture of one head with its caption, and what the pinned cell says."""
    part = part or view.part
    rows, columns, _ = axes(view, part)
    layer, head = chosen(view, part)
    weights, mask = getattr(view.look, part)[layer, head], seen(view, part)
    pinned = view.pinned(*weights.shape)
    row = view.row(weights.shape[0])
    alignment = view.look.alignment if part == "cross" else None
    wide = view.width if view.width < 700 else int(view.width * 0.52)
    picture = pictures.matrix(
        weights,
        texts(rows),
        texts(columns),
        mask=mask,
        kind=part,
        pinned=pinned,
        alignment=alignment,
        width=wide,
        dark=view.dark,
        labels=view.labels,
    )
    title = view.say("page.head_title", part=view.say(f"page.part_{part}"), layer=layer + 1, head=head + 1)
    found = [blocks.figure(id, picture, caption(view, part, layer, head, weights, mask), title)]
    if pinned:
        q, k = pinned
        value = view.say("page.cell_masked") if not mask[q, k] else f"{weights[q, k]:.4f}"
        found.append(
            blocks.text(
                f"{id}-cell",
                view.say("page.cell", asks=rows[q].text, row=q + 1, answers=columns[k].text, column=k + 1, value=value),
                css="pg-cell",
            )
        )
    elif row is not None:
        k = int(weights[row].argmax())
        found.append(
            blocks.text(
                f"{id}-cell",
                view.say("page.row", asks=rows[row].text, row=row + 1, answers=columns[k].text, value=f"{weights[row, k]:.3f}"),
                css="pg-cell",
            )
        )
    return found


def caption(view: View, part: str, layer: int, head: int, weights: np.ndarray, mask: np.ndarray) -> str:
    """What to see in this head, computed from its weights: where it looks, how much of that is right, and what the mask does."""
    alignment = view.look.alignment if part == "cross" else None
    rows, columns, _ = axes(view, part)
    found = [facts.facts(weights, part, mask=mask, alignment=alignment, rows=texts(rows), columns=texts(columns))]
    if alignment and found[0].key != "figures.looks_aligned":
        found.append(facts.alignment_fact(weights, alignment))
    found.append(facts.masked_fact(weights, mask, "future"))
    said = [view.say(fact.key, **{"layer": layer + 1, "head": head + 1, **fact.values}) for fact in found if fact]
    return " ".join([*said, view.step_note(view.look.step)]).strip()
