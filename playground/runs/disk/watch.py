"""Whether the disk answers: how long somebody has been waiting for it, what it refused last, and how much room it has."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        self._folder, self._runtime, self._identity = folder, runtime, identity_of(folder)
        # as long as it is open, no new folder gets its number; Windows opens none
        self._open: int | None = os.open(folder, os.O_RDONLY) if hasattr(os, "O_DIRECTORY") else None
        self._asked: dict[object, tuple[int, float]] = {}  # what has no answer yet -> (thread, since when)
        self.last_error: DiskError | None = None  # of a write
        self.refuses = False  # the newest write failed
        self.free: int | None = None  # bytes, at the last look

    def close(self) -> None:
        if self._open is not None:
            os.close(self._open)
            self._open = None

    @contextmanager
    def asked(self, writes: bool = False) -> Iterator[None]:
        """Around whatever needs the disk; what `writes` and fails is remembered."""
        here = object()
        self._asked[here] = threading.get_ident(), self._runtime.monotonic()
        try:
            if writes and self.is_gone():  # nothing goes into one that was made anew: another server could have it
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._folder))
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
        """How much room there is, and whether the folder is still there, which counts as a write that failed. Raises OSError; may take as
        long as the disk doesn't answer."""
        with self.asked():
            is_gone = self.is_gone()
            self.free = None if is_gone else shutil.disk_usage(self._folder).free
        with suppress(FileNotFoundError):
            if is_gone:
                with self.asked(writes=True):
                    pass

    def is_gone(self) -> bool:
        """Whether another folder is in the place of this one, or none. Raises OSError."""
        try:
            return identity_of(self._folder) != self._identity
        except FileNotFoundError:
            return True


def identity_of(folder: Path) -> tuple[int, int]:
    """What tells a folder from another one under its name. Raises OSError."""
    found = folder.stat()
    return found.st_dev, found.st_ino
