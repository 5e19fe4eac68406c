"""Programs' texts and their translations: gettext PO, read with polib; Qt Linguist's .ts; Android's strings.xml, .properties, .strings and
YAML, one file per language."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.formats import ENDLESS, LINE_LIMIT, MAX_LINES, SAMPLE, Confidence, Source, Table, comment_row, reads
from playground.reading.formats.column_names import compare_directions, name_columns
from playground.reading.formats.exchange import Units
from playground.reading.formats.items import join_keys, make_row
from playground.reading.formats.languages import is_language
from playground.reading.formats.lines import join_files
from playground.reading.formats.xml_events import Element, Events, find_root, parse
from playground.reading.text import normalise, unescape, unquote

_ID = re.compile(r'\s*(#~\s*)?msgid\s+"')
_STR = re.compile(r'\s*(#~\s*)?msgstr(\[\d\])?\s*"')
_TEXT = re.compile(r'(?:#[~|]\s*)?(?:msg(?:id|id_plural|ctxt|str|str\[\d\])\s*)?"')  # a line that must end with a quotation mark
_LINE = re.compile(r"\(line (\d+)\)")
_CREDIT = "X-Credit"
_NAMED = (".properties", ".strings", ".yaml", ".yml")
_REMARK = re.compile(r"\s*(#|//|/\*|\*|!|---\s*$|%YAML)")
_KEY = r"""(?:"((?:[^"\\]|\\.)+)"\s*|'([^']+)'\s*|([^\s"'#=:{}\[\],][^"'=:{}\[\],]*))"""
_ENTRY = re.compile(rf"(\s*){_KEY}[=:](.*)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*([.-]\w+)+|[A-Za-z][^\W_]*_\w+|[a-z]+[A-Z]\w*")
_DOTTED = re.compile(r"\s*[A-Za-z_]\w*(\.\w+)+\s*[=:]\s*\S")


# --- gettext PO ---


class _Lines(str):
    """Text that polib can't mistake for a path, split at line ends only, not at other characters of a sentence."""

    __slots__ = ("lines",)

    def __new__(cls, lines: list[str]) -> _Lines:
        text = super().__new__(cls)
        text.lines = lines
        return text

    def splitlines(self, keepends: bool = False) -> list[str]:
        return self.lines


@reads(Confidence.SIGNATURE, files=(1, 2), is_whole=True)
def read_po(*sources: Source) -> Table | None:
    """Reads a row per text; for a plural, one per form. Fuzzy, obsolete and empty entries are untranslated.

    Two files, one per language, give the translations of the same text.
    """
    if not all(any(map(match, source.lines[:SAMPLE])) for source in sources for match in (_ID.match, _STR.match)):
        return None
    for source in sources:
        _check_lines(source)
    if len(sources) == 2:
        return _read_two(*sources)
    (source,) = sources
    document = _parse(source)
    first = next(number for number, line in enumerate(source.lines, 1) if line.strip())  # of the first entry, which has no number
    rows = [
        make_row(entry.linenum or first, [src, tgt], "" if _is_certain(entry) and tgt.strip() else "untranslated")  # polib numbers lines
        for entry in document for src, tgt in _pair_forms(entry)
    ]  # fmt: skip
    if not rows:
        raise Refusal("data.no_units", name=source.name)
    language = normalise(document.metadata.get("Language", ""))[:60]
    credit = normalise(document.metadata.get(_CREDIT, ""))[:1000]
    return Table("po", rows, ("msgid", language or "msgstr"), "line", (0, 1), credit)


def _read_two(left: Source, right: Source) -> Table:
    first, second = ({(entry.msgctxt, entry.msgid): entry for entry in _parse(source)} for source in (left, right))
    _check_keys(left, first, right, second)
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


def _pair_forms(entry: Any) -> list[tuple[str, str]]:
    """Returns (text, translation), or the singular with the first form and the plural with each other form (or the only one)."""
    if not entry.msgid_plural:
        return [(entry.msgid, entry.msgstr)]
    forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [""]
    return [(entry.msgid, forms[0]), *[(entry.msgid_plural, form) for form in forms[1:] or forms]]


# --- Qt ---


class _Linguist(Units):
    whole = ("message",)
    between = ("source", "target")  # source and target language

    def open(self, element: Element) -> None:
        if element.tag == "TS":
            names = element.attributes
            self.between = (names.get("sourcelanguage") or self.between[0], names.get("language") or self.between[1])

    def take(self, element: Element) -> None:
        src = "".join(text.text() for text in element.children("source"))
        for translation in element.children("translation") or [Element("translation", {}, 0, [])]:
            is_certain = "type" not in translation.attributes  # "unfinished", "vanished" or "obsolete"
            for form in translation.children("numerusform") or [translation]:  # several for a plural
                variants = list(zip(self.between, (src, form.text()), strict=True))
                self.add_unit(element.line, variants, "" if is_certain and variants[1][1].strip() else "untranslated")


@reads(Confidence.SIGNATURE, is_whole=True)
def read_linguist(source: Source) -> Table | None:
    """Reads a row per message, or per form of its plural."""
    if find_root(source) != "TS":
        return None
    document = parse(source, _Linguist)
    return document.make_table("qt", document.between[0])


