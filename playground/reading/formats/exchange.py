"""Exchange formats of translators: translation memories (TMX 1.1 and 1.4) and documents to translate (XLIFF 1.2 and 2.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.column_names import CREDITS
from playground.reading.formats.items import CELL_LIMIT, check_totals, make_row
from playground.reading.formats.table import COLUMN_LIMIT, MAX_LINES, Confidence, Row, Source, Table, reads
from playground.reading.formats.xml_events import Events, find_root, parse
from playground.reading.text import normalise

_CODES = {"bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sc", "ec", "sm", "em"}  # elements that hold formatting, not text
_REGION = re.compile("(?!zh-(tw|hk|mo))[a-z]{2,3}-([a-z]{2}|[0-9]{3})")  # a region of a language with a single script
_UNFINISHED = ("new", "initial")  # states in which a target may be a mere copy of the source
_ASIDE = {"alt-trans", "matches", "glossary", "originalData", "header", "note", "notes", "context-group", "prop-group", "count-group"}


class _Unit(NamedTuple):
    """One sentence in several languages, possibly in several wordings each."""

    line: int
    variants: tuple[tuple[int, str], ...]  # (index of the language, text)
    fault: str


class Units(Events):
    """Base of both readers: collects units and their languages."""

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
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.source = ""  # the header's source language
        self.first_line = 0
        self.language = ""
        self.variants: list[tuple[str, str]] = []
        self.header = self.crediting = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "seg":
            self.begin()
        elif self.text is not None:
            self.codes += tag in _CODES
        elif tag == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif tag == "tu":
            self.first_line, self.variants = self.line, []
        elif tag == "header":
            self.header, self.source = True, attributes.get("srclang") or ""
        elif tag == "prop" and self.header and (attributes.get("type") or "").casefold().removeprefix("x-") in CREDITS:
            self.crediting = True
            self.begin()

    def stop(self, tag: str) -> None:
        if tag == "seg":
            self.variants.append((self.language, self.end()))
        elif tag == "tu":
            self.add_unit(self.first_line, self.variants)
        elif tag == "header":
            self.header = False
        elif tag == "prop" and self.crediting:
            self.crediting, self.credit = False, normalise(self.end())[:1000]
        elif self.text is not None:
            self.codes -= tag in _CODES


@reads(Confidence.SIGNATURE, is_whole=True)
def read_tmx(source: Source) -> Table | None:
    """Reads a translation memory: a column per language, a row per unit, or several for several wordings."""
    if find_root(source).casefold() != "tmx":
        return None
    memory = parse(source, _Tmx)
    return memory.make_table("tmx", memory.source)


# --- XLIFF ---


class _Xliff(Units):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.aside = 0  # nesting depth within elements without units
        self.between = ("source", "target")  # source and target language
        self.first_line = 0  # line of the open unit, 0 without one
        self.side = ""  # the part being read
        self.state = ""
        self.sides: dict[str, str] = {}
        self.marks: list[tuple[str, int]] = []  # open <mrk>: segment id, start offset
        self.segments: dict[str, dict[str, str]] = {}  # side -> segment -> text

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.aside or (self.text is None and tag in _ASIDE):
            self.aside += 1
        elif self.text is not None:
            self._inline(tag, attributes)
        elif tag in ("source", "target", "seg-source") and self.first_line:
            self.side = tag
            if tag == "target":
                self.state = attributes.get("state") or self.state  # XLIFF 1.2; 2.0 has it in <segment>
            self.marks = []
            self.begin()
        elif tag in ("trans-unit", "segment"):
            self.first_line, self.state, self.sides, self.segments = self.line, attributes.get("state") or "", {}, {}
        elif tag in ("xliff", "file"):
            src = attributes.get("source-language") or attributes.get("srcLang") or self.between[0]
            self.between = (src, attributes.get("target-language") or attributes.get("trgLang") or self.between[1])

    def _inline(self, tag: str, attributes: dict[str, str]) -> None:
        self.codes += tag in _CODES
        if tag == "mrk":
            outermost = attributes.get("mtype") == "seg" and not any(segment for segment, _ in self.marks)
            self.marks.append((attributes.get("mid", "") if outermost else "", len(self.text)))
        elif tag == "cp" and re.fullmatch("0{0,4}[0-9a-fA-F]{1,4}", attributes.get("hex") or ""):
            self.characters(chr(int(attributes["hex"], 16)))

    def stop(self, tag: str) -> None:
        if self.aside:
            self.aside -= 1
        elif tag in ("trans-unit", "segment"):
            self._unit()
            self.first_line = 0
        elif self.text is None:
            return
        elif tag == self.side:
            self.sides[tag] = self.end()
        else:
            self.codes -= tag in _CODES
            if tag == "mrk" and self.marks:
                segment, begin = self.marks.pop()
                if segment:
                    self.segments.setdefault(self.side, {})[segment] = "".join(self.text[begin:])

    def _unit(self) -> None:
        """Adds one row, or one per segment where source and target have the same segments."""
        src, tgt = self.segments.get("seg-source", {}), self.segments.get("target", {})
        if len(src) < 2 or not src.keys() >= tgt.keys() or not tgt:
            src, tgt = {"": self.sides.get("source", "")}, {"": self.sides.get("target", "")}
        for segment, text in src.items():
            translation = tgt.get(segment, "")
            copied = self.state in _UNFINISHED and translation.strip() == text.strip()
            fault = "" if translation.strip() and self.state != "needs-translation" and not copied else "untranslated"
            self.add_unit(self.first_line, [(self.between[0], text), (self.between[1], translation)], fault)


@reads(Confidence.SIGNATURE, is_whole=True)
def read_xliff(source: Source) -> Table | None:
    """Reads a document and its translation, sentence by sentence. Untranslated sentences have an empty target."""
    if find_root(source).casefold() != "xliff":
        return None
    document = parse(source, _Xliff)
    return document.make_table("xliff", document.between[0])
