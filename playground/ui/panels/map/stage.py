"""One open stage of the map, as blocks: its numbers large, its shape, formula and code, and how the chosen cell came to be."""

from __future__ import annotations

import numpy as np

from playground.figures import tensor as pictures
from playground.inspection import tensors
from playground.inspection.activations import Stage
from playground.inspection.arithmetic import Derivation
from playground.inspection.formulas import StageInfo, describe
from playground.queries.activations import SentenceActivations
from playground.ui import blocks as make
from playground.ui.panels.map import derivation_view
from playground.ui.panels.map.layout import path, scale, seen_of, slice_of, strongest
from playground.ui.view import NARROW, View, steps, texts
from playground.words import paragraph

WINDOWS = (128, 64)  # columns of a large picture, of which the others are scrolled into sight: the most whose cells are so many px wide
STRIP = 4
TALL = 40  # rows in which numbers can still be written
PICTURE = 0.44  # of the width: as much as a picture may take for the arithmetic to stand beside it
ROOMY = 780  # px of a page on which the arithmetic stands beside every picture
UNDER_STRIP, LEAST_STRIP = 200, 170  # px: more round the picture of a part of the columns, with what scrolls it; the least of one
STOP = 330  # px: more above a picture, on a tour
CELL = 12  # px across that a cell needs to be hit, where the arithmetic stands beside it
LIKELIEST = 40  # tokens of a large vocabulary that are shown
LETTERS = {"S": "source", "T": "target", "H": "heads", "D": "width", "K": "size", "U": "value_size", "F": "inner", "V": "vocabulary"}


def blocks(
    view: View,
    found: SentenceActivations,
    derivation: Derivation | None,
    stage: Stage,
    head: int,
    at: tuple[int, int] | None,
    brief: bool = False,
) -> list[dict]:
    """Everything about one stage; `head` counts from 0 and only matters where the stage has heads; `at` is the chosen cell, of which
    `derivation` is the calculation. What is `brief` has neither formula nor code nor a caption, hides nothing and is lower: the tour,
    which stands above it, says the first and asks for a number."""
    values, known = slice_of(stage.values, stage, head), describe(view.run.experiment.model, stage)
    rows, row_title, row_side = rows_of(view, found, stage)
    columns, column_title, column_side = columns_of(view, found, stage)
    chosen = at if at and at[0] < values.shape[0] and at[1] < values.shape[1] else None
    secret = not brief and view.choice("hide") == "on" and derivation_view.asks(derivation)
    mask = seen_of(stage, head)
    part = int(view.width * PICTURE)
    hit = view.width >= NARROW and part >= CELL * len(columns)
    beside = view.width >= ROOMY or hit or pictures.readable(len(rows), len(columns), part, names=rows)
    width = part if beside else view.width
    digits = _narrow(stage, width) if brief else _written(view, len(rows))
    shown = _window(view, stage, values, chosen, width, digits)
    picture = view.draw(
        pictures.heatmap,
        values[:, shown],
        rows,
        [columns[at] for at in shown],
        kind=stage.part,
        scale=scale(stage),
        limit=strongest(stage, head),
        mask=None if mask is None else mask[:, shown],
        chosen=(chosen[0], shown.index(chosen[1])) if chosen and chosen[1] in shown else None,
        secret=secret,
        titles=(row_title, column_title),
        at=shown,
        sides=(row_side, column_side),
        width=width,
        tallest=view.below(STOP if brief else 140) if len(shown) == len(columns) else max(view.tallest - UNDER_STRIP, LEAST_STRIP),
    )
    said = tensors.facts(tensors.view_tensor(stage, found.stages, head, rows, columns))
    caption = "" if brief else view.say("map.caption_hidden") if secret else paragraph(view.say(fact.key, **fact.values) for fact in said)
    cell = view.say("map.cell", row=rows[chosen[0]], column=columns[chosen[1]]) if chosen else ""
    large = make.figure("stage", picture, paragraph([caption, view.step_note(found.step)]), _title(view, stage, head))
    cells = make.row("cells", *_cells(view, rows, columns, chosen, shown, stage, width, digits, brief), css="controls")
    code = None if brief else make.code("source", known.source, lit=known.lines)
    formula, shape = _about(view, known)
    calculation = derivation_view.blocks(view, found, derivation, cell, secret, brief)
    sums = make.column("arithmetic", None if brief else formula, shape, *calculation, code)
    if beside:
        return [make.row("sides", make.column("picture", large, cells), sums, css="map-sides")]
    return [large, cells, sums]


def _title(view: View, stage: Stage, head: int) -> str:
    names = path(view, stage)
    title = f"{names[-1]} · {' › '.join(names[:-1])}"
    return title if stage.axes[0] != "H" else f"{title} · {view.say('map.head_of', head=head + 1, heads=stage.values.shape[0])}"


