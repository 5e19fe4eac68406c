"""Numbers for people: medians with their spread, and tables in Markdown that can also be read in a terminal."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

Number = float | int | None


def summary(values: Iterable[Number]) -> dict[str, object]:
    """{"median", "low", "high", "values"}. None is a target that was never reached: later than any number."""
    values = list(values)
    known = sorted(math.inf if value is None else value for value in values)
    if not known:
        return {"median": None, "low": None, "high": None, "values": []}
    spread = {"median": statistics.median(known), "low": known[0], "high": known[-1]}
    return {name: value if math.isfinite(value) else None for name, value in spread.items()} | {"values": values}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values doesn't exceed. Raises ValueError when there are none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def show_summary(spread: dict, form: Callable[[float], str]) -> str:
    """A summary as "median (low to high)"; only the median when all are alike, a dash when there is nothing."""
    if not spread or not spread["values"]:
        return "–"
    texts = ["never" if spread[name] is None else form(spread[name]) for name in ("median", "low", "high")]
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"


def seconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def milliseconds(value: float) -> str:
    """Of a time in seconds."""
    return f"{1000 * value:.3g}" if value < 1 else f"{1000 * value:.0f}"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


whole = "{:,.0f}".format
ratio = "{:.2f}".format


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with its columns aligned: text at the left, numbers at the right."""
    lines = [list(map(str, row)) for row in (head, *rows)]
    columns = [_aligned(column) for column in zip(*lines, strict=True)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True))


def tabulate(rows: Iterable[dict], columns: dict[str, Callable[[dict], str]]) -> str:
    """A Markdown table of results, with what each column says of a row."""
    return markdown([*columns], ([write(row) for write in columns.values()] for row in rows))


def _aligned(column: tuple[str, ...]) -> list[str]:
    """A column's cells of one width, with the rule below the first."""
    width = max(3, *map(len, column))
    if all(cell[:1].isdigit() or cell[:1] in ("", "–", "-") or cell.startswith("never") for cell in column[1:]):
        head, *cells = (cell.rjust(width) for cell in column)
        return [head, "-" * (width - 1) + ":", *cells]
    head, *cells = (cell.ljust(width) for cell in column)
    return [head, "-" * width, *cells]
