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
    """How sure a format is of a file that it takes. No two that are equally sure take the same one, so their order means nothing."""

    SIGNATURE = 5  # first bytes, a root element or marks that no other format has
    TRIMMED = 4  # it has remarks before its lines, or numbers that count them, and is of another format without them
    LAYOUT = 3  # its lines are made in its own way
    COLUMNS = 2  # a sign that also stands in sentences makes columns
    HABIT = 1  # lines come together as they do in such files


class Format(NamedTuple):
    read: Reader
    confidence: Confidence
    is_whole: bool = False  # a line may be as long as the file


def first_of(readers: Sequence[Reader], sources: Sequence[Source]) -> Table | None:
    """The table that the first reader made of it. Raises Refusal where one knows the format and finds it broken."""
    return next((table for table in (reader(sources) for reader in readers) if table is not None), None)


def _readers(formats: Sequence[Format]) -> tuple[Reader, ...]:
    """The surest first."""
    return tuple(one.read for one in sorted(formats, key=lambda one: -one.confidence))


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
    Format(partial(trimmed.read_trimmed, partial(first_of, _readers(_PLAIN))), Confidence.TRIMMED),
    *_PLAIN,
)
WHOLE = _readers([one for one in FORMATS if one.is_whole])
BY_LINE = _readers([one for one in FORMATS if not one.is_whole])
