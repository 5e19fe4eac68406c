"""Runs beside one another: a table of them, and the learning curves of those that are ticked laid over each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from playground.config import Refusal
from playground.figures import runs as pictures
from playground.queries.learning_curves import LearningCurve, common_end, learning_curve
from playground.runs.run import Run
from playground.runs.tables import parameters_of
from playground.ui import blocks, compare
from playground.ui.measured import percent
from playground.ui.selected_runs import MAX_TICKED, NONE, Ticked, groups, names, one_line, pinned, ticked
from playground.ui.titles import title
from playground.ui.view import View

HEAD = ("name", "line", "exact_match", "validation_loss", "steps", "seconds", "parameters")
COURSE_POINTS = 40  # of the small curve in a row
POLL_MS = 1500  # milliseconds before a page asks again how far the runs are that train
LOOK = ("text", "step", "target", "part", "layer", "head", "follow", "q", "k")  # what one sentence depends on besides the runs


def panel(view: View) -> dict:
    chosen = ticked(view)
    listed = groups(view, chosen.runs)
    for run in chosen.runs:
        run.seen()  # else one that trains would be stopped because nobody looks at it
    works = any(run.working for runs in listed.values() for run in runs if run is not view.run)  # for that one the page asks by itself
    shown = [
        blocks.text("about", view.say("compare.about", most=MAX_TICKED), css="pg-caption"),
        *_lost(view, chosen),
        _table(view, chosen.runs, listed),
        *_curves(view, chosen.runs),
        *_sentence(view, chosen.runs),
    ]
    return {"step": None, "blocks": shown, **({"more": True, "pause": POLL_MS} if works else {})}


def _lost(view: View, chosen: Ticked) -> list[dict]:
    """What of the address can't be shown, in a sentence."""
    said = [view.say("compare.missing", count=chosen.missing)] if chosen.missing else []
    said += [view.say("compare.left_out", most=MAX_TICKED, count=chosen.left_out)] if chosen.left_out else []
    said += [view.say("compare.pin_missing")] if view.field("pin") and not pinned(view) else []
    return [blocks.text("lost", " ".join(said), css="pg-warning")] if said else []


# ---- the table --------------------------------------------------------------------------------------------------------------------


def _table(view: View, chosen: list[Run], listed: dict[str, list[Run]]) -> dict:
    pin = pinned(view)
    keys = {run: blocks.LineKey(**pictures.key(at, view.dark)) for at, run in enumerate(chosen)}
    found = [
        blocks.RunGroup(label=view.say(f"page.runs_{whose}"), rows=[_row(view, run, keys.get(run), run is pin) for run in runs])
        for whose, runs in listed.items()
    ]
    head = [view.say(f"compare.{name}") for name in HEAD]
    return blocks.runs("runs", head, found, [run.id for run in chosen], MAX_TICKED, NONE)


def _row(view: View, run: Run, key: blocks.LineKey | None, is_pinned: bool) -> blocks.RunRow:
    curve = learning_curve(run)
    numbers = [
        _reached(curve, "exact_match", -1),
        _reached(curve, "validation_loss", -1),
        f"{run.step:,}" if run.step == run.steps else view.say("compare.step_of", step=f"{run.step:,}", steps=f"{run.steps:,}"),
        view.say("page.seconds", seconds=f"{run.seconds:.1f}"),
        _written(_parameters(run), lambda count: f"{count:,}"),
    ]
    return {
        "id": run.id,
        "name": title(run, view.language),
        "line": one_line(view, run),
        "numbers": numbers,
        "course": _course(curve, run),
        "key": key,
        "here": run is view.run,
        "pinned": is_pinned,
    }


def _course(curve: LearningCurve, run: Run) -> list[list[float]]:
    """(how far in the run, exact match) of some validations, the last among them."""
    points = [(step / max(run.steps, 1), exact) for step, exact in zip(curve.steps, curve.exact_match, strict=True) if math.isfinite(exact)]
    every = max(1, math.ceil(len(points) / COURSE_POINTS))
    return [[round(x, 3), round(y, 3)] for x, y in points[::-every][::-1]]


