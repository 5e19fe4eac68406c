"""Subtitles (.srt, .vtt): cues with a time and a text. Two files of a film are matched by the times; one may hold two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.names import columns_of, direction_of
from playground.reading.formats.records import too_long
from playground.reading.formats.table import Row, Source, Table

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIME = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}")
_SAME = 0.6  # of the longer cue's time, which the other must share to say the same


class _Cue(NamedTuple):
    line: int
    begin: float  # seconds
    end: float
    texts: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def read_subtitles(sources: Sequence[Source]) -> Table | None:
    """Two files of cues, or one whose cues have a line in each of two languages."""
    if not sources or not all(any(map(_TIME.match, source.lines[:SAMPLE])) for source in sources):
        return None
    cues = [list(_cues(source.lines)) for source in sources]
    if len(sources) == 2:
        one, two = sources
        return Table("subtitles", _matched(one, two, *cues), columns_of(one.name, two.name), "item", direction_of(one.name, two.name))
    if 10 * sum(len(cue.texts) == 2 for cue in cues[0]) < 9 * len(cues[0]):
        raise Refusal("data.one_side", name=sources[0].name)
    rows = [Row(cue.line, cue.texts, too_long(*cue.texts) if len(cue.texts) == 2 else "unpaired") for cue in cues[0]]
    return Table("subtitles", rows, by_order=True)


def _cues(lines: Sequence[str]) -> Iterator[_Cue]:
    """The cues of a file. A text ends with a blank line or, where there is none, before the number of the next cue."""
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


def _matched(one: Source, two: Source, first: Sequence[_Cue], second: Sequence[_Cue]) -> list[Row]:
    """A row for each two cues shown at the same time, and for each that is alone; by their order where the times say nothing."""
    pairs = list(_by_time(first, second))
    if 2 * sum(None not in pair for pair in pairs) < len(pairs):
        if len(first) != len(second):
            raise Refusal("data.cues_apart", one=one.name, count_one=len(first), two=two.name, count_two=len(second))
        pairs = list(zip(first, second, strict=True))
    rows = []
    for number, pair in enumerate(pairs, 1):
        cells = [cue.text if cue else "" for cue in pair]
        rows.append(Row(number, cells, "unpaired" if None in pair else too_long(*cells)))
    return rows


def _by_time(first: Sequence[_Cue], second: Sequence[_Cue]) -> Iterator[tuple[_Cue | None, _Cue | None]]:
    here = there = 0
    while here < len(first) or there < len(second):
        one = first[here] if here < len(first) else None
        two = second[there] if there < len(second) else None
        if one and two and not _together(one, two):
            one, two = (one, None) if one.end <= two.end else (None, two)
        here, there = here + (one is not None), there + (two is not None)
        yield one, two


def _together(one: _Cue, two: _Cue) -> bool:
    shared = min(one.end, two.end) - max(one.begin, two.begin)
    return shared >= _SAME * max(one.end - one.begin, two.end - two.begin)
