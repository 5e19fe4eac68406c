"""How the tests of aligned lines read: a file from a text, asked of the readers in their order."""

from __future__ import annotations

from playground.reading.formats import interleaved, lines, segments
from playground.reading.formats.table import Source

IN_ORDER = (
    segments.read_segments, lines.read_tagged, lines.read_two, lines.read_scan, interleaved.read_labelled, interleaved.read_interleaved,
)  # fmt: skip


def source(content: str, name: str = "file.txt") -> Source:
    found = content.split("\n")
    return Source(name, content.encode("utf-8", "replace"), found if found[-1] else found[:-1])


def table_of(*contents: str, named=("file1", "file2")):
    sources = [source(content, name) for content, name in zip(contents, named, strict=False)]
    return next((table for table in (read(sources) for read in IN_ORDER) if table), None)


def understood(*contents: str, named=("file1", "file2")):
    """(kind, [(line, cells or fault)])"""
    table = table_of(*contents, named=named)
    return (table.kind, [(row.line, row.fault or row.cells) for row in table.rows]) if table else (None, [])
