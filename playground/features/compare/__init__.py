"""The Runs tab: several runs side by side, on one sentence, and where they disagree. Here: the table of runs, a row per run with its
differences and results; searchable, sortable, and as a CSV file.

Its blocks: the table in which runs are ticked, their outputs for one sentence, and where they disagree.
"""

import math
from collections.abc import Callable
from typing import Any, TypedDict

from playground.features.shared import blocks, selected_runs
from playground.features.shared.blocks.kind import LineKey, Token, kind
from playground.features.shared.naming import title
from playground.features.shared.queries.validation import LearningCurve, learning_curve
from playground.features.shared.view import View, percent
from playground.runs.run import Run
from playground.runs.tables import csv_of, parameters_of, runs_table, speed_of, try_read
from playground.words import percentage

HEAD = ("name", "line", "exact_match", "validation_loss", "steps", "seconds", "parameters", "tokens_per_second", "created")
COURSE_POINTS = 40  # of a row's sparkline


class RunRow(TypedDict):
    id: str
    name: str
    label: str  # typed by its owner
    line: str  # its differences
    numbers: list[str]
    created: float | None  # seconds since 1970; None for a shipped run
    course: list[list[float]]  # (place, exact match), both from 0 to 1
    key: LineKey | None  # of a ticked run
    here: bool  # the run on screen
    pinned: bool
    own: bool  # the visitor may rename and delete it


class RunColumn(TypedDict):
    label: str
    sort: str  # its name in the cursor's `sort`; "" if not sortable


class RunGroup(TypedDict):
    label: str
    rows: list[RunRow]


@kind
def runs(id: str, head: list[RunColumn], groups: list[RunGroup], ticked: list[str], most: int, none: str, sort: str, empty: str):
    """A table of runs in groups, with `head` over name, line, numbers and, where there are any, dates; the course is beside the first
    number. A tick adds a run to `ticked`, at `most` that many, stored in the cursor's `runs` (`none` for an empty list); a name opens its
    run; buttons pin one, and rename or delete the visitor's own. `sort` is the cursor's; `empty` is shown without rows."""


class DisagreeingOutput(TypedDict):
    text: str
    correct: bool


class DisagreeingRow(TypedDict):
    source: str
    reference: str
    outputs: list[DisagreeingOutput]  # one for each run


@kind
def disagreements(id: str, label: str, names: list[str], keys: list[LineKey], reference: str, rows: list[DisagreeingRow]):
    """Sentences on which runs disagree, a row each: the sentence under `label`, each run's output under its name and its line, and the
    right answer under `reference`. A click on a sentence makes it the page's."""


class OutputRow(TypedDict):
    name: str
    key: LineKey
    tokens: list[Token]
    correct: bool | None  # None if unknown
    note: str  # why there are no tokens, or a remark on them


@kind
def outputs(id: str, title: str, head: list[str], rows: list[OutputRow]):
    """The outputs of several runs for one sentence, a row each."""


def build_table(view: View, chosen: list[Run], listed: dict[str, list[Run]]) -> list[dict]:
    """Builds the search field, the table of the `listed` runs, and its file. The `chosen` runs are ticked."""
    keys = dict(zip(chosen, selected_runs.line_keys(view, chosen), strict=True))
    pin, by_group = selected_runs.pinned(view), arrange_runs(view, listed)
    groups = [
        RunGroup(label=view.say(f"page.runs_{name}"), rows=[_fill_row(view, run, chosen, keys.get(run), run is pin) for run in runs])
        for name, runs in by_group.items()
    ]
    columns = HEAD if any(row["created"] for group in groups for row in group["rows"]) else HEAD[:-1]
    labels = {"exact_match": "exact_match_column"}
    head = [RunColumn(label=view.say(f"compare.{labels.get(name, name)}"), sort="" if name == "line" else name) for name in columns]
    order, empty = view.choice("sort"), view.say("compare.none_found")
    query = {"run": view.run.id, "lang": view.language, **{name: view.read_raw(name) for name in ("runs", "find", "sort", "differ", "pin")}}
    return [
        blocks.row(
            "table-controls",
            blocks.field("find", "find", view.say("compare.find"), view.field("find"), view.say("compare.find_hint")),
            view.offer("differ", "differ", "compare.differ") if len(chosen) > 1 else None,
            blocks.downloads("table", view.say("compare.file"), "table", [{"label": view.say("compare.file_csv"), "query": query}]),
            css="controls",
        ),
        runs("runs", head, groups, [run.id for run in chosen], selected_runs.MAX_TICKED, selected_runs.NONE, order, empty),
    ]


