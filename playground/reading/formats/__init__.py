"""Formats: one module for each family of files. A reader gets sources and gives a table, or None when the format is not its own. Read in
this order:

table (what a reader gets and gives) · limits · records (lines with a separator) and separators · delimited · marked · lines · interleaved ·
cards · dictionary · wrapped · trimmed · anki · segments · subtitles · sheets and opendocument · xml_events, exchange and program_texts ·
annotated · po · parquet · values, shapes and items · json_lists · keyed (what belongs together by a key).

What they share: names (of files, and what they say of languages) · languages · column_words, column_names and columns (what columns are
called) · cells (columns without sentences) · inflections (columns of features) · language_id (which language a line is in) · markup ·
escapes (what tools left in sentences) · guard (against formulas).
"""

from collections.abc import Sequence
from functools import partial

from playground.reading.formats import (
    anki,
    annotated,
    cards,
    delimited,
    dictionary,
    exchange,
    interleaved,
    json_lists,
    keyed,
    lines,
    marked,
    parquet,
    po,
    program_texts,
    segments,
    sheets,
    subtitles,
    trimmed,
    wrapped,
)
from playground.reading.formats.table import Reader, Source, Table

# All in the order they are asked: what is surest of its own first.
WHOLE: tuple[Reader, ...] = (  # in these a line may be as long as the file
    sheets.read_workbook,
    parquet.read_parquet,
    exchange.read_tmx,
    exchange.read_xliff,
    program_texts.read_linguist,
    program_texts.read_strings,
    po.read_po,
    json_lists.read_json,
    segments.read_segments,
)
_PLAIN: tuple[Reader, ...] = (
    subtitles.read_subtitles,
    keyed.read_fairseq,
    keyed.read_texts,
    lines.read_tagged,
    lines.read_two,
    lines.read_scan,
    cards.read_cards,
    cards.read_entries,
    interleaved.read_labelled,
    wrapped.read_wrapped,
    delimited.read_tsv,
    marked.read_marked,
    delimited.read_csv,
    marked.read_loose,
    interleaved.read_interleaved,
    dictionary.read_dictionary,
)


def first_of(readers: Sequence[Reader], sources: Sequence[Source]) -> Table | None:
    """The table that the first reader made of it. Raises Refusal where one knows the format and finds it broken."""
    return next((table for table in (reader(sources) for reader in readers) if table is not None), None)


BY_LINE: tuple[Reader, ...] = (
    anki.read_anki,
    annotated.read_treebank,
    annotated.read_glossed,
    cards.read_prompts,
    partial(trimmed.read_trimmed, partial(first_of, _PLAIN)),
    *_PLAIN,
)
