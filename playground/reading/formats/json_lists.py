"""JSON and JSON Lines: parses text into values and finds the list of items in them, at the top or nested, as rows or columns, as a list or
a dictionary; `items` makes rows of these."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.formats import SAMPLE, Confidence, Notes, Source, Table, reads
from playground.reading.formats.column_names import CREDITS, count_certain, count_known, plain
from playground.reading.formats.items import BROKEN, VALUE_LIMIT, Number, flatten, join_keys, make_table
from playground.reading.text import normalise

_NAMED = (".json", ".jsonl", ".ndjson", ".geojson", ".json5", ".jsonc")
_CERTAIN = re.compile(r'\s*[\[{][\s\[{]*"[^\t]*$', re.MULTILINE)  # no other text begins with brackets, a quotation mark, and no tab
_STRING = re.compile('"[^"]*"?')
_BETWEEN = re.compile(r"[\s,]*")
_MAX_DEPTH = 3  # of dictionaries searched for lists
_SPLITS = ("train", "training", "validation", "valid", "dev", "test", "heldout")
_USUAL = (  # preferred names among several lists
    "data", "rows", "examples", "pairs", "translations", "sentences", "items", "entries", "records", "segments", "words", "cards", "notes",
)  # fmt: skip


def _merge_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Builds a dictionary; a repeated key gets the list of its values, so that a word keeps all its meanings."""
    merged = dict(pairs)
    if len(merged) < len(pairs):
        several: dict[str, list] = {}
        for key, value in pairs:
            several.setdefault(key, []).extend(value if isinstance(value, list) else [value])
        merged = {key: value if len(value) > 1 else merged[key] for key, value in several.items()}
    return merged


_DECODER = json.JSONDecoder(
    object_pairs_hook=_merge_duplicates,
    parse_int=Number,  # as written: 1.50 stays 1.50, and any length is allowed
    parse_float=Number,
    parse_constant=lambda name: None if name == "NaN" else Number(name),
    strict=False,  # allows line ends within strings
)


@reads(Confidence.SIGNATURE, is_whole=True)
def read_json(source: Source) -> Table | None:
    """Reads one document in a common shape, several in sequence, or one per line."""
    if not _looks_like_json(source.lines):
        return None
    if _is_lines(source.lines, lenient=True):
        return _table_of_lines(source)
    certain = source.name.lower().endswith(_NAMED) or _CERTAIN.match("\n".join(source.lines[:SAMPLE])[:SAMPLE])
    try:
        shape = find_items(_parse_document(source), source.name)
    except Refusal as refusal:
        if refusal.key == "data.json_broken" and _is_lines(source.lines, lenient=False):
            return _table_of_lines(source)
        if not certain and refusal.key == "data.json_broken":
            return None
        raise
    if shape is None:
        if certain:
            raise Refusal("data.json_no_pairs", name=source.name)
        return None
    table = make_table("json", source.name, enumerate(shape.items, 1), shape.names, notes=shape.notes)
    return replace(table, credit=shape.credit) if shape.credit else table


def _looks_like_json(lines: Sequence[str]) -> bool:
    """Whether the first filled line begins like a list or an object, or most lines do."""
    filled = list(islice(filter(None, map(str.strip, lines)), SAMPLE))
    return bool(filled) and (filled[0][0] in "[{" or 2 * sum(line[0] in "[{" for line in filled) >= len(filled))


def _parse_line(line: str, lenient: bool = True) -> Any:
    """Parses the list or object on a line: None if empty, BROKEN for anything else. `lenient` allows a comma at its end."""
    line = line.strip()
    if not line:
        return None
    if line[0] not in "[{":
        return BROKEN
    try:
        return _DECODER.decode(line.removesuffix(",") if lenient else line)
    except (ValueError, RecursionError):
        return BROKEN


def _is_lines(lines: Sequence[str], lenient: bool) -> bool:
    """Whether several lines, and at least half of the filled ones, hold a value each; `lenient` requires it of the first line."""
    filled = list(islice(filter(str.strip, lines), SAMPLE))
    if len(filled) < 2 or (lenient and _parse_line(filled[0]) is BROKEN):
        return False
    return max(2, len(filled) / 2) <= sum(_parse_line(line, lenient) is not BROKEN for line in filled)


def _table_of_lines(source: Source) -> Table:
    values = enumerate(map(_parse_line, source.lines), 1)
    first = list(islice(values, SAMPLE))
    single = are_words([value for _, value in first])
    numbered = chain(first, values)
    if single:
        numbered = ((number, next(iter(value.items()), None) if isinstance(value, dict) else value) for number, value in numbered)
    return make_table("json_lines", source.name, numbered, unit="line")


