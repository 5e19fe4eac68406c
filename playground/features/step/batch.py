"""The batch of a training step: its rows, its losses, and the sum behind a number."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from playground.config import PAD
from playground.features.shared import blocks, derivation as derivation_view
from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style
from playground.features.shared.view import LARGE, View
from playground.features.step.query import TakenStep
from playground.features.step.rows_query import BatchRows
from playground.inspection.arithmetic import SYMBOLS, Derivation, Label
from playground.inspection.backward import explain_loss, explain_mean
from playground.words import paragraph, printed

ROWS_SHOWN = 8  # rows of a batch at a time
ABOVE = 44  # px above the large picture: the moments of a step
SPELT_SHARE = 0.3  # of the largest value: a cell below has its token on hover
LEGIBLE_SHARE = 0.75  # of the tokens must fit uncut; <eos> may be cut among letters
BATCH_LABELS = ("x", "normed", "delta", "token_loss")  # labels of a token of the batch
SOURCE = ("src", "encoder")  # prefixes of modules that read source tokens
MEMORY = ("cross_attention.W_k", "cross_attention.W_v")  # and their suffixes
JOINED = ("layers", "decoder_norm", "src_positions")  # prefixes of modules that read both sides of a decoder-only model


def build_loss(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    """Builds the loss of every token, and the arithmetic of the chosen one's; of the mean while none is chosen."""
    slow, chosen = step.slow, view.inside("line", "place", rows.losses.shape)
    if chosen and rows.real[chosen]:
        target = int(rows.tgt_out[chosen])
        derivation = explain_loss(step.logits(*chosen), target, slow.live.label_smoothing, float(rows.losses[chosen]))
        name = spell_tokens(view, [target], "tgt")[0]
        title = view.say("step.sheet_token", token=name, row=chosen[0] + 1, place=chosen[1] + 1)
        sums = build_sheet(view, rows, derivation, title, "step.own_loss")
    else:
        places = [tuple(place) for place in np.argwhere(rows.real).tolist()]
        derivation = explain_mean(rows.losses[rows.real], places, slow.loss)
        sums = build_sheet(view, rows, derivation, view.say("step.sheet_mean"), "step.own_mean", still=True)
    worst = np.unravel_index(int(np.nanargmax(rows.losses)), rows.losses.shape)
    caption = view.say(
        "step.caption_loss",
        tokens=f"{slow.tokens:,}",
        padding=int((~rows.real).sum()),
        worst=spell_tokens(view, [rows.tgt_out[worst]], "tgt")[0],
        row=int(worst[0]) + 1,
        place=int(worst[1]) + 1,
        most=format_4g(float(rows.losses[worst])),
        even=format_4g(float(np.log(view.run.tokenizers[1].size))),
    )
    caption = paragraph([caption, _describe_rows(view, rows)])
    picture = _LossGrid(view, rows, rows.losses, change=False)
    layout = picture.lay_out("step-losses", caption, view.say("step.title_loss"), "arithmetic", [sums], view.say("step.invite_loss"))
    return [*layout, _build_shifted(view, rows, chosen[0] if chosen else find_first_row(view, rows))]


def build_after(view: View, step: TakenStep, rows: BatchRows) -> list[dict]:
    """Builds the change of each token's loss, and of the mean."""
    slow, change = step.slow, rows.losses_after - rows.losses
    fell, rose = (int((sign * change[rows.real] > 0).sum()) for sign in (-1, 1))
    caption = view.say("step.caption_after", fell=f"{fell:,}", rose=f"{rose:,}", tokens=f"{slow.tokens:,}")
    caption = paragraph([caption, _describe_rows(view, rows)])
    table = [
        [view.say("step.loss_before"), format_4g(slow.loss)],
        [view.say("step.loss_after"), format_4g(slow.loss_after)],
        [view.say("step.loss_change"), format_4g(slow.loss_after - slow.loss)],
    ]
    numbers = blocks.table("losses-table", ["", view.say("step.loss_column")], table, view.say("step.mean_title"), rowheads=True)
    key = "step.said_fell" if slow.loss_after < slow.loss else "step.said_rose"
    text = view.say(key, change=format_4g(abs(slow.loss_after - slow.loss)))
    picture, about = _LossGrid(view, rows, change, change=True), [numbers, blocks.text("said", text, "pg-caption")]
    return picture.lay_out("step-changes", caption, view.say("step.title_after"), "numbers", about)


