"""Segments: test sets of shared tasks (IWSLT, WMT), aligned by <seg id> within <doc>.

One file per language or one for all. Many are not well-formed XML, so only the relevant tags are parsed; only character references (&amp;)
are resolved.
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
from playground.reading.formats.names import name_columns
from playground.reading.formats.records import find_fault
from playground.reading.formats.table import Row, Source, Table

_SEGMENT = re.compile(r"<seg\s[^<>]*\bid\s*=", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|src|ref|hyp|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w:])([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SOURCES, _SIDES = ("srcset", "src"), ("srcset", "refset", "tstset", "src", "ref", "hyp")
_MAX_ATTRIBUTE_CHARACTERS = 1000  # a tag's attributes are not longer


class _Side(NamedTuple):
    file: int
    tag: str = ""
    language: str = ""
    author: str = ""


class _Segment(NamedTuple):
    side: _Side
    doc: str
    place: int  # number of the doc in its side
    id: str
    text: str


def read_segments(sources: Sequence[Source]) -> Table | None:
    """Reads one or two files of segments, joined by document and id. An id missing on a side leaves an empty cell."""
    texts = list(map(_read_text, sources))
    if not texts or not all(map(_SEGMENT.search, texts)):
        return None
    segments: list[_Segment] = []
    for file, (source, text) in enumerate(zip(sources, texts, strict=True)):
        file_segments = list(islice(_iterate_segments(file, text), MAX_LINES + 1))
        if len(file_segments) > MAX_LINES:
            raise Refusal("data.too_many_lines", name=source.name, limit=MAX_LINES)
        segments += file_segments
    sides = list(dict.fromkeys(segment.side for segment in segments))[: COLUMN_LIMIT + 1]
    name = " + ".join(source.name for source in sources)
    if len(sides) < 2:
        raise Refusal("data.one_side", name=name)
    joined = _join_segments(segments, sides, by_name=True) or _join_segments(segments, sides, by_name=False)
    if not joined:
        raise Refusal("data.no_common_segments", name=name)
    rows = [Row(item, cells, find_fault(*cells)) for item, cells in enumerate(joined, 1)]
    return Table("segments", rows, _name_columns(sides, sources), "item", _find_pair(sides))


def _read_text(source: Source) -> str:
    """Returns a file's text; a whole XML file has no lines, and is in UTF-8."""
    if source.lines or not source.data.lstrip().startswith(b"<"):
        return "\n".join(source.lines)
    return source.data.decode("utf-8", "replace")


def _iterate_segments(file: int, text: str) -> Iterator[_Segment]:
    """Yields the segments of a file in order, with their side (set, language) and document."""
    side, doc, place, id, start = _Side(file), "", Counter(), None, 0
    for tag in _TAG.finditer(text):
        name, closing = tag[2].casefold(), bool(tag[1])
        if id is not None:
            yield _Segment(side, doc, place[side], id, html.unescape(text[start : tag.start()]))
            id = None
        attributes = {} if closing else _parse_attributes(tag[3])
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
    if id is not None:  # the file was truncated
        yield _Segment(side, doc, place[side], id, html.unescape(text[start:]))


def _parse_attributes(text: str) -> dict[str, str]:
    return {name.casefold(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(text[:_MAX_ATTRIBUTE_CHARACTERS])}


def _join_segments(segments: Sequence[_Segment], sides: Sequence[_Side], by_name: bool) -> list[list[str]]:
    """Joins segments into rows by document (its name, or its number) and id; [] if no row has two sides."""
    columns, counts, rows = {side: place for place, side in enumerate(sides)}, Counter(), {}
    for segment in segments:
        if segment.side in columns:
            key = (segment.doc if by_name else segment.place, segment.id)
            counts[segment.side, key] += 1  # a repeated id is another segment
            row = rows.setdefault((key, counts[segment.side, key]), [""] * len(sides))
            row[columns[segment.side]] = segment.text
    return list(rows.values()) if any(sum(map(bool, row)) > 1 for row in rows.values()) else []


def _name_columns(sides: Sequence[_Side], sources: Sequence[Source]) -> tuple[str, ...]:
    """Returns distinct declared languages, else the distinguishing parts of the files' names, else the tags."""
    languages = tuple(side.language for side in sides)
    if all(languages) and len(set(languages)) == len(sides):
        return languages
    if len(sides) == len(sources) == 2:
        return name_columns(sources[0].name, sources[1].name)
    return tuple(" ".join(filter(None, (side.tag.removesuffix("set"), side.language, side.author))) for side in sides)


def _find_pair(sides: Sequence[_Side]) -> tuple[int, int] | None:
    source = next((place for place, side in enumerate(sides) if side.tag in _SOURCES), None)
    target = next((place for place, side in enumerate(sides) if side.tag and side.tag not in _SOURCES), None)
    return None if source is None or target is None else (source, target)
