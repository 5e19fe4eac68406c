"""One open stage of the map as blocks: its numbers large, its shape, formula and code, and the derivation of the chosen cell."""

from typing import NamedTuple

import numpy as np

from playground.config import Refusal
from playground.cursor import MAX_EDITS
from playground.features import map as kinds
from playground.features.map.layout import choose_scale, find_limit, list_path, slice_mask, slice_stage
from playground.features.shared import blocks as make, derivation as derivation_view
from playground.features.shared.figures import tensor as pictures
from playground.features.shared.queries.activations import EditedActivations, SentenceActivations
from playground.features.shared.view import NARROW, View, steps, texts
from playground.inspection import Fact, tensors
from playground.inspection.activations import Stage
from playground.inspection.arithmetic import Derivation
from playground.inspection.edits import FIXED, MAX_VALUE, TensorEdit
from playground.inspection.formulas import StageInfo, describe
from playground.words import paragraph

WINDOWS = (128, 64)  # columns in a window of a large picture: the largest whose cells are MIN_CELL px wide
MIN_CELL = 4
MAX_DIGIT_ROWS = 40  # rows up to which cells can show digits
PICTURE_SHARE, TOUR_SHARE = 0.44, 0.68  # of the width: the most a picture may take to leave room for the arithmetic (see map.css)
WIDE_PAGE = 780  # px: from this width on the arithmetic is beside every picture
UNDER_STRIP, MIN_STRIP = 200, 170  # px: the slider and margins of a windowed picture; its least height
TOUR_HEIGHT = 330  # px above a picture on the tour
CLICKABLE_CELL = 12  # px: least width of a clickable cell beside the arithmetic
LIKELIEST = 40  # tokens shown of a large vocabulary
COUNTED = "masked"  # the stage whose cells a stop counts; the other stops ask for a number on a cell
LETTERS = {
    "S": "source", "T": "target", "L": "joined", "H": "heads", "D": "width", "K": "size", "U": "value_size", "F": "inner",
    "V": "vocabulary",
}  # fmt: skip


class Passes(NamedTuple):
    """The pass that the map shows with the derivation of the chosen cell; the passes before and after edits, or why there are none."""

    forward: SentenceActivations
    derivation: Derivation | None
    edited: EditedActivations | None = None
    edits: tuple[TensorEdit, ...] = ()
    refusal: Refusal | None = None


def build_stage(
    view: View, passes: Passes, stage: Stage, head: int, at: tuple[int, int] | None, brief: bool, effect: list[dict]
) -> list[dict]:  # fmt: skip
    """Builds everything about one stage; `head` counts from 0 and only matters where the stage has heads; the calculation is that of the
    chosen cell `at`, under the `effect` of edits. `brief` (on the tour) drops formula, code and caption, which the tour has, hides no
    answer, and is lower."""
    forward, derivation, edited, *_ = passes
    before = edited.before.stages[stage.address].values if edited else None
    values, explanation = slice_stage(stage.values, stage, head), describe(view.run.experiment.model, stage)
    rows, row_title, row_side = name_rows(view, forward, stage)
    columns, column_title, column_side = name_columns(view, forward, stage)
    chosen = at if at and at[0] < values.shape[0] and at[1] < values.shape[1] else None
    secret = not brief and view.choice("hide") == "on" and derivation_view.has_question(derivation)
    mask = slice_mask(stage, head)
    picture_width = int(view.width * (TOUR_SHARE if brief else PICTURE_SHARE))
    is_clickable = view.width >= NARROW and picture_width >= CLICKABLE_CELL * len(columns)
    side_by_side = view.width >= WIDE_PAGE or is_clickable or pictures.readable(len(rows), len(columns), picture_width, names=rows)
    width = picture_width if side_by_side and view.width >= NARROW else view.width
    is_read, fits = brief and stage.name != COUNTED, pictures.readable(len(rows), len(columns), width, names=rows)
    offers = not (brief or fits) and len(rows) <= MAX_DIGIT_ROWS and stage.axes[-1] not in "STL" and not _shows_likeliest(stage)
    digits = not fits if is_read else offers and view.choice("digits") == "on"
    size = _measure_window(width, rows, digits)
    window = _choose_columns(view, stage, values, chosen, size)
    tallest = view.below(TOUR_HEIGHT if brief else 140) if len(window) == len(columns) else max(view.tallest - UNDER_STRIP, MIN_STRIP)
    picture = view.draw(
        pictures.heatmap,
        values[:, window],
        rows,
        [columns[at] for at in window],
        kind=stage.part,
        scale=choose_scale(stage),
        limit=find_limit(stage, head),
        mask=None if mask is None else mask[:, window],
        chosen=(chosen[0], window.index(chosen[1])) if chosen and chosen[1] in window else None,
        secret=secret,
        titles=(row_title, column_title),
        at=window,
        sides=(row_side, column_side),
        width=width,
        tallest=max(tallest, pictures.ROW * len(rows)) if is_read else tallest,
    )
    if before is not None and not secret:
        picture = pictures.show_before(picture, slice_stage(before, stage, head)[:, window], values[:, window], view.dark)
    facts = tensors.facts(tensors.view_tensor(stage, forward.stages, head, rows, columns))
    if stage.name == "weights" and stage.address in {edit.name for edit in passes.edits}:
        facts = [Fact("edits.rows", {})]  # the rest is true of rows that sum to 1
    caption = "" if brief else view.say("map.caption_hidden") if secret else paragraph(view.say(fact.key, **fact.values) for fact in facts)
    cell = view.say("map.cell", row=rows[chosen[0]], column=columns[chosen[1]]) if chosen else ""
    large = make.figure("stage", picture, paragraph([caption, view.step_note(forward.step)]), _write_title(view, stage, head))
    cells = make.row("cells", *_build_cell_controls(view, rows, columns, chosen, window, stage, size, digits, offers), css="controls")
    code = None if brief else make.code("source", explanation.source, lit=explanation.lines)
    formula, shape = _build_formula(view, explanation)
    calculation = derivation_view.build_sums(view, forward, derivation, cell, secret, brief)
    if chosen and before is not None and derivation is None:
        calculation = [make.text("typed-over", view.say("edits.typed_here"), css="pg-caption")]
    editor = _build_editor(view, stage, head, chosen, cell, derivation) if chosen and not brief and not secret else None
    sums = make.column("arithmetic", None if brief else formula, shape, editor, *effect, *calculation, code)
    if side_by_side:
        return [make.row("sides", make.column("picture", large, cells), sums, css="map-sides")]
    return [large, cells, sums]


