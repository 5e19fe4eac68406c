"""gettext PO: a program's texts and their translations, read with polib."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from playground.config import Refusal
from playground.reading.formats.items import make_row
from playground.reading.formats.limits import ENDLESS, MAX_LINES, SAMPLE
from playground.reading.formats.names import compare_directions, name_columns
from playground.reading.formats.table import Row, Source, Table
from playground.reading.text import normalise

_ID = re.compile(r'\s*(#~\s*)?msgid\s+"')
_STR = re.compile(r'\s*(#~\s*)?msgstr(\[\d\])?\s*"')
_TEXT = re.compile(r'(?:#[~|]\s*)?(?:msg(?:id|id_plural|ctxt|str|str\[\d\])\s*)?"')  # a line that must end with a quotation mark
_LINE = re.compile(r"\(line (\d+)\)")
_CREDIT = "X-Credit"


class _Lines(str):
    """Text that polib can't mistake for a path, split at line ends only, not at other characters of a sentence."""

    __slots__ = ("lines",)

    def __new__(cls, lines: list[str]) -> _Lines:
        text = super().__new__(cls)
        text.lines = lines
        return text

    def splitlines(self, keepends: bool = False) -> list[str]:
        return self.lines


def read_po(sources: Sequence[Source]) -> Table | None:
    """Reads a row per text; for a plural, one per form. Fuzzy, obsolete and empty entries are untranslated.

    Two files, one per language, give the translations of the same text.
    """
    if not all(_is_po(source.lines) for source in sources):
        return None
    for source in sources:
        _check_lines(source)
    if len(sources) == 2:
        return _read_two(*sources)
    source = sources[0]
    document = _parse(source)
    first = next(number for number, line in enumerate(source.lines, 1) if line.strip())
    rows = list(_iterate_rows(document, first))
    if not rows:
        raise Refusal("data.no_units", name=source.name)
    language = normalise(document.metadata.get("Language", ""))[:60]
    credit = normalise(document.metadata.get(_CREDIT, ""))[:1000]
    return Table("po", rows, ("msgid", language or "msgstr"), "line", (0, 1), credit)


def _read_two(left: Source, right: Source) -> Table:
    first, second = ({(entry.msgctxt, entry.msgid): entry for entry in _parse(source)} for source in (left, right))
    common = first.keys() & second.keys()
    if 2 * len(common) < min(len(first), len(second)) or not common:
        raise Refusal("data.no_common_keys", one=left.name, two=right.name, count=len(common))
    rows = []
    for number, key in enumerate({**first, **second}, 1):
        first_forms, second_forms = _list_forms(first.get(key)), _list_forms(second.get(key))
        for cells in dict.fromkeys([(first_forms[0], second_forms[0]), (first_forms[-1], second_forms[-1])]):
            rows.append(make_row(number, list(cells), "" if all(map(str.strip, cells)) else "untranslated"))
    return Table("po", rows, name_columns(left.name, right.name), "item", compare_directions(left.name, right.name))


def _list_forms(entry: Any) -> list[str]:
    """Returns the translation, or those of a plural, singular first."""
    if entry is None or not _is_certain(entry):
        return [""]
    return [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [entry.msgstr]


def _is_certain(entry: Any) -> bool:
    return not entry.obsolete and "fuzzy" not in entry.flags


def _is_po(lines: Sequence[str]) -> bool:
    first = lines[:SAMPLE]
    return any(map(_ID.match, first)) and any(map(_STR.match, first))


def _check_lines(source: Source) -> None:
    """Checks what polib doesn't: an unbounded text takes it quadratic time, and a text without closing quote loses a letter."""
    size = begun = entries = 0
    for number, line in enumerate(map(str.strip, source.lines), 1):
        if _TEXT.match(line) and not (line.endswith('"') and line.count('"') > 1):
            raise Refusal("data.po_broken", name=source.name, line=number)
        size, begun = (size + len(line), begun) if line.startswith(("#", '"')) else (len(line), number)
        entries += "msgid " in line[:10]
        if size > ENDLESS:
            raise Refusal("data.endless_text", name=source.name, line=max(begun, 1), limit=ENDLESS)
        if entries > MAX_LINES:
            raise Refusal("data.too_many_items", name=source.name, limit=MAX_LINES)


def _parse(source: Source) -> Any:
    import polib

    try:
        return polib.pofile(_Lines(source.lines), encoding="utf-8", wrapwidth=0)
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:  # polib's errors on invalid input
        match = _LINE.search(str(error))
        raise Refusal("data.po_broken", name=source.name, line=int(match[1]) if match else 1) from None


def _iterate_rows(document: Any, first: int) -> Iterator[Row]:
    """Yields rows. polib numbers lines, except for the first entry: it begins on line `first`."""
    for entry in document:
        sure = _is_certain(entry)
        for src, tgt in _pair_forms(entry):
            yield make_row(entry.linenum or first, [src, tgt], "" if sure and tgt.strip() else "untranslated")


def _pair_forms(entry: Any) -> list[tuple[str, str]]:
    """Returns (text, translation), or the singular with the first form and the plural with each other form (or the only one)."""
    if not entry.msgid_plural:
        return [(entry.msgid, entry.msgstr)]
    forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [""]
    return [(entry.msgid, forms[0]), *[(entry.msgid_plural, form) for form in forms[1:] or forms]]
