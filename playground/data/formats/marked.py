"""Marked text: one pair on a line, with a sign between the two: a ||| b, a => b, a = b, a - b.

Such a sign may stand in a sentence too. So it must be there exactly once in nine of ten lines, with text on both sides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from playground.data.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.data.formats.records import too_long
from playground.data.formats.table import Row, Source, Table

BARS = re.compile(r"\|\|\|")
STRONG = tuple(
    re.compile(mark, re.IGNORECASE)
    for mark in (
        r"<?[-=]{1,3}>|[→⇒⟶⟹↔⇔➔➡]",
        r"<sep>|\[sep\]|<tab>|\[tab\]|\\t",
        r"#{2,3}|@{3}|\${2,3}|\*{2,3}|~{2,3}",
        r"::",
        r"\s={1,2}\s",
    )
)
WEAK = tuple(re.compile(mark) for mark in (r"\s[-–—]{1,2}\s", r"\s/\s", r"\s~\s", r"\s?:\s|：", "=", " {3,}"))
_FIELDS = (1, 2, 3)  # bars may also separate three or four fields


def read_marked(sources: Sequence[Source]) -> Table | None:
    """Signs made for it: three bars, arrows, an equals sign."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    if _has_bars(lines):
        return Table("bars", _rows(lines, BARS))
    mark = find_mark(lines, STRONG)
    return Table("marked", _rows(lines, mark)) if mark else None


def read_loose(sources: Sequence[Source]) -> Table | None:
    """Signs that sentences are full of: a dash, a colon, a slash, some spaces."""
    mark = find_mark(sources[0].lines, WEAK) if len(sources) == 1 else None
    return Table("marked", _rows(sources[0].lines, mark)) if mark else None


def find_mark(lines: Sequence[str], marks: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    """The first of `marks` that separates nine of ten lines (and at least two) in two, or None."""
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    return next((mark for mark in marks if _separates(mark, filled)), None)


def _separates(mark: re.Pattern[str], filled: Sequence[str]) -> bool:
    """What stands before the mark must differ from line to line (or it names a speaker), and be no running number."""
    cut = [parts for parts in (mark.split(line, 2) for line in filled) if len(parts) == 2 and all(map(str.strip, parts))]
    if len(cut) < 2 or len(cut) * 10 < len(filled) * 9:
        return False
    before = [parts[0].strip() for parts in cut]
    counted = any([text.rstrip(".)") for text in before] == [str(first + n) for n in range(len(cut))] for first in (0, 1))
    return len(set(before)) * 5 >= len(cut) * 4 and not counted


def _has_bars(lines: Sequence[str]) -> bool:
    counts = Counter(len(BARS.findall(line)) for line in lines[:SAMPLE] if line.strip())
    return max((counts[fields] for fields in _FIELDS), default=0) * 2 >= max(1, counts.total())


def _rows(lines: Sequence[str], mark: re.Pattern[str]) -> list[Row]:
    return [Row(number, mark.split(line, COLUMN_LIMIT), too_long(line)) for number, line in enumerate(lines, 1)]
