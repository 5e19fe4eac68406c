"""A streamed, reproducible zip: its bytes depend on its contents alone, with fixed dates and sorted names."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping

THEN = (1980, 1, 1, 0, 0, 0)  # the earliest date of the zip format
CHUNK = 1 << 20
LEVEL = 6


class _Outbox(io.RawIOBase):
    """A write-only buffer for the archive. Not seekable, as earlier bytes are sent already."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self._buffer += data
        return len(data)

    def take(self) -> bytes:
        sent, self._buffer = bytes(self._buffer), bytearray()
        return sent


def stream(files: Mapping[str, Callable[[], bytes]]) -> Iterator[bytes]:
    """Yields the zip in chunks. Each file is made when its turn comes."""
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
