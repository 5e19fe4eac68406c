"""Marked text: one pair per line, with a sign between the sides: a ||| b, a => b, a = b, a - b; with a label before each, as in SCAN;
with a change of script: dog 狗; cards of Quizlet with a separator between them, `hello<tab>hallo;bye<tab>tschüss`; and dictionaries like
CEDICT."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from playground.reading.formats import COLUMN_LIMIT, SAMPLE, Confidence, Row, Source, Table, find_fault, reads
from playground.reading.formats.column_names import find_direction
from playground.reading.formats.delimited import guess_delimiter
from playground.reading.formats.items import make_row
from playground.reading.formats.languages import find_letter_script
from playground.reading.formats.records import STRONG, WEAK, find_separator

BARS = re.compile(r"\|\|\|")
_WORD = re.compile(r"\S+")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_LABEL = re.compile(r"([^\W\d_][\w-]{0,14}) ?[:：]")
_MIN_CARDS = 3  # cards on a line
_ENTRY = re.compile(r"(\S+) (?:(\S+) )?\[([^\[\]]*)\] /(.+)/\s*", re.DOTALL)
_COLUMNS = ("simplified", "meaning", "traditional", "pinyin")
_FIELDS = (1, 2, 3)  # bars may also separate three or four fields


@reads(Confidence.SIGNS)
def read_marked(source: Source) -> Table | None:
    """Reads lines with unambiguous signs: three bars, arrows, an equals sign."""
    lines = source.lines
    counts = Counter(len(BARS.findall(line)) for line in lines[:SAMPLE] if line.strip())
    if max(counts[fields] for fields in _FIELDS) * 2 >= max(1, counts.total()):
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


@reads(Confidence.LOOSE)
def read_loose(source: Source) -> Table | None:
    """Reads lines with signs that are common in sentences: a dash, a colon, a slash, spaces; or with one script after another."""
    lines = source.lines
    mark = find_separator(lines, WEAK)
    if mark:
        return Table("marked", _split_rows(lines, mark))
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    changes = Counter(scripts for _, scripts in map(_split_scripts, filled) if scripts).most_common(1)
    if not changes or changes[0][1] < max(2, 0.95 * len(filled)):
        return None
    splits = ((line, *_split_scripts(line)) for line in lines)
    return Table("marked", _make_rows(lines, (parts if scripts == changes[0][0] else [line] for line, parts, scripts in splits)))


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


def _split_rows(lines: Sequence[str], mark: re.Pattern[str]) -> list[Row]:
    return _make_rows(lines, (mark.split(line, COLUMN_LIMIT) for line in lines))


def _make_rows(lines: Sequence[str], cells: Iterable[list[str]]) -> list[Row]:
    return [Row(number, parts, find_fault(line)) for number, (line, parts) in enumerate(zip(lines, cells, strict=True), 1)]


# --- labels ---


@reads(Confidence.LAYOUT)
def read_scan(source: Source) -> Table | None:
    """Reads lines like SCAN's, `IN: jump twice OUT: JUMP JUMP`: the same two labels in most of them."""
    lines = source.lines
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    for first, second in _find_labels(filled[:3]):
        form = re.compile(rf"\s*{re.escape(first)} ?[:：](.*?)\s{re.escape(second)} ?[:：](.*)", re.DOTALL | re.IGNORECASE)
        known = find_direction((first, second))
        if sum(form.fullmatch(line) is not None for line in filled) * 10 >= len(filled) * (5 if known else 9):
            rows = _make_rows(lines, ([*match.groups()] if (match := form.fullmatch(line)) else [line] for line in lines))
            return Table("scan", rows, (first, second), pair=known)
    return None


def _find_labels(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Returns pairs of different labels, one at a line's beginning and one later, likeliest first."""
    pairs = {}
    for line in lines:
        names = [match[1] for match in _LABEL.finditer(line[:SAMPLE])][:8]
        if names and line.lstrip().startswith(names[0]):
            pairs |= {(names[0], name): None for name in names[1:] if name.casefold() != names[0].casefold()}
    return sorted(pairs, key=lambda labels: find_direction(labels) is None)


# --- cards and entries ---


@reads(Confidence.LAYOUT)
def read_cards(source: Source) -> Table | None:
    """Reads cards ended by semicolons, each with one tab; on a single line it may be a comma."""
    lines = [line.strip(" ") for line in source.lines if line.strip()]
    sample = [piece for line in lines[:SAMPLE] for piece in _split_cards(line)]
    between = "\t" if _are_cut(sample, "\t") else "," if len(lines) == 1 and _are_cut(sample, ",") else ""
    ended = len(lines) > 1 and all(line.endswith(";") for line in lines[:SAMPLE])
    if not between or not (ended or len(sample) >= _MIN_CARDS * len(lines[:SAMPLE])):
        return None
    pieces = (piece for line in lines for piece in _split_cards(line))
    return Table("cards", [make_row(number, piece.split(between, COLUMN_LIMIT)) for number, piece in enumerate(pieces, 1)], unit="item")


def _are_cut(pieces: Sequence[str], sign: str) -> bool:
    """Whether the sign occurs once in each piece, and not before a space, as a sentence's comma does."""
    return bool(pieces) and all(piece.count(sign) == 1 and sign + " " not in piece for piece in pieces)


def _split_cards(line: str) -> list[str]:
    return [piece for piece in line.split(";") if piece.strip()]


@reads(Confidence.LAYOUT)
def read_entries(source: Source) -> Table | None:
    """Reads a dictionary like CEDICT, `漢語 汉语 [Han4 yu3] /Chinese/Chinese language/`, or EDICT, with one form of the word."""
    filled = [line for line in source.lines[:SAMPLE] if line.strip()]
    if 10 * sum(_ENTRY.fullmatch(line) is not None for line in filled) < 9 * max(1, len(filled)):
        return None
    rows = []
    for number, line in enumerate(source.lines, 1):
        match = _ENTRY.fullmatch(line)
        cells = [match[2] or match[1], match[4].replace("/", "; "), match[1], match[3]] if match else [] if line.strip() else [""]
        rows.append(make_row(number, cells, "" if cells else "broken"))
    return Table("entries", rows, _COLUMNS, pair=(0, 1))
