"""Memory held: one budget for everything that this server holds beyond its footprint at start, its LRU caches, and the C library's heap.

Trainings reserve their estimate. All else are shares: caches that can be rebuilt. When memory runs out, the least recently used entry is
evicted, whichever share it is in. The measured memory of this process and its children counts too: estimates may be wrong or incomplete.
"""

import ctypes
import gc
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
PROCESSES = Path("/proc")
ATOMS = {str, int, float, bool, type(None)}  # most objects of a cached answer, and without parts
MAX_ARENAS, ARENAS = -8, 2  # glibc's M_ARENA_MAX, and the number of arenas shared by all threads
FULL_COLLECTION_PERIOD = 200  # young collections per full collection
MMAP_THRESHOLD, TRIM_THRESHOLD, MOST_KEPT = -3, -1, 1 << 30  # glibc's; bytes of a block, and of the free heap end, that the process keeps


def size_of(value: Any) -> int:
    """Estimates the bytes of a value: its arrays, and all in its tuples, lists, dictionaries and fields, shared objects counted once."""
    total, seen_ids, parts = 0, set(), [value]
    while parts:
        part = parts.pop()
        if id(part) in seen_ids:
            continue
        seen_ids.add(id(part))
        is_atom = type(part) in ATOMS
        is_array = not is_atom and hasattr(part, "nbytes")
        total += part.nbytes if is_array else sys.getsizeof(part)
        if is_atom or is_array:
            continue
        if isinstance(part, (tuple, list, set, frozenset)):
            parts += part
        elif isinstance(part, dict):
            parts += (*part.keys(), *part.values())
        else:
            parts += getattr(part, "__dict__", {}).values()
    return total