def find_first_row(view: View, rows: BatchRows) -> int:
    """Returns the first shown row of the batch: the block of ROWS_SHOWN rows with the chosen one."""
    return (view.number("line", len(rows.tgt_out) - 1) or 0) // ROWS_SHOWN * ROWS_SHOWN


def _describe_rows(view: View, rows: BatchRows) -> str:
    """Writes the range of drawn rows, unless all are drawn."""
    first, count = find_first_row(view, rows), len(rows.tgt_out)
    return view.say("step.rows_shown", first=first + 1, last=min(first + ROWS_SHOWN, count), rows=count) if count > ROWS_SHOWN else ""


def build_sliders(view: View, rows: BatchRows) -> list[dict]:
    """Builds sliders for a token's row and place, since a cell is too small for a finger."""
    count, length = rows.tgt_out.shape
    line, place = view.number("line", count - 1) or 0, view.number("place", length - 1) or 0
    return [
        blocks.slider("line", "line", view.say("step.line"), line, count - 1, first=1),
        blocks.slider("place", "place", view.say("step.place"), place, length - 1, first=1),
    ]


class _LossGrid:
    """A figure with one value per target token, with a column beside it if its tokens are legible there, else as wide as the page."""

    def __init__(self, view: View, rows: BatchRows, values: np.ndarray, change: bool) -> None:
        self.view, self.rows = view, rows
        first = find_first_row(view, rows)
        at = list(range(first, min(first + ROWS_SHOWN, len(values))))
        chosen = view.inside("line", "place", values.shape)
        length = int(rows.real[at].any(axis=0).nonzero()[0].max()) + 1
        targets = [spell_tokens(view, rows.tgt_out[row, :length], "tgt") for row in at]
        place = view.stage_below(ABOVE)
        width = place.get("width", view.room(LARGE))
        self.is_beside = length * needed_width(targets, LEGIBLE_SHARE) <= width
        self.picture = view.draw(
            losses,
            values[at, :length],
            targets,
            [spell_tokens(view, rows.tgt_in[row, :length], "tgt") for row in at],
            rows.segments[at, :length],
            at=at,
            most=float(np.nanmax(np.abs(values))) or 1.0,
            change=change,
            chosen=(chosen[0] - first, chosen[1]) if chosen and chosen[0] in at and chosen[1] < length else None,
            titles=(view.say("step.axis_line"), view.say("step.axis_place")),
            **(place if self.is_beside else place and place | {"width": view.width}),
        )

    def lay_out(self, id: str, caption: str, title: str, name: str, about: list[dict], hint: str = "") -> list[dict]:
        """Lays out the figure with its sliders beside the blocks `about`, in a column called `name`."""
        figure = blocks.column("picture", blocks.figure(id, self.picture, caption, title, hint=hint))
        sliders = build_sliders(self.view, self.rows)
        if self.is_beside:
            return [blocks.row("sides", figure, blocks.column(name, *about, *sliders), css="stage")]
        return [figure, blocks.row("sides", blocks.column("choice", *sliders), blocks.column(name, *about), css="large-small")]


def _build_shifted(view: View, rows: BatchRows, row: int) -> dict:
    """Builds one row of the batch: the decoder's input, the targets shifted by one place, and the loss under every token."""
    real = rows.real[row]
    length = int(real.sum())
    numbers = [[format_4g(float(value)) for value in values[row, :length]] for values in (rows.probabilities, rows.losses)]
    lines = {
        "pair": [str(int(pair)) for pair in rows.segments[row, :length]],
        "tgt_in": spell_tokens(view, rows.tgt_in[row, :length], "tgt"),
        "tgt_out": spell_tokens(view, rows.tgt_out[row, :length], "tgt"),
        "p": numbers[0],
        "loss": numbers[1],
    }
    head = [view.say("step.axis_place"), *(str(place + 1) for place in range(length))]
    table = [[view.say(f"step.line_{name}"), *line] for name, line in lines.items() if name != "pair" or rows.segments[row].max() > 1]
    return blocks.table("shifted", head, table, view.say("step.title_shifted", row=row + 1), rowheads=True, tokens=True)


