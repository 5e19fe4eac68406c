"""What translators exchange: translation memories (TMX 1.1 and 1.4) and documents to be translated (XLIFF 1.2 and 2.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.columns import CREDITS
from playground.reading.formats.items import CELL_LIMIT, bounded, within
from playground.reading.formats.limits import COLUMN_LIMIT, MAX_LINES
from playground.reading.formats.table import Row, Source, Table
from playground.reading.formats.xml_events import Events, parse, root
from playground.reading.text import normalise

_CODES = {"bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sc", "ec", "sm", "em"}  # what they hold is formatting, not text
_REGION = re.compile("(?!zh-(tw|hk|mo))[a-z]{2,3}-([a-z]{2}|[0-9]{3})")  # a region where the language has no script of its own
_BEGUN = ("new", "initial")  # states in which a target may be no more than a copy of the source
_ASIDE = {"alt-trans", "matches", "glossary", "originalData", "header", "note", "notes", "context-group", "prop-group", "count-group"}


class _Unit(NamedTuple):
    """One sentence in several languages, maybe in several wordings each."""

    line: int
    variants: tuple[tuple[int, str], ...]  # place of the language, text
    fault: str


class Units(Events):
    """What both formats give: units, and the languages that are in them."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.units: list[_Unit] = []
        self.languages: dict[str, int] = {}  # in small letters -> place
        self.names: list[str] = []  # as they are written
        self.credit = ""

    def place(self, language: str) -> int:
        known = language.strip().casefold().replace("_", "-")[:60]
        if known not in self.languages:
            if len(self.names) == COLUMN_LIMIT:
                raise Refusal("data.too_many_columns", name=self.name, limit=COLUMN_LIMIT)
            self.languages[known] = len(self.names)
            self.names.append(normalise(language)[:60])
        return self.languages[known]

    def add(self, line: int, variants: Sequence[tuple[str, str]], fault: str = "") -> None:
        if len(self.units) == MAX_LINES or len(self.units) * len(self.names) > CELL_LIMIT:
            raise Refusal("data.too_many_items", name=self.name, limit=MAX_LINES)
        self.units.append(_Unit(line, tuple((self.place(language), text) for language, text in variants), fault))

    def table(self, kind: str, source: str | None) -> Table:
        """The columns are the languages, that of the `source` first. Line numbers, unless several units are on one line."""
        if not self.units:
            raise Refusal("data.no_units", name=self.name)
        notes = tuple(self._unite_regions())
        places = sorted(set(self.languages.values()))
        if len(places) == 1:
            raise Refusal("data.one_language", name=self.name, only=self.names[places[0]])
        first = self._find(source) if source else None
        order = sorted(places, key=lambda place: place != first)
        lines = [unit.line for unit in self.units]
        by_line = all(one < two for one, two in pairwise(lines))
        pair = (0, 1) if first is not None and len(order) == 2 else None
        names = tuple(self.names[place] for place in order)
        return Table(kind, list(within(self._rows(order, by_line), self.name)), names, "line" if by_line else "item", pair, self.credit,
                     notes)  # fmt: skip

    def _find(self, language: str) -> int | None:
        """The place of a language: the very same, or the only one that is a variety of it."""
        known = language.strip().casefold().replace("_", "-")
        if known in self.languages:
            return self.languages[known]
        kin = {place for name, place in self.languages.items() if name.partition("-")[0] == known.partition("-")[0]}
        return kin.pop() if len(kin) == 1 else None

    def _unite_regions(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Makes the regions of a language, and the language without one, a single column if no unit has two of them. Yields a note where
        that makes several regions one."""
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
        """A row for each wording: the first of one language goes with the first of another, and so on, the last with all that are left."""
        columns = list(self.languages.values())  # of each place, in the order of the places
        for number, unit in enumerate(self.units, 1):
            said: dict[int, list[str]] = {}
            for place, text in unit.variants:
                said.setdefault(columns[place], []).append(text)
            for turn in range(max(map(len, said.values()), default=1)):
                cells = [said[place][min(turn, len(said[place]) - 1)] if place in said else "" for place in order]
                yield bounded(unit.line if by_line else number, cells, unit.fault)


# --- TMX ---


class _Tmx(Units):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.source = ""  # the language that the header calls the source
        self.began = 0
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
            self.began, self.variants = self.line, []
        elif tag == "header":
            self.header, self.source = True, attributes.get("srclang") or ""
        elif tag == "prop" and self.header and (attributes.get("type") or "").casefold().removeprefix("x-") in CREDITS:
            self.crediting = True
            self.begin()

    def stop(self, tag: str) -> None:
        if tag == "seg":
            self.variants.append((self.language, self.end()))
        elif tag == "tu":
            self.add(self.began, self.variants)
        elif tag == "header":
            self.header = False
        elif tag == "prop" and self.crediting:
            self.crediting, self.credit = False, normalise(self.end())[:1000]
        elif self.text is not None:
            self.codes -= tag in _CODES


def read_tmx(sources: Sequence[Source]) -> Table | None:
    """A translation memory: a column for each language, a row for each unit, or several where it holds several wordings."""
    if len(sources) != 1 or root(sources[0]).casefold() != "tmx":
        return None
    memory = parse(sources[0], _Tmx)
    return memory.table("tmx", memory.source)


# --- XLIFF ---


class _Xliff(Units):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.aside = 0  # depth within elements that hold no unit
        self.between = ("source", "target")  # languages
        self.began = 0  # the line of the open unit
        self.side = ""  # which of its parts is being read
        self.state = ""
        self.sides: dict[str, str] = {}
        self.marks: list[tuple[str, int]] = []  # open <mrk>: which segment it is, and where it begins
        self.segments: dict[str, dict[str, str]] = {}  # side -> segment -> text

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.aside or (self.text is None and tag in _ASIDE):
            self.aside += 1
        elif self.text is not None:
            self._inline(tag, attributes)
        elif tag in ("source", "target", "seg-source") and self.began:
            self.side = tag
            if tag == "target":
                self.state = attributes.get("state") or self.state  # of XLIFF 1.2; 2.0 has it in <segment>
            self.marks = []
            self.begin()
        elif tag in ("trans-unit", "segment"):
            self.began, self.state, self.sides, self.segments = self.line, attributes.get("state") or "", {}, {}
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
            self.began = 0
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
        """One row, or one for each segment where the source is cut in segments and the target in the same."""
        src, tgt = self.segments.get("seg-source", {}), self.segments.get("target", {})
        if len(src) < 2 or not src.keys() >= tgt.keys() or not tgt:
            src, tgt = {"": self.sides.get("source", "")}, {"": self.sides.get("target", "")}
        for segment, text in src.items():
            said = tgt.get(segment, "")
            copied = self.state in _BEGUN and said.strip() == text.strip()
            fault = "" if said.strip() and self.state != "needs-translation" and not copied else "untranslated"
            self.add(self.began, [(self.between[0], text), (self.between[1], said)], fault)


def read_xliff(sources: Sequence[Source]) -> Table | None:
    """A document and its translation, sentence by sentence. What is not translated yet has an empty target."""
    if len(sources) != 1 or root(sources[0]).casefold() != "xliff":
        return None
    document = parse(sources[0], _Xliff)
    return document.table("xliff", document.between[0])