def _parameters(run: Run) -> int | None:
    try:
        return parameters_of(run)
    except Refusal:  # damaged on the disk
        return None


def _written(value: float | None, form: Callable[[float], str]) -> str:
    return "–" if value is None or not math.isfinite(value) else form(value)


def _reached(curve: LearningCurve, column: str, row: int | None) -> str:
    """A number of one validation, about so much where it is of a sample of the held-out sentences."""
    if row is None or not curve.steps:
        return "–"
    form = percent if column == "exact_match" else "{:.3f}".format
    return "≈ " * curve.sampled[row] + _written(getattr(curve, column)[row], form)


# ---- the curves -------------------------------------------------------------------------------------------------------------------


def _curves(view: View, chosen: list[Run]) -> list[dict]:
    over = view.choice("over")
    if not chosen:
        return []
    curves, named = [learning_curve(run) for run in chosen], names(view, chosen)
    end = common_end(curves, over)
    apart = end is not None and len({curve.at(over)[-1] for curve in curves}) > 1
    options = [{"value": value, "label": view.say(f"compare.over_{value}")} for value in ("steps", "seconds")]
    brief = named if len(chosen) <= 2 else [compare.name(run, view.language) for run in chosen]  # the legend says the rest
    figures = []
    for column in ("exact_match", "validation_loss"):
        values, places = [getattr(curve, column) for curve in curves], [curve.at(over) for curve in curves]
        picture = view.draw(pictures.overlay, column, places, values, named, over=over, end=end if apart else None, share=2)
        figures.append(blocks.figure(column, picture, _caption(view, column, curves, brief, over, end), view.say(f"compare.{column}")))
    by = blocks.choice("over", "over", view.say("compare.over"), options, over)
    return [
        blocks.row("controls", by, *_one_alone(view, chosen), css="controls"),
        blocks.row("curves", *figures, css="halves"),
        blocks.text("curves-about", " ".join(_notes(view, chosen, over, apart)), css="pg-caption"),
    ]


def _caption(view: View, column: str, curves: list[LearningCurve], named: list[str], over: str, end: float | None) -> str:
    """What the runs have come to where all of them are, and at their own ends where these lie elsewhere."""
    if end is None:
        return view.say("compare.nothing_yet")

    def values(rows: Sequence[int | None]) -> str:
        reached = [_reached(curve, column, row) for curve, row in zip(curves, rows, strict=True)]
        return view.say("compare.between").join(
            view.say("compare.reached", name=name, value=value) for name, value in zip(named, reached, strict=True)
        )

    rows, last = [curve.newest(over, end) for curve in curves], [len(curve.steps) - 1 for curve in curves]
    said = view.say(f"compare.after_{over}", place=f"{end:,.1f}" if over == "seconds" else f"{end:,.0f}", runs=values(rows))
    return said if rows == last else f"{said} {view.say('compare.at_end', runs=values(last))}"


def _notes(view: View, chosen: list[Run], over: str, apart: bool) -> list[str]:
    """What has to be known to compare these runs; `apart`: their lines end in different places."""
    tasks = {(run.experiment.data.task, run.experiment.data.own) for run in chosen}
    keys = ["compare.other_tasks"] * (len(tasks) > 1) + [f"compare.{over}_about"] + ["compare.end_about"] * apart
    return [view.say(key) for key in keys]


def _one_alone(view: View, chosen: list[Run]) -> list[dict]:
    """The way to a second run, with the first one pinned."""
    if len(chosen) != 1:
        return []
    return [blocks.button("another", "move", view.say("compare.another"), to={"tab": "training", "pin": chosen[0].id})]


# ---- one sentence under all of them -------------------------------------------------------------------------------------------------


def _sentence(view: View, chosen: list[Run]) -> list[dict]:
    if not chosen:
        return []
    where = [view.said(name) for name in LOOK]
    asked = [*(f"{run.id} {run.step}" for run in chosen), *where, view.run.id, view.language, view.dark, view.width]
    return [blocks.later("sentence", "same_sentence", view.say("compare.waiting"), " ".join(map(str, asked)))]
