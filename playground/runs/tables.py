"""Runs as a table, and any table as CSV. pandas is imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from playground.config import Refusal
from playground.model.costs import parameter_count
from playground.reading.writing import guard_rows
from playground.runs.run import Run
from playground.variants import variant_of

if TYPE_CHECKING:
    from pandas import DataFrame

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
    """Returns rows with equal columns as a table; without rows an empty one with these `columns`."""
    import pandas

    return pandas.DataFrame(rows, columns=list(rows[0] if rows else columns))


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
