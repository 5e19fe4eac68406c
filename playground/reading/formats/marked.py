"""Marked text: one pair per line, with a sign between the sides: a ||| b, a => b, a = b, a - b; or a change of script: dog 狗."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from playground.reading.formats.delimited import guess_delimiter
from playground.reading.formats.language_id import find_letter_script
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.records import find_fault
from playground.reading.formats.separators import STRONG, WEAK, find_separator
from playground.reading.formats.table import Row, Source, Table

BARS = re.compile(r"\|\|\|")
_WORD = re.compile(r"\S+")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_FIELDS = (1, 2, 3)  # bars may also separate three or four fields


def read_marked(sources: Sequence[Source]) -> Table | None:
    """Reads lines with unambiguous signs: three bars, arrows, an equals sign."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    if _has_bars(lines):
        return Table("bars", _split_rows(lines, BARS))
    mark = find_separator(lines, STRONG)
    return Table("marked", _split_rows(lines, mark)) if mark and not _is_within_cells(lines[:SAMPLE], mark) else None


def _is_within_cells(sample: Sequence[str], mark: re.Pattern[str]) -> bool:
    """Whether the mark is inside the cells of a table: `3 + 4 = ?,7` is cut by its comma, `1,2 -> 2,1` by its arrow.

    In lists a separator occurs equally often on both sides of the mark, and the first line has a mark too, unless it is a table's header. A
    decimal comma separates nothing.
    """
    guess = guess_delimiter(sample)
    if not guess.tight or guess.share < 0.9:
        return False
    first, *rest = [line for line in sample if line.strip()]
    if not mark.search(first) and guess.delimiter in first:
        return True
    counts = [[_DECIMAL.sub("", side).count(guess.delimiter) for side in mark.split(line, 1)] for line in [first, *rest]]
    return 2 * sum(len(count) == 2 and count[0] == count[1] for count in counts) < len(counts)


def read_loose(sources: Sequence[Source]) -> Table | None:
    """Reads lines with signs that are common in sentences: a dash, a colon, a slash, spaces; or with one script after another."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    mark = find_separator(lines, WEAK)
    if mark:
        return Table("marked", _split_rows(lines, mark))
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    changes = Counter(scripts for _, scripts in map(_split_scripts, filled) if scripts).most_common(1)
    if not changes or changes[0][1] < max(2, 0.95 * len(filled)):
        return None
    splits = zip(lines, map(_split_scripts, lines), strict=True)
    cells = (parts if scripts == changes[0][0] else [line] for line, (parts, scripts) in splits)
    return Table("marked", [Row(number, parts, find_fault(line)) for number, (line, parts) in enumerate(zip(lines, cells, strict=True), 1)])


def _split_scripts(line: str) -> tuple[list[str], tuple[str, ...]]:
    """Returns (both parts, both scripts) of a line that changes script exactly once between words; else ([line], ())."""
    words = [(word.start(), kind) for word in _WORD.finditer(line) if (kind := _word_script(word[0]))]
    changes = [place for place in range(1, len(words)) if words[place][1] != words[place - 1][1]]
    if len(changes) != 1 or "" in (words[0][1], words[-1][1]):
        return [line], ()
    begin = words[changes[0]][0]
    return [line[:begin], line[begin:]], (words[0][1], words[-1][1])


def _word_script(word: str) -> str:
    """Returns the script of a word's first letter; Chinese characters and kana count as one."""
    letter = next(filter(str.isalpha, word), "")
    name = find_letter_script(letter) if letter else ""
    return "CJK" if name in ("HIRAGANA", "KATAKANA", "BOPOMOFO") else name


def _has_bars(lines: Sequence[str]) -> bool:
    counts = Counter(len(BARS.findall(line)) for line in lines[:SAMPLE] if line.strip())
    return max((counts[fields] for fields in _FIELDS), default=0) * 2 >= max(1, counts.total())


def _split_rows(lines: Sequence[str], mark: re.Pattern[str]) -> list[Row]:
    return [Row(number, mark.split(line, COLUMN_LIMIT), find_fault(line)) for number, line in enumerate(lines, 1)]
