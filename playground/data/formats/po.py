"""gettext PO: the texts of a program and their translation, read with polib."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from playground.config import Refusal
from playground.data.formats.items import bounded
from playground.data.formats.limits import ENDLESS, MOST_LINES, SAMPLE
from playground.data.formats.table import Row, Source, Table
from playground.data.text import normalise

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
    """A row for each text; for a plural, one for each of its forms. What is fuzzy, obsolete or empty is not translated."""
    if len(sources) != 1 or not _recognised(sources[0].lines):
        return None
    source = sources[0]
    _check(source)
    document = _parsed(source)
    first = next(number for number, line in enumerate(source.lines, 1) if line.strip())
    rows = list(_rows(document, first))
    if not rows:
        raise Refusal("data.no_units", name=source.name)
    language = normalise(document.metadata.get("Language", ""))[:60]
    credit = normalise(document.metadata.get(_CREDIT, ""))[:1000]
    return Table("po", rows, ("msgid", language or "msgstr"), "line", (0, 1), credit)


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
        if entries > MOST_LINES:
            raise Refusal("data.too_many_items", name=source.name, limit=MOST_LINES)


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
        unsure = entry.obsolete or "fuzzy" in entry.flags
        for src, tgt in _sides(entry):
            yield bounded(entry.linenum or first, [src, tgt], "untranslated" if unsure or not tgt.strip() else "")


def _sides(entry: Any) -> list[tuple[str, str]]:
    """The text, or the singular with the first form and the plural with each of the others (or with the only one, where there is one)."""
    if not entry.msgid_plural:
        return [(entry.msgid, entry.msgstr)]
    forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [""]
    return [(entry.msgid, forms[0]), *[(entry.msgid_plural, form) for form in forms[1:] or forms]]