def _parse_document(source: Source) -> Any:
    """Parses a file's value; several in sequence become a list."""
    text = "\n".join(source.lines)
    bare = text  # commas and brackets outside strings are counted before parsing: a document of too many values would exhaust memory
    if text.count("[") + text.count("{") <= VALUE_LIMIT:
        bare = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    if sum(map(bare.count, ",[{")) > VALUE_LIMIT:
        raise Refusal("data.too_many_values", name=source.name, limit=VALUE_LIMIT)
    values, place = [], _BETWEEN.match(text).end()
    try:
        while place < len(text):
            value, place = _DECODER.raw_decode(text, place)
            values.append(value)
            place = _BETWEEN.match(text, place).end()
    except json.JSONDecodeError as error:
        raise Refusal("data.json_broken", name=source.name, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise Refusal("data.json_deep", name=source.name) from None
    if len(values) == 1:
        return values[0]
    lists = all(isinstance(value, list) and value and isinstance(value[0], list | dict) for value in values)
    return list(chain.from_iterable(values)) if lists else values


# --- two documents ---


@reads(Confidence.SIGNATURE, files=(2,), is_whole=True)
def read_two_documents(left: Source, right: Source) -> Table | None:
    """Reads two lists of sentences, or two objects with the same keys in two languages (a program's texts)."""
    if not all(source.name.lower().endswith(_NAMED) for source in (left, right)):
        return None
    if not all(_looks_like_json(source.lines) or source.lines[0].lstrip().startswith('"') for source in (left, right) if source.lines):
        return None
    first, second = _parse_document(left), _parse_document(right)
    if isinstance(first, dict) and isinstance(second, dict):
        texts = [{key: " ".join(cell) if isinstance(cell, list) else cell for key, cell in flatten(value)} for value in (first, second)]
        rows = join_keys(*texts)
        if 2 * sum(all(row.cells) for row in rows) >= len(rows) > 0:
            return Table("json", rows, (left.name, right.name), "item")
    elif all(isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value) for value in (first, second)):
        if len(first) != len(second):
            raise Refusal("data.unequal_lists", name=f"{left.name} + {right.name}", one=left.name, count_one=len(first), two=right.name,
                          count_two=len(second))  # fmt: skip
        return make_table("json", left.name, enumerate(zip(first, second, strict=True), 1), (left.name, right.name))
    raise Refusal("data.two_tables", one=left.name, two=right.name)


# --- the items in a document ---


class ItemList(NamedTuple):
    items: Sequence[Any]
    names: tuple[str, ...] = ()  # column names of items that are lists
    notes: Notes = ()
    credit: str = ""


def find_items(value: Any, name: str, depth: int = 0) -> ItemList | None:
    """Finds the items in a value; None if there are none. Raises Refusal where columns differ in length."""
    if isinstance(value, list):
        return _find_in_list(value, name, depth)
    return _find_in_object(value, name, depth) if isinstance(value, dict) and value else None


def _is_single(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_single, value))


def are_words(values: Sequence[Any]) -> bool:
    """Whether items are single words with translations: [{"hello": "hallo"}, {"bye": "tschüss"}]."""
    objects = [value for value in values if isinstance(value, dict)]
    single = [next(iter(value)) for value in objects if len(value) == 1 and _is_single(next(iter(value.values())))]
    return len(single) > 1 and len(single) == len(objects) and 2 * len(set(single)) > len(single)


def _find_in_list(values: list, name: str, depth: int) -> ItemList | None:
    if all(map(_is_single, values)):
        tabbed = [str(value).split("\t") for value in values if isinstance(value, str) and "\t" in value]
        return ItemList(tabbed) if values and len(tabbed) == len(values) else None
    if len(values) == 1 and isinstance(values[0], list) and depth < _MAX_DEPTH and not any(map(_is_single, values[0])):
        return find_items(values[0], name, depth + 1)
    if len(values) == 2 and all(map(_is_plain_list, values)) and min(map(len, values)) > 2:
        return _join_columns({"1": values[0], "2": values[1]}, name)._replace(names=())
    if questions := list(_iterate_nested(values, "paragraphs", "qas")):  # SQuAD's, of articles
        return ItemList(questions, notes=(("data.note_lists", {"taken": "qas", "others": "title, context"}),))
    if are_words(values):
        return ItemList([next(iter(value.items()), None) if isinstance(value, dict) else value for value in values])
    return ItemList(values)


