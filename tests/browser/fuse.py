"""When the browser or the server has died, the stories that are left must not wait for it one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pytest


class Part(Protocol):
    """What stories need: a browser, a server."""

    def is_alive(self) -> bool: ...

    def restart(self) -> None:
        """Starts it anew, whatever state it is in. Raises when that fails."""


class Fuse:
    """One for all stories of a process. What has died is started anew once; after that every story fails at its beginning."""

    def __init__(self) -> None:
        self.restarted, self.blown = False, ""

    def check(self, parts: Sequence[Part]) -> None:
        """Before a story that needs these."""
        if not self.blown and all(part.is_alive() for part in parts):
            return
        if not self.blown:
            self._restart(parts)
        if self.blown:
            pytest.fail(f"The browser or the server of the stories is dead: {self.blown}", pytrace=False)

    def _restart(self, parts: Sequence[Part]) -> None:
        if self.restarted:
            self.blown = "it died a second time."
            return
        self.restarted = True
        try:
            for part in parts:
                part.restart()
        except Exception as error:  # whatever it is: there is nothing to tell stories with
            self.blown = str(error)
