"""What was computed once and may be asked for again, as long as there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class LRU:
    """The most recently used answers: at most so many, and at most so many bytes of arrays in them."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The answer to `key`, made if nobody asked before. Two who ask at once may both make it; they are equal."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key][0]
        made = make()
        with self._lock:
            self._known[key] = (made, _nbytes(made))
            while len(self._known) > self._most or sum(size for _, size in self._known.values()) > self._most_bytes:
                self._known.popitem(last=False)
        return made


def _nbytes(value: Any) -> int:
    """Of an array, or of the arrays in the fields of a value and of what its fields hold."""
    return getattr(value, "nbytes", 0) + sum(_nbytes(part) for part in getattr(value, "__dict__", {}).values())