def lay_out_sides(picture: list[dict], arithmetic: dict) -> dict:
    return blocks.row("sides", blocks.column("picture", *picture), arithmetic, css="large-small")


def build_arithmetic(view: View, invite: str, *sheets: dict) -> dict:
    """Builds the column beside a picture: an invitation to choose a number, and the derivations of the chosen one."""
    return blocks.column("arithmetic", blocks.text("invite", view.say(f"step.invite_{invite}"), "pg-caption"), *sheets)


def build_sheet(view: View, rows: BatchRows, derivation: Derivation, title: str, own: str, still: bool = False) -> dict:
    """Builds a derivation whose terms are tokens; `own` is the words key of the result. `still`: the page doesn't scroll to it."""
    return derivation_view.build_sheet(view, derivation, title, build_labeller(view, rows), own, mode="open", still=still)


def build_labeller(view: View, rows: BatchRows) -> Callable[[Label], dict]:
    """Returns a function that writes a sheet's label; a token of the batch gets its text, row and place."""
    is_joint = view.run.experiment.model.alteration.decoder_only

    def write_label(label: Label) -> dict:
        title = view.say(f"map.term_{label.name}")
        if label.name == "logit_of":
            return {"text": f"{SYMBOLS[label.name]}[{spell_tokens(view, label.index, 'tgt')[0]}]", "title": title}
        if label.name not in BATCH_LABELS:
            return {"text": label.text, "title": title}
        if len(label.index) == 1:  # the sheet shows the token beside it
            return {"text": "", "title": f"{title} · {label.stage}"}
        row, place, *_ = label.index
        module = label.stage or ""
        is_source = module.startswith(SOURCE) or module.endswith(MEMORY)
        ids = rows.src if is_source else rows.tgt_out if label.name == "token_loss" else rows.tgt_in
        if is_joint and module.startswith(JOINED):
            token = spell_joined(view, rows, row)[place]
        else:
            token = spell_tokens(view, ids[row, place : place + 1], "src" if is_source else "tgt")[0]
        position = view.say("step.where", row=row + 1, place=place + 1)
        return {"text": f"{row + 1}.{place + 1} “{token}”", "title": f"{title} · {position}" + (f" · {module}" if module else "")}

    return write_label


def spell_joined(view: View, rows: BatchRows, row: int) -> list[str]:
    """Spells the source and the input of a row, one after the other, with the padding between them but none at the end."""
    source, fed = rows.src[row, : rows.source_width(row)], rows.tgt_in[row]
    return [*spell_tokens(view, source, "src"), *spell_tokens(view, fed[fed != PAD], "tgt")]


def spell_tokens(view: View, ids: Sequence[int] | np.ndarray, side: str) -> list[str]:
    """Spells token ids by the run's tokenizer of the "src" or "tgt" side."""
    tokenizer = view.run.tokenizers[side == "tgt"]
    return [tokenizer.piece(int(id)) for id in ids]


def format_4g(value: float) -> str:
    """Formats four significant digits, with a true minus."""
    return printed(f"{value:.4g}")


# ---- figure ----

ROW = 24  # px
MAX_TICKS = 6  # of rows or positions; where there are more, every second one has its number
BESIDE = 4  # px, free beside a token on its cell


def needed_width(targets: Sequence[Sequence[str]], share: float = 1.0) -> float:
    """Returns the px of a cell with room for this `share` of the tokens."""
    return BESIDE + float(np.quantile([tokens.extent(token) for line in targets for token in line], share))


