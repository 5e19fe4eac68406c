"""Subtitles (.srt, .vtt): cues with times and text. Two files of a film are matched by time; one file may hold two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.names import compare_directions, name_columns
from playground.reading.formats.records import find_fault
from playground.reading.formats.table import Row, Source, Table

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIME = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}")
_MIN_OVERLAP = 0.6  # fraction of the longer cue's duration that matching cues share


class _Cue(NamedTuple):
    line: int
    begin: float  # seconds
    end: float
    texts: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def read_subtitles(sources: Sequence[Source]) -> Table | None:
    """Reads two files of cues, or one whose cues have a line in each of two languages."""
    if not sources or not all(any(map(_TIME.match, source.lines[:SAMPLE])) for source in sources):
        return None
    cues = [list(_parse_cues(source.lines)) for source in sources]
    if len(sources) == 2:
        left, right = sources
        names = left.name, right.name
        return Table("subtitles", _match_cues(left, right, *cues), name_columns(*names), "item", compare_directions(*names))
    if 10 * sum(len(cue.texts) == 2 for cue in cues[0]) < 9 * len(cues[0]):
        raise Refusal("data.one_side", name=sources[0].name)
    rows = [Row(cue.line, cue.texts, find_fault(*cue.texts) if len(cue.texts) == 2 else "unpaired") for cue in cues[0]]
    return Table("subtitles", rows, by_order=True)


def _parse_cues(lines: Sequence[str]) -> Iterator[_Cue]:
    """Parses the cues of a file. A text ends at a blank line or else before the number of the next cue."""
    places = [place for place, line in enumerate(lines) if _TIME.match(line)]
    for place, following in zip(places, [*places[1:], len(lines) + 1], strict=True):
        below = lines[place + 1 : following - 1 if following <= len(lines) and lines[following - 1].strip().isdigit() else following]
        texts = []
        for line in below:
            if not line.strip():
                break
            texts.append(line)
        clock = [int(number or 0) for number in _TIME.match(lines[place]).groups()]
        begin, end = (3600 * hours + 60 * minutes + seconds + part / 1000 for hours, minutes, seconds, part in (clock[:4], clock[4:]))
        yield _Cue(place + 1, begin, end, texts)


def _match_cues(left: Source, right: Source, first: Sequence[_Cue], second: Sequence[_Cue]) -> list[Row]:
    """Makes a row per two simultaneous cues, and per unmatched cue; pairs by order where the times don't match."""
    pairs = list(_align_cues(first, second))
    if 2 * sum(None not in pair for pair in pairs) < len(pairs):
        if len(first) != len(second):
            raise Refusal("data.cues_apart", one=left.name, count_one=len(first), two=right.name, count_two=len(second))
        pairs = list(zip(first, second, strict=True))
    rows = []
    for number, pair in enumerate(pairs, 1):
        cells = [cue.text if cue else "" for cue in pair]
        rows.append(Row(number, cells, "unpaired" if None in pair else find_fault(*cells)))
    return rows


def _align_cues(first: Sequence[_Cue], second: Sequence[_Cue]) -> Iterator[tuple[_Cue | None, _Cue | None]]:
    first_index = second_index = 0
    while first_index < len(first) or second_index < len(second):
        left = first[first_index] if first_index < len(first) else None
        right = second[second_index] if second_index < len(second) else None
        if left and right and not _overlap(left, right):
            left, right = (left, None) if left.end <= right.end else (None, right)
        first_index, second_index = first_index + (left is not None), second_index + (right is not None)
        yield left, right


def _overlap(left: _Cue, right: _Cue) -> bool:
    shared = min(left.end, right.end) - max(left.begin, right.begin)
    return shared >= _MIN_OVERLAP * max(left.end - left.begin, right.end - right.begin)
