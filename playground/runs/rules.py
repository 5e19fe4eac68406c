"""Hooks by which other parts of a server restrict runs, such as the creator's room. The defaults allow everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playground.runs.run import Run


class Rules:
    """Consulted by the registry for every request."""

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        """Wraps the creation of runs by the token's holder; `lab` names the lab of which they are arms. Raises Refusal when forbidden."""
        yield

    def shared(self, run: Run) -> bool:
        """Returns whether visitors besides its owner depend on this run, so that it may not be stopped for others."""
        return False

    def awaited(self, run: Run) -> bool:
        """Returns whether visitors who depend on this run are present."""
        return False

    def in_room(self, token: str) -> bool:
        """Returns whether the token's holder is in a room, whose limits then replace those of an address."""
        return False

    def changing(self, token: str, knob: str, value: Any) -> None:
        """Checks a change of a live knob. Raises Refusal when forbidden."""
