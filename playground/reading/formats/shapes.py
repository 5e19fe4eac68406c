"""Shapes: where in a JSON document the list of items is: at its top or inside, as rows or as columns, as a list or as a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.formats.columns import CREDITS, count_certain, count_known, plain
from playground.reading.formats.table import Notes
from playground.reading.formats.values import flat
from playground.reading.text import normalise

_MAX_DEPTH = 3  # lists are looked for inside so many dictionaries
_SPLITS = ("train", "training", "validation", "valid", "dev", "test", "heldout")
_USUAL = (  # what the list is called, where there are several
    "data", "rows", "examples", "pairs", "translations", "sentences", "items", "entries", "records", "segments", "words", "cards", "notes",
)  # fmt: skip


class Found(NamedTuple):
    items: Sequence[Any]
    names: tuple[str, ...] = ()  # what the places of items that are lists are called
    notes: Notes = ()
    credit: str = ""


def find(value: Any, name: str, depth: int = 0) -> Found | None:
    """The items in a value, or None if there are none. Raises Refusal where columns that belong together differ in length."""
    if isinstance(value, list):
        return _in_list(value, name, depth)
    return _in_object(value, name, depth) if isinstance(value, dict) and value else None


def _single(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_single, value))


def words(values: Sequence[Any]) -> bool:
    """Whether items are one word each with its translation: [{"hello": "hallo"}, {"bye": "tschüss"}]."""
    objects = [value for value in values if isinstance(value, dict)]
    single = [next(iter(value)) for value in objects if len(value) == 1 and _single(next(iter(value.values())))]
    return len(single) > 1 and len(single) == len(objects) and 2 * len(set(single)) > len(single)


def _in_list(values: list, name: str, depth: int) -> Found | None:
    if all(map(_single, values)):
        tabbed = [str(value).split("\t") for value in values if isinstance(value, str) and "\t" in value]
        return Found(tabbed) if values and len(tabbed) == len(values) else None
    if len(values) == 1 and isinstance(values[0], list) and depth < _MAX_DEPTH and not any(map(_single, values[0])):
        return find(values[0], name, depth + 1)
    if len(values) == 2 and all(map(_plain_list, values)) and min(map(len, values)) > 2:
        return _columns({"1": values[0], "2": values[1]}, name)._replace(names=())
    if questions := list(_questions(values)):
        return Found(questions, notes=(("data.note_lists", {"taken": "qas", "others": "title, context"}),))
    if words(values):
        return Found([next(iter(value.items()), None) if isinstance(value, dict) else value for value in values])
    return Found(values)


def _questions(articles: list) -> Iterator[dict]:
    """The questions with their answers that SQuAD keeps in paragraphs of articles; none in any other list."""
    for article in articles:
        for paragraph in _objects(article, "paragraphs"):
            yield from _objects(paragraph, "qas")


def _objects(value: Any, key: str) -> Iterator[dict]:
    inside = value.get(key) if isinstance(value, dict) else None
    return (one for one in inside if isinstance(one, dict)) if isinstance(inside, list) else iter(())


def _columns(lists: Mapping[str, list], name: str) -> Found:
    """Lists side by side, which must be equally long."""
    (first, shortest), (second, longest) = (choose(lists.items(), key=lambda item: len(item[1])) for choose in (min, max))
    if len(shortest) != len(longest):
        raise Refusal("data.unequal_lists", name=name, one=_shown(first), count_one=len(shortest), two=_shown(second),
                      count_two=len(longest))  # fmt: skip
    return Found(list(zip(*lists.values(), strict=True)), tuple(lists))


def _shown(key: str) -> str:
    return normalise(key)[:60]


def _in_object(found: dict, name: str, depth: int) -> Found | None:
    names, data = found.get("columns"), found.get("data")
    if _plain_list(names) and isinstance(data, list) and data and all(isinstance(row, list) for row in data):  # pandas: "split"
        return Found(data, tuple(map(str, names)))
    lists = {key: value for key, value in found.items() if _plain_list(value)}
    if len(lists) > 1 and (count_known(lists) > 1 or (len(lists) == len(found) and _rectangular(lists.values()))):
        return _columns(lists, name)
    simple = all(_single(value) or key in lists for key, value in found.items())
    if simple and not any(_in_list(value, name, depth) for value in lists.values()):  # a list of lines is more than a word's meanings
        return Found([found] if _is_record(found) else list(found.items()))
    if all(isinstance(value, dict) and value for value in found.values()):
        return _in_objects(found, name, depth)
    return _inside(found, name, depth)


def _rectangular(lists: Collection[list]) -> bool:
    """Equally long and longer than there are of them: columns, where shorter ones would be the meanings of words."""
    lengths = {*map(len, lists)}
    return len(lengths) == 1 and min(lengths) > len(lists)


def _is_record(found: Mapping[str, Any]) -> bool:
    """Whether an object is one item and no list of words: its keys are names of columns. "question": "Frage" might be either."""
    known = count_known(found)
    if known < 2 or 2 * known < len(found):
        return False
    return count_certain(found) > 1 or any(" " in value for value in found.values() if isinstance(value, str))


def _in_objects(found: dict[str, dict], name: str, depth: int) -> Found | None:
    """Dictionaries in a dictionary: columns by key, items by number, or groups of words."""
    first = next(iter(found.values()))
    if len(found) == 1:
        return find(first, name, depth + 1) if depth < _MAX_DEPTH else None
    if count_known(found) > 1 and not any(_plain_list(value) for inner in found.values() for value in inner.values()):
        return _joined({key: dict(flat(inner)) for key, inner in found.items()})
    if not all(_single(value) for inner in found.values() for value in inner.values()):
        return _inside(found, name, depth)
    alike = sum(inner.keys() == first.keys() for inner in found.values())
    if alike == len(found) < len(first) and all(key.isdigit() for key in first):
        return _joined(found)
    if 2 * alike > len(found):
        return Found(list(found.values()))
    return _inside(found, name, depth)


def _joined(columns: Mapping[str, Mapping[str, Any]]) -> Found:
    """Columns whose rows have keys, the same in all: pandas' row numbers, or the names of a program's texts."""
    keys = dict.fromkeys(chain.from_iterable(columns.values()))
    return Found([[inner.get(key) for inner in columns.values()] for key in keys], tuple(columns))


def _inside(found: dict, name: str, depth: int) -> Found | None:
    """The lists in a dictionary: all of them where they are parts of one, else the one with the likeliest name, or the longest."""
    lists = {key: find(value, name, depth + 1) for key, value in found.items()} if depth < _MAX_DEPTH else {}
    lists = {key: inner for key, inner in lists.items() if inner and inner.items}
    if not lists:
        return None
    splits = [key for key in lists if key.casefold() in _SPLITS]
    usual = next((key for wanted in _USUAL for key in lists if key.casefold() == wanted), "")
    chosen = splits or ([usual] if usual else list(lists))
    longest = max(chosen, key=lambda key: len(lists[key].items))
    chosen = [key for key in chosen if _form(lists[key]) == _form(lists[longest])]
    notes = lists[longest].notes
    if len(chosen) < len(lists):
        others = ", ".join(_shown(key) for key in lists if key not in chosen)
        notes += (("data.note_lists", {"taken": ", ".join(map(_shown, chosen)), "others": others[:200]}),)
    items = list(chain.from_iterable(lists[key].items for key in chosen)) if len(chosen) > 1 else lists[longest].items
    credit = next((value for key, value in found.items() if plain(key) in CREDITS and isinstance(value, str)), lists[longest].credit)
    return Found(items, lists[longest].names, notes, normalise(credit)[:1000])


def _form(found: Found) -> Any:
    """What items have in common that may be put behind each other."""
    first = found.items[0]
    return (found.names, frozenset(first) if isinstance(first, dict) else type(first))
