"""The table of runs: a row for each with what makes it different and what it came to; searched, sorted, and as a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from playground.queries.learning_curves import LearningCurve, learning_curve
from playground.runs.run import Run
from playground.runs.tables import csv_of, parameters_of, runs_table, speed_of, try_read
from playground.ui import blocks
from playground.ui.measured import percent
from playground.ui.selected_runs import MAX_TICKED, NONE, apart, groups, line_keys, one_line, pinned, ticked
from playground.ui.titles import title
from playground.ui.view import View

HEAD = ("name", "line", "exact_match", "validation_loss", "steps", "seconds", "parameters", "tokens_per_second", "created")
COURSE_POINTS = 40  # of the small curve in a row


def table(view: View, chosen: list[Run], listed: dict[str, list[Run]]) -> list[dict]:
    """What is searched and shown of `listed`, the table itself, and its file. The runs `chosen` are ticked."""
    keys = dict(zip(chosen, line_keys(view, chosen), strict=True))
    pin, found = pinned(view), arranged(view, listed)
    groups = [
        blocks.RunGroup(label=view.say(f"page.runs_{whose}"), rows=[_row(view, run, chosen, keys.get(run), run is pin) for run in runs])
        for whose, runs in found.items()
    ]
    head = [blocks.RunColumn(label=view.say(f"compare.{name}"), sort="" if name == "line" else name) for name in HEAD]
    options = [{"value": value, "label": view.say(f"compare.differ_{value}")} for value in ("origin", "ticked")]
    order, empty = view.choice("sort"), view.say("compare.none_found")
    query = {"run": view.run.id, "lang": view.language, **{name: view.said(name) for name in ("runs", "find", "sort", "differ", "pin")}}
    return [
        blocks.row(
            "table-controls",
            blocks.field("find", "find", view.say("compare.find"), view.field("find"), view.say("compare.find_hint")),
            blocks.choice("differ", "differ", view.say("compare.differ"), options, view.choice("differ")),
            blocks.downloads("table", view.say("compare.file"), "table", [{"label": view.say("compare.file_csv"), "query": query}]),
            css="controls",
        ),
        blocks.runs("runs", head, groups, [run.id for run in chosen], MAX_TICKED, NONE, order, empty),
    ]


def file(view: View) -> tuple[str, str]:
    """The name and the text of a CSV file: the rows of the table as they are arranged, with the numbers as they are."""
    chosen = ticked(view).runs
    runs = [run for group in arranged(view, groups(view, chosen)).values() for run in group]
    found = runs_table(runs).assign(label=[run.label_for(view.token) for run in runs])
    found = found.assign(difference=[_line(view, run, chosen) for run in runs], ticked=[run in chosen for run in runs])
    return "runs.csv", csv_of(found)


def arranged(view: View, listed: dict[str, list[Run]]) -> dict[str, list[Run]]:
    """Groups of runs: those that are looked for, in the order that is asked for. What lacks a number comes last."""
    wanted, order = view.field("find").casefold().split(), view.choice("sort")
    column = order.removeprefix("-")

    def is_found(run: Run) -> bool:
        said = f"{title(run, view.language, view.token)} {one_line(view, run)}".casefold()
        return all(word in said for word in wanted)

    def value(run: Run) -> Any:
        return title(run, view.language, view.token).casefold() if column == "name" else numbers(run)[column]

    def in_order(runs: list[Run]) -> list[Run]:
        if not order:
            return runs
        valued = [(found, run) for run in runs if not _is_missing(found := value(run))]
        valued.sort(key=lambda item: item[0], reverse=order.startswith("-"))
        ranked = [run for _, run in valued]
        return ranked + [run for run in runs if run not in ranked]

    found = {whose: in_order([run for run in runs if not wanted or is_found(run)]) for whose, runs in listed.items()}
    return {whose: runs for whose, runs in found.items() if runs}


def numbers(run: Run) -> dict[str, float | None]:
    """What a run came to, by the names of its columns; None where it isn't known."""
    curve = learning_curve(run)
    last = {name: getattr(curve, name)[-1] if curve.steps else None for name in ("exact_match", "validation_loss")}
    return last | {
        "steps": run.step, "seconds": run.seconds, "parameters": try_read(parameters_of, run), "tokens_per_second": try_read(speed_of, run),
        "created": None if run.shipped else run.created,
    }  # fmt: skip


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _row(view: View, run: Run, chosen: list[Run], key: blocks.LineKey | None, is_pinned: bool) -> blocks.RunRow:
    curve, found = learning_curve(run), numbers(run)
    return {
        "id": run.id,
        "name": title(run, view.language, view.token),
        "label": run.label_for(view.token),
        "line": _line(view, run, chosen),
        "numbers": [
            reached(curve, "exact_match", -1),
            reached(curve, "validation_loss", -1),
            f"{run.step:,}" if run.step == run.steps else view.say("compare.step_of", step=f"{run.step:,}", steps=f"{run.steps:,}"),
            view.say("page.seconds", seconds=f"{run.seconds:.1f}"),
            *(_written(found[name], lambda count: f"{count:,.0f}") for name in ("parameters", "tokens_per_second")),
        ],
        "created": found["created"],
        "course": _course(curve, run),
        "key": key,
        "here": run is view.run,
        "pinned": is_pinned,
        "mine": view.runs.owns(run.id, view.token),
    }


def _line(view: View, run: Run, chosen: list[Run]) -> str:
    """What makes it different: from where it comes from, or from the other ticked ones."""
    if view.choice("differ") == "ticked" and len(chosen) > 1:
        return apart(view, chosen, run)
    return one_line(view, run)


def _course(curve: LearningCurve, run: Run) -> list[list[float]]:
    """(how far in the run, exact match) of some validations, the last among them."""
    points = [(step / max(run.steps, 1), exact) for step, exact in zip(curve.steps, curve.exact_match, strict=True) if math.isfinite(exact)]
    every = max(1, math.ceil(len(points) / COURSE_POINTS))
    return [[round(x, 3), round(y, 3)] for x, y in points[::-every][::-1]]


def _written(value: float | None, form: Callable[[float], str]) -> str:
    return "–" if _is_missing(value) else form(value)


def reached(curve: LearningCurve, column: str, row: int | None) -> str:
    """A number of one validation, about so much where it is of a sample of the held-out sentences."""
    if row is None or not curve.steps:
        return "–"
    return "≈ " * curve.sampled[row] + written(column, getattr(curve, column)[row])


def written(column: str, value: float) -> str:
    """A value of "exact_match" or "validation_loss"."""
    return _written(value, percent if column == "exact_match" else "{:.3f}".format)
