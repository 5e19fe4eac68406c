"""Runs as tables, any table as CSV; and incremental JSON updates for a page that follows a run: the changes since its last request, encoded
once for all equal requests. Rows of the curve are appended; validations, live changes and the replay's steps are sent whole, and only after
a change. pandas is imported on first use."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from playground import words
from playground.config import Refusal
from playground.model.costs import parameter_count
from playground.reading.writing import guard_rows
from playground.runs.history import COUNTS, History, decimate
from playground.runs.memory import LRU
from playground.runs.run import Mark, Run
from playground.variants import variant_of

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 1000  # of one increment; a curve a thousand pixels wide shows no more
CACHED_BYTES = 16_000_000
NEWS = ("runs.went_on", "runs.reached", "runs.minutes_over", "runs.patience_over", "runs.tuned")  # messages that report no problem
COLUMNS: dict[str, type | str] = {
    "name": str, "label": str, "task": str, "status": str, "step": "int64", "steps": "int64", "validation_loss": "float64",
    "exact_match": "float64", "token_accuracy": "float64", "seconds": "float64", "tokens_per_second": "float64", "parameters": "Int64",
    "created": "datetime64[s, UTC]",
}  # fmt: skip


def runs_table(runs: Iterable[Run]) -> DataFrame:
    """Returns a row per run, in their order; columns and types as in COLUMNS. Metrics are the newest validation's; missing or unreadable
    values are NA."""
    import pandas

    table = pandas.DataFrame(map(_row, runs), columns=list(COLUMNS))
    return table.assign(created=pandas.to_datetime(table["created"], unit="s", utc=True)).astype(COLUMNS)


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> DataFrame:
    """Returns rows with equal columns as a table; without rows an empty one with these `columns`. Numbers stay as they are, beside gaps
    too."""
    import pandas

    return pandas.DataFrame(rows, columns=list(rows[0] if rows else columns), dtype=object)


def csv_of(table: DataFrame) -> str:
    """Formats a table as CSV with a header. Text that a spreadsheet would take for a formula is escaped, as in exported sentences."""
    for name in {"label", "difference", "student", "arm"} & set(table):
        _, *texts = guard_rows([name], [[text] for text in table[name]])
        table = table.assign(**{name: [text for (text,) in texts]})
    return table.to_csv(index=False, lineterminator="\n")


def _row(run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(run, name) for name in ("name", "label", "status", "step", "steps")}
    row |= {"task": run.experiment.data.task, "seconds": round(run.seconds, 1), "created": run.created or None}
    try:
        validation = run.history.validations.last() or {}
        row |= {"validation_loss": validation.get("loss")} | {name: validation.get(name) for name in ("exact_match", "token_accuracy")}
        return row | {"parameters": parameters_of(run), "tokens_per_second": speed_of(run)}
    except Refusal:  # damaged on the disk
        return row


def try_read(read_value: Callable[[Run], float | None], run: Run) -> float | None:
    """Returns `read_value(run)`, a function below; None for a run damaged on the disk."""
    try:
        return read_value(run)
    except Refusal:
        return None


def parameters_of(run: Run) -> int | None:
    """Computes the model's parameter count by formula, without loading it. None before the run is prepared."""
    model = run.experiment.model
    if run.tokenizers is None:
        return None
    return parameter_count(model, *(tokenizer.size for tokenizer in run.tokenizers)) + variant_of(model).extra_parameters(model)


def speed_of(run: Run) -> float | None:
    """Returns the training's tokens per second over all steps; None before the first."""
    speeds = [speed for speed in run.history.steps.column("tokens_per_second") if speed > 0]
    return round(len(speeds) / sum(1 / speed for speed in speeds)) if speeds else None


class Updates:
    """A cache of increments, built from the parts that readers see, without locking the run."""

    def __init__(self) -> None:
        self._increments = LRU(most_bytes=CACHED_BYTES, size=lambda encoded: len(encoded))

    @property
    def caches(self) -> tuple[LRU]:
        """Shares of the memory budget, see memory.py."""
        return (self._increments,)

    def get(self, run: Run, since: int) -> tuple[bytes, int]:
        """Returns (the increment from version `since`, the version that it leads to)."""
        version = run.version

        def encode() -> bytes:  # as ASCII, so that typed text can't break the encoding
            return json.dumps(build_increment(run, since, version), allow_nan=False, separators=(",", ":")).encode("ascii")

        return self._increments.get_or_make((run.id, version, since), encode), version


def build_increment(run: Run, since: int, version: int) -> dict[str, Any]:
    """Builds an update: the changes since version `since`; an unknown one gets everything.

    {"version", "from": row of the history where this increment begins (0: replace all rows), "rows": {column: [...]},
     "id", "name", "status", "resumable", "message": {language: sentence} | null, "trouble": whether the message reports a
     problem, "step", "steps", "seconds", "place",
     "eta": [from, to] | null, "live": {knob: value}, "checkpoint_step", "threads", "device", "where": see Run}, and, where changed:
    {"validations": {column: [...]}, "events": [[step, knob, value]], "replay": [steps], "parameter_steps": [steps]}
    """
    message = run.message
    if message and message.key == "runs.went_on" and run.status in ("done", "stopped"):
        message = None  # the run has ended since
    try:
        history, now, previous = run.history, run.mark(), run.marks.get(since)
    except Refusal as refusal:  # damaged on the disk: only the error is sent
        message, history, now, previous = refusal, History(), Mark(0, 0, 0, (), ()), None
    stop = min(run.marks.get(version, now).rows, now.rows)  # no mark exists while the history is on the disk, where it doesn't grow
    start, snapshot = min(previous.rows if previous else 0, stop), run.parts.get("snapshot")  # that of a resting run is not loaded for this
    plain = ("id", "name", "status", "step", "steps", "place", "checkpoint_step", "resumable", "threads", "device", "where")
    grown = {
        "validations": lambda: _rounded(decimate(history.validations.rows(), ROWS // 2)),
        "events": lambda: history.events[-200:],
        "replay": lambda: now.replay,
        "parameter_steps": lambda: now.parameter_steps,
    }
    return {name: getattr(run, name) for name in plain} | {
        "version": version,
        "from": start,
        "rows": _rounded(decimate(history.steps.rows(start, stop), ROWS)),
        "message": message and {language: message.say(language) for language in words.LANGUAGES},
        "trouble": bool(message) and message.key not in NEWS,
        "eta": run.eta and [round(seconds, 2) for seconds in run.eta],
        "seconds": round(run.seconds, 2),
        "live": run.live,
        "picture": snapshot and snapshot.step,
    } | {name: make() for name, make in grown.items() if previous is None or getattr(previous, name) != getattr(now, name)}


def _rounded(columns: dict[str, list[float]]) -> dict[str, list[float | None]]:
    """Rounds to six digits, enough for a curve; non-finite numbers become null."""
    return {
        name: [int(v) for v in column] if name in COUNTS else [float(f"{v:.6g}") if math.isfinite(v) else None for v in column]
        for name, column in columns.items()
    }
