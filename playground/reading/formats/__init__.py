"""Formats: one module for each family. A reader takes sources and returns a table, or None for another format. Read in this order:

table (a reader's input and output) · limits · records (lines with a separator) and separators · delimited · marked · lines · interleaved ·
cards · dictionary · wrapped · trimmed · anki · segments · subtitles · sheets and opendocument · xml_events, exchange and program_texts ·
annotated · po · parquet · values, shapes and items · json_lists · keyed (texts joined by keys).

Shared: names (of files, and the languages in them) · languages · column_words, column_names and columns (column names) · cells (columns
without sentences) · inflections (columns of features) · language_id (the language of a line) · markup · escapes (left in sentences by
tools) · guard (against formulas).
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import partial
from typing import NamedTuple

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


class Confidence(IntEnum):
    """How certain a match is. Formats of equal confidence never match the same file, so their order is irrelevant."""

    SIGNATURE = 5  # first bytes, a root element or marks unique to the format
    TRIMMED = 4  # comments before its lines, or line numbers; without them another format
    LAYOUT = 3  # its lines have a layout of their own
    COLUMNS = 2  # columns cut at a sign that sentences contain too
    HABIT = 1  # lines follow each other in a typical order


class Format(NamedTuple):
    read: Reader
    confidence: Confidence
    is_whole: bool = False  # whether one line may hold the whole file


def read_first(readers: Sequence[Reader], sources: Sequence[Source]) -> Table | None:
    """Returns the table of the first reader that matches. Raises Refusal where a reader recognises its format but finds it broken."""
    return next((table for table in (reader(sources) for reader in readers) if table is not None), None)


def _sort_readers(formats: Sequence[Format]) -> tuple[Reader, ...]:
    """Returns the readers, most confident first."""
    return tuple(entry.read for entry in sorted(formats, key=lambda entry: -entry.confidence))


_PLAIN = (
    Format(subtitles.read_subtitles, Confidence.SIGNATURE),
    Format(keyed.read_fairseq, Confidence.SIGNATURE),
    Format(keyed.read_texts, Confidence.SIGNATURE),
    Format(lines.read_tagged, Confidence.LAYOUT),
    Format(lines.read_two, Confidence.LAYOUT),
    Format(lines.read_scan, Confidence.LAYOUT),
    Format(cards.read_cards, Confidence.LAYOUT),
    Format(cards.read_entries, Confidence.LAYOUT),
    Format(interleaved.read_labelled, Confidence.LAYOUT),
    Format(wrapped.read_wrapped, Confidence.LAYOUT),
    Format(delimited.read_tsv, Confidence.LAYOUT),
    Format(marked.read_marked, Confidence.LAYOUT),
    Format(delimited.read_csv, Confidence.COLUMNS),
    Format(marked.read_loose, Confidence.HABIT),
    Format(interleaved.read_interleaved, Confidence.HABIT),
    Format(dictionary.read_dictionary, Confidence.HABIT),
)
FORMATS = (
    Format(sheets.read_workbook, Confidence.SIGNATURE, is_whole=True),
    Format(parquet.read_parquet, Confidence.SIGNATURE, is_whole=True),
    Format(exchange.read_tmx, Confidence.SIGNATURE, is_whole=True),
    Format(exchange.read_xliff, Confidence.SIGNATURE, is_whole=True),
    Format(program_texts.read_linguist, Confidence.SIGNATURE, is_whole=True),
    Format(program_texts.read_strings, Confidence.SIGNATURE, is_whole=True),
    Format(po.read_po, Confidence.SIGNATURE, is_whole=True),
    Format(json_lists.read_json, Confidence.SIGNATURE, is_whole=True),
    Format(segments.read_segments, Confidence.SIGNATURE, is_whole=True),
    Format(anki.read_anki, Confidence.SIGNATURE),
    Format(annotated.read_treebank, Confidence.SIGNATURE),
    Format(annotated.read_glossed, Confidence.SIGNATURE),
    Format(cards.read_prompts, Confidence.SIGNATURE),
    Format(partial(trimmed.read_trimmed, partial(read_first, _sort_readers(_PLAIN))), Confidence.TRIMMED),
    *_PLAIN,
)
WHOLE = _sort_readers([entry for entry in FORMATS if entry.is_whole])
BY_LINE = _sort_readers([entry for entry in FORMATS if not entry.is_whole])
