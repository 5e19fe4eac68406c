"""Marked text: one pair on a line, with a sign between the two: a ||| b, a => b, a = b, a - b; or a change of writing: dog 狗.

Such a sign may stand in a sentence too. So it must be there exactly once in nine of ten lines, with text on both sides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from playground.data.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.data.formats.records import too_long
from playground.data.formats.table import Row, Source, Table
from playground.data.formats.tongues import writing

BARS = re.compile(r"\|\|\|")
STRONG = tuple(
    re.compile(mark, re.IGNORECASE)
    for mark in (
        r"<?[-=]{1,3}>|[→⇒⟶⟹↔⇔➔➡]",
        r"<sep>|\[sep\]|<tab>|\[tab\]|\\t",
        r"#{2,3}|@{3}|\${2,3}|\*{2,3}|~{2,3}",
        r"::",
        "[\x01\x1e\x1f]",  # separators made for machines
        r"\s={1,2}\s",
    )
)
STOPS = tuple(".!?…。！？")
WEAK = tuple(re.compile(mark) for mark in (r"\s[-–—]{1,2}\s", r"\s/{1,2}\s", r"\s~\s", r"\s?:\s|：", "=", " {3,}", "；", "，"))
_INNER = WEAK[-2:]
_WORD = re.compile(r"\S+")
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
    """Signs that sentences are full of: a dash, a colon, a slash, some spaces; or two writings, one after the other."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    mark = find_mark(lines, WEAK)
    if mark:
        return Table("marked", _rows(lines, mark))
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    changes = Counter(two for _, two in map(_at_the_change, filled) if two).most_common(1)
    if not changes or changes[0][1] < max(2, 0.95 * len(filled)):
        return None
    cut = (parts if two == changes[0][0] else [line] for line, (parts, two) in ((line, _at_the_change(line)) for line in lines))
    return Table("marked", [Row(number, parts, too_long(line)) for number, (line, parts) in enumerate(zip(lines, cut, strict=True), 1)])


def _at_the_change(line: str) -> tuple[list[str], tuple[str, ...]]:
    """(both parts, both writings) of a line whose words are first all of one writing and then all of another; ([line], ()) of any other."""
    found = [(word.start(), kind) for word in _WORD.finditer(line) if (kind := _writing(word[0]))]
    changes = [place for place in range(1, len(found)) if found[place][1] != found[place - 1][1]]
    if len(changes) != 1 or "" in (found[0][1], found[-1][1]):
        return [line], ()
    begin = found[changes[0]][0]
    return [line[:begin], line[begin:]], (found[0][1], found[-1][1])


def _writing(word: str) -> str:
    """The writing of a word's first letter; Chinese characters and kana are one."""
    letter = next(filter(str.isalpha, word), "")
    name = writing(letter) if letter else ""
    return "CJK" if name in ("HIRAGANA", "KATAKANA", "BOPOMOFO") else name


def find_mark(lines: Sequence[str], marks: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    """The first of `marks` that separates nine of ten lines (and at least two) in two, or None."""
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    return next((mark for mark in marks if _separates(mark, filled)), None)


def _separates(mark: re.Pattern[str], filled: Sequence[str]) -> bool:
    """What stands before the mark must differ from line to line (or it names a speaker), and be no running number."""
    cut = [parts for parts in (mark.split(line, 2) for line in filled) if len(parts) == 2 and all(map(str.strip, parts))]
    if len(cut) < 2 or len(cut) * 10 < len(filled) * 9:
        return False
    before, after = ([parts[side].strip() for parts in cut] for side in (0, 1))
    if mark in _INNER and 2 * sum(map(_ends_a_sentence, after)) >= len(cut) and 10 * sum(map(_ends_a_sentence, before)) < len(cut):
        return False  # a sentence was cut in the middle
    counted = any([text.rstrip(".)") for text in before] == [str(first + n) for n in range(len(cut))] for first in (0, 1))
    return len(set(before)) * 5 >= len(cut) * 4 and not counted


def _ends_a_sentence(text: str) -> bool:
    return text.endswith(STOPS)


def _has_bars(lines: Sequence[str]) -> bool:
    counts = Counter(len(BARS.findall(line)) for line in lines[:SAMPLE] if line.strip())
    return max((counts[fields] for fields in _FIELDS), default=0) * 2 >= max(1, counts.total())


def _rows(lines: Sequence[str], mark: re.Pattern[str]) -> list[Row]:
    return [Row(number, mark.split(line, COLUMN_LIMIT), too_long(line)) for number, line in enumerate(lines, 1)]
