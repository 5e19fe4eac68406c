"""The server's log: one line for each event, for whoever runs the server. Words by themselves, JSON where PLAYGROUND_LOG=json.

Nothing that a visitor wrote is in it. Nobody's id is either, since who has a run's id may look at the run: runs, owners, rooms and
addresses stand here by a pseudonym, the beginning of a digest, which is the same in every line and on the operator's page.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from playground.config import Refusal

DAY = 86_400.0
MAX_REMEMBERED = 2_000  # events of the last day
FRAMES = 4  # of a traceback: where it was raised, and who called
TOLD = (OSError, RuntimeError, MemoryError, ImportError)  # errors whose words are the system's or torch's, never a visitor's
# An id of ours (22 characters, of which one at least is no small letter), a visitor's token, or the digest of one.
SECRET = re.compile(r"(?<![\w-])(?=[a-z_-]*[0-9A-Z])(?:[\w-]{22}|[0-9a-f]{32}|[0-9a-f]{64})(?![\w-])", re.ASCII)


def event(log: logging.Logger, name: str, level: int = logging.INFO, error: BaseException | None = None, /, **fields: Any) -> None:
    """One line: what happened, and to what. `fields` are numbers, words of ours, and ids, which become pseudonyms. Of an `error` it says
    where it was raised."""
    said = " ".join(f"{field}={value}" for field, value in fields.items())
    log.log(level, "%s %s", name, said, exc_info=error, extra={"event": name, "fields": fields})


@contextmanager
def refusals(log: logging.Logger, name: str, **fields: Any) -> Iterator[None]:
    """A line for a refusal that is raised meanwhile: which one, not what it says, where a visitor's words may be."""
    try:
        yield
    except Refusal as refusal:
        event(log, name, reason=refusal.key, **fields)
        raise


def reason(error: BaseException) -> str:
    """An error in a few words, without the path in which there may be an id."""
    return f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}" if isinstance(error, TOLD) else type(error).__name__


def pseudonym(id: str) -> str:
    """By what a run, an owner, a room or an address is called here; "-" for nobody."""
    return hashlib.sha256(f"log {id}".encode()).hexdigest()[:8] if id else "-"


def parts(record: logging.LogRecord) -> dict[str, Any]:
    """What is said of a record: its time, level and event, or its message where it is no event of ours, and what belongs to it."""
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    said: dict[str, Any] = {"time": f"{when}.{int(record.msecs):03}Z", "level": record.levelname.lower()}
    if hasattr(record, "event"):
        said["event"] = record.event
        said |= record.fields
    else:
        said |= {"event": "message", "logger": record.name, "text": record.getMessage()}
    if record.exc_info and record.exc_info[1]:
        said |= _error(record.exc_info[1])
    return {name: _safe(value) for name, value in said.items()}


class Words(logging.Formatter):
    """time LEVEL event name=value name=value"""

    def format(self, record: logging.LogRecord) -> str:
        said = parts(record)
        first = f"{said.pop('time')} {said.pop('level'):<7} {said.pop('event')}"
        return " ".join([first, *(f"{name}={_quoted(value)}" for name, value in said.items())])


class Json(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(parts(record), ensure_ascii=False)


class Recent(logging.Handler):
    """What the log has said since the server began, as counts, and what it said in the last day."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.counts: Counter[tuple[str, str]] = Counter()  # (event, reason)
        self._day: deque[tuple[float, dict[str, Any]]] = deque(maxlen=MAX_REMEMBERED)

    def emit(self, record: logging.LogRecord) -> None:
        said = parts(record)
        self.counts[said["event"], str(said.get("reason", ""))] += 1
        if record.levelno >= logging.WARNING or "reason" in said:
            self._day.append((record.created, said))

    def day(self) -> list[dict[str, Any]]:
        """The errors, warnings and refusals of the last day, newest first."""
        with self.lock:
            return [said for when, said in reversed(self._day) if when > time.time() - DAY]


@cache
def recent() -> Recent:
    """That of this process, which listens from the first time that it is asked for."""
    handler = Recent()
    logging.getLogger("playground").addHandler(handler)
    logging.getLogger("playground").setLevel(logging.INFO)
    return handler


def begin() -> None:
    """From now on the log is written as is said above: ours from INFO on, that of others where something is wrong."""
    handler = logging.StreamHandler()
    handler.setFormatter(Json() if os.environ.get("PLAYGROUND_LOG", "").lower() == "json" else Words())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    recent()


def adopt(name: str) -> None:
    """What a library writes by itself goes the same way."""
    for logger in (name, *(known for known in list(logging.Logger.manager.loggerDict) if known.startswith(f"{name}."))):
        logging.getLogger(logger).handlers.clear()
        logging.getLogger(logger).propagate = True


def _error(error: BaseException) -> dict[str, str]:
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return {"error": reason(error), "at": " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))}


def _safe(value: Any) -> Any:
    """Numbers as they are; text without ids, and on one line."""
    if isinstance(value, (int, float)):
        return value
    hidden = SECRET.sub(lambda found: pseudonym(found[0]), str(value))
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in hidden)


def _quoted(value: Any) -> str:
    text = str(value)
    return text if text and not set(text) & set(' "=') else json.dumps(text, ensure_ascii=False)
