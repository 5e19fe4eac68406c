"""Formats: one module for each family of files. A reader gets sources and gives a table, or None when the format is not its own."""

from playground.data.formats import (
    anki,
    delimited,
    exchange,
    interleaved,
    json_lists,
    lines,
    marked,
    parquet,
    po,
    segments,
    sheets,
    wrapped,
)
from playground.data.formats.table import Reader

# Both in the order they are asked: what is surest of its own first.
WHOLE: tuple[Reader, ...] = (  # in these a line may be as long as the file
    sheets.read_workbook,
    parquet.read_parquet,
    exchange.read_tmx,
    exchange.read_xliff,
    po.read_po,
    json_lists.read_json,
    segments.read_segments,
)
BY_LINE: tuple[Reader, ...] = (
    anki.read_anki,
    lines.read_tagged,
    lines.read_two,
    lines.read_scan,
    interleaved.read_labelled,
    wrapped.read_wrapped,
    delimited.read_tsv,
    marked.read_marked,
    delimited.read_csv,
    marked.read_loose,
    interleaved.read_interleaved,
)
READERS = WHOLE + BY_LINE
