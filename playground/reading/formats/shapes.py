"""Shapes: finds the list of items in a JSON document: at its top or nested, as rows or columns, as a list or a dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.formats.column_names import CREDITS, count_certain, count_known, plain
from playground.reading.formats.items import flatten
from playground.reading.formats.table import Notes
from playground.reading.text import normalise

_MAX_DEPTH = 3  # of dictionaries searched for lists
_SPLITS = ("train", "training", "validation", "valid", "dev", "test", "heldout")
_USUAL = (  # preferred names among several lists
    "data", "rows", "examples", "pairs", "translations", "sentences", "items", "entries", "records", "segments", "words", "cards", "notes",
)  # fmt: skip


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
    if questions := list(_iterate_questions(values)):
        return ItemList(questions, notes=(("data.note_lists", {"taken": "qas", "others": "title, context"}),))
    if are_words(values):
        return ItemList([next(iter(value.items()), None) if isinstance(value, dict) else value for value in values])
    return ItemList(values)


def _iterate_questions(articles: list) -> Iterator[dict]:
    """Yields the questions with answers in SQuAD's paragraphs of articles; none for any other list."""
    for article in articles:
        for paragraph in _iterate_objects(article, "paragraphs"):
            yield from _iterate_objects(paragraph, "qas")


def _iterate_objects(value: Any, key: str) -> Iterator[dict]:
    inside = value.get(key) if isinstance(value, dict) else None
    return (child for child in inside if isinstance(child, dict)) if isinstance(inside, list) else iter(())


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
