"""One attention head, wherever it is drawn: which head, its mask, the names of its axes, its picture and its caption."""

import numpy as np

from playground.features.shared import blocks
from playground.features.shared.blocks import Saved
from playground.features.shared.figures import attention as pictures, tensor, theme
from playground.features.shared.figures.tokens import longest, shortened
from playground.features.shared.naming import part_key
from playground.features.shared.queries.reader import REFERENCE
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import LARGE, View, steps, texts
from playground.inspection import Fact, attention as facts, masks, short
from playground.inspection.heads import HeadScores, NamedHead
from playground.model.masks import causal_mask
from playground.words import known, paragraph

MAX_THUMBNAIL_CELLS = 400_000
CLEARER_MARGIN = 0.2  # more weight on the right places that another head needs before the page mentions it


def choose_head(view: View, part: str) -> tuple[int, int]:
    """Returns (layer, head) of the cursor, counted from 0; else the head the page already shows, so that neither a step nor a sentence
    changes it; else the best head by the run's newest parameters. With "follow" on, the best head of each step."""
    model = view.run.experiment.model
    layers, heads = model.attention_layers(part), model.n_heads
    if view.choice("follow") == "on":
        return find_best_head(view.look, part)
    head = view.head(layers, heads) or view.shown_head(part, layers, heads)
    if head:
        return head
    look = view.reader.look(view.run, None, view.text, REFERENCE, known=view.look if view.step is None else None)
    return find_best_head(look, part)


def find_best_head(look: SentenceTrace, part: str) -> tuple[int, int]:
    """Returns (layer, head) of the best aligned head where the task has an alignment, else of the lowest mean entropy."""
    aligned = _measure_alignment(look, part)
    scores = -facts.entropy(getattr(look, part)).mean(axis=-1) if aligned is None else aligned
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def find_clearer_head(look: SentenceTrace, part: str, layer: int, head: int) -> tuple[int, int] | None:
    """Returns a head that keeps to the right places far better than this one; None if there is none."""
    scores, other = _measure_alignment(look, part), find_best_head(look, part)
    return other if scores is not None and scores[other] >= scores[layer, head] + CLEARER_MARGIN else None


def _measure_alignment(look: SentenceTrace, part: str) -> np.ndarray | None:
    """Returns each head's mean weight (L, H) on the places of the task's alignment; None without an alignment."""
    if part != "cross" or not look.alignment or all(at is None for at in look.alignment):
        return None
    return facts.alignment_mass(look.cross, look.alignment)


def format_head(part: str, layer: int, head: int) -> str:
    """Formats a head as the page stores it and sends it with its next request (see `View.held`)."""
    return f"{part}.{layer + 1}.{head + 1}"


def build_small_heads(
    view: View, id: str, label: str, selected: tuple[int, int] | None, weights: np.ndarray, mask: np.ndarray,
    names: list | None = None, tall: int = 0,
) -> dict:  # fmt: skip
    """Builds a thumbnail of each head of `weights` (L, H, Q, K), without pictures when there are more than MAX_THUMBNAIL_CELLS."""
    small = np.round(weights, 2).tolist() if weights.size <= MAX_THUMBNAIL_CELLS else []
    layer, head = selected or (None, None)
    return blocks.heads(id, label, layer, head, small, mask.astype(int).tolist(), pick_colours(view), names, tall)


def name_head(view: View, name_key: str, part: str) -> str:
    """Translates a head's name; some names differ by kind of attention."""
    key = f"heads.name_{name_key}"
    return view.say(f"{key}_{part}" if known(view.language, f"{key}_{part}") else key)


def format_number(view: View, head: NamedHead) -> str:
    """Formats the number that supports a name; for a sharp head its entropy in bits."""
    if head.name == "sharp":
        return view.say("heads.sharp_bits", bits=f"{head.number:.2f}")
    return "" if head.number is None else f"{head.number:.2f}"


def label_heads(view: View, scored: HeadScores, part: str) -> list[list[list[str]]]:
    """Returns the name and its supporting number for each layer and head."""
    return [[[name_head(view, head.name, part), format_number(view, head)] for head in layer] for layer in scored.heads]


def pick_colours(view: View) -> dict:
    """Returns the colours of thumbnails."""
    palette = theme.colors(view.dark)
    return {"scale": theme.sequential(view.dark), "masked": palette["masked"], "hatch": palette["hatch"]}


