"""Exchange formats of translators: translation memories (TMX 1.1 and 1.4) and documents to translate (XLIFF 1.2 and 2.0)."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, MAX_LINES, Confidence, Row, Source, Table, reads
from playground.reading.formats.column_names import CREDITS
from playground.reading.formats.items import CELL_LIMIT, check_totals, make_row
from playground.reading.formats.xml_events import Element, Events, find_root, parse
from playground.reading.text import normalise

_CODES = {"bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sc", "ec", "sm", "em"}  # elements that hold formatting, not text
_REGION = re.compile("(?!zh-(tw|hk|mo))[a-z]{2,3}-([a-z]{2}|[0-9]{3})")  # a region of a language with a single script
_HEXADECIMAL = re.compile("0{0,4}[0-9a-fA-F]{1,4}")
_UNFINISHED = ("new", "initial")  # states in which a target may be a mere copy of the source
_ASIDE = {"alt-trans", "matches", "glossary", "originalData", "header", "note", "notes", "context-group", "prop-group", "count-group"}


class _Unit(NamedTuple):
    """One sentence in several languages, possibly in several wordings each."""

    line: int
    variants: tuple[tuple[int, str], ...]  # (index of the language, text)
    fault: str


class Units(Events):
    """Base of the readers of TMX and XLIFF: collects units, each one sentence in several languages."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.units: list[_Unit] = []
        self.languages: dict[str, int] = {}  # lower case -> index
        self.names: list[str] = []  # as written
        self.credit = ""

    def index_language(self, language: str) -> int:
        known = language.strip().casefold().replace("_", "-")[:60]
        if known not in self.languages:
            if len(self.names) == COLUMN_LIMIT:
                raise Refusal("data.too_many_columns", name=self.name, limit=COLUMN_LIMIT)
            self.languages[known] = len(self.names)
            self.names.append(normalise(language)[:60])
        return self.languages[known]

    def add_unit(self, line: int, variants: Sequence[tuple[str, str]], fault: str = "") -> None:
        if len(self.units) == MAX_LINES or len(self.units) * len(self.names) > CELL_LIMIT:
            raise Refusal("data.too_many_items", name=self.name, limit=MAX_LINES)
        self.units.append(_Unit(line, tuple((self.index_language(language), text) for language, text in variants), fault))

    def make_table(self, kind: str, source: str | None) -> Table:
        """Makes the table: one column per language, that of `source` first. Numbers lines, or items where units share a line."""
        if not self.units:
            raise Refusal("data.no_units", name=self.name)
        notes = tuple(self._unite_regions())
        places = sorted(set(self.languages.values()))
        if len(places) == 1:
            raise Refusal("data.one_language", name=self.name, only=self.names[places[0]])
        first = self._find(source) if source else None
        order = sorted(places, key=lambda place: place != first)
        lines = [unit.line for unit in self.units]
        by_line = all(line < following for line, following in pairwise(lines))
        pair = (0, 1) if first is not None and len(order) == 2 else None
        names = tuple(self.names[place] for place in order)
        rows = list(check_totals(self._rows(order, by_line), self.name))
        return Table(kind, rows, names, "line" if by_line else "item", pair, self.credit, notes)

    def _find(self, language: str) -> int | None:
        """Returns the index of a language: an exact match, or its only variety."""
        known = language.strip().casefold().replace("_", "-")
        if known in self.languages:
            return self.languages[known]
        kin = {place for name, place in self.languages.items() if name.partition("-")[0] == known.partition("-")[0]}
        return kin.pop() if len(kin) == 1 else None

    def _unite_regions(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Merges the regions of a language (and the language without one) into one column if no unit has two of them. Yields a note per
        merge of regions."""
        kin: dict[str, list[str]] = {}
        for code in self.languages:
            if "-" not in code or _REGION.fullmatch(code):
                kin.setdefault(code.partition("-")[0], []).append(code)
        for language, codes in kin.items():
            places = {self.languages[code] for code in codes}
            if len(codes) > 1 and not any(len(places & {place for place, _ in unit.variants}) > 1 for unit in self.units):
                regions = [self.names[self.languages[code]] for code in codes if "-" in code]
                place = self.languages.get(language, min(places))
                self.languages |= dict.fromkeys(codes, place)
                if len(regions) > 1:
                    self.names[place] = language
                    yield "data.note_regions", {"regions": ", ".join(regions), "all": language}

    def _rows(self, order: Sequence[int], by_line: bool) -> Iterator[Row]:
        """Yields a row per wording: the nth of each language together, the last repeated where a language has fewer."""
        columns = list(self.languages.values())  # column of each language, by index
        for number, unit in enumerate(self.units, 1):
            wordings: dict[int, list[str]] = {}
            for place, text in unit.variants:
                wordings.setdefault(columns[place], []).append(text)
            for turn in range(max(map(len, wordings.values()), default=1)):
                cells = [wordings[place][min(turn, len(wordings[place]) - 1)] if place in wordings else "" for place in order]
                yield make_row(unit.line if by_line else number, cells, unit.fault)


# --- TMX ---


class _Tmx(Units):
    whole = ("header", "tu")
    source = ""  # the header's source language

    def take(self, element: Element) -> None:
        if element.tag == "tu":
            variants = []
            for wording in element.children("tuv"):
                language = wording.attributes.get("xml:lang") or wording.attributes.get("lang") or ""
                variants += [(language, text.text(_read_inline)) for text in wording.children("seg")]
            self.add_unit(element.line, variants)
            return
        self.source = element.attributes.get("srclang") or ""
        for prop in element.children("prop"):
            if (prop.attributes.get("type") or "").casefold().removeprefix("x-") in CREDITS:
                self.credit = normalise(prop.text(_read_inline))[:1000]


@reads(Confidence.SIGNATURE, is_whole=True)
def read_tmx(source: Source) -> Table | None:
    """Reads a translation memory: a column per language, a row per unit, or several for several wordings."""
    if find_root(source).casefold() != "tmx":
        return None
    memory = parse(source, _Tmx)
    return memory.make_table("tmx", memory.source)


# --- XLIFF ---


class _Xliff(Units):
    whole = ("trans-unit", "segment")
    aside = _ASIDE
    between = ("source", "target")  # source and target language

    def open(self, element: Element) -> None:
        if element.tag in ("xliff", "file"):
            src, tgt = (
                next(filter(None, map(element.attributes.get, names)), known)
                for names, known in zip((("source-language", "srcLang"), ("target-language", "trgLang")), self.between, strict=True)
            )
            self.between = (src, tgt)

    def take(self, element: Element) -> None:
        """Adds one row, or one per segment where source and target have the same segments."""
        sides = {side.tag: side for side in element.children("source", "seg-source", "target")}
        src, tgt = (_find_segments(sides[name]) if name in sides else {} for name in ("seg-source", "target"))
        if len(src) < 2 or not src.keys() >= tgt.keys() or not tgt:
            src, tgt = ({"": sides[name].text(_read_inline) if name in sides else ""} for name in ("source", "target"))
        state = element.attributes.get("state") or ""  # XLIFF 2.0; 1.2 has it in <target>
        state = (sides["target"].attributes.get("state") if "target" in sides else "") or state
        for segment, text in src.items():
            translation = tgt.get(segment, "")
            copied = state in _UNFINISHED and translation.strip() == text.strip()
            fault = "" if translation.strip() and state != "needs-translation" and not copied else "untranslated"
            self.add_unit(element.line, [(self.between[0], text), (self.between[1], translation)], fault)


def _read_inline(part: Element) -> str:
    """Returns the text of an element in a sentence: none of a code; a `cp` stands for a character that XML can't hold."""
    if part.tag == "cp" and _HEXADECIMAL.fullmatch(part.attributes.get("hex") or ""):
        return chr(int(part.attributes["hex"], 16))
    return "" if part.tag in _CODES else part.text(_read_inline)


def _find_segments(element: Element) -> dict[str, str]:
    """Returns the texts of the outermost marked segments by their ids."""
    segments: dict[str, str] = {}
    for part in element.children():
        id = part.attributes.get("mid") if part.tag == "mrk" and part.attributes.get("mtype") == "seg" else ""
        segments |= {id: part.text(_read_inline)} if id else _find_segments(part)
    return segments


@reads(Confidence.SIGNATURE, is_whole=True)
def read_xliff(source: Source) -> Table | None:
    """Reads a document and its translation, sentence by sentence. Untranslated sentences have an empty target."""
    if find_root(source).casefold() != "xliff":
        return None
    document = parse(source, _Xliff)
    return document.make_table("xliff", document.between[0])
