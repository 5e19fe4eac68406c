"""The Hugging Face Hub: the first rows of a data set by its id, read as they stream in by the `datasets` library, where it is installed."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from playground.config import Refusal
from playground.reading.formats.items import table_of
from playground.reading.formats.limits import PAIR_LIMIT
from playground.reading.formats.table import Table
from playground.reading.text import normalise

ROWS = 10_000
_ID = re.compile(r"[A-Za-z0-9_][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_TIMEOUT_S = 5  # for the Hub to answer; the library itself would try for half a minute
_NAMED = re.compile(r"'([^']{1,80})'")
_MAX_NAMES = 12  # names of configurations, splits or columns in a sentence
_AWAY = ("httpx", "huggingface_hub", "requests", "urllib3", "aiohttp", "fsspec")  # whose errors are errors of the network
_UNKNOWN = {"DatasetNotFoundError", "DataFilesNotFoundError", "EmptyDatasetError", "RepositoryNotFoundError"}


def from_hub(dataset: str, config: str = "", split: str = "train", columns: Sequence[str] = (), rows: int = ROWS) -> Table:
    """The first `rows` of one split, in the named columns ("translation.de" is one inside another) or in all of them.

    No code of a data set is run, and nobody's access token is sent. Raises Refusal: when the library is missing, the network is away, or
    there is no such data set, configuration, split or column.
    """
    dataset = dataset.strip().removeprefix("https://huggingface.co/datasets/").rstrip("/")
    if not _ID.fullmatch(dataset):
        raise Refusal("data.hub_id", dataset=normalise(dataset)[:60] or "?")
    try:
        from datasets import load_dataset
    except ImportError:
        raise Refusal("data.hub_missing") from None
    if os.path.exists(dataset):  # the library would take a folder of this name for the data set
        raise Refusal("data.hub_unknown", dataset=dataset)
    if not _reachable():
        raise Refusal("data.hub_away", dataset=dataset)
    try:
        stream = load_dataset(dataset, config or None, split=split or "train", streaming=True, token=False)
        table = table_from(stream, dataset, columns, rows)
        licence = normalise(str(getattr(getattr(stream, "info", None), "license", "") or ""))[:60]
    except Refusal:
        raise
    except Exception as error:  # it has no common class for what may go wrong, and passes on what its own libraries raise
        raise _refusal(error, dataset, config, split) from None
    return replace(table, credit=f"huggingface.co/datasets/{dataset}" + (f" ({licence})" if licence else ""))


def table_from(stream: Any, name: str, columns: Sequence[str] = (), rows: int = ROWS) -> Table:
    """The table of the first rows of a streamed data set. Two columns that were asked for are source and target."""
    rows = max(1, min(rows, PAIR_LIMIT))
    if getattr(stream, "features", None):
        stream = stream.decode(False)  # pictures and sounds stay what they are
    records = islice(iter(stream), rows + 1)
    first = next(records, None)
    if first is None:
        raise Refusal("data.hub_empty", dataset=name)
    for column in columns:
        if not any(_within(first, column)):
            raise Refusal("data.hub_columns", dataset=name, column=normalise(column)[:60], columns=_listed(_paths(first)))
    more: list[Any] = []
    items = enumerate(_first_rows(first, records, rows, more), 1)
    if len(columns) == 2 and not any(isinstance(value, dict) for column in columns for value in _within(first, column)):
        pairs = ((number, [next(_within(record, column), None) for column in columns]) for number, record in items)
        table = replace(table_of("hub", name, pairs, ("source", "target")), columns=tuple(normalise(column)[:60] for column in columns))
    elif columns:
        chosen = ((number, {column: value for column in columns for value in _within(record, column)}) for number, record in items)
        table = table_of("hub", name, chosen)
    else:
        table = table_of("hub", name, items)
    return replace(table, notes=(("data.note_first_rows", {"rows": rows}),)) if more else table


def _first_rows(first: Any, others: Iterable[Any], rows: int, more: list[Any]) -> Iterator[Any]:
    """The first `rows` records; where there are others, one of them is put into `more`."""
    yield first
    for count, record in enumerate(others, 2):
        if count > rows:
            more.append(record)
            return
        yield record


def _within(record: Any, path: str) -> Iterator[Any]:
    """The value under a name or a path of names; nothing where there is none."""
    if isinstance(record, dict):
        if path in record:
            yield record[path]
            return
        outer, _, inner = path.partition(".")
        if inner and outer in record:
            yield from _within(record[outer], inner)


def _paths(record: Any) -> list[str]:
    """The columns that can be asked for."""
    return [
        path
        for name, value in record.items()
        for path in (name, *(f"{name}.{inner}" for inner in (value if isinstance(value, dict) else ())))
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(normalise(str(name))[:60] for name in names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")


def _reachable() -> bool:
    """Whether the Hub answers. A proxy is trusted to find it."""
    if getproxies():
        return True
    address = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    with suppress(OSError, ValueError):
        socket.create_connection((address.hostname or "", address.port or (80 if address.scheme == "http" else 443)), _TIMEOUT_S).close()
        return True
    return False


def _refusal(error: Exception, dataset: str, config: str, split: str) -> Refusal:
    """What the library said, as one of our sentences."""
    said = str(error)
    if {kind.__name__ for kind in type(error).__mro__} & _UNKNOWN:
        return Refusal("data.hub_unknown", dataset=dataset)
    if "scripts are no longer supported" in said:
        return Refusal("data.hub_script", dataset=dataset)
    if "Config name is missing" in said or "BuilderConfig" in said:
        there = _NAMED.findall(said.partition("vailable")[2].partition("\n")[0])
        return Refusal("data.hub_config", dataset=dataset, config=normalise(config)[:60] or "–", configs=_listed(there))
    if "split" in said.lower():
        there = _NAMED.findall(said.partition("vailable")[2])
        return Refusal("data.hub_split", dataset=dataset, split=normalise(split)[:60], splits=_listed(there))
    if isinstance(error, OSError) or type(error).__module__.startswith(_AWAY):
        return Refusal("data.hub_away", dataset=dataset)
    return Refusal("data.hub_failed", dataset=dataset)