# --- Android ---


class _Strings(Events):
    whole = ("string", "plurals", "string-array")

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.texts: dict[str, str] = {}

    def take(self, element: Element) -> None:
        name = element.attributes.get("name", "")
        texts = {f"{name} {item.attributes.get('quantity', count)}": item for count, item in enumerate(element.children("item"), 1)}
        for key, item in (texts if element.tag != "string" else {name: element}).items():
            text = item.text().strip()
            self.texts[key] = unescape(text) if (inside := unquote(text)) is None else inside


@reads(Confidence.SIGNATURE, files=(1, 2), is_whole=True)
def read_strings(*sources: Source) -> Table | None:
    """Reads two files matched by the names of their texts. A single file is refused."""
    if not all(find_root(source) == "resources" for source in sources):
        return None
    if len(sources) == 1:
        raise Refusal("data.one_side", name=sources[0].name)
    left, right = sources
    return _join_texts("strings", left, parse(left, _Strings).texts, right, parse(right, _Strings).texts)


def _join_texts(kind: str, left: Source, first: dict[str, str], right: Source, second: dict[str, str]) -> Table:
    _check_keys(left, first, right, second)
    return join_files(kind, join_keys(first, second), left, right, "item")


def _check_keys(left: Source, first: dict[Any, Any], right: Source, second: dict[Any, Any]) -> None:
    """Raises Refusal where few keys of two files are equal."""
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)):
        raise Refusal("data.no_common_keys", one=left.name, two=right.name, count=common)


# --- keys and texts on lines ---


class _Entry(NamedTuple):
    line: int
    key: str
    text: str
    quoted: bool


@reads(Confidence.SIGNATURE)
def read_keyed(source: Source) -> Table | None:
    """Reads words and their quoted translations. A file with identifiers before its texts holds one language, and is refused."""
    is_named = source.name.casefold().endswith(_NAMED)
    filled = [line for line in source.lines[:SAMPLE] if line.strip() and not _REMARK.match(line)]
    if len(filled) > 2 and all(map(_DOTTED.match, filled)):
        raise Refusal("data.one_side", name=source.name)
    closed = sum(line.rstrip(";,\t ").endswith(('"', "'")) for line in filled)
    entries = _parse_entries(source) if is_named or 10 * closed >= 9 * len(filled) else []
    if not entries or not (is_named or 10 * sum(entry.quoted for entry in entries) >= 9 * len(entries)):
        return None
    if 2 * sum(_IDENTIFIER.fullmatch(entry.key[:100]) is not None for entry in entries) > len(entries):
        raise Refusal("data.one_side", name=source.name)
    rows = {entry.line: make_row(entry.line, [entry.key, entry.text]) for entry in entries}
    return Table("keyed", [rows.get(number) or comment_row(number, line) for number, line in enumerate(source.lines, 1)])


@reads(Confidence.SIGNATURE, files=(2,))
def read_two_keyed(left: Source, right: Source) -> Table | None:
    """Joins two files by their keys. Raises Refusal where a file has another form, or the keys differ."""
    if not all(source.name.casefold().endswith(_NAMED) for source in (left, right)):
        return None
    first, second = ({entry.key: entry.text for entry in _parse_entries(source)} for source in (left, right))
    if not first or not second:
        raise Refusal("data.not_understood", name=f"{left.name} + {right.name}")
    return _join_texts("keyed", left, _strip_language(first), right, _strip_language(second))


def _strip_language(texts: dict[str, str]) -> dict[str, str]:
    """Strips a language that all keys begin with, as in YAML: "de.menu.open"."""
    tops = {key.partition(".")[0] for key in texts}
    return {key.partition(".")[2]: text for key, text in texts.items()} if len(tops) == 1 and is_language(*tops) else texts


def _parse_entries(source: Source) -> list[_Entry]:
    """Parses lines into keys and texts, nested keys joined by dots; [] if any line is neither an entry nor a comment."""
    entries, parents, continued = [], [], ""
    has_comments = source.name.casefold().endswith((".yaml", ".yml"))  # elsewhere a # in a text is text
    for number, line in enumerate(source.lines, 1):
        line = continued + line.lstrip() if continued else line
        continued = line[:-1] if line.endswith("\\") and not line.endswith("\\\\") else ""
        if continued or not line.strip() or _REMARK.match(line):
            if len(continued) > LINE_LIMIT:
                return []
            continue
        match = _ENTRY.fullmatch(line)
        text_part = match[5].strip() if match else "|"
        if text_part.startswith(("|", ">")):  # a block over several lines, or none
            return []
        parents = [(depth, key) for depth, key in parents if depth < len(match[1])]
        key = unescape(match[2] or match[3] or match[4]).strip()
        if not text_part:
            parents.append((len(match[1]), key))
            continue
        quoted = unquote(text_part)
        text = quoted if quoted is not None else unescape(text_part.partition(" #")[0].rstrip() if has_comments else text_part)
        entries.append(_Entry(number, ".".join([*(key for _, key in parents), key]), text, quoted is not None))
    return entries if 20 * len({entry.key for entry in entries}) >= 19 * len(entries) else []
