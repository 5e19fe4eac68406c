"""Uploads: a teacher's files become pairs of sentences, with an account of every row that did not.

Nothing is lost in silence: kept and dropped rows add up to the rows read, and every dropped one is named by its line and its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from playground.config import Refusal
from playground.reading.column_mapping import Choices, Plan, plan_table
from playground.reading.doubts import find_doubts, remove_errors
from playground.reading.filtering import REASONS, FilteredRows, Pair, PreviewRow, RowFilter, count_escapes, filter_rows
from playground.reading.formats import escapes
from playground.reading.formats.cells import licence
from playground.reading.formats.language_id import main_language
from playground.reading.formats.limits import LINE_LIMIT, SAMPLE
from playground.reading.formats.table import Row, Source, Table
from playground.reading.hub import from_hub
from playground.reading.opening import Opened, find_table, lost_side, open_files
from playground.reading.pairs import Pairs, check_size, with_splits
from playground.reading.text import normalise
from playground.reading.unpacking import File
from playground.words import ENGLISH, say

__all__ = ["REASONS", "Choices", "Pair", "Pairs", "PreviewRow", "as_json", "read_files", "report"]

MAX_LINE_NUMBERS = 8  # in a sentence of the report
_MAX_LANGUAGE_PAIRS = 6
_MAX_CREDIT_CHARACTERS = 1000
_MAX_QUOTED_CHARACTERS = 60  # of a sentence within a sentence of ours


def read_files(files: Sequence[File], choices: Choices = Choices(), max_characters: int = LINE_LIMIT) -> Pairs:  # noqa: B008 (it is frozen)
    """The pairs in one file or two, as (name, content); each may be packed. What an archive has to validate and to test on stands last.

    Sentences longer than `max_characters` on a side are dropped. Raises Refusal, and nothing else, whatever the bytes are.
    """
    opened = open_files(files, choices.encoding)
    pairs = _pairs(opened, *find_table(opened), choices, max_characters)
    given: dict[str, Pairs] = {}
    for part in opened.parts[1:]:
        other = open_files(files, choices.encoding, part)
        given[part] = _pairs(other, *find_table(other), choices, max_characters)
    if given:
        pairs = with_splits(replace(pairs, notes=(*pairs.notes, *_parts(given))), given.get("validation"), given.get("test"))
        check_size(pairs)
    return pairs


def read_hub(dataset: str, config: str, split: str, choices: Choices = Choices(), max_characters: int = LINE_LIMIT) -> Pairs:  # noqa: B008
    """The pairs in the first rows of a data set on the Hugging Face Hub. Raises Refusal."""
    table = from_hub(dataset, config, split)
    return _pairs(Opened((Source(dataset, b"", []),), (), (), ""), table, list(table.rows), choices, max_characters)


def _pairs(opened: Opened, table: Table, rows: list[Row], choices: Choices, max_characters: int) -> Pairs:
    if table.by_order:
        _check_order(opened, rows, choices.same_language)
    rows, errors = remove_errors(rows)
    how = plan_table(opened.name, table, rows, choices)
    left = count_escapes(rows, how)
    guessed = any(encoding.guessed for encoding in opened.encodings)
    row_filter = RowFilter(how, bool(table.columns), max_characters, guessed, left if choices.undo else {})
    filtered = filter_rows(opened.name, rows, row_filter, lambda row: _raw(row, opened.sources, table))
    dropped = {reason: tuple(lines) for reason, lines in filtered.dropped.items() if lines}
    if not filtered.pairs:
        raise _none_kept(opened.name, len(rows), dropped, table.unit)
    owed = _credit(rows, how)
    found = Pairs(
        tuple(filtered.pairs), dropped, len(rows), table.kind, tuple(source.name for source in opened.sources),
        credit=owed or normalise(table.credit) or opened.credit,
        notes=(*opened.notes, *table.notes, *_notes(rows, filtered, how, bool(owed)), *_traces(left, choices.undo), *_errors(errors),
               *find_doubts(filtered.pairs)),
        unit=table.unit, columns=how.columns, chosen=(how.source, how.target), header=how.header > 0,
        named=bool(table.columns) and table.kind != "two_files", encodings=opened.encodings, preview=tuple(filtered.preview),
        dropped_rows={reason: tuple(seen) for reason, seen in filtered.dropped_rows.items() if seen},
        traces=tuple(kind for kind in escapes.KINDS if any(kind in side for side in left.values())), undone=bool(choices.undo),
        joined=how.joined, group=how.group, groups=tuple(filtered.groups),
    )  # fmt: skip
    check_size(found)
    return found


def _check_order(opened: Opened, rows: Sequence[Row], same_language: bool) -> None:
    """Raises Refusal where lines that follow one another are hardly pairs: beside them was a file that can't be read, or all of them seem
    to be in one language and nobody has said that they may."""
    if lost := lost_side(opened):
        raise lost
    sides = list(zip(*(row.cells for row in rows[:SAMPLE] if len(row.cells) == 2 and not row.fault), strict=True))
    if sides and not same_language and main_language(sides[0]) == main_language(sides[1]) != "":
        one, two = (normalise(side[0])[:_MAX_QUOTED_CHARACTERS] for side in sides)
        raise Refusal("data.same_language", name=opened.name, one=one, two=two)


def _raw(row: Row, sources: Sequence[Source], table: Table) -> str:
    """The first line of a row that could not be cut into cells."""
    lines = sources[0].lines if table.unit == "line" and len(sources) == 1 else []
    return lines[row.line - 1] if row.line <= len(lines) else ""


def _none_kept(name: str, count: int, dropped: dict[str, tuple[int, ...]], unit: str) -> Refusal:
    line = min(map(min, dropped.values()), default=1)
    if not dropped:
        return Refusal("data.nothing_inside", name=name)
    if dropped.keys() == {"untranslated"}:
        return Refusal("data.none_kept_untranslated", name=name, count=count)
    if unit != "line":
        return Refusal(f"data.none_kept_{unit}", name=name, count=count, line=line)
    only = next(iter(dropped)) if len(dropped) == 1 else ""
    known = only in ("header", "blank", "empty_source", "empty_target", "long")
    return Refusal(f"data.none_kept_{only}" if known else "data.none_kept_several", name=name, lines=count, line=line)


def _credit(rows: Sequence[Row], how: Plan) -> str:
    """The licences that a column beside the sentences names."""
    for place in range(how.width):
        if place not in (how.source, how.target):
            cells = [row.cells[place] for row in rows if len(row.cells) > place and row.line != how.header]
            if licence(cells[:SAMPLE]) and (found := licence(cells)):
                return found if len(found) <= _MAX_CREDIT_CHARACTERS else found[: _MAX_CREDIT_CHARACTERS - 1] + "…"
    return ""


def _notes(rows: Sequence[Row], filtered: FilteredRows, how: Plan, credited: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    same = [pair.line for pair in filtered.pairs if pair.src == pair.tgt]
    tall = [row.line for row in rows if row.height > 1]
    names = [column.name or str(place) for place, column in enumerate(how.columns, 1)]
    if how.language_pairs:
        found = ", ".join(f"{names[one]}–{names[two]} ({count})" for one, two, count in how.language_pairs[:_MAX_LANGUAGE_PAIRS])
        more = ", …" if len(how.language_pairs) > _MAX_LANGUAGE_PAIRS else ""
        yield "data.note_languages", {"found": found + more, "source": names[how.source], "target": names[how.target]}
    elif how.joined or how.group is not None:
        more = ", ".join(names[place] for place in how.joined)
        if more:
            yield "data.note_joined", {"source": names[how.source], "joined": more, "target": names[how.target]}
        if how.group is not None:
            yield "data.note_group", {"group": names[how.group]}
    elif how.width - credited > 2:
        yield "data.note_columns", {"width": how.width, "source": names[how.source], "target": names[how.target]}
    if tall and 2 * len(tall) < len(rows):  # else the format is made so
        yield "data.note_tall", {"count": len(tall), "line": tall[0]}
    if same:
        yield "data.note_same", {"count": len(same), "line": same[0]}


def _traces(left: dict[int, dict[str, int]], undo: bool | None) -> Iterator[tuple[str, dict[str, Any]]]:
    counts = Counter()
    for side in left.values():
        counts.update(side)
    if undo is None:
        for kind in filter(counts.get, escapes.KINDS):
            yield f"data.note_{kind}", {"count": counts[kind]}
    elif undo and counts:
        yield "data.note_undone", {"count": counts.total()}


def _parts(given: dict[str, Pairs]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part, pairs in given.items():
        count = len(pairs.pairs)
        yield f"data.note_{part}", {"members": ", ".join(pairs.names), "kept": count, "dropped": pairs.lines - count}


def _errors(found: dict[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    if found:
        yield "data.note_errors", {"values": ", ".join(found), "count": sum(found.values())}


def report(pairs: Pairs, language: str) -> list[str]:
    """What was read, as sentences for a person: the count, one sentence for each reason to drop a line, and what else is worth knowing."""
    unit, dropped = pairs.unit, sum(map(len, pairs.dropped.values()))
    sentences = [say(language, f"data.report_{unit}", lines=pairs.lines, kept=len(pairs.pairs) - sum(pairs.given), dropped=dropped)]
    for reason, lines in pairs.dropped.items():
        where = places(lines, unit, language)
        sentences.append(say(language, "data.report_dropped", count=len(lines), why=say(language, f"data.why_{reason}"), where=where))
    return sentences + _said(pairs, language)


def places(lines: Sequence[int], unit: str, language: str) -> str:
    """Where something is: "line 3", "rows 21, 40", "items 1, 2, 3, …"."""
    where = ", ".join(map(str, lines[:MAX_LINE_NUMBERS])) + (", …" if len(lines) > MAX_LINE_NUMBERS else "")
    return say(language, f"data.{unit}s" if len(lines) > 1 else f"data.{unit}", where=where)


def _said(pairs: Pairs, language: str) -> list[str]:
    """The notes as sentences; one that names a line can say {where} for it: "line 3", "row 3", "item 3"."""
    where = [{"where": say(language, f"data.{pairs.unit}", where=values.get("line"))} for _, values in pairs.notes]
    return [say(language, note, **place, **values) for (note, values), place in zip(pairs.notes, where, strict=True)]


def as_json(pairs: Pairs, language: str = ENGLISH) -> dict[str, Any]:
    """What was read, for programs: counts, the first pair, and all dropped lines by reason."""
    return {
        "kind": pairs.kind,
        "names": list(pairs.names),
        "unit": pairs.unit,
        "lines": pairs.lines,
        "pairs": len(pairs.pairs) - sum(pairs.given),
        "given": list(pairs.given),
        "first": list(pairs.pairs[0][:2]),
        "dropped": {reason: list(lines) for reason, lines in pairs.dropped.items()},
        "credit": pairs.credit,
        "encodings": [{"file": one.file, "name": one.name, "guessed": one.guessed} for one in pairs.encodings],
        "columns": [{"name": column.name, "filled": column.filled, "samples": list(column.samples)} for column in pairs.columns],
        "chosen": list(pairs.chosen),
        "header": pairs.header,
        "warnings": _said(pairs, language),
    }
