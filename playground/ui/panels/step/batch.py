"""The batch of a training step: -ln p under every target token, the mean, and the same batch after the step."""

from __future__ import annotations

import numpy as np

from playground.figures import training_step as pictures
from playground.inspection.backward import explain_loss, explain_mean
from playground.queries.training_rows import BatchRows
from playground.queries.training_step import TakenStep
from playground.ui import blocks
from playground.ui.panels.step.sums import sheet, short, tokens
from playground.ui.view import LARGE, View
from playground.words import paragraph

SHOWN = 8  # rows of a batch at a time
MOST = 0.75  # of the tokens that are to be read whole: <eos> may be cut among letters


def loss(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    """The loss of every token, and how the chosen one's came to be; before one is chosen the mean of all."""
    slow, chosen = taken.slow, view.inside("line", "place", rows.losses.shape)
    if chosen and rows.real[chosen]:
        target = int(rows.tgt_out[chosen])
        derivation = explain_loss(taken.logits(*chosen), target, slow.live.label_smoothing, float(rows.losses[chosen]))
        name = tokens(view, [target], "tgt")[0]
        title = view.say("step.sheet_token", token=name, row=chosen[0] + 1, place=chosen[1] + 1)
        sums = sheet(view, rows, derivation, title, "step.own_loss")
    else:
        places = [tuple(place) for place in np.argwhere(rows.real).tolist()]
        derivation = explain_mean(rows.losses[rows.real], places, slow.loss)
        sums = sheet(view, rows, derivation, view.say("step.sheet_mean"), "step.own_mean", still=True)
    worst = np.unravel_index(int(np.nanargmax(rows.losses)), rows.losses.shape)
    caption = view.say(
        "step.caption_loss",
        tokens=f"{slow.tokens:,}",
        padding=int((~rows.real).sum()),
        worst=tokens(view, [rows.tgt_out[worst]], "tgt")[0],
        row=int(worst[0]) + 1,
        place=int(worst[1]) + 1,
        most=short(float(rows.losses[worst])),
        even=short(float(np.log(view.run.tokenizers[1].size))),
    )
    caption = paragraph([caption, _rows_shown(view, rows)])
    picture = _Grid(view, rows, rows.losses, change=False)
    about = [blocks.text("invite", view.say("step.invite_loss"), "pg-caption"), sums]
    shown = picture.beside("step-losses", caption, view.say("step.title_loss"), "arithmetic", about)
    return [*shown, _shifted(view, rows, chosen[0] if chosen else first_line(view, rows))]


def after(view: View, taken: TakenStep, rows: BatchRows) -> list[dict]:
    """By how much each token's loss changed, and the mean with them."""
    slow, change = taken.slow, rows.losses_after - rows.losses
    fell, rose = (int((sign * change[rows.real] > 0).sum()) for sign in (-1, 1))
    caption = view.say("step.caption_after", fell=f"{fell:,}", rose=f"{rose:,}", tokens=f"{slow.tokens:,}")
    caption = paragraph([caption, _rows_shown(view, rows)])
    table = [
        [view.say("step.loss_before"), short(slow.loss)],
        [view.say("step.loss_after"), short(slow.loss_after)],
        [view.say("step.loss_change"), short(slow.loss_after - slow.loss)],
    ]
    numbers = blocks.table("losses-table", ["", view.say("step.loss_column")], table, view.say("step.mean_title"), rowheads=True)
    said = view.say("step.said_fell" if slow.loss_after < slow.loss else "step.said_rose", change=short(abs(slow.loss_after - slow.loss)))
    picture, about = _Grid(view, rows, change, change=True), [numbers, blocks.text("said", said, "pg-caption")]
    return picture.beside("step-changes", caption, view.say("step.title_after"), "numbers", about)


def first_line(view: View, rows: BatchRows) -> int:
    """The first row of the batch that is shown: those round the chosen one are."""
    return (view.number("line", len(rows.tgt_out) - 1) or 0) // SHOWN * SHOWN


def _rows_shown(view: View, rows: BatchRows) -> str:
    """Which rows are drawn, where they aren't all."""
    first, count = first_line(view, rows), len(rows.tgt_out)
    return view.say("step.rows_shown", first=first + 1, last=min(first + SHOWN, count), rows=count) if count > SHOWN else ""


def pick(view: View, rows: BatchRows) -> list[dict]:
    """Choosing a token of the batch by its row and its place, where a finger is too large for a cell."""
    count, length = rows.tgt_out.shape
    line, place = view.number("line", count - 1) or 0, view.number("place", length - 1) or 0
    return [
        blocks.slider("line", "line", view.say("step.line", rows=count), line, count - 1, first=1),
        blocks.slider("place", "place", view.say("step.place"), place, length - 1, first=1),
    ]


class _Grid:
    """The picture of a value for each target token, on half of the page where its tokens can be read there, else on all of it."""

    def __init__(self, view: View, rows: BatchRows, values: np.ndarray, change: bool) -> None:
        self.view, self.rows = view, rows
        first = first_line(view, rows)
        at = list(range(first, min(first + SHOWN, len(values))))
        chosen = view.inside("line", "place", values.shape)
        length = int(rows.real[at].any(axis=0).nonzero()[0].max()) + 1
        asked = [tokens(view, rows.tgt_out[row, :length], "tgt") for row in at]
        self.share = LARGE if length * pictures.needed_width(asked, MOST) <= view.room(LARGE) else None
        self.picture = view.draw(
            pictures.losses,
            values[at, :length],
            asked,
            [tokens(view, rows.tgt_in[row, :length], "tgt") for row in at],
            rows.segments[at, :length],
            at=at,
            most=float(np.nanmax(np.abs(values))) or 1.0,
            change=change,
            chosen=(chosen[0] - first, chosen[1]) if chosen and chosen[0] in at and chosen[1] < length else None,
            titles=(view.say("step.axis_line"), view.say("step.axis_place")),
            share=self.share,
        )

    def beside(self, id: str, caption: str, title: str, other: str, about: list[dict]) -> list[dict]:
        """The picture and the choice of a token, and what is said `about` it, in a column of the name `other`."""
        figure, choice, column = blocks.figure(id, self.picture, caption, title), pick(self.view, self.rows), blocks.column(other, *about)
        if self.share:
            return [blocks.row("sides", blocks.column("picture", figure, *choice), column, css="large-small")]
        return [figure, blocks.row("sides", blocks.column("choice", *choice), column, css="large-small")]


def _shifted(view: View, rows: BatchRows, row: int) -> dict:
    """One row of the batch: what the decoder reads, and one place further on what it is asked for, with the loss under every token."""
    real = rows.real[row]
    length = int(real.sum())
    numbers = [[short(float(value)) for value in values[row, :length]] for values in (rows.probabilities, rows.losses)]
    lines = {
        "pair": [str(int(pair)) for pair in rows.segments[row, :length]],
        "tgt_in": tokens(view, rows.tgt_in[row, :length], "tgt"),
        "tgt_out": tokens(view, rows.tgt_out[row, :length], "tgt"),
        "p": numbers[0],
        "loss": numbers[1],
    }
    head = [view.say("step.axis_place"), *(str(place + 1) for place in range(length))]
    table = [[view.say(f"step.line_{name}"), *line] for name, line in lines.items() if name != "pair" or rows.segments[row].max() > 1]
    return blocks.table("shifted", head, table, view.say("step.title_shifted", row=row + 1), rowheads=True, tokens=True)
