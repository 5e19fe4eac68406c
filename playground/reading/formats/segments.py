"""Segments: the test sets of translation campaigns (IWSLT, WMT), where <seg id> in <doc> says which sentences belong together.

They come as one file for each language or as one for all. Many are no well-formed XML, so only the tags that matter are looked for;
nothing is expanded but the characters' own names (&amp;).
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.limits import COLUMN_LIMIT, MAX_LINES
from playground.reading.formats.names import columns_of
from playground.reading.formats.records import too_long
from playground.reading.formats.table import Row, Source, Table

_SEGMENT = re.compile(r"<seg\s[^<>]*\bid\s*=", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|src|ref|hyp|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w:])([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SOURCES, _SIDES = ("srcset", "src"), ("srcset", "refset", "tstset", "src", "ref", "hyp")
_ENOUGH = 1000  # characters: a tag's attributes are not longer


class _Side(NamedTuple):
    file: int
    tag: str = ""
    language: str = ""
    author: str = ""


class _Segment(NamedTuple):
    side: _Side
    doc: str
    place: int  # of the doc in its side
    id: str
    text: str


def read_segments(sources: Sequence[Source]) -> Table | None:
    """One or two files of segments, joined by document and id. An id that a side lacks leaves its cell empty."""
    texts = list(map(_text, sources))
    if not texts or not all(map(_SEGMENT.search, texts)):
        return None
    found: list[_Segment] = []
    for file, (source, text) in enumerate(zip(sources, texts, strict=True)):
        some = list(islice(_segments(file, text), MAX_LINES + 1))
        if len(some) > MAX_LINES:
            raise Refusal("data.too_many_lines", name=source.name, limit=MAX_LINES)
        found += some
    sides = list(dict.fromkeys(segment.side for segment in found))[: COLUMN_LIMIT + 1]
    name = " + ".join(source.name for source in sources)
    if len(sides) < 2:
        raise Refusal("data.one_side", name=name)
    joined = _joined(found, sides, by_name=True) or _joined(found, sides, by_name=False)
    if not joined:
        raise Refusal("data.no_common_segments", name=name)
    rows = [Row(item, cells, too_long(*cells)) for item, cells in enumerate(joined, 1)]
    return Table("segments", rows, _columns(sides, sources), "item", _pair(sides))


def _text(source: Source) -> str:
    """A file's text; a whole XML file comes without lines, in UTF-8."""
    if source.lines or not source.data.lstrip().startswith(b"<"):
        return "\n".join(source.lines)
    return source.data.decode("utf-8", "replace")


def _segments(file: int, text: str) -> Iterator[_Segment]:
    """Every segment of a file in order, under the side (set, language) and the document it stands in."""
    side, doc, place, id, start = _Side(file), "", Counter(), None, 0
    for tag in _TAG.finditer(text):
        name, closing = tag[2].casefold(), bool(tag[1])
        if id is not None:
            yield _Segment(side, doc, place[side], id, html.unescape(text[start : tag.start()]))
            id = None
        attributes = {} if closing else _attributes(tag[3])
        if name == "seg" and not closing:
            id, start = attributes.get("id", ""), tag.end()
        elif name == "doc" and not closing:
            doc = attributes.get("docid", attributes.get("id", ""))
            place[side] += 1
        elif name in _SIDES:
            before, side = side, _Side(file)
            if not closing:
                language = attributes.get("trglang" if name in ("refset", "tstset") else "srclang", "") or attributes.get("lang", "")
                side = _Side(file, name, language, attributes.get("translator", attributes.get("sysid", "")))
            place[side] = place[side] if name.endswith("set") else place[before]
    if id is not None:  # the file was cut off
        yield _Segment(side, doc, place[side], id, html.unescape(text[start:]))


def _attributes(text: str) -> dict[str, str]:
    return {name.casefold(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(text[:_ENOUGH])}


def _joined(segments: Sequence[_Segment], sides: Sequence[_Side], by_name: bool) -> list[list[str]]:
    """One row of cells for each segment of a document, by the document's name or by its place; [] if no row has two sides."""
    columns, seen, rows = {side: place for place, side in enumerate(sides)}, Counter(), {}
    for segment in segments:
        if segment.side in columns:
            key = (segment.doc if by_name else segment.place, segment.id)
            seen[segment.side, key] += 1  # an id that comes twice is another segment
            row = rows.setdefault((key, seen[segment.side, key]), [""] * len(sides))
            row[columns[segment.side]] = segment.text
    return list(rows.values()) if any(sum(map(bool, row)) > 1 for row in rows.values()) else []


def _columns(sides: Sequence[_Side], sources: Sequence[Source]) -> tuple[str, ...]:
    """Languages where the file names them and they differ, else what the files' names say, else the tags."""
    languages = tuple(side.language for side in sides)
    if all(languages) and len(set(languages)) == len(sides):
        return languages
    if len(sides) == len(sources) == 2:
        return columns_of(sources[0].name, sources[1].name)
    return tuple(" ".join(filter(None, (side.tag.removesuffix("set"), side.language, side.author))) for side in sides)


def _pair(sides: Sequence[_Side]) -> tuple[int, int] | None:
    source = next((place for place, side in enumerate(sides) if side.tag in _SOURCES), None)
    target = next((place for place, side in enumerate(sides) if side.tag and side.tag not in _SOURCES), None)
    return None if source is None or target is None else (source, target)
