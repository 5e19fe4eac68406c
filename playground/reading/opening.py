"""Opening: an upload's bytes become sources (unpacked, decoded), and the first reader that recognises them gives the rows. Or the rows come
from the Hugging Face Hub: the first of a data set, streamed by its id through the `datasets` library, where installed."""

import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from playground.config import Refusal
from playground.reading.encodings import Encoding, decode
from playground.reading.formats import BY_LINE, BYTE_LIMIT, ENDLESS, MAX_LINES, WHOLE, Notes, Row, Source, Table, delimited, read_first
from playground.reading.formats.items import FILLER, PREFIX, make_table
from playground.reading.text import normalise
from playground.reading.unpacking import File, unpack
from playground.reading.writing import unguard_rows

ROWS = 10_000
_ID = re.compile(r"[A-Za-z0-9_][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_TIMEOUT_S = 5  # connection timeout; the library alone would retry for half a minute
_NAMED = re.compile(r"'([^']{1,80})'")
_MAX_NAMES = 12  # configurations or splits listed in a message
_AWAY = ("httpx", "huggingface_hub", "requests", "urllib3", "aiohttp", "fsspec")  # modules that raise network errors
_UNKNOWN = {"DatasetNotFoundError", "DataFilesNotFoundError", "EmptyDatasetError", "RepositoryNotFoundError"}
_BLANK_BYTES = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"  # byte order marks and white space


class Opened(NamedTuple):
    """One file, two, or three of which one links the others; `credit` is the licence text beside them in an archive."""

    sources: tuple[Source, ...]
    encodings: tuple[Encoding, ...]
    notes: Notes
    credit: str
    part: str = "train"  # "train", "validation" or "test": the part of a split archive that these are

    @property
    def name(self) -> str:
        return " + ".join(source.name for source in self.sources)


def open_files(files: Sequence[File], encoding: str = "", apart: bool = True) -> Iterator[Opened]:
    """Unpacks and decodes files, given as (name, content). Yields one Opened per part of a split archive if `apart`. Raises Refusal."""
    if not 1 <= len(files) <= 3:
        raise Refusal("data.how_many_files", count=len(files))
    if sum(len(data) for _, data in files) > BYTE_LIMIT:
        raise Refusal("data.too_large", limit=BYTE_LIMIT // 1024**2)
    unpacked, all_notes = unpack(files, apart and len(files) == 1)
    parts = next((values["parts"] for key, values in all_notes if key == "data.parts"), ["train"] * len(unpacked))
    for part in dict.fromkeys(parts):
        yield _decode_part([file for file, own in zip(unpacked, parts, strict=True) if own == part], all_notes, encoding, part)


def _decode_part(unpacked: Sequence[File], all_notes: Notes, encoding: str, part: str) -> Opened:
    if len(unpacked) > 3:
        raise Refusal("data.how_many_files", count=len(unpacked))
    wanted = [name.strip() for name in encoding.split(",")]
    decoded = [decode(name, data, wanted[min(place, len(wanted) - 1)]) for place, (name, data) in enumerate(unpacked)]
    sources = tuple(Source(file.encoding.file, file.data, file.lines) for file in decoded)
    for source in sources:
        if not any(normalise(line[:ENDLESS]) for line in source.lines) and (source.lines or not source.data.strip(_BLANK_BYTES)):
            raise Refusal("data.nothing_inside", name=source.name)
    encodings = tuple(file.encoding for file in decoded)
    guesses = tuple(("data.note_encoding", {"name": encoded.file, "encoding": encoded.name}) for encoded in encodings if encoded.guessed)
    credit = "; ".join(values["text"] for key, values in all_notes if key == "data.note_credit")
    notes = tuple(note for note in all_notes if note[0] not in ("data.note_credit", "data.parts"))
    return Opened(sources, encodings, notes + guesses, credit, part)


def find_table(opened: Opened) -> tuple[Table, list[Row]]:
    """Returns the table of the first reader that recognises the sources, with all its rows. Raises Refusal."""
    table = read_first(WHOLE, opened.sources)
    if table is None:
        opened = opened._replace(sources=tuple(map(_shorten_lines, opened.sources)))
        table = read_first(BY_LINE, opened.sources)
    if table is None:
        raise _explain_failure(opened)
    rows = list(islice(table.rows, MAX_LINES + 1))
    if len(rows) > MAX_LINES:
        raise Refusal("data.too_many_lines", name=opened.name, limit=MAX_LINES)
    return table, list(unguard_rows(rows)) if table.kind in ("tsv", "csv") else rows


def _shorten_lines(source: Source) -> Source:
    """Shortens endless lines, which are dropped as too long even so. Raises Refusal where at least half are endless, or for too many."""
    if len(source.lines) > MAX_LINES:
        raise Refusal("data.too_many_lines", name=source.name, limit=MAX_LINES)
    endless = [number for number, line in enumerate(source.lines, 1) if len(line) > ENDLESS]
    if endless and 2 * len(endless) >= sum(map(bool, map(str.strip, source.lines))):
        raise Refusal("data.endless_line", name=source.name, line=endless[0], limit=ENDLESS)
    shortened = (line[:PREFIX] + FILLER + '"' * (line.count('"', 0, PREFIX) % 2) if len(line) > ENDLESS else line for line in source.lines)
    return source._replace(lines=list(shortened))


def explain_lost_side(opened: Opened) -> Refusal | None:
    """Returns the Refusal for an archive's single file without pairs whose other side could not be read; None elsewhere."""
    left_out = next((values for key, values in opened.notes if key == "data.note_left_out"), None)
    if left_out is None or len(opened.sources) > 1:
        return None
    return Refusal("data.lost_side", name=left_out["name"], taken=opened.name, members=left_out["members"])


def _explain_failure(opened: Opened) -> Refusal:
    """Returns the Refusal for sources that no reader recognises."""
    if lost := explain_lost_side(opened):
        return lost
    if len(opened.sources) == 3:
        return Refusal("data.how_many_files", count=3)
    if any(not source.lines for source in opened.sources) or len(opened.sources) == 2:
        return Refusal("data.not_understood", name=opened.name)
    return delimited.explain_failure(opened.sources[0])


# --- the Hugging Face Hub ---


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
