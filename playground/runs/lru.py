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
    total, seen, left = 0, set(), [value]
    while left:
        part = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if hasattr(part, "nbytes"):
            total += part.nbytes
            continue
        total += sys.getsizeof(part)
        if isinstance(part, (tuple, list, set, frozenset)):
            left += part
        elif isinstance(part, dict):
            left += (*part.keys(), *part.values())
        else:
            left += getattr(part, "__dict__", {}).values()
    return total


class LRU:
    """A thread-safe LRU cache of at most `most` entries and `most_bytes`, as measured by `size`.

    A larger value is not cached. It is a share of the memory budget, see memory.py.
    """

    def __init__(self, most: float = math.inf, most_bytes: float = math.inf, size: Callable[[Any], int] = size_of) -> None:
        self._most, self._size = most, size if most_bytes < math.inf else lambda value: 0
        self._lock = threading.Lock()
        self._kept: LRUCache[Hashable, tuple[Any, int]] = LRUCache(most_bytes, getsizeof=lambda entry: entry[1])
        self._used: dict[Hashable, float] = {}  # time of each last access, oldest first; may hold evicted keys
        self._making: dict[Hashable, Future[Any]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> float:
        """The total size, as measured by `size`."""
        return self._kept.currsize

    @property
    def oldest(self) -> float:
        """The time.monotonic() of the least recently used entry's last access; inf when empty."""
        with self._lock:
            return self._oldest()[1]

    def give_up(self) -> None:
        """Evicts the least recently used entry."""
        with self._lock:
            self._drop(self._oldest()[0])

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable) -> Any:
        """Returns the value under `key`, or None."""
        with self._lock:
            return self._asked(key)

    def get_or_make(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Returns the value under `key`. Concurrent calls make it once: the others wait, and get the same error if it fails. Errors are not
        cached."""
        with self._lock:
            if key in self._kept:
                return self._asked(key)
            future = self._making.get(key)
            mine = future is None
            if mine:
                future = self._making[key] = Future()
        if mine:
            self._make(key, make, future)
        return future.result()

    def put(self, key: Hashable, value: Any) -> None:
        """Stores the value under `key`, replacing any other."""
        size = self._size(value)
        with self._lock:
            self._keep(key, value, size)

    def pop(self, key: Hashable) -> Any:
        """Removes the value under `key` and returns it; None when there is none."""
        with self._lock:
            return self._drop(key)

    def clear(self) -> None:
        """Empties the cache; values still being made won't be stored."""
        with self._lock:
            self._kept.clear()
            self._used.clear()
            self._making.clear()

    def _make(self, key: Hashable, make: Callable[[], Any], future: Future[Any]) -> None:
        try:
            value = make()
            size = self._size(value)
        except BaseException as error:
            with self._lock:
                self._forget(key, future)
            future.set_exception(error)
            return
        with self._lock:
            if self._forget(key, future):
                self._keep(key, value, size)
        future.set_result(value)

    def _forget(self, key: Hashable, future: Future[Any]) -> bool:
        """Unregisters a call in progress. Returns whether its value may be stored."""
        wanted = self._making.get(key) is future
        if wanted:
            del self._making[key]
        return wanted

    def _keep(self, key: Hashable, value: Any, size: int) -> None:
        self._drop(key)
        if size <= self._kept.maxsize:
            self._kept[key] = value, size
            self._used[key] = time.monotonic()
        while len(self._kept) > self._most:
            self._kept.popitem()
        self._oldest()  # drops the access times of evicted keys

    def _asked(self, key: Hashable) -> Any:
        if key not in self._kept:
            return None
        self._used.pop(key)
        self._used[key] = time.monotonic()
        return self._kept[key][0]

    def _drop(self, key: Hashable) -> Any:
        self._used.pop(key, None)
        return self._kept.pop(key, (None,))[0]

    def _oldest(self) -> tuple[Hashable, float]:
        """Returns (key, time of its last access) of the least recently used entry."""
        while self._used:
            key, used = next(iter(self._used.items()))
            if key in self._kept:
                return key, used
            del self._used[key]
        return None, math.inf
