"""A thread-safe LRU cache, bounded in entries and bytes: answers, models, corpora, increments, uploads."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any

from cachetools import LRUCache


def size_of(value: Any) -> int:
    """Estimates the bytes of a value: its arrays, and everything in its tuples, lists, dictionaries and fields, shared objects counted
    once."""
    total, seen_ids, parts = 0, set(), [value]
    while parts:
        part = parts.pop()
        if id(part) in seen_ids:
            continue
        seen_ids.add(id(part))
        if hasattr(part, "nbytes"):
            total += part.nbytes
            continue
        total += sys.getsizeof(part)
        if isinstance(part, (tuple, list, set, frozenset)):
            parts += part
        elif isinstance(part, dict):
            parts += (*part.keys(), *part.values())
        else:
            parts += getattr(part, "__dict__", {}).values()
    return total


class LRU:
    """A thread-safe LRU cache of at most `most` entries and `most_bytes`, as measured by `size`.

    A larger value is not cached. It is a share of the memory budget, see memory.py.
    """

    def __init__(self, most: float = math.inf, most_bytes: float = math.inf, size: Callable[[Any], int] = size_of) -> None:
        self._most, self._size = most, size if most_bytes < math.inf else lambda value: 0
        self._lock = threading.Lock()
        self._entries: LRUCache[Hashable, tuple[Any, int]] = LRUCache(most_bytes, getsizeof=lambda entry: entry[1])
        self._access_times: dict[Hashable, float] = {}  # time of each last access, oldest first; may hold evicted keys
        self._making: dict[Hashable, Future[Any]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes(self) -> float:
        """The total size, as measured by `size`."""
        return self._entries.currsize

    @property
    def oldest(self) -> float:
        """The time.monotonic() of the least recently used entry's last access; inf when empty."""
        with self._lock:
            return self._oldest()[1]

    def evict_oldest(self) -> None:
        """Evicts the least recently used entry."""
        with self._lock:
            self._remove(self._oldest()[0])

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
            self._access_times.clear()
            self._making.clear()

    def _make(self, key: Hashable, make: Callable[[], Any], future: Future[Any]) -> None:
        try:
            value = make()
            size = self._size(value)
        except BaseException as error:
            with self._lock:
                self._end_call(key, future)
            future.set_exception(error)
            return
        with self._lock:
            if self._end_call(key, future):
                self._store(key, value, size)
        future.set_result(value)

    def _end_call(self, key: Hashable, future: Future[Any]) -> bool:
        """Unregisters a call in progress. Returns whether its value may be stored."""
        is_current = self._making.get(key) is future
        if is_current:
            del self._making[key]
        return is_current

    def _store(self, key: Hashable, value: Any, size: int) -> None:
        self._remove(key)
        if size <= self._entries.maxsize:
            self._entries[key] = value, size
            self._access_times[key] = time.monotonic()
        while len(self._entries) > self._most:
            self._entries.popitem()
        self._oldest()  # drops the access times of evicted keys

    def _touch(self, key: Hashable) -> Any:
        if key not in self._entries:
            return None
        self._access_times.pop(key)
        self._access_times[key] = time.monotonic()
        return self._entries[key][0]

    def _remove(self, key: Hashable) -> Any:
        self._access_times.pop(key, None)
        return self._entries.pop(key, (None,))[0]

    def _oldest(self) -> tuple[Hashable, float]:
        """Returns (key, time of its last access) of the least recently used entry."""
        while self._access_times:
            key, accessed_at = next(iter(self._access_times.items()))
            if key in self._entries:
                return key, accessed_at
            del self._access_times[key]
        return None, math.inf
