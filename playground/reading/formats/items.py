"""Items: values of JSON, Parquet and the Hub (dictionaries, lists) become named cells, and these rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, LINE_LIMIT, MAX_LINES, SAMPLE, UNPACKED_LIMIT, Notes, Row, Table
from playground.reading.formats.column_names import CREDITS, plain
from playground.reading.formats.columns import find_pair, rank_columns, summarise_column
from playground.reading.formats.languages import is_language
from playground.reading.text import normalise

CELL_LIMIT = 10 * MAX_LINES  # cells in all rows together
VALUE_LIMIT = CELL_LIMIT // 2  # values in one document held in memory
BROKEN = object()  # marks an unreadable item
PREFIX, FILLER = 1000, "…" * (LINE_LIMIT + 1)  # of a text that is dropped as too long
_SPLIT_CREDITS = 20  # distinct credit lines of a credit column
_MAX_DEPTH = 4  # nested names: "data.answers.text"
_LANGUAGE_KEYS = ("lang", "language", "locale", "lang_code", "language_code", "code")  # keys for the language of a sentence
_BESIDE = {"id", "_id", "uuid", "url", "audio", "author", "user", "username", "license", "licence"}  # keys of text that is not a sentence


class Number(str):
    """A number or truth value as written: text, but never preferred as a sentence."""

    __slots__ = ()


def format_text(value: Any) -> str:
    """Formats a single value for display; "" for null, NaN and undisplayable values."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return Number("true" if value else "false")
    if isinstance(value, float):
        return Number(value) if value == value else ""
    if isinstance(value, int | Decimal | datetime | date | time | timedelta):
        return Number(value)
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else ""
    except UnicodeError:
        return ""


def flatten(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yields the named cells in a value; those of a nested dictionary are called "outer.inner"."""
    if isinstance(value, dict):
        lists = list(value.values()) if value.keys() == {"language", "translation"} else []
        if lists and all(isinstance(inner, list | tuple) and len(inner) == len(lists[0]) for inner in lists):
            value = _group_by_language(value["language"], value["translation"])
        for key, inner in value.items() if depth < _MAX_DEPTH else ():
            label = f"{name}.{key}" if name else str(key)
            if type(inner) is str:
                yield label, inner
            else:
                yield from flatten(inner, label, depth + 1)
    elif isinstance(value, list | tuple) and value and all(isinstance(inner, dict) for inner in value):
        if languages := find_texts_by_language(value):
            yield from flatten(languages, name, depth)
            return
        for key in dict.fromkeys(chain.from_iterable(value)) if depth < _MAX_DEPTH else ():
            yield from flatten([inner[key] for inner in value if key in inner], f"{name}.{key}" if name else str(key), depth + 1)
    else:
        yield name, make_cell(value)


def make_cell(value: Any) -> Any:
    return [format_text(inner) for inner in value] if isinstance(value, list | tuple) else format_text(value)


def _group_by_language(languages: Sequence, sentences: Sequence) -> dict[str, Any]:
    """Groups the Hub's translations in variable languages: a list of languages and one of sentences."""
    by_language: dict[str, list] = {}
    for language, sentence in zip(languages, sentences, strict=True):
        by_language.setdefault(format_text(language), []).append(sentence)
    return {language: sentences_of if len(sentences_of) > 1 else sentences_of[0] for language, sentences_of in by_language.items()}


def find_texts_by_language(values: Sequence[Any]) -> dict[str, Any]:
    """Groups sentences by their declared languages: [{"lang": "en", "text": "a"}, …]; {} for any other values."""
    if not values or not all(isinstance(value, dict) for value in values):
        return {}
    labelled = [(value.get(key), _find_only_text(value, key)) for value in values for key in _LANGUAGE_KEYS if key in value]
    languages, texts = zip(*labelled, strict=True) if labelled else ((), ())
    if len(labelled) != len(values) or None in texts or not all(isinstance(code, str) and is_language(code) for code in languages):
        return {}
    return _group_by_language(languages, texts)


def _find_only_text(value: dict, language: str) -> Any:
    """Returns the only text of a dictionary beside its language; None if there is none or several."""
    texts = [inner for key, inner in value.items() if key != language and type(inner) is str and plain(key) not in _BESIDE]
    return texts[0] if len(texts) == 1 else None


def unwrap_records(value: dict) -> Iterable[dict]:
    """Returns a dictionary's records: itself, the row it wraps, the question-answer turns of a conversation, or a chatbot's patterns."""
    for key in ("messages", "conversations", "conversation"):
        turns = value.get(key)
        if isinstance(turns, list | tuple) and turns and all(isinstance(turn, dict) for turn in turns):
            messages = [(turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))) for turn in turns]
            return [
                {"user": question, "assistant": answer}
                for (role, question), (next_role, answer) in pairwise(messages)
                if role in ("user", "human") and next_role in ("assistant", "gpt", "model", "bot")
            ]
    patterns, responses = value.get("patterns"), value.get("responses")
    if isinstance(patterns, list | tuple) and isinstance(responses, list | tuple):  # of a chatbot: any response fits any pattern
        rest = {key: inner for key, inner in value.items() if key not in ("patterns", "responses")}
        return [{"pattern": pattern, "response": responses, **rest} for pattern in patterns or [""]]
    inner = value.get("row")
    return [inner if isinstance(inner, dict) else value]


