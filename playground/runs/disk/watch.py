"""Whether the disk answers: how long somebody has been waiting for it, what it refused last, and how much room it has."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playground.runs.runtime import REAL, Runtime


class DiskError(NamedTuple):
    """What went wrong, by its number's name ("ENOSPC"), and at which date: seconds since 1970."""

    name: str
    at: float


class DiskWatch:
    """Told of everything that is asked of a folder. Thread-safe."""

    def __init__(self, folder: Path, runtime: Runtime = REAL) -> None:
        self._folder, self._runtime = folder, runtime
        self._asked: dict[object, tuple[int, float]] = {}  # what has no answer yet -> (thread, since when)
        self.last_error: DiskError | None = None  # of a write
        self.refuses = False  # the newest write failed
        self.free: int | None = None  # bytes, at the last look

    @contextmanager
    def asked(self, writes: bool = False) -> Iterator[None]:
        """Around whatever needs the disk; what `writes` and fails is remembered."""
        here = object()
        self._asked[here] = threading.get_ident(), self._runtime.monotonic()
        try:
            yield
        except OSError as error:
            if writes:
                name = errno.errorcode.get(error.errno or 0, type(error).__name__)
                self.last_error, self.refuses = DiskError(name, self._runtime.date()), True
            raise
        else:
            self.refuses = self.refuses and not writes
        finally:
            del self._asked[here]

    def is_awaited_by(self, thread: int) -> bool:
        """Whether the thread with this `ident` waits for the disk."""
        return any(asking == thread for asking, _ in list(self._asked.values()))

    @property
    def silent_seconds(self) -> float:
        """For how long somebody has been waiting by now; 0 when nobody waits."""
        now = self._runtime.monotonic()
        return max((now - since for _, since in list(self._asked.values())), default=0.0)

    def look(self) -> None:
        """How much room there is. Raises OSError; may take as long as the disk doesn't answer."""
        with self.asked():
            self.free = shutil.disk_usage(self._folder).free
