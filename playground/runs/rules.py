"""What others than this server's limits say to a new run, such as the room that its maker is in. By themselves they allow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playground.runs.run import Run


class Rules:
    """Asked by the registry, wherever a wish comes from."""

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        """These runs of the token's holder are made meanwhile; `lab` says that they are its arms. Raises Refusal for what may not be."""
        yield

    def shared(self, run: Run) -> bool:
        """Whether more than its owner count on this run, so that it may not be put away."""
        return False

    def awaited(self, run: Run) -> bool:
        """Whether some of those who count on this run are there."""
        return False

    def in_room(self, token: str) -> bool:
        """Whether the token's holder is in a room, whose own limits then hold instead of those for an address."""
        return False

    def changing(self, token: str, knob: str, value: Any) -> None:
        """A live knob gets this value. Raises Refusal for what may not be."""
