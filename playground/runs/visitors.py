"""The last address of each owner. In memory only: visitors' addresses are never written to the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable

from playground.runs.names import owner_of

MAX_OWNERS = 10_000  # remembered at a time: the most recent


class Visitors:
    """Remembers owners' addresses. Thread-safe."""

    def __init__(self, new: Callable[[str], object] = lambda token: None) -> None:
        """`new` is called with the token of each first-time visitor."""
        self._on_new = new
        self._addresses: dict[str, str] = {}
        self._lock = threading.Lock()

    def record_address(self, token: str, address: str) -> None:
        """Records a request by the token's holder from this address."""
        with self._lock:
            before = self._addresses.pop(owner := owner_of(token), None)
            self._addresses[owner] = address
            if len(self._addresses) > MAX_OWNERS:
                del self._addresses[next(iter(self._addresses))]
        if before is None:
            self._on_new(token)

    def address(self, owner: str) -> str:
        """Returns an owner's last address; "" when unknown."""
        return self._addresses.get(owner, "")
