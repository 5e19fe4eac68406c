"""Hand-in: a student's result as one signed line for any course system, and the check of a table of such lines.

A code is `tp1.date.lessons.answered.before.after.browser.server.signature`: eight fields in plain text and the first half of their
HMAC-SHA256. `browser` and `server` are digests under the same key, so that neither a visitor's secret nor the key is in it.
"""

from __future__ import annotations

import csv
import hmac
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

KEY_FILE = "handin.key"  # in the data folder
CODE = re.compile(r"(tp1\.\d{8}\.[a-z_-]*\.\d+\.\d+of\d+\.\d+of\d+\.[0-9a-f]{8}\.([0-9a-f]{8}))\.([0-9a-f]{32})", re.ASCII)
COLUMNS = ("line", "date", "lessons", "answered", "before", "after", "note")


def read_key(folder: Path) -> bytes:
    """Returns the server's key, made at the first call, which only its user may read. Raises OSError."""
    path = folder / KEY_FILE
    if not path.exists():
        write_key(folder, secrets.token_hex(32))
    return path.read_bytes().strip()


def write_key(folder: Path, key: str) -> None:
    """Writes the key of a server that has none. Raises OSError."""
    with os.fdopen(os.open(folder / KEY_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key)


def sign(key: bytes, date: str, lessons: Sequence[str], answered: int, rounds: Sequence[tuple[int, int]], visitor: str) -> str:
    """Returns the code. `rounds` are (right, answered) of the questions before and after the course, `visitor` is the browser's secret."""
    counts = (f"{right}of{count}" for right, count in rounds)
    marks = (_mac(key, visitor)[:8], _mac(key, "server")[:8])
    text = ".".join(("tp1", date.replace("-", ""), "-".join(lessons), str(answered), *counts, *marks))
    return f"{text}.{_mac(key, text)}"


def _mac(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()[:32]


def tabulate(path: Path, key: bytes) -> DataFrame:
    """Returns a table of what `verify` yields."""
    from pandas import DataFrame

    return DataFrame(verify(path, key), columns=COLUMNS)


def verify(path: Path, key: bytes) -> Iterator[tuple]:
    """Yields COLUMNS of each row of a CSV file in which a code stands, or should stand; `note` is "" for a good code that comes once."""
    codes: dict[str, int] = {}
    browsers: dict[str, int] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line, row in enumerate(csv.reader(file), 1):
            text = re.sub(r"\s", "", " ".join(row))
            match = CODE.search(text)
            if not match:
                if line > 1 or "tp1." in text:
                    yield (line, *[""] * 5, "A code is incomplete or was changed." if "tp1." in text else "There is no code.")
                continue
            signed, server, signature = match.groups()
            _, date, lessons, answered, before, after, browser, _ = signed.split(".")
            if server != _mac(key, "server")[:8]:
                note = "The code is of another server."
            elif not hmac.compare_digest(signature, _mac(key, signed)):
                note = "The code was changed after it was signed."
            elif match[0] in codes:
                note = f"The same code is in line {codes[match[0]]}."
            else:
                note = f"The same browser made the code in line {browsers[browser]}." if browser in browsers else ""
            codes.setdefault(match[0], line)
            browsers.setdefault(browser, line)
            yield line, f"{date[:4]}-{date[4:6]}-{date[6:]}", len(lessons.split("-")) if lessons else 0, answered, before, after, note


if TYPE_CHECKING:
    from pandas import DataFrame
