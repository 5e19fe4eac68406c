"""A zip that is sent while it is made, and whose bytes depend on what is in it alone: fixed dates, sorted names."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping

THEN = (1980, 1, 1, 0, 0, 0)  # the first date that a zip knows
CHUNK = 1 << 20
LEVEL = 6


class _Outbox(io.RawIOBase):
    """What the archive writes, until it is sent. It can't be sought in, as it is gone by then."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self._kept += data
        return len(data)

    def take(self) -> bytes:
        sent, self._kept = bytes(self._kept), bytearray()
        return sent


def stream(files: Mapping[str, Callable[[], bytes]]) -> Iterator[bytes]:
    """The zip in pieces. Each file is made when it is its turn."""
    outbox = _Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name in sorted(files, key=str.casefold):
            entry = zipfile.ZipInfo(name, THEN)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            content = memoryview(files[name]())
            with archive.open(entry, "w") as file:
                for start in range(0, len(content), CHUNK):
                    file.write(content[start : start + CHUNK])
                    yield outbox.take()
    yield outbox.take()
