"""Sentences to translate or score, from the same files that pairs are read from."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import Refusal
from playground.reading.column_mapping import Choices
from playground.reading.encodings import is_damaged
from playground.reading.formats import BY_LINE, WHOLE, read_first
from playground.reading.formats.limits import BYTE_LIMIT
from playground.reading.formats.table import Source
from playground.reading.opening import open_files
from playground.reading.unpacking import File
from playground.reading.uploads import read_opened


def read_sentences(files: Sequence[File], encoding: str = "") -> tuple[list[str], list[str] | None]:
    """Returns (sources, targets) of one or two files given as (name, content).

    Every line of a plain file is a sentence, even an empty one; a single plain file has no targets (None). Tables, translation memories and
    the like give the two sides of their pairs. Raises Refusal.
    """
    if sum(len(data) for _, data in files) > BYTE_LIMIT:  # too large for format detection
        sides = [_split_utf8(*file) for file in files]
    elif all(data for _, data in files):
        opened = next(open_files(files, encoding, apart=False))
        sources = opened.sources
        tables = [source.name for source in sources if not _is_plain(source)]
        if len(tables) == len(sources) or len(sources) > 2:
            pairs = read_opened(opened, Choices(encoding=encoding)).pairs
            return [pair.src for pair in pairs], [pair.tgt for pair in pairs]
        if tables:
            raise Refusal("data.pairs_alone", name=tables[0])
        sides = [_check_lines(source) for source in sources]
    else:
        sides = [read_sentences([file], encoding)[0] if file[1] else [] for file in files]
    return sides[0], sides[1] if len(sides) == 2 else None


def _is_plain(source: Source) -> bool:
    """Whether a file's lines are sentences. Commas alone make no table, unless the file is called .csv."""
    try:
        if not source.lines or read_first(WHOLE, [source]):
            return False
        table = read_first(BY_LINE, [source])
    except Refusal:  # it is known, and has one side or is broken
        return False
    return table is None or table.by_order or (table.kind == "csv" and not source.name.lower().endswith(".csv"))


def _check_lines(source: Source) -> list[str]:
    for number, line in enumerate(source.lines, start=1):
        if is_damaged(line):
            raise Refusal("data.not_utf8", name=source.name, line=number)
    return list(source.lines)


def _split_utf8(name: str, data: bytes) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal("data.not_utf8", name=name, line=error.object.count(b"\n", 0, error.start) + 1) from error
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