def write_title(view: View, part: str, layer: int, head: int) -> str:
    return view.say("page.head_title", part=view.say(part_key(view.run, part)), layer=layer + 1, head=head + 1)


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
    alteration = view.run.experiment.model.alteration
    if part == "encoder" and alteration.causal:
        mask = mask & causal_mask(len(source))[0, 0].numpy()
    if alteration.kind == "bug":
        mask = np.ones_like(mask)
    return np.broadcast_to(mask, (len(source) if part == "encoder" else len(fed), mask.shape[-1]))


def compute_joined_mask(view: View) -> np.ndarray:
    """Returns the mask (S + T, S + T) of a decoder-only model's whole matrix."""
    source, fed = ([piece.id for piece in side] for side in (view.look.source, view.look.fed))
    return masks.join_pair(source, fed, view.run.experiment.model.alteration.causal)


def draw_joined_head(view: View, layer: int, head: int) -> dict:
    """Draws the whole matrix of a head of a decoder-only model; a cross of lines separates source and target."""
    source, fed = texts(view.look.source), texts(view.look.fed)
    words = {"rows_decoder": view.say("map.axis_joined_asks"), "columns_decoder": view.say("map.axis_joined_answers")}
    picture = view.draw(
        pictures.matrix, view.look.joined[layer, head], [*source, *steps(view.look)], [*source, *fed], mask=compute_joined_mask(view),
        kind="decoder", labels=view.labels | words, **view.stage,
    )  # fmt: skip
    line = {"type": "line", "line": {"color": theme.colors(view.dark)["text"], "width": 1.5, "dash": "dot"}}
    at, end = len(source) - 0.5, len(source) + len(fed) - 0.5
    picture["layout"]["shapes"] += [line | {"x0": at, "x1": at, "y0": -0.5, "y1": end}, line | {"x0": -0.5, "x1": end, "y0": at, "y1": at}]
    caption = paragraph([view.say("heads.whole_caption"), view.fed_note, view.step_note(view.look.step)])
    title = view.say("page.head_title", part=view.say("heads.view_whole"), layer=layer + 1, head=head + 1)
    return blocks.figure("attention", _forbid_pins(picture), caption, title)


def draw_large_head(
    view: View, id: str, part: str | None = None, stage: bool = False, chosen: tuple[int, int] | None = None, lead: str = ""
) -> list[dict]:
    """Draws one head large, with its caption, which `lead` begins, and the sentence on the pinned cell; on the `stage` of its tab, or as
    large as a column."""
    part = part or view.part
    rows, columns = name_axes(view, part)
    layer, head = chosen or choose_head(view, part)
    weights, mask = getattr(view.look, part)[layer, head], compute_mask(view, part)
    picture = draw_matrix(view, part, weights, mask, **(view.stage if stage else {}))
    caption = write_caption(view, part, layer, head, weights, mask, lead)
    figure = blocks.figure(id, picture, caption, write_title(view, part, layer, head), saved=describe_file(view, part, layer, head))
    return [figure, *describe_pinned(view, id, weights, mask, rows, columns)]


def draw_threads(view: View, part: str, chosen: tuple[int, int], lead: str = "", stage: bool = False) -> list[dict]:
    """Draws one head as threads from its queries to its keys, each as wide as its weight, and the sentence on the pinned cell. Pointing at
    or pinning a query shows only its row. A decoder row is named by its next token alone: its output. On the `stage` of its tab, or as
    large as a column."""
    weights, mask, palette = getattr(view.look, part)[chosen], compute_mask(view, part), theme.colors(view.dark)
    (rows, columns), pinned = name_axes(view, part), view.pinned(*getattr(view.look, part).shape[2:])
    width, tall = (view.stage["width"], view.stage["stage"]) if stage and view.stage else (view.room(LARGE), 0)
    outputs, most = rows if part == "encoder" else texts(view.look.targets), longest(width)
    threads = blocks.lines(
        "lines",
        write_title(view, part, *chosen),
        f"{write_caption(view, part, *chosen, weights, mask, lead)} {view.say('heads.lines_caption')}",
        part,
        rows=rows,
        columns=columns,
        short={"rows": [shortened(text, most) for text in outputs], "columns": [shortened(text, most) for text in columns]},
        weights=theme.rounded(weights),
        mask=mask.astype(int).tolist(),
        alignment=view.look.alignment if part == "cross" else None,
        saved=describe_file(view, part, *chosen),
        hint=view.say("heads.lines_hint"),
        row=view.row(len(rows)),
        column=pinned[1] if pinned else None,
        width=width,
        tall=tall,
        colours={"hue": theme.hue(part, view.dark), "guide": palette["second"]},
        words={
            "query": view.labels["rows_encoder"] if part == "encoder" else view.say("heads.lines_outputs"),
            "key": view.labels[f"columns_{part}"],
            "weight": view.labels["weight"],
            "right_place": view.labels["right_place"],
        },
    )
    return [threads, *describe_pinned(view, "lines", weights, mask, rows, columns)]