# --- rows ---


class _Collected:
    """Collects items: their cells by column."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self.name = name
        self.columns: dict[Any, int] = {key: place for place, key in enumerate(names)}  # columns of lists are numbered 0, 1, …
        self.names = tuple(names)
        self.rows: list[tuple[int, list | str]] = []  # cells, or the fault
        self.cells = self.size = 0

    def add_cells(self, number: int, cells: Iterable[tuple[Any, Any]]) -> None:
        row: list = []
        for key, cell in cells:
            place = self.columns.setdefault(key, len(self.columns))
            if place >= COLUMN_LIMIT:
                raise Refusal("data.too_many_columns", name=self.name, limit=COLUMN_LIMIT)
            row += [""] * (place + 1 - len(row))
            row[place] = cell
            self.size += len(cell)
        self.cells += len(row)
        self.add_row(number, row)

    def add_row(self, number: int, row: list | str) -> None:
        if len(self.rows) == MAX_LINES or self.cells > CELL_LIMIT:
            raise Refusal("data.too_many_items", name=self.name, limit=MAX_LINES)
        if self.size > UNPACKED_LIMIT:
            raise Refusal("data.unpacked_too_large", name=self.name, limit=UNPACKED_LIMIT // 1024**2)
        self.rows.append((number, row))

    def add_item(self, number: int, value: Any) -> None:
        if isinstance(value, dict) and not value.get("truncated_cells"):
            for record in unwrap_records(value):
                self.add_cells(number, flatten(record))
        elif isinstance(value, list | tuple) and (languages := find_texts_by_language(value)):
            self.add_cells(number, flatten(languages))
        elif isinstance(value, list | tuple):
            keys = (*self.names, *range(len(self.names), len(value)))
            self.add_cells(number, ((key, make_cell(inner)) for key, inner in zip(keys, value, strict=False)))
        elif value is None:
            self.add_row(number, [])
        else:
            self.add_row(number, "broken")


def make_table(
    kind: str, name: str, items: Iterable[tuple[int, Any]], names: Sequence[str] = (), unit: str = "item", notes: Notes = ()
) -> Table:
    """Makes the table of numbered items: dictionaries, or lists whose columns are called `names`.

    None is an empty item, BROKEN an unreadable one. Columns of sentences come first, then likely non-text. A cell that lists several
    correct targets (or sources) gives a row for each. Raises Refusal for too many items or columns.
    """
    collected = _Collected(name, names)
    for number, value in items:
        collected.add_item(number, value)
    keys = list(collected.columns)
    summaries = [summarise_column(iterate_column(collected.rows[:SAMPLE], place)) for place in range(len(keys))]
    pair = find_pair([str(key) for key in keys], summaries)
    column_ranks = rank_columns([str(key) for key in keys], summaries)
    order = [*pair, *sorted((place for place in range(len(keys)) if place not in pair), key=column_ranks.__getitem__)]
    columns = () if all(isinstance(key, int) for key in keys) else tuple(_shorten_keys([str(keys[place]) for place in order]))
    credit = _find_credit(keys, collected.rows)
    return Table(kind, list(check_totals(_drain_rows(collected.rows, order), name)), columns, unit, (0, 1) if pair else None, credit, notes)


def iterate_column(rows: Iterable[tuple[int, list | str]], place: int) -> Iterator[Any]:
    return (row[place] if place < len(row) else "" for _, row in rows if isinstance(row, list))


def _shorten_keys(keys: Sequence[str]) -> Iterator[str]:
    """Yields display names: "translation.en" becomes "en" where that is unique."""
    last = Counter(key.rpartition(".")[2] for key in keys)
    for key in keys:
        short = key.rpartition(".")[2]
        yield normalise(short if is_language(short) and last[short] == 1 else key)[:60]


def _find_credit(keys: Sequence[Any], rows: Sequence[tuple[int, list | str]]) -> str:
    """Returns the distinct lines of a credit column, if they are few."""
    for place in (place for place, key in enumerate(keys) if isinstance(key, str) and plain(key) in CREDITS):
        lines: dict[str, None] = {}
        for cell in iterate_column(rows, place):
            lines[normalise(cell[:LINE_LIMIT]) if isinstance(cell, str) else ""] = None
            if len(lines) > _SPLIT_CREDITS:
                return ""
        return "; ".join(filter(None, lines))
    return ""


def _drain_rows(rows: list[tuple[int, list | str]], order: Sequence[int]) -> Iterator[Row]:
    """Yields the rows with sorted columns; consumes `rows`, so that memory never holds them twice."""
    rows.reverse()
    while rows:
        number, row = rows.pop()
        if isinstance(row, str):
            yield Row(number, [], row)
            continue
        whole = [row[place] if place < len(row) else "" for place in order] if row else []
        for cells in spread_lists(whole) if list in map(type, whole) else (whole,):
            yield make_row(number, cells, "unpaired" if whole and not cells else "")


def spread_lists(cells: list) -> Iterator[list[str]]:
    """Yields rows of single cells. A list beside a sentence holds alternatives; two lists are aligned by sentence, or by word.

    Two lists of sentences with different lengths give an empty row: their alignment is unknown.
    """
    first, second = [*cells, "", ""][:2]
    rest = [" ".join(cell) if isinstance(cell, list) else cell for cell in cells[2:]]
    if isinstance(first, list) and isinstance(second, list):
        spaced = [" " in text for text in (*first, *second)]
        if len(first) == len(second) > 0 and any(spaced):
            yield from ([source, target, *rest] for source, target in zip(first, second, strict=True))
        elif len(first) != len(second) and min(len(first), len(second)) > 0 and 2 * sum(spaced) > len(spaced):
            yield []
        else:
            yield [" ".join(first), " ".join(second), *rest]
        return
    sources, targets = (cell or [""] if isinstance(cell, list) else [cell] for cell in (first, second))
    yield from ([source, target, *rest][: len(cells)] for source in sources for target in targets)


def make_row(line: int, cells: list[str], fault: str = "") -> Row:
    """Makes a row, shortening cells too long to be sentences. A shortened cell stays over the limit even after later clean-up."""
    if max(map(len, cells), default=0) > LINE_LIMIT:
        fault = fault or ("long" if max(map(len, cells[:2])) > LINE_LIMIT else "")
        cells = [cell[:PREFIX] + FILLER if len(cell) > LINE_LIMIT else cell for cell in cells]
    return Row(line, cells, fault)


def join_keys(left: Mapping[Any, str], right: Mapping[Any, str]) -> list[Row]:
    """Makes a row of two cells for each key; a key in only one of the mappings leaves an empty cell."""
    return [make_row(number, [left.get(key, ""), right.get(key, "")]) for number, key in enumerate({**left, **right}, 1)]


def check_totals(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Yields the rows and checks their total number and size: one long text may be written once and repeated in every row."""
    size = 0
    for count, row in enumerate(rows, 1):
        size += sum(map(len, row.cells))
        if count > MAX_LINES:
            raise Refusal("data.too_many_items", name=name, limit=MAX_LINES)
        if size > UNPACKED_LIMIT:
            raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
        yield row