class LRU:
    """A thread-safe LRU cache of at most `most` entries and `most_bytes`, as measured by `size`.

    A larger value is not cached. It is a share of the memory budget.
    """

    def __init__(self, most: float = math.inf, most_bytes: float = math.inf, size: Callable[[Any], int] = size_of) -> None:
        self._most, self._most_bytes, self._size = most, most_bytes, size if most_bytes < math.inf else lambda value: 0
        self._lock = threading.Lock()
        self._entries: dict[Hashable, tuple[Any, int, float]] = {}  # key -> (value, size, time of the last access), oldest first
        self.bytes = 0  # the total size, as measured by `size`
        self._making: dict[Hashable, Future[Any]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def oldest(self) -> float:
        """The time.monotonic() of the least recently used entry's last access; inf when empty."""
        with self._lock:
            return next((accessed_at for _, _, accessed_at in self._entries.values()), math.inf)

    def evict_oldest(self) -> None:
        """Evicts the least recently used entry."""
        with self._lock:
            self._remove(next(iter(self._entries), None))

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def get(self, key: Hashable) -> Any:
        """Returns the value under `key`, or None."""
        with self._lock:
            return self._touch(key)

    def get_or_make(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Returns the value under `key`. Concurrent calls make it once: the others wait, and get the same error if it fails. Errors are not
        cached."""
        with self._lock:
            if key in self._entries:
                return self._touch(key)
            future = self._making.get(key)
            is_first = future is None
            if is_first:
                future = self._making[key] = Future()
        if is_first:
            self._make(key, make, future)
        return future.result()

    def put(self, key: Hashable, value: Any) -> None:
        """Stores the value under `key`, replacing any other."""
        size = self._size(value)
        with self._lock:
            self._store(key, value, size)

    def pop(self, key: Hashable) -> Any:
        """Removes the value under `key` and returns it; None when there is none."""
        with self._lock:
            return self._remove(key)

    def clear(self) -> None:
        """Empties the cache; values still being made won't be stored."""
        with self._lock:
            self._entries.clear()
            self.bytes = 0
            self._making.clear()

    def _make(self, key: Hashable, make: Callable[[], Any], future: Future[Any]) -> None:
        error = None
        try:
            value = make()
            size = self._size(value)
        except BaseException as raised:
            error = raised
        with self._lock:
            if self._making.get(key) is future:  # not cleared meanwhile
                del self._making[key]
                if error is None:
                    self._store(key, value, size)
        future.set_exception(error) if error is not None else future.set_result(value)

    def _store(self, key: Hashable, value: Any, size: int) -> None:
        self._remove(key)
        if size <= self._most_bytes:
            self._entries[key] = value, size, time.monotonic()
            self.bytes += size
        while len(self._entries) > self._most or self.bytes > self._most_bytes:
            self._remove(next(iter(self._entries)))

    def _touch(self, key: Hashable) -> Any:
        if key not in self._entries:
            return None
        value, size, _ = self._entries.pop(key)
        self._entries[key] = value, size, time.monotonic()
        return value

    def _remove(self, key: Hashable) -> Any:
        value, size, _ = self._entries.pop(key, (None, 0, 0.0))
        self.bytes -= size
        return value


class MemoryShare(Protocol):
    """Evictable memory. Called from any thread."""

    bytes: float  # the estimated size
    oldest: float  # the time.monotonic() of the last access to the next entry to be evicted; inf when none can be

    def evict_oldest(self) -> None:
        """Evicts that entry."""


class Memory:
    """A budget of `limit` bytes for trainings and shares. One thread calls `measure` and `keep_within`; any thread may read."""

    def __init__(self, limit: int, held: Callable[[], int | None] | None = None) -> None:
        """`held` measures the server's bytes, None when unknown."""
        self.limit, self._measure = limit, held or held_bytes
        self._shares: dict[str, list[MemoryShare]] = {}
        self._reserved: Callable[[], int] = int
        self._at_start, self._has_baseline = self._measure() or 0, False
        self._growth: int | None = None
        self.held: int | None = self._at_start or None  # at the last measurement
        self.held_elsewhere: int | None = None  # of that, outside this process

    def add(self, name: str, *shares: MemoryShare) -> None:
        """Registers shares under a name. Those already registered keep theirs and are not counted twice."""
        registered = self._shares.setdefault(name, [])
        registered += [share for share in shares if share not in registered]

    def reserve_by(self, reserved: Callable[[], int]) -> None:
        """Sets the function that returns the trainings' reserved bytes."""
        self._reserved = reserved

    def by_share(self) -> dict[str, int]:
        """Returns the estimated bytes of each share, and the trainings' reservations."""
        return {"trainings": self._reserved()} | {name: int(sum(share.bytes for share in shares)) for name, shares in self._shares.items()}

    @property
    def used(self) -> int:
        """Used bytes of the budget: estimated or last measured, whichever is more."""
        return max(sum(self.by_share().values()), self._growth or 0)

    @property
    def unaccounted(self) -> int:
        """Measured bytes that belong to no share and no training; the next training can't use them."""
        return max(0, (self._growth or 0) - sum(self.by_share().values()))

    def ready(self) -> None:
        """Measures the idle process once, when everything for a first training is loaded; memory beyond that baseline counts as used."""
        if not self._has_baseline:
            self._has_baseline = True
            self._at_start = max(self._at_start, (self._measure() or 0) - sum(self.by_share().values()))

    def measure(self) -> None:
        """Measures the memory held."""
        self.held = self._measure()
        self._growth = None if self.held is None else max(0, self.held - self._at_start)
        self.held_elsewhere = None if self.held is None else max(0, self.held - (_resident(os.getpid()) or 0))

    def keep_within(self) -> int:
        """Evicts from shares until the budget holds. Returns the estimated bytes evicted."""
        self.measure()
        if self.used > self.limit:  # memory that is already free may be enough
            trim_heap()
            self.measure()
        evicted = self._evict(self.used - self.limit)
        if evicted:
            trim_heap()
            self.measure()
        return evicted

    def _evict(self, excess: int) -> int:
        evicted = 0
        while evicted < excess:
            share = min((share for shares in self._shares.values() for share in shares), key=lambda share: share.oldest, default=None)
            if share is None or share.oldest == math.inf:
                break
            before = share.bytes
            share.evict_oldest()
            evicted += int(before - share.bytes)
        return evicted


def held_bytes() -> int | None:
    """Returns the memory of this process and its descendants, shared pages counted once. None where unknown: only Linux reports it."""
    own = _resident(os.getpid())
    return None if own is None else own + sum(map(own_bytes, descendants(os.getpid())))


def descendants(process: int) -> list[int]:
    """Returns the ids of a process's living children, grandchildren and so on."""
    parents = {}
    for path in PROCESSES.glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has just ended
            _, _, rest = path.read_text().rpartition(") ")  # a program's name may contain blanks and brackets
            parents[int(path.parent.name)] = int(rest.split()[1])
    ids, new = [], [process]
    while new := [child for child, parent in parents.items() if parent in new]:
        ids += new
    return ids


def _resident(process: int) -> int | None:
    try:
        return PAGE * int((PROCESSES / str(process) / "statm").read_text().split()[1])
    except OSError:
        return None


def own_bytes(process: int) -> int:
    """Returns a process's proportional set size: private pages, and its part of shared ones, such as libraries after a fork."""
    try:
        lines = (PROCESSES / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:  # ended, or another user's
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _call_c(name: str, *arguments: int) -> None:
    """Calls a function of the C library, unless it is missing (Windows, macOS, musl)."""
    with suppress(OSError, AttributeError, TypeError):
        getattr(ctypes.CDLL(None), name)(*arguments)


def share_arenas() -> None:
    """Limits malloc arenas: by default each allocating thread gets one, up to eight per core, and memory free in one can't be used by
    another. Call before starting threads."""
    _call_c("mallopt", MAX_ARENAS, ARENAS)


def keep_free_pages() -> None:
    """Keeps freed pages, since the next training step needs them again and fresh pages cost more than its arithmetic: with a target
    vocabulary of 8,000 a step takes 114 ms of processor time by default and 93 ms so, at the same peak. `trim_heap` still frees all."""
    _call_c("mallopt", MMAP_THRESHOLD, MOST_KEPT)
    _call_c("mallopt", TRIM_THRESHOLD, MOST_KEPT)


def trim_heap() -> None:
    """Returns free pages to the system. By itself glibc only trims the end of the heap, which is often in use."""
    _call_c("malloc_trim", 0)


def freeze_objects() -> None:
    """Freezes present objects (libraries, page) after a last collection: a full one over half a million objects takes a quarter of a
    second, in which no request is answered. Later objects (a class's models, answers, sentences) take nearly as long, so full collections
    run once a minute instead of every three seconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_PERIOD)
