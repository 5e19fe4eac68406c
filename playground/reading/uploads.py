"""Uploads: a user's files become pairs of sentences, with every dropped row; or the sentences to translate or score.

Pairs and dropped rows add up to the rows read; every dropped row is named by its line and its reason.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from playground.config import Refusal
from playground.reading.column_mapping import Choices, Plan, plan_table
from playground.reading.encodings import is_damaged
from playground.reading.filtering import FilteredRows, RowFilter, count_escapes, filter_rows, find_doubts, remove_errors
from playground.reading.formats import BY_LINE, BYTE_LIMIT, LINE_LIMIT, SAMPLE, WHOLE, Row, Source, Table, read_first
from playground.reading.formats.columns import find_licence
from playground.reading.formats.languages import detect_language
from playground.reading.opening import Opened, explain_lost_side, find_table, load_from_hub, open_files
from playground.reading.pairs import Pairs, check_size, with_splits
from playground.reading.text import ESCAPE_KINDS, normalise
from playground.reading.unpacking import File

_MAX_LANGUAGE_PAIRS = 6
_MAX_CREDIT_CHARACTERS = 1000
_MAX_QUOTED_CHARACTERS = 60  # of a sentence quoted in a message


def read_files(files: Sequence[File], choices: Choices = Choices(), max_characters: int = LINE_LIMIT) -> Pairs:  # noqa: B008 (frozen)
    """Returns the pairs of one file or two, given as (name, content); each may be packed. Validation and test pairs of an archive stand
    last.

    Sentences longer than `max_characters` on a side are dropped. Raises Refusal, and nothing else, for any bytes.
    """
    parts = open_files(files, choices.encoding)
    pairs = read_opened(next(parts), choices, max_characters)
    if splits := {opened.part: read_opened(opened, choices, max_characters) for opened in parts}:
        notes = [
            (f"data.note_{part}", {"members": ", ".join(own.names), "kept": len(own.pairs), "dropped": own.lines - len(own.pairs)})
            for part, own in splits.items()
        ]
        pairs = with_splits(replace(pairs, notes=(*pairs.notes, *notes)), splits.get("validation"), splits.get("test"))
        check_size(pairs)
    return pairs


def read_opened(opened: Opened, choices: Choices, max_characters: int = LINE_LIMIT) -> Pairs:
    """Returns the pairs of opened files. Raises Refusal."""
    return _make_pairs(opened, *find_table(opened), choices, max_characters)


def read_hub(dataset: str, config: str, split: str, choices: Choices = Choices(), max_characters: int = LINE_LIMIT) -> Pairs:  # noqa: B008
    """Returns the pairs in the first rows of a data set on the Hugging Face Hub. Raises Refusal."""
    table = load_from_hub(dataset, config, split)
    return _make_pairs(Opened((Source(dataset, b"", []),), (), (), ""), table, list(table.rows), choices, max_characters)


def _make_pairs(opened: Opened, table: Table, rows: list[Row], choices: Choices, max_characters: int) -> Pairs:
    if table.by_order:
        _check_order(opened, rows, choices.same_language)
    rows, errors = remove_errors(rows)
    plan = plan_table(opened.name, table, rows, choices)
    escape_counts = count_escapes(rows, plan)
    guessed = any(encoding.guessed for encoding in opened.encodings)
    row_filter = RowFilter(plan, bool(table.columns), max_characters, guessed, escape_counts if choices.undo else {})
    lines = opened.sources[0].lines if table.unit == "line" and len(opened.sources) == 1 else []
    filtered = filter_rows(opened.name, rows, row_filter, lines)
    dropped = {reason: tuple(lines) for reason, lines in filtered.dropped.items() if lines}
    if not filtered.pairs:
        raise _explain_no_pairs(opened.name, len(rows), dropped, table.unit)
    credit = _find_credit(rows, plan)
    errors_note = [("data.note_errors", {"values": ", ".join(errors), "count": sum(errors.values())})] if errors else []
    pairs = Pairs(
        tuple(filtered.pairs), dropped, len(rows), table.kind, tuple(source.name for source in opened.sources),
        credit=credit or normalise(table.credit) or opened.credit,
        notes=(*opened.notes, *table.notes, *_note_rows(rows, filtered, plan, bool(credit)), *_note_escapes(escape_counts, choices.undo),
               *errors_note, *find_doubts(filtered.pairs)),
        unit=table.unit, columns=plan.columns, chosen=(plan.source, plan.target), header=plan.header > 0,
        named=bool(table.columns) and table.kind != "two_files", encodings=opened.encodings, preview=tuple(filtered.preview),
        dropped_rows={reason: tuple(samples) for reason, samples in filtered.dropped_rows.items() if samples},
        traces=tuple(kind for kind in ESCAPE_KINDS if any(kind in side for side in escape_counts.values())), undone=bool(choices.undo),
        joined=plan.joined, group=plan.group, groups=tuple(filtered.groups),
    )  # fmt: skip
    check_size(pairs)
    return pairs


def _check_order(opened: Opened, rows: Sequence[Row], same_language: bool) -> None:
    """Raises Refusal where alternating lines are hardly pairs: another file of the archive is unreadable, or all lines seem to be in one
    language and `same_language` is not set."""
    if refusal := explain_lost_side(opened):
        raise refusal
    sides = list(zip(*(row.cells for row in rows[:SAMPLE] if len(row.cells) == 2 and not row.fault), strict=True))
    if sides and not same_language and detect_language(sides[0]) == detect_language(sides[1]) != "":
        first, second = (normalise(side[0])[:_MAX_QUOTED_CHARACTERS] for side in sides)
        raise Refusal("data.same_language", name=opened.name, one=first, two=second)


def _explain_no_pairs(name: str, count: int, dropped: dict[str, tuple[int, ...]], unit: str) -> Refusal:
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


def _find_credit(rows: Sequence[Row], plan: Plan) -> str:
    """Returns the licences named in a column beside the sentences."""
    for place in range(plan.width):
        if place not in (plan.source, plan.target):
            cells = [row.cells[place] for row in rows if len(row.cells) > place and row.line != plan.header]
            if find_licence(cells[:SAMPLE]) and (credit := find_licence(cells)):
                return credit if len(credit) <= _MAX_CREDIT_CHARACTERS else credit[: _MAX_CREDIT_CHARACTERS - 1] + "…"
    return ""


def _note_rows(rows: Sequence[Row], filtered: FilteredRows, plan: Plan, credited: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    same = [pair.line for pair in filtered.pairs if pair.src == pair.tgt]
    tall = [row.line for row in rows if row.height > 1]
    names = [column.name or str(place) for place, column in enumerate(plan.columns, 1)]
    if plan.language_pairs:
        pairs = ", ".join(f"{names[src]}–{names[tgt]} ({count})" for src, tgt, count in plan.language_pairs[:_MAX_LANGUAGE_PAIRS])
        more = ", …" if len(plan.language_pairs) > _MAX_LANGUAGE_PAIRS else ""
        yield "data.note_languages", {"found": pairs + more, "source": names[plan.source], "target": names[plan.target]}
    elif plan.joined or plan.group is not None:
        more = ", ".join(names[place] for place in plan.joined)
        if more:
            yield "data.note_joined", {"source": names[plan.source], "joined": more, "target": names[plan.target]}
        if plan.group is not None:
            yield "data.note_group", {"group": names[plan.group]}
    elif plan.width - credited > 2:
        yield "data.note_columns", {"width": plan.width, "source": names[plan.source], "target": names[plan.target]}
    if tall and 2 * len(tall) < len(rows):  # else the format has tall rows by design
        yield "data.note_tall", {"count": len(tall), "line": tall[0]}
    if same:
        yield "data.note_same", {"count": len(same), "line": same[0]}


def _note_escapes(escape_counts: dict[int, dict[str, int]], undo: bool | None) -> Iterator[tuple[str, dict[str, Any]]]:
    counts = Counter()
    for side in escape_counts.values():
        counts.update(side)
    if undo is None:
        for kind in filter(counts.get, ESCAPE_KINDS):
            yield f"data.note_{kind}", {"count": counts[kind]}
    elif undo and counts:
        yield "data.note_undone", {"count": counts.total()}


# --- tokenizers beside the sentences ---


def part_tokenizers(files: Sequence[File]) -> tuple[list[File], list[File]]:
    """Parts the files into those with sentences and tokenizers. A list of words may be sentences too, where there are no others. Raises
    Refusal for tokenizers without sentences, or more than two."""
    sentences = [file for file in files if not _is_tokenizer(file[0])]
    models = [file for file in files if file[0].lower().endswith(".model")]
    tokenizers = [file for file in files if file not in sentences] if sentences or models else []
    if len(tokenizers) > 2 or (tokenizers and not sentences):
        raise Refusal("data.tokenizer_alone", names=", ".join(name[:60] for name, _ in tokenizers))
    return sentences or list(files), tokenizers


def _is_tokenizer(name: str) -> bool:
    """Whether a name is that of SentencePiece's files, or of a list of words, such as bert-vocab.txt."""
    stem, _, suffix = name.lower().rpartition(".")
    return suffix in ("model", "vocab") or (suffix == "txt" and "vocab" in re.split(r"[._-]", stem))


# --- sentences ---


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