def build_view_choice(view: View, first: str = "matrix") -> dict:
    """Builds the choice between two views of one head: the matrix, or what the page calls `first`, and the threads."""
    options = [{"value": value, "label": view.say(f"heads.view_{name}")} for value, name in (("matrix", first), ("lines", "lines"))]
    return blocks.choice("view", "view", view.say("heads.view"), options, "lines" if view.choice("view") == "lines" else "matrix")


def draw_matrix(view: View, part: str, weights: np.ndarray, mask: np.ndarray, **options: object) -> dict:
    """Draws attention (Q, K) of this kind large; `options` as of `View.draw`."""
    rows, columns = name_axes(view, part)
    alignment = view.look.alignment if part == "cross" else None
    options |= {"pinned": view.pinned(*weights.shape), "alignment": alignment, "share": LARGE}
    return view.draw(pictures.matrix, weights, rows, columns, mask=mask, kind=part, **options)


def draw_map(view: View, values: np.ndarray, rows: list[str], columns: list[str], value: str, **options: object) -> dict:
    """Draws numbers (R, C) up to 1, each a `value`; `options` as of `View.draw`. A click pins a cell only if `fields` of the cursor are
    given: others would be pinned in other pictures."""
    picture = view.draw(tensor.heatmap, values, rows, columns, limit=1.0, labels=view.labels | {"value": value}, **options)
    return picture if "fields" in options else _forbid_pins(picture)


def _forbid_pins(picture: dict) -> dict:
    """Returns the picture, a click in which pins no cell of the other pictures."""
    for about in (picture["layout"], picture["data"][0]):
        about["meta"] = about["meta"] | {"cells": False}
    return picture


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
        value = view.say("page.cell_masked") if not mask[q, k] else format_weight(weights[q, k])
        sentence = view.say("page.cell", query_token=rows[q], row=q + 1, key_token=columns[k], column=k + 1, value=value)
    elif row is not None:
        k = int(weights[row].argmax())
        sentence = view.say("page.row", query_token=rows[row], row=row + 1, key_token=columns[k], value=f"{weights[row, k]:.3f}")
    else:
        return []
    return [blocks.text(f"{id}-cell", sentence, css="pg-cell")]


def write_caption(view: View, part: str, layer: int, head: int, weights: np.ndarray, mask: np.ndarray, lead: str = "") -> str:
    """Writes the caption, computed from the weights: `lead`, where the weight lies, its mass on the right places, the effect of the mask; a
    head that keeps to the right places far better; the decoder's input unless it is the reference; the step."""
    alignment = view.look.alignment if part == "cross" else None
    names, columns = name_axes(view, part)
    rows = names if part == "encoder" else texts(view.look.targets)
    statements = [facts.facts(weights, part, mask=mask, alignment=alignment, rows=rows, columns=columns, names=names)]
    if alignment and statements[-1].key != "figures.looks_aligned":
        statements.append(facts.alignment_fact(weights, alignment))
    if part == "cross" and view.step is None:
        statements.insert(0, facts.crossing_fact(weights, rows, columns))
    statements.append(facts.masked_fact(weights, mask, "future"))
    sentences = [say_fact(view, fact, layer, head) for fact in statements if fact]
    if view.step is None and (other := find_clearer_head(view.look, part, layer, head)):
        sentences.append(view.say("page.clearer_head", layer=other[0] + 1, head=other[1] + 1))
    sentences.append(write_fed_note(view, part))
    return paragraph([lead, *sentences, view.say("page.caption_step", step=view.look.step), view.step_note(view.look.step)])


def say_fact(view: View, fact: Fact, layer: int, head: int) -> str:
    """Writes a statement about a head, counted from 0."""
    values = {"layer": layer + 1, "head": head + 1, **fact.values}
    text = view.say(fact.key, **values)
    return view.say("figures.looks", pattern=text, **values) if fact.key.startswith("figures.looks_") else text


def format_weight(value: float) -> str:
    """Formats a weight with four decimals, or two significant digits below 0.001, so that only 0 is written as 0."""
    return f"{value:.4f}" if value >= 0.001 or value == 0 else short(value)


def write_fed_note(view: View, part: str) -> str:
    """Returns the note on the decoder's input (see `View.fed_note`); "" for the encoder, which doesn't depend on it."""
    return "" if part == "encoder" else view.fed_note
