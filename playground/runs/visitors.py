"""From which address each owner asked last. In memory only: the disk never says where somebody was."""

from __future__ import annotations

import threading

from playground.runs.names import owner_of

MOST_OWNERS = 10_000  # remembered at a time: those that came last


class Visitors:
    """Thread-safe."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        self._lock = threading.Lock()

    def came(self, token: str, address: str) -> None:
        """Whoever holds this token asks from there."""
        with self._lock:
            self._addresses.pop(owner := owner_of(token), None)
            self._addresses[owner] = address
            if len(self._addresses) > MOST_OWNERS:
                del self._addresses[next(iter(self._addresses))]

    def address(self, owner: str) -> str:
        """ "" of somebody who has not come yet."""
        return self._addresses.get(owner, "")
