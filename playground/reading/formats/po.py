"""gettext PO: the texts of a program and their translation, read with polib."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from playground.config import Refusal
from playground.reading.formats.items import make_row
from playground.reading.formats.limits import ENDLESS, MAX_LINES, SAMPLE
from playground.reading.formats.names import columns_of, direction_of
from playground.reading.formats.table import Row, Source, Table
from playground.reading.text import normalise

_ID = re.compile(r'\s*(#~\s*)?msgid\s+"')
_STR = re.compile(r'\s*(#~\s*)?msgstr(\[\d\])?\s*"')
_TEXT = re.compile(r'(?:#[~|]\s*)?(?:msg(?:id|id_plural|ctxt|str|str\[\d\])\s*)?"')  # a line that must end with a quotation mark
_LINE = re.compile(r"\(line (\d+)\)")
_CREDIT = "X-Credit"


class _Lines(str):
    """Text for polib that is sure to be no path, and that is cut at line ends only, not at other characters of a sentence."""

    __slots__ = ("lines",)

    def __new__(cls, lines: list[str]) -> _Lines:
        text = super().__new__(cls)
        text.lines = lines
        return text

    def splitlines(self, keepends: bool = False) -> list[str]:
        return self.lines


def read_po(sources: Sequence[Source]) -> Table | None:
    """A row for each text; for a plural, one for each of its forms. What is fuzzy, obsolete or empty is not translated.

    Of two files, one for each language, the translations of the same text.
    """
    if not all(_recognised(source.lines) for source in sources):
        return None
    for source in sources:
        _check(source)
    if len(sources) == 2:
        return _two(*sources)
    source = sources[0]
    document = _parsed(source)
    first = next(number for number, line in enumerate(source.lines, 1) if line.strip())
    rows = list(_rows(document, first))
    if not rows:
        raise Refusal("data.no_units", name=source.name)
    language = normalise(document.metadata.get("Language", ""))[:60]
    credit = normalise(document.metadata.get(_CREDIT, ""))[:1000]
    return Table("po", rows, ("msgid", language or "msgstr"), "line", (0, 1), credit)


def _two(one: Source, two: Source) -> Table:
    first, second = ({(entry.msgctxt, entry.msgid): entry for entry in _parsed(source)} for source in (one, two))
    common = first.keys() & second.keys()
    if 2 * len(common) < min(len(first), len(second)) or not common:
        raise Refusal("data.no_common_keys", one=one.name, two=two.name, count=len(common))
    rows = []
    for number, key in enumerate({**first, **second}, 1):
        here, there = _forms(first.get(key)), _forms(second.get(key))
        for said in dict.fromkeys([(here[0], there[0]), (here[-1], there[-1])]):
            rows.append(make_row(number, list(said), "" if all(map(str.strip, said)) else "untranslated"))
    return Table("po", rows, columns_of(one.name, two.name), "item", direction_of(one.name, two.name))


def _forms(entry: Any) -> list[str]:
    """The translation, or those of a plural, the singular first."""
    if entry is None or not _is_certain(entry):
        return [""]
    return [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [entry.msgstr]


def _is_certain(entry: Any) -> bool:
    return not entry.obsolete and "fuzzy" not in entry.flags


def _recognised(lines: Sequence[str]) -> bool:
    first = lines[:SAMPLE]
    return any(map(_ID.match, first)) and any(map(_STR.match, first))


def _check(source: Source) -> None:
    """What polib does not look after: a text without end takes it ever longer, and of one without closing quote it cuts a letter."""
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


def _parsed(source: Source) -> Any:
    import polib

    try:
        return polib.pofile(_Lines(source.lines), encoding="utf-8", wrapwidth=0)
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:  # what it answers to nonsense
        found = _LINE.search(str(error))
        raise Refusal("data.po_broken", name=source.name, line=int(found[1]) if found else 1) from None


def _rows(document: Any, first: int) -> Iterator[Row]:
    """polib counts lines, but not for the first entry: it begins on the `first` line."""
    for entry in document:
        sure = _is_certain(entry)
        for src, tgt in _sides(entry):
            yield make_row(entry.linenum or first, [src, tgt], "" if sure and tgt.strip() else "untranslated")


def _sides(entry: Any) -> list[tuple[str, str]]:
    """The text, or the singular with the first form and the plural with each of the others (or with the only one, where there is one)."""
    if not entry.msgid_plural:
        return [(entry.msgid, entry.msgstr)]
    forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [""]
    return [(entry.msgid, forms[0]), *[(entry.msgid_plural, form) for form in forms[1:] or forms]]