def write_csv(view: View) -> tuple[str, str]:
    """Returns the name and text of a CSV file: the table's rows in order, with unrounded numbers."""
    chosen = selected_runs.ticked(view).runs
    runs = [run for group in arrange_runs(view, selected_runs.group_runs(view, chosen)).values() for run in group]
    table = runs_table(runs).assign(label=[run.label_for(view.token) for run in runs])
    table = table.assign(difference=[_describe_difference(view, run, chosen) for run in runs], ticked=[run in chosen for run in runs])
    return "runs.csv", csv_of(table)


def arrange_runs(view: View, listed: dict[str, list[Run]]) -> dict[str, list[Run]]:
    """Filters each group by the search words and sorts it; runs without the sort column's number come last."""
    words, order = view.field("find").casefold().split(), view.choice("sort")
    column = order.removeprefix("-")

    def matches(run: Run) -> bool:
        text = f"{title(run, view.language, view.token)} {selected_runs.describe_changes(view, run)}".casefold()
        return all(word in text for word in words)

    def read_sort_value(run: Run) -> Any:
        return title(run, view.language, view.token).casefold() if column == "name" else measure_run(run)[column]

    def sort_runs(runs: list[Run]) -> list[Run]:
        if not order:
            return runs
        keyed = [(groups, run) for run in runs if not _is_missing(groups := read_sort_value(run))]
        keyed.sort(key=lambda pair: pair[0], reverse=order.startswith("-"))
        ranked = [run for _, run in keyed]
        return ranked + [run for run in runs if run not in ranked]

    groups = {group: sort_runs([run for run in runs if not words or matches(run)]) for group, runs in listed.items()}
    return {group: runs for group, runs in groups.items() if runs}


def measure_run(run: Run) -> dict[str, float | None]:
    """Returns a run's measures by column name; None where unknown."""
    curve = learning_curve(run)
    last = {name: getattr(curve, name)[-1] if curve.steps else None for name in ("exact_match", "validation_loss")}
    return last | {
        "steps": run.step, "seconds": run.seconds, "parameters": try_read(parameters_of, run), "tokens_per_second": try_read(speed_of, run),
        "created": None if run.shipped else run.created,
    }  # fmt: skip


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _fill_row(view: View, run: Run, chosen: list[Run], key: blocks.LineKey | None, is_pinned: bool) -> RunRow:
    curve, measures = learning_curve(run), measure_run(run)
    return {
        "id": run.id,
        "name": title(run, view.language, view.token),
        "label": run.label_for(view.token),
        "line": _describe_difference(view, run, chosen),
        "numbers": [
            format_reached(curve, "exact_match", -1, percentage),  # its unit is in the head
            format_reached(curve, "validation_loss", -1),
            f"{run.step:,}" if run.step == run.steps else view.say("compare.step_of", step=f"{run.step:,}", steps=f"{run.steps:,}"),
            f"{run.seconds:.1f}",
            *(_format_optional(measures[name], lambda count: f"{count:,.0f}") for name in ("parameters", "tokens_per_second")),
        ],
        "created": measures["created"],
        "course": _thin_curve(curve, run),
        "key": key,
        "here": run is view.run,
        "pinned": is_pinned,
        "own": view.runs.owns(run.id, view.token),
    }


def _describe_difference(view: View, run: Run, chosen: list[Run]) -> str:
    """Describes the run's differences from its origin, or from the other ticked runs."""
    if view.choice("differ") == "ticked" and len(chosen) > 1:
        return selected_runs.describe_values(view, chosen, run)
    return selected_runs.describe_changes(view, run)


def _thin_curve(curve: LearningCurve, run: Run) -> list[list[float]]:
    """Returns at most about COURSE_POINTS points (fraction of the run, exact match) of its validations, with the last."""
    points = [(step / max(run.steps, 1), exact) for step, exact in zip(curve.steps, curve.exact_match, strict=True) if math.isfinite(exact)]
    every = max(1, math.ceil(len(points) / COURSE_POINTS))
    return [[round(x, 3), round(y, 3)] for x, y in points[::-every][::-1]]


def _format_optional(value: float | None, format_value: Callable[[float], str]) -> str:
    return "–" if _is_missing(value) else format_value(value)


def format_reached(curve: LearningCurve, column: str, row: int | None, format_share: Callable[[float], str] = percent) -> str:
    """Formats a number of one validation, with ≈ if it comes from a sample of the held-out sentences."""
    if row is None or not curve.steps:
        return "–"
    return "≈ " * curve.sampled[row] + format_number(column, getattr(curve, column)[row], format_share)


def format_number(column: str, value: float, format_share: Callable[[float], str] = percent) -> str:
    """Formats a value of "exact_match" or "validation_loss"."""
    return _format_optional(value, format_share if column == "exact_match" else "{:.3f}".format)