def _write_title(view: View, stage: Stage, head: int) -> str:
    names = list_path(view, stage)
    title = f"{names[-1]} · {' › '.join(names[:-1])}"
    return title if stage.axes[0] != "H" else f"{title} · {view.say('map.head_of', head=head + 1, heads=stage.values.shape[0])}"


def _build_formula(view: View, explanation: StageInfo) -> list[dict]:
    """Builds the paper's formula, and the shape: (H, T, S) = (4, 6, 6), heads, target tokens, source tokens."""
    size_names = LETTERS | ({"K": "own_size"} if view.run.experiment.model.d_k else {})
    names = view.say("map.and").join(view.say(f"map.letter_{size_names[letter]}") for letter in explanation.letters)
    letters, sizes = ", ".join(explanation.letters), ", ".join(map(str, explanation.sizes))
    return [
        make.text("formula", view.say(explanation.key, **explanation.values), css="map-formula"),
        make.text("shape", view.say("map.shape", letters=letters, sizes=sizes, names=names), css="pg-caption"),
    ]


def _build_editor(
    view: View, stage: Stage, head: int, chosen: tuple[int, int], cell: str, derivation: Derivation | None
) -> dict:  # fmt: skip
    """Builds the line in which the chosen cell, or a learned number of its calculation, is typed over."""
    if stage.name in FIXED:
        return make.text("editor-none", view.say("edits.fixed"), css="pg-caption")
    index = (head, *chosen) if stage.axes[0] == "H" else chosen
    place = f"{stage.address}:{','.join(map(str, index))}"
    targets = [{"place": place, "label": cell, "value": f"{stage.values[index].item():.6g}", "matrix": ""}]
    numbers = [(term.right, term.right_value) for term in derivation.terms] if derivation else []
    numbers += [(lead.label, lead.value) for lead in derivation.leads] if derivation else []
    for label, value in numbers:
        if label and label.parameter and label.name not in ("cos", "sin", "minus_sin"):
            target = {"place": derivation_view.find_target(label), "label": label.text, "value": value, "matrix": label.parameter}
            targets.append(target)
    words = {name: view.say(f"edits.{name}") for name in ("label", "number", "set", "random", "hint", "no_number", "many")}
    return kinds.editor("editor", targets, MAX_EDITS, MAX_VALUE, words)


def name_rows(view: View, forward: SentenceActivations, stage: Stage) -> tuple[list[str], str, str]:
    """Returns the names of the rows, the title of their axis, and their side of the sentence."""
    letter = stage.axes[1] if stage.axes[0] == "H" else stage.axes[0]
    if letter == "S":
        return texts(forward.source), view.say("map.axis_source"), "src"
    inputs = texts(forward.fed)
    if letter == "L":
        return _name_joined(view, forward, stage.axes[-1] == "L")
    if len(stage.axes) == 1 or stage.axes[-1] not in "TSV":
        return inputs, view.say("map.axis_fed"), "fed"
    title = "map.axis_next" if stage.axes[-1] == "V" else "map.axis_asks"
    return steps(forward), view.say(title), "tgt"  # attention, logits and probabilities belong to the next token


