"""Opening: an upload's bytes become sources (unpacked, decoded), and the first reader that recognises them gives the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.encodings import Encoding, decode
from playground.reading.formats import BY_LINE, WHOLE, delimited, read_first
from playground.reading.formats.table import BYTE_LIMIT, ENDLESS, MAX_LINES, Notes, Row, Source, Table
from playground.reading.text import normalise
from playground.reading.unpacking import File, unpack
from playground.reading.writing import unguard_rows

_BLANK_BYTES = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"  # byte order marks and white space


class Opened(NamedTuple):
    """One file, two, or three of which one links the others; `credit` is the licence text beside them in an archive."""

    sources: tuple[Source, ...]
    encodings: tuple[Encoding, ...]
    notes: Notes
    credit: str
    part: str = "train"  # "train", "validation" or "test": the part of a split archive that these are

    @property
    def name(self) -> str:
        return " + ".join(source.name for source in self.sources)


def open_files(files: Sequence[File], encoding: str = "", apart: bool = True) -> Iterator[Opened]:
    """Unpacks and decodes files, given as (name, content). Yields one Opened per part of a split archive if `apart`. Raises Refusal."""
    if not 1 <= len(files) <= 3:
        raise Refusal("data.how_many_files", count=len(files))
    if sum(len(data) for _, data in files) > BYTE_LIMIT:
        raise Refusal("data.too_large", limit=BYTE_LIMIT // 1024**2)
    unpacked, all_notes = unpack(files, apart and len(files) == 1)
    parts = next((values["parts"] for key, values in all_notes if key == "data.parts"), ["train"] * len(unpacked))
    for part in dict.fromkeys(parts):
        yield _decode_part([file for file, own in zip(unpacked, parts, strict=True) if own == part], all_notes, encoding, part)


def _decode_part(unpacked: Sequence[File], all_notes: Notes, encoding: str, part: str) -> Opened:
    if len(unpacked) > 3:
        raise Refusal("data.how_many_files", count=len(unpacked))
    wanted = [name.strip() for name in encoding.split(",")]
    decoded = [decode(name, data, wanted[min(place, len(wanted) - 1)]) for place, (name, data) in enumerate(unpacked)]
    sources = tuple(Source(file.encoding.file, file.data, file.lines) for file in decoded)
    for source in sources:
        if not any(normalise(line[:ENDLESS]) for line in source.lines) and (source.lines or not source.data.strip(_BLANK_BYTES)):
            raise Refusal("data.nothing_inside", name=source.name)
    encodings = tuple(file.encoding for file in decoded)
    guesses = tuple(("data.note_encoding", {"name": encoded.file, "encoding": encoded.name}) for encoded in encodings if encoded.guessed)
    credit = "; ".join(values["text"] for key, values in all_notes if key == "data.note_credit")
    notes = tuple(note for note in all_notes if note[0] not in ("data.note_credit", "data.parts"))
    return Opened(sources, encodings, notes + guesses, credit, part)


def find_table(opened: Opened) -> tuple[Table, list[Row]]:
    """Returns the table of the first reader that recognises the sources, with all its rows. Raises Refusal."""
    table = read_first(WHOLE, opened.sources)
    if table is None:
        _check_lines(opened.sources)
        table = read_first(BY_LINE, opened.sources)
    if table is None:
        raise _explain_failure(opened)
    rows = list(islice(table.rows, MAX_LINES + 1))
    if len(rows) > MAX_LINES:
        raise Refusal("data.too_many_lines", name=opened.name, limit=MAX_LINES)
    return table, list(unguard_rows(rows)) if table.kind in ("tsv", "csv") else rows


def _check_lines(sources: Sequence[Source]) -> None:
    for source in sources:
        if len(source.lines) > MAX_LINES:
            raise Refusal("data.too_many_lines", name=source.name, limit=MAX_LINES)
        for number, line in enumerate(source.lines, 1):
            if len(line) > ENDLESS:
                raise Refusal("data.endless_line", name=source.name, line=number, limit=ENDLESS)


def explain_lost_side(opened: Opened) -> Refusal | None:
    """Returns the Refusal for an archive's single file without pairs whose other side could not be read; None elsewhere."""
    left_out = next((values for key, values in opened.notes if key == "data.note_left_out"), None)
    if left_out is None or len(opened.sources) > 1:
        return None
    return Refusal("data.lost_side", name=left_out["name"], taken=opened.name, members=left_out["members"])


def _explain_failure(opened: Opened) -> Refusal:
    """Returns the Refusal for sources that no reader recognises."""
    if lost := explain_lost_side(opened):
        return lost
    if len(opened.sources) == 3:
        return Refusal("data.how_many_files", count=3)
    if any(not source.lines for source in opened.sources) or len(opened.sources) == 2:
        return Refusal("data.not_understood", name=opened.name)
    return delimited.explain_failure(opened.sources[0])
