"""Reads uploads in a separate process, which is killed when it exceeds its time or memory. The page goes on meanwhile. A fair queue lets a
few be read at once.

`read` sends the request; `python -m playground.runs.upload_process` replies: a line of metadata, then lines of pairs. The metadata are the
report of how the upload was read (dropped lines and reasons, columns, encodings), which is saved with the pairs too.
"""

import gc
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import playground
from playground.config import Refusal
from playground.logs import event, refusals
from playground.reading.column_mapping import Choices, Column
from playground.reading.encodings import Encoding
from playground.reading.filtering import Pair, PreviewRow
from playground.reading.formats import BYTE_LIMIT, LINE_LIMIT, MEMORY_LIMIT, SECONDS
from playground.reading.pairs import Pairs, report, to_json
from playground.reading.text import normalise
from playground.reading.uploads import part_tokenizers, read_files, read_hub as read_hub_here
from playground.runs.runtime import REAL, Clock
from playground.words import LANGUAGES


def pairs_from_json(fields: Mapping[str, Any], pairs: Sequence[Sequence]) -> Pairs:
    """Restores pairs and report. Raises LookupError, TypeError, ValueError or AttributeError for anything but `to_json` output."""
    source, target = fields.get("chosen", (0, 1))
    validation, test = map(int, fields.get("given", (0, 0)))
    if min(validation, test) < 0 or validation + test >= max(len(pairs), 1):
        raise ValueError("more pairs are given away than there are")
    restored = Pairs(
        tuple(Pair(_text(src), _text(tgt), int(line)) for src, tgt, line in pairs),
        {_text(reason): tuple(map(int, lines)) for reason, lines in fields.get("dropped", {}).items()},
        int(fields["lines"]),
        _text(fields["kind"]),
        _texts(fields["names"]),
        credit=_text(fields["credit"]),
        notes=tuple((_text(key), {name: _plain(value) for name, value in values.items()}) for key, values in fields.get("notes", ())),
        unit=_text(fields.get("unit", "line")),
        columns=tuple(Column(_text(name), int(filled), _texts(samples)) for name, filled, samples in fields.get("columns", ())),
        chosen=(int(source), int(target)),
        header=bool(fields.get("header")),
        named=bool(fields.get("named")),
        encodings=tuple(
            Encoding(_text(its["file"]), _text(its["name"]), bool(its["guessed"]), _texts(its["alternatives"]), _texts(its["samples"]))
            for its in fields.get("encodings", ())
        ),
        preview=_seen(fields.get("preview", ())),
        dropped_rows={_text(reason): _seen(rows) for reason, rows in fields.get("dropped_rows", {}).items()},
        traces=_texts(fields.get("traces", ())),
        undone=bool(fields.get("undone")),
        given=(validation, test),
        joined=tuple(map(int, fields.get("joined", ()))),
        group=None if fields.get("group") is None else int(fields["group"]),
        groups=_texts(fields.get("groups", ())),
        tokenizers=_texts(fields.get("tokenizers", ())),
    )
    if (restored.groups and len(restored.groups) != len(restored.pairs)) or len(restored.tokenizers) not in (0, 2):
        raise ValueError(len(restored.groups), len(restored.tokenizers))
    for language in LANGUAGES:
        report(restored, language)  # raises for unknown reasons, notes and units
    return restored


def _seen(rows: Sequence[Sequence]) -> tuple[PreviewRow, ...]:
    return tuple(PreviewRow(int(line), _texts(cells), _text(reason)) for line, cells, reason in rows)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(_text, values))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _plain(value: Any) -> str | int | float:
    if not isinstance(value, str | int | float):
        raise TypeError(value)
    return value


try:
    import resource
except ImportError:  # Windows: only time is limited there
    resource = None

log = logging.getLogger(__name__)
MAX_READERS = 2
QUEUE_TIMEOUT_S = 3 * SECONDS  # how long to wait in the queue
TIMEOUT_S = 3 * SECONDS  # wall-clock time: on a busy machine the processor is shared
_OUT_OF_MEMORY = 3  # exit code
_FRUGAL = {  # pyarrow would map a gigabyte before reading the first byte
    "ARROW_DEFAULT_MEMORY_POOL": "system", "ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1",
}  # fmt: skip
_PAIRS_PER_LINE = 5000
HUB_SECONDS, HUB_MEMORY = 60.0, 1_000_000_000  # for a data set of the Hub, which needs a network and a large library
HALF_LIFE_S = 600.0  # of the exponentially decaying cost
MAX_WAITING = 2  # uploads of an address that has had more than one reading may ever take
MIN_COST_S = 0.01  # smaller costs are dropped


