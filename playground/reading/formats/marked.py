"""Marked text: one pair on a line, with a sign between the two: a ||| b, a => b, a = b, a - b; or a change of script: dog 狗."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from playground.reading.formats.delimited import guess_delimiter
from playground.reading.formats.language_id import letter_script
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.records import too_long
from playground.reading.formats.separators import STRONG, WEAK, find_separator
from playground.reading.formats.table import Row, Source, Table

BARS = re.compile(r"\|\|\|")
_WORD = re.compile(r"\S+")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_FIELDS = (1, 2, 3)  # bars may also separate three or four fields


def read_marked(sources: Sequence[Source]) -> Table | None:
    """Signs made for it: three bars, arrows, an equals sign."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    if _has_bars(lines):
        return Table("bars", _rows(lines, BARS))
    mark = find_separator(lines, STRONG)
    return Table("marked", _rows(lines, mark)) if mark and not _is_within_cells(lines[:SAMPLE], mark) else None


def _is_within_cells(sample: Sequence[str], mark: re.Pattern[str]) -> bool:
    """Whether the mark stands within the cells of a table: `3 + 4 = ?,7` is cut by its comma, `1,2 -> 2,1` by its arrow.

    In lists a separator is there as often on both sides of the mark, and the first line has a mark too, unless it names the columns of
    a table. The comma of a decimal separates nothing.
    """
    found = guess_delimiter(sample)
    if not found.tight or found.share < 0.9:
        return False
    first, *rest = [line for line in sample if line.strip()]
    if not mark.search(first) and found.delimiter in first:
        return True
    counts = [[_DECIMAL.sub("", side).count(found.delimiter) for side in mark.split(line, 1)] for line in [first, *rest]]
    return 2 * sum(len(count) == 2 and count[0] == count[1] for count in counts) < len(counts)


def read_loose(sources: Sequence[Source]) -> Table | None:
    """Signs that sentences are full of: a dash, a colon, a slash, some spaces; or two scripts, one after the other."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    mark = find_separator(lines, WEAK)
    if mark:
        return Table("marked", _rows(lines, mark))
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    changes = Counter(two for _, two in map(_at_the_change, filled) if two).most_common(1)
    if not changes or changes[0][1] < max(2, 0.95 * len(filled)):
        return None
    cut = (parts if two == changes[0][0] else [line] for line, (parts, two) in ((line, _at_the_change(line)) for line in lines))
    return Table("marked", [Row(number, parts, too_long(line)) for number, (line, parts) in enumerate(zip(lines, cut, strict=True), 1)])


def _at_the_change(line: str) -> tuple[list[str], tuple[str, ...]]:
    """(both parts, both scripts) of a line whose words are first all in one script and then all in another; ([line], ()) of any other."""
    found = [(word.start(), kind) for word in _WORD.finditer(line) if (kind := _word_script(word[0]))]
    changes = [place for place in range(1, len(found)) if found[place][1] != found[place - 1][1]]
    if len(changes) != 1 or "" in (found[0][1], found[-1][1]):
        return [line], ()
    begin = found[changes[0]][0]
    return [line[:begin], line[begin:]], (found[0][1], found[-1][1])


def _word_script(word: str) -> str:
    """The script of a word's first letter; Chinese characters and kana are one."""
    letter = next(filter(str.isalpha, word), "")
    name = letter_script(letter) if letter else ""
    return "CJK" if name in ("HIRAGANA", "KATAKANA", "BOPOMOFO") else name


def _has_bars(lines: Sequence[str]) -> bool:
    counts = Counter(len(BARS.findall(line)) for line in lines[:SAMPLE] if line.strip())
    return max((counts[fields] for fields in _FIELDS), default=0) * 2 >= max(1, counts.total())


def _rows(lines: Sequence[str], mark: re.Pattern[str]) -> list[Row]:
    return [Row(number, mark.split(line, COLUMN_LIMIT), too_long(line)) for number, line in enumerate(lines, 1)]
