"""Dictionaries: a word, one blank or two, and what belongs to it, in a few symbols: "HOUSE  HH AW1 S" (CMUdict)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.table import Row, Source, Table, comment_row

MIN_LINES = 10
REPEATED = 5  # times, on average, that each symbol stands in the sample: words of prose come again far less often
DIFFERENT = 0.8  # of the words, counted without the variants: the first words of sentences repeat
_ENTRY = re.compile(r"(\S+?)(?:\(\d+\))? {1,2}(\S.*)")  # HOUSE(2) is another answer to HOUSE
_REMARKS = (";;;", "#")
_REMARK = re.compile(r"(?<!\s)\s+#.*")


def read_dictionary(sources: Sequence[Source]) -> Table | None:
    """One file in which nearly every line is such an entry."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    filled = [line for line in lines if line.strip() and not line.startswith(_REMARKS)]
    sample = filled[:: -(-len(filled) // SAMPLE)] if filled else []
    found = [entry.groups() for entry in map(_ENTRY.fullmatch, sample) if entry]
    if len(found) < MIN_LINES or len(found) * 10 < len(sample) * 9:
        return None
    symbols = [symbol for _, rest in found for symbol in _REMARK.sub("", rest).split()]
    if len({word for word, _ in found}) < DIFFERENT * len(found) or len(set(symbols)) * REPEATED > len(symbols):
        return None
    return Table("dictionary", [_row(number, line) for number, line in enumerate(lines, 1)])


def _row(number: int, line: str) -> Row:
    entry = _ENTRY.fullmatch(line)
    if line.startswith(_REMARKS) or not entry:
        return comment_row(number, line) if line.startswith(_REMARKS) else Row(number, [line])
    return Row(number, [entry[1], _REMARK.sub("", entry[2])])
