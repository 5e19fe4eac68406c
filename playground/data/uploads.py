"""Uploads: a teacher's file becomes pairs of sentences, with an account of every line that did not.

Nothing is lost in silence: kept and dropped rows add up to the rows read, and every dropped one is named by its line and its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.data.readers import COLUMN_LIMIT, LINE_LIMIT, READERS, Row, read_text, refusal, row_width, usual_width
from playground.data.text import normalise
from playground.words import say

BYTE_LIMIT = 20 * 1024 * 1024  # all files together
PAIR_LIMIT = 200_000
REASONS = ("header", "blank", "empty_source", "empty_target", "one_column", "extra_columns", "long", "quote")
SHOWN_LINES = 8  # line numbers named in a sentence of the report
_HEADERS = {
    "id", "index", "source", "target", "src", "tgt", "trg", "input", "output", "text", "translation", "sentence", "question", "answer",
    "en", "de", "fr", "es", "it", "zh", "ja", "ko", "ru", "pt", "english", "german", "french", "spanish", "italian", "chinese", "japanese",
    "korean", "russian", "portuguese", "deutsch", "englisch", "français", "anglais", "español", "中文", "英文", "英语", "原文", "译文",
}  # fmt: skip


class Pair(NamedTuple):
    src: str
    tgt: str
    line: int  # where it begins, as an editor counts


@dataclass(frozen=True)
class Pairs:
    """What was understood. `lines` counts rows: lines, but a quoted cell that goes over several makes them one."""

    pairs: tuple[Pair, ...]
    dropped: dict[str, tuple[int, ...]]  # reason (one of REASONS) -> lines
    lines: int
    kind: str  # which reader understood it
    names: tuple[str, ...]
    credit: str = ""  # the licence note of the file's third column, where it has one
    notes: tuple[tuple[str, dict[str, Any]], ...] = ()  # what else a person should know: keys and values of sentences


def read_files(files: Sequence[tuple[str, bytes]], swap: bool = False, max_characters: int = LINE_LIMIT) -> Pairs:
    """The pairs of one file (TSV, CSV) or of two line-aligned ones, as (name, content). `swap` makes the second column or file the source.

    Sentences longer than `max_characters` on a side are dropped. Raises Refusal, and nothing else, whatever the bytes are.
    """
    if not 1 <= len(files) <= 2:
        raise Refusal("data.how_many_files", count=len(files))
    if sum(len(data) for _, data in files) > BYTE_LIMIT:
        raise Refusal("data.too_large", limit=BYTE_LIMIT // 1024**2)
    texts = [read_text(name, data) for name, data in files]
    for text in texts:
        if not any(map(normalise, text.lines)):
            raise Refusal("data.nothing_inside", name=text.name)
    reader = next((reader for reader in READERS if reader.recognises(texts)), None)
    if reader is None:
        raise refusal(texts)
    name = " + ".join(text.name for text in texts)
    rows = list(reader.rows(texts))
    width, header = usual_width(rows), _header_line(rows)
    if width > COLUMN_LIMIT:
        raise Refusal("data.too_many_columns", name=name, limit=COLUMN_LIMIT)
    kept: list[Pair] = []
    dropped: dict[str, list[int]] = {reason: [] for reason in REASONS}
    for row in rows:
        src, tgt = map(normalise, (*row.cells, "", "")[:2])
        if swap:
            src, tgt = tgt, src
        reason = "header" if row.line == header else _reason(row, src, tgt, width, max_characters)
        if reason:
            dropped[reason].append(row.line)
        elif len(kept) == PAIR_LIMIT:
            raise Refusal("data.too_many_pairs", name=name, limit=PAIR_LIMIT)
        else:
            kept.append(Pair(src, tgt, row.line))
    found = {reason: tuple(lines) for reason, lines in dropped.items() if lines}
    if not kept:
        only = next(iter(found)) if len(found) == 1 else "several"
        raise Refusal(f"data.none_kept_{only}", name=name, lines=len(rows), line=min(map(min, found.values())))
    credit = _credit(rows) if width == 3 else ""
    notes = tuple(_notes(rows, kept, 2 if credit else width))
    return Pairs(tuple(kept), found, len(rows), reader.kind, tuple(text.name for text in texts), credit, notes)


def report(pairs: Pairs, language: str) -> list[str]:
    """What was read, as sentences for a person: the count, one sentence for each reason to drop a line, and what else is worth knowing."""
    dropped = sum(map(len, pairs.dropped.values()))
    sentences = [say(language, "data.report", lines=pairs.lines, kept=len(pairs.pairs), dropped=dropped)]
    for reason, lines in pairs.dropped.items():
        where = ", ".join(map(str, lines[:SHOWN_LINES])) + (", …" if len(lines) > SHOWN_LINES else "")
        where = say(language, "data.lines" if len(lines) > 1 else "data.line", where=where)
        sentences.append(say(language, "data.report_dropped", count=len(lines), why=say(language, f"data.why_{reason}"), where=where))
    return sentences + [say(language, note, **values) for note, values in pairs.notes]


def as_json(pairs: Pairs, language: str = "en") -> dict[str, Any]:
    """What was read, for programs: counts, the first pair, and all dropped lines by reason."""
    return {
        "kind": pairs.kind,
        "names": list(pairs.names),
        "lines": pairs.lines,
        "pairs": len(pairs.pairs),
        "first": list(pairs.pairs[0][:2]),
        "dropped": {reason: list(lines) for reason, lines in pairs.dropped.items()},
        "credit": pairs.credit,
        "warnings": [say(language, note, **values) for note, values in pairs.notes],
    }


def _header_line(rows: Sequence[Row]) -> int:
    """The line of the first filled row if it holds nothing but different names of columns or languages, else 0."""
    for row in rows:
        cells = [cell.casefold() for cell in map(normalise, row.cells) if cell]
        if cells or row.fault:
            return row.line if len(cells) == len(set(cells)) > 1 and _HEADERS.issuperset(cells) else 0
    return 0


def _reason(row: Row, src: str, tgt: str, width: int, max_characters: int) -> str:
    """Why a row is no pair (one of REASONS), or "". More cells than usual are a stray separator: which two to take is anyone's guess."""
    if row.fault:
        return row.fault
    if not any(map(normalise, row.cells)):
        return "blank"
    if len(row.cells) < 2:
        return "one_column"
    if row_width(row.cells) > width:
        return "extra_columns"
    if not src or not tgt:
        return "empty_source" if not src else "empty_target"
    return "long" if max(len(src), len(tgt)) > max_characters else ""


def _credit(rows: Sequence[Row]) -> str:
    """The licence that the third cells name ("CC-BY 2.0 … #sentence number"); "" if that column is something else."""
    cells = [normalise(row.cells[2]) for row in rows if len(row.cells) > 2]
    licences = Counter(cell.split(" #")[0] for cell in cells)
    common = [licence for licence, count in licences.most_common() if count * 100 >= len(cells)]
    return "; ".join(common) if all(licence.startswith(("CC-", "CC ", "CC0")) for licence in common) else ""


def _notes(rows: Sequence[Row], kept: Sequence[Pair], width: int) -> list[tuple[str, dict[str, Any]]]:
    same = [pair.line for pair in kept if pair.src == pair.tgt]
    tall = [row.line for row in rows if row.height > 1]
    notes = []
    if width > 2:
        notes.append(("data.note_columns", {"width": width}))
    if tall:
        notes.append(("data.note_tall", {"count": len(tall), "line": tall[0]}))
    if same:
        notes.append(("data.note_same", {"count": len(same), "line": same[0]}))
    return notes
