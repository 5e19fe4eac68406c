"""Choosing: which row names the columns, and which two columns hold the sentences, by their names and by what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from playground.config import Refusal
from playground.data.formats.columns import SOURCES, TARGETS, Look, is_language, look, pair_of, plain, ranks
from playground.data.formats.limits import SAMPLE
from playground.data.formats.table import Row, Table
from playground.data.text import normalise

SHOWN = 200  # characters of a cell that are shown
_MORE_WORDS = {
    "id", "sentences", "texts", "words", "phrases", "expression", "lemma", "character", "characters", "hanzi", "pinyin", "kanji", "kana",
    "romaji", "notes", "note", "comment", "satz", "sätze", "wort", "vokabel", "übersetzung", "bedeutung", "quelle", "ziel", "mot",
    "phrase", "traduction", "traducción", "palabra", "frase", "frases", "слово", "перевод", "原文", "译文", "源", "源语言", "目标",
    "目标语言", "翻译", "句子", "源句", "译句", "问题", "答案", "正面", "背面", "拼音", "备注", "序号", "编号", "単語", "訳", "意味",
    "例文", "문장", "번역",
}  # fmt: skip
_ALSO_WORDS = {  # names of columns and of languages that are short words too
    "am", "as", "be", "ha", "he", "hi", "in", "is", "it", "my", "no", "or", "so", "to", "x", "y",
}  # fmt: skip
_STOPS = (".", "!", "?", "。", "！", "？")
_NAME = re.compile(r"[\w\s().,:/#-]{1,40}")
_PARTS = re.compile(r"[\W\d_]+")
_SENTENCES = Look(10, 10, 10, 0, 10)  # with a look as of sentences, only a name can speak against a column
_NUMBER_SIGNS = "0123456789.,:/%+- "
_GUID = re.compile(r"\S{8,12}")


class Column(NamedTuple):
    """A column as a person sees it: its name ("" if it has none), how many rows fill it, and what stands in the first of them."""

    name: str
    filled: int
    samples: tuple[str, ...]


class Plan(NamedTuple):
    """How a table is read. `together` are (column, column, rows that fill both) where there were several pairs to choose from."""

    header: int  # the line that names the columns, 0 if none does
    width: int
    columns: tuple[Column, ...]
    source: int
    target: int
    together: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Choices:
    """What a person wants instead of what was found; None and "" leave it to the file."""

    source: int | str | None = None  # a column: its place from 0, or its name
    target: int | str | None = None
    header: bool | None = None  # whether the first row names the columns
    encoding: str = ""  # one for all files, or one for each with commas between
    undo: bool | None = None  # traces of tools in the sentences (see formats.escapes); None only tells of them
    swap: bool = False  # source and target change places, whichever they are


def column(text: str | None) -> int | str | None:
    """A choice of a column as a person writes it: a number counts from 1, anything else is a name."""
    return int(text) - 1 if text and text.isdecimal() and len(text) < 4 else text or None


def plan(name: str, table: Table, rows: Sequence[Row], width: int, choices: Choices) -> Plan:
    """What was chosen, and for the rest what fits best. Raises Refusal for a column that isn't there."""
    line = _header_line(rows, bool(table.columns), choices.header)
    below = [row for row in rows if row.line != line and not row.fault]
    top = next((row.cells for row in rows if row.line == line), []) if line else []
    names = _names(table.columns or top, width)
    found, together = (table.pair, ()) if table.pair and max(table.pair) < width else _find(below, names)
    one, two = _place(name, choices.source, names), _place(name, choices.target, names)
    if one is not None and one == two:
        raise Refusal("data.same_column", name=name, column=names[one] or one + 1)
    rest = [place for place in (*found, *range(width)) if place not in (one, two)]
    if one is None:
        one = found[0] if found[0] != two else rest[0]
    if two is None:
        two = found[1] if found[1] != one else next(place for place in rest if place != one)
    one, two = (two, one) if choices.swap else (one, two)
    return Plan(line, width, _columns(below, names), one, two, together)


# --- the header ---


def _header_line(rows: Sequence[Row], named: bool, wanted: bool | None) -> int:
    """The line of the first filled row if it names the columns, or if it is said to; else 0."""
    first = next((row for row in rows if row.fault != "header" and (row.fault or any(map(normalise, row.cells)))), None)
    if first is None or wanted is False or (first.fault and not wanted) or (named and not wanted):
        return 0
    return first.line if wanted or _names_columns(first, rows) else 0


