"""A lazy sequence: its entries are generated on first access.

A training reads about a third of its sentences; the others need not be generated.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """The first `count` entries of an iterator (all of them when None), in its order. Thread-safe."""

    def __init__(self, source: Iterator[T], count: int | None = None) -> None:
        self._source, self._count = source, count
        self._known: list[T] = []
        self._lock = threading.RLock()

    def __len__(self) -> int:
        if self._count is None:
            self._make(None)
            self._count = len(self._known)
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"no entry {at} of {len(self)}")
        place = at % len(self)
        if place >= len(self._known):
            self._make(place + 1)
        return self._known[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None

    def _make(self, count: int | None) -> None:
        """Generates entries up to `count`. Raises ValueError when the source has too few."""
        with self._lock:
            self._known += islice(self._source, None if count is None else max(count - len(self._known), 0))
            if count is not None and len(self._known) < count:
                raise ValueError(f"{self._count} were promised, {len(self._known)} came")
