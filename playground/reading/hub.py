"""The Hugging Face Hub: streams the first rows of a data set by its id through the `datasets` library, where installed."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from playground.config import Refusal
from playground.reading.formats.items import make_table
from playground.reading.formats.table import Table
from playground.reading.text import normalise

ROWS = 10_000
_ID = re.compile(r"[A-Za-z0-9_][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_TIMEOUT_S = 5  # connection timeout; the library alone would retry for half a minute
_NAMED = re.compile(r"'([^']{1,80})'")
_MAX_NAMES = 12  # configurations or splits listed in a message
_AWAY = ("httpx", "huggingface_hub", "requests", "urllib3", "aiohttp", "fsspec")  # modules that raise network errors
_UNKNOWN = {"DatasetNotFoundError", "DataFilesNotFoundError", "EmptyDatasetError", "RepositoryNotFoundError"}


def load_from_hub(dataset: str, config: str = "", split: str = "train") -> Table:
    """Returns the first rows of one split.

    No code of a data set is run, and no access token is sent. Raises Refusal: the library is missing, the network is unreachable, or there
    is no such data set, configuration or split.
    """
    dataset = dataset.strip().removeprefix("https://huggingface.co/datasets/").rstrip("/")
    if not _ID.fullmatch(dataset):
        raise Refusal("data.hub_id", dataset=normalise(dataset)[:60] or "?")
    try:
        from datasets import load_dataset
    except ImportError:
        raise Refusal("data.hub_missing") from None
    if os.path.exists(dataset):  # the library would load a local folder of this name instead
        raise Refusal("data.hub_unknown", dataset=dataset)
    if not _is_reachable():
        raise Refusal("data.hub_away", dataset=dataset)
    try:
        stream = load_dataset(dataset, config or None, split=split or "train", streaming=True, token=False)
        table = read_stream(stream, dataset)
        licence = normalise(str(getattr(getattr(stream, "info", None), "license", "") or ""))[:60]
    except Refusal:
        raise
    except Exception as error:  # the library has no common exception class, and passes on those of its dependencies
        raise _translate_error(error, dataset, config, split) from None
    return replace(table, credit=f"huggingface.co/datasets/{dataset}" + (f" ({licence})" if licence else ""))


def read_stream(stream: Any, name: str, rows: int = ROWS) -> Table:
    """Returns the table of the first rows of a streamed data set, with a note if there are more."""
    if getattr(stream, "features", None):
        stream = stream.decode(False)  # leaves images and audio undecoded
    records = iter(stream)
    table = make_table("hub", name, enumerate(islice(records, rows), 1))
    if not table.rows:
        raise Refusal("data.hub_empty", dataset=name)
    return table if next(records, None) is None else replace(table, notes=(("data.note_first_rows", {"rows": rows}),))


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(normalise(str(name))[:60] for name in names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")


def _is_reachable() -> bool:
    """Whether the Hub accepts connections. Behind a proxy it is assumed to."""
    if getproxies():
        return True
    address = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    with suppress(OSError, ValueError):
        socket.create_connection((address.hostname or "", address.port or (80 if address.scheme == "http" else 443)), _TIMEOUT_S).close()
        return True
    return False


def _translate_error(error: Exception, dataset: str, config: str, split: str) -> Refusal:
    """Translates an error of the library into a Refusal."""
    message = str(error)
    if {kind.__name__ for kind in type(error).__mro__} & _UNKNOWN:
        return Refusal("data.hub_unknown", dataset=dataset)
    if "scripts are no longer supported" in message:
        return Refusal("data.hub_script", dataset=dataset)
    if "Config name is missing" in message or "BuilderConfig" in message:
        names = _NAMED.findall(message.partition("vailable")[2].partition("\n")[0])
        return Refusal("data.hub_config", dataset=dataset, config=normalise(config)[:60] or "–", configs=_join_names(names))
    if "split" in message.lower():
        names = _NAMED.findall(message.partition("vailable")[2])
        return Refusal("data.hub_split", dataset=dataset, split=normalise(split)[:60], splits=_join_names(names))
    if isinstance(error, OSError) or type(error).__module__.startswith(_AWAY):
        return Refusal("data.hub_away", dataset=dataset)
    return Refusal("data.hub_failed", dataset=dataset)
