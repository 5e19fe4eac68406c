"""Dictionaries: a word, one or two spaces, and its transcription in few symbols: "HOUSE  HH AW1 S" (CMUdict)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.table import Row, Source, Table, comment_row

MIN_LINES = 10
REPEATED = 5  # mean count of a symbol in the sample: words of prose repeat far less
DIFFERENT = 0.8  # fraction of distinct headwords without variants: first words of sentences repeat
_ENTRY = re.compile(r"(\S+?)(?:\(\d+\))? {1,2}(\S.*)")  # HOUSE(2) is a variant of HOUSE
_REMARKS = (";;;", "#")
_REMARK = re.compile(r"(?<!\s)\s+#.*")


def read_dictionary(sources: Sequence[Source]) -> Table | None:
    """Reads one file in which nearly every line is an entry."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    filled = [line for line in lines if line.strip() and not line.startswith(_REMARKS)]
    sample = filled[:: -(-len(filled) // SAMPLE)] if filled else []
    entries = [entry.groups() for entry in map(_ENTRY.fullmatch, sample) if entry]
    if len(entries) < MIN_LINES or len(entries) * 10 < len(sample) * 9:
        return None
    symbols = [symbol for _, rest in entries for symbol in _REMARK.sub("", rest).split()]
    if len({word for word, _ in entries}) < DIFFERENT * len(entries) or len(set(symbols)) * REPEATED > len(symbols):
        return None
    return Table("dictionary", [_parse_line(number, line) for number, line in enumerate(lines, 1)])


def _parse_line(number: int, line: str) -> Row:
    entry = _ENTRY.fullmatch(line)
    if line.startswith(_REMARKS) or not entry:
        return comment_row(number, line) if line.startswith(_REMARKS) else Row(number, [line])
    return Row(number, [entry[1], _REMARK.sub("", entry[2])])