def _about(view: View, known: StageInfo) -> list[dict]:
    """The paper's formula, and the shape: (H, T, S) = (4, 6, 6), which is heads, target tokens, source tokens."""
    called = LETTERS | ({"K": "own_size"} if view.run.experiment.model.d_k else {})
    names = view.say("map.and").join(view.say(f"map.letter_{called[letter]}") for letter in known.letters)
    letters, sizes = ", ".join(known.letters), ", ".join(map(str, known.sizes))
    return [
        make.text("formula", view.say(known.key, **known.values), css="map-formula"),
        make.text("shape", view.say("map.shape", letters=letters, sizes=sizes, names=names), css="pg-caption"),
    ]


def rows_of(view: View, found: SentenceActivations, stage: Stage) -> tuple[list[str], str, str]:
    """What the rows are called, the title of their axis, and the side of the sentence they stand on."""
    letter = stage.axes[1] if stage.axes[0] == "H" else stage.axes[0]
    if letter == "S":
        return texts(found.source), view.say("map.axis_source"), "src"
    read = texts(found.fed)
    if len(stage.axes) == 1 or stage.axes[-1] not in "TSV":
        return read, view.say("map.axis_fed"), "fed"
    title = "map.axis_next" if stage.axes[-1] == "V" else "map.axis_asks"
    return steps(found), view.say(title), "tgt"  # attention, logits and probabilities are about the token to come


def columns_of(view: View, found: SentenceActivations, stage: Stage) -> tuple[list[str], str, str]:
    """The same of the columns. Dimensions count from 1."""
    letter = stage.axes[-1]
    if len(stage.axes) == 1:
        return [view.say("map.axis_id")], "", ""
    if letter == "V":
        tokenizer = view.run.tokenizers[1]
        return [tokenizer.piece(id) for id in range(stage.values.shape[-1])], view.say("map.axis_vocabulary"), ""
    if letter == "S":
        return texts(found.source), view.say("map.axis_src_answers"), "src"
    if letter == "T":
        return texts(found.fed), view.say("map.axis_fed_answers"), "fed"
    letter = "K" if letter == "U" else letter  # a column of a head, of whichever size
    return [str(at + 1) for at in range(stage.values.shape[-1])], view.say(f"map.axis_{LETTERS[letter]}"), ""


def _window(view: View, stage: Stage, values: np.ndarray, chosen: tuple[int, int] | None, width: int, digits: bool) -> list[int]:
    """The columns that are shown on `width` px: all of them, those of the window asked for, or of a large vocabulary the likeliest."""
    total = values.shape[1]
    if _only_likeliest(stage):
        best = np.argsort(-values.max(axis=0), kind="stable")[:LIKELIEST].tolist()
        return sorted({*best, chosen[1]} if chosen else best)
    size = _size(width, digits)
    asked = view.number("window", total - 1)
    first = (asked if asked is not None else chosen[1] if chosen else 0) // size * size
    return list(range(first, min(first + size, total)))


def _only_likeliest(stage: Stage) -> bool:
    return stage.axes[-1] == "V" and stage.values.shape[-1] > LIKELIEST


def _size(width: int, digits: bool) -> int:
    """Columns of one window on `width` px: fewer when their numbers are to be written on them."""
    window = next((size for size in WINDOWS if (width - pictures.BESIDE) / size >= STRIP), WINDOWS[-1])
    return min(pictures.max_columns(width), window) if digits else window


def _written(view: View, rows: int) -> bool:
    return view.choice("digits") == "on" and rows <= TALL


def _narrow(stage: Stage, width: int) -> bool:
    """Whether the dimensions of a stage are too many for their cells to be hit on `width` px."""
    return stage.axes[-1] not in "STV" and (width - pictures.BESIDE) / stage.values.shape[-1] < CELL


def _cells(
    view: View,
    rows: list[str],
    columns: list[str],
    chosen: tuple[int, int] | None,
    shown: list[int],
    stage: Stage,
    width: int,
    digits: bool,
    brief: bool,
) -> list[dict]:
    """Choosing a cell without a mouse, seeing the numbers (which is no choice where all is `brief`), and moving on to other columns."""
    total, size = len(columns), _size(width, digits)
    tokens = stage.axes[-1] in "ST"
    pick = make.pick(
        "pick",
        [f"{at + 1} · {text}" for at, text in enumerate(rows)],
        [{"value": at, "label": f"{at + 1} · {columns[at]}" if tokens else columns[at]} for at in range(total)],
        *(chosen or (None, None)),
        words={name: view.say(f"map.pick_{name}") for name in ("label", "row", "column")},
    )
    found = [pick]
    if _only_likeliest(stage):
        key = "map.only_likeliest" if len(shown) == LIKELIEST else "map.only_likeliest_and"
        return [*found, make.text("left-out", view.say(key, shown=LIKELIEST, total=total), css="pg-caption")]
    if total > pictures.max_columns(width) and len(rows) <= TALL and not tokens and not brief:
        options = [{"value": value, "label": view.say(f"map.digits_{value or 'off'}")} for value in ("", "on")]
        found.append(make.choice("digits", "digits", view.say("map.digits"), options, "on" if digits else ""))
    if total > size:
        last = (total - 1) // size * size
        found.insert(0, make.slider("window", "window", view.say("map.window", total=total), shown[0], last, step=size, first=1))
    return found
