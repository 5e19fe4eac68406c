"""Monitors the disk: pending calls and their waiting time, the last write error, and free space."""

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
    """A write error by its errno name ("ENOSPC"), and its time in seconds since 1970."""

    name: str
    at: float


class DiskWatch:
    """Tracks all file operations in a folder. Thread-safe."""

    def __init__(self, folder: Path, runtime: Runtime = REAL) -> None:
        self._folder, self._runtime, self._identity = folder, runtime, identity_of(folder)
        # while it is open, no new folder gets its inode number; Windows can't open folders
        self._open: int | None = os.open(folder, os.O_RDONLY) if hasattr(os, "O_DIRECTORY") else None
        self._pending: dict[object, tuple[int, float]] = {}  # pending operation -> (thread, start time)
        self.last_error: DiskError | None = None  # of a write
        self.refuses = False  # whether the newest write failed
        self.free: int | None = None  # bytes, at the last check

    def close(self) -> None:
        if self._open is not None:
            os.close(self._open)
            self._open = None

    @contextmanager
    def track(self, writes: bool = False) -> Iterator[None]:
        """Tracks a file operation; errors of one that `writes` are recorded."""
        operation = object()
        self._pending[operation] = threading.get_ident(), self._runtime.monotonic()
        try:
            if writes and self.is_gone():  # a recreated folder may belong to another server
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
            del self._pending[operation]

    def is_awaited_by(self, thread: int) -> bool:
        """Returns whether the thread with this `ident` waits for the disk."""
        return any(pending == thread for pending, _ in list(self._pending.values()))

    @property
    def silent_seconds(self) -> float:
        """Waiting time of the oldest pending operation; 0 when there is none."""
        now = self._runtime.monotonic()
        return max((now - since for _, since in list(self._pending.values())), default=0.0)

    def check(self) -> None:
        """Updates the free space, and records a failed write if the folder is gone. Raises OSError; may block as long as the disk."""
        with self.track():
            is_gone = self.is_gone()
            self.free = None if is_gone else shutil.disk_usage(self._folder).free
        with suppress(FileNotFoundError):
            if is_gone:
                with self.track(writes=True):
                    pass

    def is_gone(self) -> bool:
        """Returns whether the folder is missing or was replaced by another. Raises OSError."""
        try:
            return identity_of(self._folder) != self._identity
        except FileNotFoundError:
            return True


def identity_of(folder: Path) -> tuple[int, int]:
    """Returns the device and inode numbers of a folder. Raises OSError."""
    status = folder.stat()
    return status.st_dev, status.st_ino