def _iterate_nested(values: Any, *keys: str) -> Iterator[dict]:
    """Yields the dictionaries in lists nested under these keys."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, dict) and keys:
            yield from _iterate_nested(value.get(keys[0]), *keys[1:])
        elif isinstance(value, dict):
            yield value


def _join_columns(lists: Mapping[str, list], name: str) -> ItemList:
    """Joins lists of equal length as columns."""
    (shortest_key, shortest), (longest_key, longest) = (choose(lists.items(), key=lambda item: len(item[1])) for choose in (min, max))
    if len(shortest) != len(longest):
        raise Refusal("data.unequal_lists", name=name, one=_shorten_key(shortest_key), count_one=len(shortest),
                      two=_shorten_key(longest_key), count_two=len(longest))  # fmt: skip
    return ItemList(list(zip(*lists.values(), strict=True)), tuple(lists))


def _shorten_key(key: str) -> str:
    return normalise(key)[:60]


def _find_in_object(document: dict, name: str, depth: int) -> ItemList | None:
    names, data = document.get("columns"), document.get("data")
    if _is_plain_list(names) and isinstance(data, list) and data and all(isinstance(row, list) for row in data):  # pandas: "split"
        return ItemList(data, tuple(map(str, names)))
    lists = {key: value for key, value in document.items() if _is_plain_list(value)}
    lengths = {*map(len, lists.values())}
    rectangular = len(lists) == len(document) and len(lengths) == 1 and min(lengths) > len(lists)  # shorter ones are meanings of words
    if len(lists) > 1 and (count_known(lists) > 1 or rectangular):
        return _join_columns(lists, name)
    simple = all(_is_single(value) or key in lists for key, value in document.items())
    if simple and not any(_find_in_list(value, name, depth) for value in lists.values()):  # lists of lines are not meanings of words
        return ItemList([document] if _is_record(document) else list(document.items()))
    if all(isinstance(value, dict) and value for value in document.values()):
        return _find_in_objects(document, name, depth)
    return _find_nested(document, name, depth)


def _is_record(document: Mapping[str, Any]) -> bool:
    """Whether an object is a single item rather than a word list: its keys are column names. "question": "Frage" might be either."""
    known = count_known(document)
    if known < 2 or 2 * known < len(document):
        return False
    return count_certain(document) > 1 or any(" " in value for value in document.values() if isinstance(value, str))


def _find_in_objects(objects: dict[str, dict], name: str, depth: int) -> ItemList | None:
    """Finds items in a dictionary of dictionaries: columns by key, items by number, or groups of words."""
    first = next(iter(objects.values()))
    if len(objects) == 1:
        return find_items(first, name, depth + 1) if depth < _MAX_DEPTH else None
    if count_known(objects) > 1 and not any(_is_plain_list(value) for inner in objects.values() for value in inner.values()):
        return _join_by_key({key: dict(flatten(inner)) for key, inner in objects.items()})
    if not all(_is_single(value) for inner in objects.values() for value in inner.values()):
        return _find_nested(objects, name, depth)
    alike = sum(inner.keys() == first.keys() for inner in objects.values())
    if alike == len(objects) < len(first) and all(key.isdigit() for key in first):
        return _join_by_key(objects)
    if 2 * alike > len(objects):
        return ItemList(list(objects.values()))
    return _find_nested(objects, name, depth)


def _join_by_key(columns: Mapping[str, Mapping[str, Any]]) -> ItemList:
    """Joins columns whose rows have common keys: pandas' row numbers, or the names of a program's texts."""
    keys = dict.fromkeys(chain.from_iterable(columns.values()))
    return ItemList([[inner.get(key) for inner in columns.values()] for key in keys], tuple(columns))


def _find_nested(document: dict, name: str, depth: int) -> ItemList | None:
    """Finds lists nested in a dictionary: joins splits of one data set, else takes the preferred name, or the longest."""
    lists = {key: find_items(value, name, depth + 1) for key, value in document.items()} if depth < _MAX_DEPTH else {}
    lists = {key: inner for key, inner in lists.items() if inner and inner.items}
    if not lists:
        return None
    splits = [key for key in lists if key.casefold() in _SPLITS]
    usual = next((key for wanted in _USUAL for key in lists if key.casefold() == wanted), "")
    chosen = splits or ([usual] if usual else list(lists))
    longest = max(chosen, key=lambda key: len(lists[key].items))
    chosen = [key for key in chosen if _describe_items(lists[key]) == _describe_items(lists[longest])]
    notes = lists[longest].notes
    if len(chosen) < len(lists):
        skipped = ", ".join(_shorten_key(key) for key in lists if key not in chosen)
        notes += (("data.note_lists", {"taken": ", ".join(map(_shorten_key, chosen)), "others": skipped[:200]}),)
    items = list(chain.from_iterable(lists[key].items for key in chosen)) if len(chosen) > 1 else lists[longest].items
    credit = next((value for key, value in document.items() if plain(key) in CREDITS and isinstance(value, str)), lists[longest].credit)
    return ItemList(items, lists[longest].names, notes, normalise(credit)[:1000])


def _describe_items(item_list: ItemList) -> Any:
    """Returns what lists must share to be concatenated: names, and keys or type of their items."""
    first = item_list.items[0]
    return (item_list.names, frozenset(first) if isinstance(first, dict) else type(first))