@dataclass(eq=False)
class UploadTurn:
    """An upload of `size` bytes in the queue. `asker` is the address and the visitor there; `seconds` is the processor time used."""

    asker: Sequence[str]
    size: int
    seconds: float = 0.0


class UploadQueue:
    """Orders uploads by the recent cost of their address, then of their visitor, then by size. An address that has cost more than SECONDS
    never gets all places."""

    def __init__(self, places: int, monotonic: Clock = REAL.monotonic) -> None:
        self._places, self._clock = places, monotonic
        self._changed = threading.Condition()
        self._waiting: list[UploadTurn] = []
        self._reading: list[UploadTurn] = []
        self._costs: dict[str, tuple[float, float]] = {}  # processor seconds, and at what time

    @contextmanager
    def turn(self, asker: Sequence[str], size: int, timeout_s: float) -> Iterator[UploadTurn]:
        """Waits for a place and holds it. Raises Refusal on timeout, or when too many uploads of a costly address wait."""
        turn = UploadTurn(asker, size)
        with self._changed:
            waiting_count = sum(waiting.asker[:1] == asker[:1] for waiting in self._waiting)
            if self._is_costly(turn) and waiting_count >= MAX_WAITING:
                raise Refusal("data.reading_busy")
            self._waiting.append(turn)
            has_place = self._changed.wait_for(lambda: self._next() is turn, timeout_s)
            self._waiting.remove(turn)
            if has_place:
                self._reading.append(turn)
            self._changed.notify_all()
        if not has_place:
            raise Refusal("data.reading_busy")
        try:
            yield turn
        finally:
            with self._changed:
                self._reading.remove(turn)
                self._charge(turn)
                self._changed.notify_all()

    def cost(self, name: str) -> float:
        """Returns the decayed processor seconds of an address or a visitor."""
        seconds, since = self._costs.get(name, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - since) / HALF_LIFE_S) if seconds else 0.0

    def _charge(self, done: UploadTurn) -> None:
        costs = {name: self.cost(name) for name in self._costs}
        costs |= {name: costs.get(name, 0.0) + done.seconds for name in done.asker if name}
        self._costs = {name: (cost, self._clock()) for name, cost in costs.items() if cost >= MIN_COST_S}

    def _is_costly(self, turn: UploadTurn) -> bool:
        return bool(turn.asker) and self.cost(turn.asker[0]) > SECONDS

    def _next(self) -> UploadTurn | None:
        """Returns the upload that may begin now."""
        if len(self._reading) >= self._places:
            return None
        active_addresses = [turn.asker[:1] for turn in self._reading]
        ready = [turn for turn in self._waiting if not self._is_costly(turn) or turn.asker[:1] not in active_addresses]
        return min(ready, key=lambda turn: ([self.cost(name) for name in turn.asker], turn.size), default=None)


UPLOAD_QUEUE = UploadQueue(MAX_READERS)