def losses(
    values: np.ndarray,
    targets: Sequence[Sequence[str]],
    read: Sequence[Sequence[str]],
    segments: np.ndarray,
    *,
    at: Sequence[int],
    most: float,
    change: bool = False,
    chosen: tuple[int, int] | None = None,
    titles: tuple[str, str] = ("", ""),
    style: Style = PLAIN,
) -> dict:
    """Draws values (R, T): the loss of every target token of R batch rows, NaN for padding, which is hatched; with `change` its change,
    on a diverging scale. The cells of the chosen row, by default the first, and of large values show their tokens of `targets`; `read` are
    the tokens that the decoder reads there.

    segments (R, T)  the number of each token's pair in its row: a line separates two pairs
    at       the numbers of these rows in the whole batch, from 0; a click sets the cursor's "line" and "place"
    most     the value of the strongest colour
    chosen   (row, place) of the framed cell, counted in this figure
    Traces: 0 values, 1 hatching. Raises ValueError if the shapes don't fit.
    """
    values = np.asarray(values, dtype=np.float64)
    count, length = values.shape
    if not len(targets) == len(read) == len(at) == count or segments.shape != values.shape:
        raise ValueError(f"losses of shape {values.shape} do not fit {len(targets)} rows of tokens")
    rows, columns = [str(row + 1) for row in at], [str(place + 1) for place in range(length)]
    hidden = np.isnan(values)
    named = tokens.extent(titles[0]) + 10
    place = cells.place(rows, columns, style, cell=max(ROW * 2, needed_width(targets)), left=named)
    if not style.stage:
        place = replace(place, down=min(max(ROW * count, 60), cells.MAX_GRID_PX))
    down, across = 1 + (count > MAX_TICKS), 1 + (length > MAX_TICKS)
    place = replace(place, every_row=max(place.every_row, down), every_column=max(place.every_column, across))
    room = place.across / length - BESIDE
    spelt = np.abs(values) >= SPELT_SHARE * most  # never padding
    spelt[chosen[0] if chosen else 0] = True
    written = [[_truncate(token, room) if is_spelt else "" for token, is_spelt in zip(*line, strict=True)]
               for line in zip(targets, spelt & ~hidden, strict=True)]  # fmt: skip
    steps = [[tokens.escape(step) for step in tokens.steps(*line)] for line in zip(read, targets, strict=True)]
    word = style.word("loss_change" if change else "token_loss")
    hover = style.hover("hover_token_loss", step="<b>%{customdata}</b>", what=word, value="%{z:.4f}")
    ticks = (-most, 0, most) if change else (0, most)
    more = {"text": written, "texttemplate": "%{text}", "textfont": {"size": theme.SIZE, "family": theme.MONO}, "customdata": steps}
    more |= {"meta": {"kind": "decoder", "cells": True}} | ({"zmid": 0} if change else {})
    heat = place.heat(theme.rounded(values, 5), hover, place.colorbar("", ticks), (-most if change else 0, most), **more)
    shapes = [*place.cursor(chosen), *_divide(segments, hidden, style)]
    layout = place.layout("decoder", titles, entries=bool(hidden.any()), shapes=shapes)
    layout["meta"] |= {"fields": ["line", "place"], "down": list(at), "sides": ["", ""]}
    return {"data": [heat, cells.hatching(hidden, style.word("padding"), style)], "layout": layout}


def _truncate(token: str, room: float) -> str:
    """Truncates a token to `room` pixels."""
    fitting = (n for n in range(tokens.MAX_LABEL_CHARACTERS, 1, -1) if tokens.extent(token, n) <= room)
    return next((tokens.label(token, n) for n in fitting), "")


def _divide(segments: np.ndarray, hidden: np.ndarray, style: Style) -> list[dict]:
    """Draws a line wherever another pair begins in a row."""
    color = style.colors["text"]
    ends = np.argwhere((segments[:, 1:] != segments[:, :-1]) & ~hidden[:, 1:])
    return [
        {
            "type": "line", "layer": "above", "x0": place + 0.5, "x1": place + 0.5, "y0": row - 0.5, "y1": row + 0.5,
            "line": {"color": color, "width": 2},
        }
        for row, place in ends.tolist()
    ]  # fmt: skip