def _names_columns(first: Row, rows: Sequence[Row]) -> bool:
    cells = [normalise(cell) for cell in first.cells]
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 or len({cell.casefold() for cell in filled}) < len(filled) or max(map(len, filled)) > 40:
        return False
    if any(cell.endswith(_STOPS) for cell in filled):
        return False
    known = [cell for cell in filled if _is_name(cell)]
    certain = any(cell.casefold() not in _ALSO_WORDS for cell in known)
    if len(known) >= 2 and certain and 2 * len(known) >= len(filled) and (len(known) == len(filled) or len(filled) > 2):
        return True
    return len(filled) > 2 and _stands_on_numbers(cells, [row for row in rows[: SAMPLE // 10] if row is not first])


def _is_name(cell: str) -> bool:
    """Whether it is a name for a column: one word, or several that are all such names ("English sentence", "text_de")."""
    parts = [part for part in _PARTS.split(cell) if part]
    return _NAME.fullmatch(cell) is not None and (_is_word(cell) or (parts != [] and all(map(_is_word, parts))))


def _is_word(text: str) -> bool:
    return plain(text) in _VOCABULARY or _is_language(text) or ranks([text], [_SENTENCES]) == [3]


def _is_language(name: str) -> bool:
    return is_language(name) or is_language(name.casefold())


def _stands_on_numbers(cells: Sequence[str], below: Sequence[Row]) -> bool:
    """Whether a cell that is no number stands on a column of numbers."""
    for place, cell in enumerate(cells):
        under = [row.cells[place] for row in below if len(row.cells) > place and row.cells[place].strip()]
        if cell and not _is_number(cell) and len(under) >= 3 and all(map(_is_number, under)):
            return True
    return False


def _names(given: Sequence[str], width: int) -> list[str]:
    names = [normalise(name)[:60] for name in given[:width]]
    return names + [""] * (width - len(names))


# --- two of the columns ---


def _find(rows: Sequence[Row], names: Sequence[str]) -> tuple[tuple[int, int], tuple[tuple[int, int, int], ...]]:
    """The columns of source and target, and what pairs of languages there were to choose from."""
    if len(names) == 2 and not any(names):
        return (0, 1), ()
    cells = [_cells(rows, place) for place in range(len(names))]
    looks = list(map(look, cells))
    if pair := pair_of(names, looks):
        return pair, ()
    if len(names) == 2:
        return (0, 1), ()
    order = [max(found, _dullness(column)) for found, column in zip(ranks(names, looks), cells, strict=True)]
    languages = [place for place, name in enumerate(names) if _is_language(name) and _dullness(cells[place]) < 2]
    together = _together(rows, languages) if len(languages) > 2 else ()
    if together:
        return together[0][:2], together
    best = sorted(range(len(names)), key=lambda place: (order[place], place))[:2]
    return (min(best), max(best)), ()


def _cells(rows: Sequence[Row], place: int) -> list[str]:
    return [row.cells[place].strip() if len(row.cells) > place else "" for row in rows[: 2 * SAMPLE]]


def _dullness(cells: Sequence[str]) -> int:
    """From 0 for what may be sentences to 6 for what surely is none."""
    filled = [cell for cell in cells if cell]
    few = len(filled) < 3

    def mostly(test: Callable[[str], object]) -> bool:
        return bool(filled) and 20 * sum(map(bool, map(test, filled))) >= 19 * len(filled)

    if not filled:
        return 6
    if mostly(_is_number):
        return 5 if _counts(filled) or few else 3
    if mostly(lambda cell: cell.startswith(("http://", "https://", "www."))) or licence(cells):
        return 4
    if not few and len(set(filled)) == len(filled) and mostly(lambda cell: _GUID.fullmatch(cell) and not cell.isalpha()):
        return 3
    return 2 if len(filled) >= 8 and len(set(filled)) <= 2 else 0


def _is_number(cell: str) -> bool:
    return bool(cell) and not cell.strip(_NUMBER_SIGNS)


def _counts(cells: Sequence[str]) -> bool:
    """Whether it is a running number."""
    return all(cell == str(int(cells[0]) + place) for place, cell in enumerate(cells)) if cells[0].isdecimal() else False


def _together(rows: Sequence[Row], places: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """How many rows fill each two of the columns, the most first."""
    patterns = Counter(tuple(place for place in places if len(row.cells) > place and row.cells[place].strip()) for row in rows)
    counts: Counter[tuple[int, int]] = Counter()
    for pattern, count in patterns.items():
        for two in combinations(pattern, 2):
            counts[two] += count
    return tuple((one, two, count) for (one, two), count in sorted(counts.items(), key=lambda found: (-found[1], found[0])))


def licence(cells: Sequence[str]) -> str:
    """The licences that cells name, as ManyThings has them ("CC-BY 2.0 … #sentence number"); "" if they hold something else."""
    said = Counter(cell.strip().split(" #")[0] for cell in cells)
    common = [normalise(one) for one, count in said.most_common() if one and count * 100 >= said.total()]
    return "; ".join(common) if all(one.startswith(("CC-", "CC ", "CC0")) for one in common) else ""


def _place(name: str, wanted: int | str | None, names: Sequence[str]) -> int | None:
    """The place of a column by its place or its name."""
    if wanted is None or (isinstance(wanted, int) and 0 <= wanted < len(names)):
        return wanted
    same = [place for place, known in enumerate(names) if known and known.casefold() == str(wanted).strip().casefold()]
    if not same:
        shown = wanted + 1 if isinstance(wanted, int) else normalise(wanted)[:40]
        columns = ", ".join(known or str(place) for place, known in enumerate(names, 1))
        raise Refusal("data.no_column", name=name, column=shown, columns=columns)
    return same[0]


def _columns(rows: Sequence[Row], names: Sequence[str]) -> tuple[Column, ...]:
    found = []
    for place, name in enumerate(names):
        filled, samples = 0, []
        for row in rows:
            if len(row.cells) > place and row.cells[place].strip():
                filled += 1
                if len(samples) < 2 and (text := normalise(row.cells[place][: 2 * SHOWN])[:SHOWN]):
                    samples.append(text)
        found.append(Column(name, filled, tuple(samples)))
    return tuple(found)


_VOCABULARY = frozenset((*SOURCES, *TARGETS, *_MORE_WORDS))
