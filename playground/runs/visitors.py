"""From which address each owner asked last. In memory only: the disk never says where somebody was."""

from __future__ import annotations

import threading
from collections.abc import Callable

from playground.runs.names import owner_of

MOST_OWNERS = 10_000  # remembered at a time: those that came last


class Visitors:
    """Thread-safe."""

    def __init__(self, new: Callable[[str], object] = lambda token: None) -> None:
        """`new` is called with the token of whoever comes for the first time."""
        self._new = new
        self._addresses: dict[str, str] = {}
        self._lock = threading.Lock()

    def came(self, token: str, address: str) -> None:
        """Whoever holds this token asks from there."""
        with self._lock:
            before = self._addresses.pop(owner := owner_of(token), None)
            self._addresses[owner] = address
            if len(self._addresses) > MOST_OWNERS:
                del self._addresses[next(iter(self._addresses))]
        if before is None:
            self._new(token)

    def address(self, owner: str) -> str:
        """ "" of somebody who has not come yet."""
        return self._addresses.get(owner, "")
