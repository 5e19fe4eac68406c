"""Program texts in XML: Qt Linguist's .ts, which holds two languages, and Android's strings.xml, one file per language."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import Refusal
from playground.reading.formats.exchange import Units
from playground.reading.formats.keyed import join_keys, unescape, unquote
from playground.reading.formats.table import Source, Table
from playground.reading.formats.xml_events import Events, find_root, parse

# --- Qt ---


class _Linguist(Units):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.between = ("source", "target")  # source and target language
        self.first_line = 0  # line of the open message
        self.src = ""
        self.forms: list[str] = []  # translations: several for a plural
        self.sure = True

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("source", "translation", "numerusform"):
            self.begin()
        if tag == "TS":
            self.between = (attributes.get("sourcelanguage") or self.between[0], attributes.get("language") or self.between[1])
        elif tag == "message":
            self.first_line, self.src, self.forms = self.line, "", []
        elif tag == "translation":
            self.sure = "type" not in attributes  # "unfinished", "vanished" or "obsolete"

    def stop(self, tag: str) -> None:
        if tag == "source":
            self.src = self.end()
        elif tag == "numerusform" or (tag == "translation" and not self.forms):
            self.forms.append(self.end())
        elif tag == "message":
            for form in self.forms or [""]:
                variants = list(zip(self.between, (self.src, form), strict=True))
                self.add_unit(self.first_line, variants, "" if self.sure and form.strip() else "untranslated")


def read_linguist(sources: Sequence[Source]) -> Table | None:
    """Reads a row per message, or per form of its plural."""
    if len(sources) != 1 or find_root(sources[0]) != "TS":
        return None
    document = parse(sources[0], _Linguist)
    return document.make_table("qt", document.between[0])


# --- Android ---


class _Strings(Events):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.texts: dict[str, str] = {}
        self.key = ""
        self.count = 0  # items of a list so far

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("string", "plurals", "string-array"):
            self.key, self.count = attributes.get("name", ""), 0
        if tag == "item":
            self.count += 1
            self.key = f"{self.key.partition(' ')[0]} {attributes.get('quantity', self.count)}"
        if tag in ("string", "item"):
            self.begin()

    def stop(self, tag: str) -> None:
        if tag in ("string", "item"):
            text = self.end().strip()
            self.texts[self.key] = unescape(text) if (inside := unquote(text)) is None else inside


def read_strings(sources: Sequence[Source]) -> Table | None:
    """Reads two files matched by the names of their texts. A single file is refused."""
    if not all(find_root(source) == "resources" for source in sources):
        return None
    if len(sources) == 1:
        raise Refusal("data.one_side", name=sources[0].name)
    left, right = sources
    return join_keys("strings", left, right, *(parse(source, _Strings).texts for source in sources))