def read(
    files: Sequence[tuple[str, bytes]], choices: Choices = Choices(), max_characters: int = LINE_LIMIT, asker: Sequence[str] = ()  # noqa: B008
) -> Pairs:
    """Calls `uploads.read_files` within SECONDS of processor time, TIMEOUT_S and MEMORY_LIMIT, queued as `asker`.
    Raises only Refusal."""
    if sum(len(data) for _, data in files) > BYTE_LIMIT:  # checked before anything is sent
        raise Refusal("data.too_large", limit=BYTE_LIMIT // 1024**2)
    files, tokenizers = part_tokenizers(files)
    name = " + ".join(name for name, _ in files)[:60] or "?"
    sizes = ([(name, len(data)) for name, data in part] for part in (files, tokenizers))
    request = dict(zip(("files", "tokenizers"), sizes, strict=True)) | {"choices": asdict(choices), "max_characters": max_characters}
    request["limits"] = SECONDS, MEMORY_LIMIT
    return _read_queued(name, request, b"".join(data for _, data in (*files, *tokenizers)), TIMEOUT_S, asker)


def read_hub(dataset: str, config: str = "", split: str = "", choices: Choices = Choices(), asker: Sequence[str] = ()) -> Pairs:  # noqa: B008
    """Calls `uploads.read_hub` within HUB_SECONDS and HUB_MEMORY. Raises only Refusal."""
    request = {"hub": (dataset[:300], config[:100], split[:100] or "train"), "choices": asdict(choices), "max_characters": LINE_LIMIT}
    request["limits"] = HUB_SECONDS, HUB_MEMORY
    return _read_queued(normalise(dataset)[:60] or "?", request, b"", HUB_SECONDS, asker)


def _read_queued(name: str, request: dict[str, Any], data: bytes, timeout_s: float, asker: Sequence[str]) -> Pairs:
    with refusals(log, "upload_refused", bytes=len(data)), UPLOAD_QUEUE.turn(asker, len(data), QUEUE_TIMEOUT_S) as turn:
        pairs = _read_in_process(name, request, data, timeout_s, turn)
    event(log, "upload_read", bytes=len(data), pairs=len(pairs.pairs), kind=pairs.kind)
    return pairs


def _read_in_process(name: str, request: dict[str, Any], data: bytes, timeout_s: float, turn: UploadTurn) -> Pairs:
    turn.seconds = request["limits"][0]  # unless it reports less
    try:
        process = subprocess.run(
            [sys.executable, "-m", "playground.runs.upload_process"],
            input=json.dumps(request).encode() + b"\n" + data,
            capture_output=True, timeout=timeout_s, check=False, cwd=Path(playground.__file__).parents[1], env={**os.environ, **_FRUGAL},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Refusal("data.reading_slow", name=name, limit=timeout_s) from None
    if resource and process.returncode == -signal.SIGXCPU:
        raise Refusal("data.reading_slow", name=name, limit=request["limits"][0])
    if process.returncode:
        event(log, "reading_broke_off", logging.WARNING, code=process.returncode, bytes=len(data))
        memory = process.returncode == _OUT_OF_MEMORY or process.returncode < 0  # a process killed by the system was too large for it
        raise Refusal("data.reading_memory" if memory else "data.reading_failed", name=name, limit=MEMORY_LIMIT // 1024**2)
    return _unpack(process.stdout.splitlines(), turn)


def _unpack(lines: Sequence[bytes], turn: UploadTurn) -> Pairs:
    fields = json.loads(lines[0])
    turn.seconds = fields.pop("seconds")
    if "refusal" in fields:
        raise Refusal(fields["refusal"], **fields["values"])
    return pairs_from_json(fields, [pair for line in lines[1:] for pair in json.loads(line)])


# --- in the separate process ---


def main(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serves the request on `stdin`. Returns the exit code."""
    request = json.loads(stdin.readline())
    choices, max_characters = Choices(**request["choices"]), request["max_characters"]
    _limit_resources(*request["limits"])
    gc.disable()  # the process is short-lived; collecting would take a third of the time
    try:
        try:
            if "hub" in request:
                pairs = read_hub_here(*request["hub"], choices, max_characters)
            else:
                files, tokenizers = ([(name, stdin.read(size)) for name, size in request[part]] for part in ("files", "tokenizers"))
                pairs = _give_tokenizers(read_files(files, choices, max_characters), tokenizers)
        except Refusal as refusal:
            stdout.write(json.dumps({"refusal": refusal.key, "values": refusal.values, "seconds": sum(os.times()[:2])}).encode())
            return 0
        stdout.write(json.dumps(to_json(pairs) | {"seconds": sum(os.times()[:2])}).encode() + b"\n")
        for start in range(0, len(pairs.pairs), _PAIRS_PER_LINE):
            stdout.write(json.dumps(pairs.pairs[start : start + _PAIRS_PER_LINE], ensure_ascii=False).encode() + b"\n")
        stdout.flush()
    except MemoryError:
        return _OUT_OF_MEMORY
    return 0


def _give_tokenizers(pairs: Pairs, tokenizers: Sequence[tuple[str, bytes]]) -> Pairs:
    """Gives the pairs own tokenizers: one file for both sides, or one for each. Raises Refusal."""
    if not tokenizers:
        return pairs
    from playground.data.own_tokenizers import read_tokenizer  # here, since few uploads need its library

    documents = tuple(read_tokenizer(normalise(name)[:60], data).to_bytes().decode() for name, data in tokenizers)
    note = ("data.note_tokenizer", {"names": ", ".join(normalise(name)[:60] for name, _ in tokenizers)})
    return replace(pairs, tokenizers=(documents * 2)[:2], notes=(*pairs.notes, note))


def _limit_resources(seconds: float, memory: int) -> None:
    """Limits memory, on top of Python's present use, and processor time, in case the parent is gone."""
    status = Path("/proc/self/status")
    if resource is None or not status.exists():
        return
    has = dict(re.findall(r"Vm(Data|Size):\s+(\d+)", status.read_text()))
    now, mapped = (1024 * int(has.get(name, 0)) for name in ("Data", "Size"))
    resource.setrlimit(resource.RLIMIT_DATA, (now + memory,) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (mapped + 3 * memory,) * 2)  # libraries map more than they use
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))  # processor time; wall-clock time may be longer under load


if __name__ == "__main__":
    raise SystemExit(main(sys.stdin.buffer, sys.stdout.buffer))