def _name_joined(view: View, forward: SentenceActivations, is_query: bool) -> tuple[list[str], str, str]:
    """Returns the same for the rows of a decoder-only model: the source, then the target. No side of the sentence has them all."""
    target = steps(forward) if is_query else texts(forward.fed)
    return [*texts(forward.source), *target], view.say("map.axis_joined_asks" if is_query else "map.axis_joined"), ""


def name_columns(view: View, forward: SentenceActivations, stage: Stage) -> tuple[list[str], str, str]:
    """Returns the same for the columns. Dimensions count from 1."""
    letter = stage.axes[-1]
    if len(stage.axes) == 1:
        return [view.say("map.axis_id")], "", ""
    if letter == "V":
        tokenizer = view.run.tokenizers[1]
        return [tokenizer.piece(id) for id in range(stage.values.shape[-1])], view.say("map.axis_vocabulary"), ""
    if letter == "S":
        return texts(forward.source), view.say("map.axis_src_answers"), "src"
    if letter == "T":
        return texts(forward.fed), view.say("map.axis_fed_answers"), "fed"
    if letter == "L":
        return _name_joined(view, forward, is_query=False)[0], view.say("map.axis_joined_answers"), ""
    letter = "K" if letter == "U" else letter  # the column of a head, whatever its size
    return [str(at + 1) for at in range(stage.values.shape[-1])], view.say(f"map.axis_{LETTERS[letter]}"), ""


def _choose_columns(view: View, stage: Stage, values: np.ndarray, chosen: tuple[int, int] | None, size: int) -> list[int]:
    """Returns the columns shown: all, the requested window of this `size`, or the likeliest of a large vocabulary."""
    total = values.shape[1]
    if _shows_likeliest(stage):
        likeliest = np.argsort(-values.max(axis=0), kind="stable")[: _count_likeliest(size)].tolist()
        return sorted({*likeliest, chosen[1]} if chosen else likeliest)
    first_column = view.number("window", total - 1)
    first = (first_column if first_column is not None else chosen[1] if chosen else 0) // size * size
    return list(range(first, min(first + size, total)))


def _shows_likeliest(stage: Stage) -> bool:
    return stage.axes[-1] == "V" and stage.values.shape[-1] > LIKELIEST


def _count_likeliest(size: int) -> int:
    """Returns how many tokens of a large vocabulary a window shows beside the chosen one."""
    return min(LIKELIEST, size - 1)


def _measure_window(width: int, rows: list[str], digits: bool) -> int:
    """Returns the number of columns in a window on `width` px: fewer if their cells show digits."""
    window = next((size for size in WINDOWS if (width - pictures.BESIDE) / size >= MIN_CELL), WINDOWS[-1])
    return min(max(pictures.max_columns(len(rows), width, names=rows), 1), window) if digits else window


def _build_cell_controls(
    view: View,
    rows: list[str],
    columns: list[str],
    chosen: tuple[int, int] | None,
    window: list[int],
    stage: Stage,
    size: int,
    digits: bool,
    offers: bool,
) -> list[dict]:
    """Builds the keyboard choice of a cell, the switch for `digits` if it `offers` one, and the slider to other columns."""
    total, has_tokens = len(columns), stage.axes[-1] in "STL"
    pick = kinds.pick(
        "pick",
        [f"{at + 1} · {text}" for at, text in enumerate(rows)],
        [{"value": at, "label": f"{at + 1} · {columns[at]}" if has_tokens else columns[at]} for at in range(total)],
        *(chosen or (None, None)),
        words={name: view.say(f"map.pick_{name}") for name in ("label", "row", "column")},
    )
    controls = [pick]
    if _shows_likeliest(stage):
        count = _count_likeliest(size)
        key = "map.only_likeliest" if len(window) == count else "map.only_likeliest_and"
        return [*controls, make.text("left-out", view.say(key, shown=count, total=total), css="pg-caption")]
    if offers:
        options = [{"value": value, "label": view.say(f"map.digits_{value or 'off'}")} for value in ("", "on")]
        controls.append(make.choice("digits", "digits", view.say("map.digits"), options, "on" if digits else ""))
    if total > size:
        last = (total - 1) // size * size
        controls.insert(0, make.slider("window", "window", view.say("map.window", total=total), window[0], last, step=size, first=1))
    return controls
