"""The server's log for its operator: one line per event. Plain text, or JSON where PLAYGROUND_LOG=json.

It holds no text of visitors, and no ids, since a run's id gives access to the run: runs, owners, rooms and addresses appear under a
pseudonym, the beginning of a digest, the same in every line and for the operator.
"""

import hashlib
import json
import logging
import os
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from playground.config import Refusal

FRAMES = 4  # of a traceback, the innermost
QUOTABLE = (OSError, RuntimeError, MemoryError, ImportError)  # errors with messages of the system or torch, never a visitor's text
# An id of this app (22 characters, at least one no small letter), a visitor's token, or the digest of one.
SECRET = re.compile(r"(?<![\w-])(?=[a-z_-]*[0-9A-Z])(?:[\w-]{22}|[0-9a-f]{32}|[0-9a-f]{64})(?![\w-])", re.ASCII)


def event(log: logging.Logger, name: str, level: int = logging.INFO, error: BaseException | None = None, /, **fields: Any) -> None:
    """Logs one event. `fields` are numbers, our own words, and ids, which become pseudonyms. Of an `error` the place where it was raised is
    logged."""
    message = " ".join(f"{field}={value}" for field, value in fields.items())
    log.log(level, "%s %s", name, message, exc_info=error, extra={"event": name, "fields": fields})


@contextmanager
def refusals(log: logging.Logger, name: str, **fields: Any) -> Iterator[None]:
    """Logs the key of a Refusal raised inside the block, not its sentence, which may quote a visitor."""
    try:
        yield
    except Refusal as refusal:
        event(log, name, reason=refusal.key, **fields)
        raise


def reason(error: BaseException) -> str:
    """Describes an error briefly, without the path, which may hold an id."""
    return f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}" if isinstance(error, QUOTABLE) else type(error).__name__


def pseudonym(id: str) -> str:
    """Returns the pseudonym of a run, an owner, a room or an address; "-" for an empty id."""
    return hashlib.sha256(f"log {id}".encode()).hexdigest()[:8] if id else "-"


def parts(record: logging.LogRecord) -> dict[str, Any]:
    """Returns a record's fields: time, level and event (or the message of a foreign record), and its values."""
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    values: dict[str, Any] = {"time": f"{when}.{int(record.msecs):03}Z", "level": record.levelname.lower()}
    if hasattr(record, "event"):
        values["event"] = record.event
        values |= record.fields
    else:
        values |= {"event": "message", "logger": record.name, "text": record.getMessage()}
    if record.exc_info and record.exc_info[1]:
        values |= _error(record.exc_info[1])
    return {name: _safe(value) for name, value in values.items()}


class Words(logging.Formatter):
    """Formats a record as: time LEVEL event name=value name=value"""

    def format(self, record: logging.LogRecord) -> str:
        values = parts(record)
        first = f"{values.pop('time')} {values.pop('level'):<7} {values.pop('event')}"
        return " ".join([first, *(f"{name}={_quoted(value)}" for name, value in values.items())])


class Json(logging.Formatter):
    """Formats a record as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(parts(record), ensure_ascii=False)


class Recent(logging.Handler):
    """Counts the log's events since the server began."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.counts: Counter[tuple[str, str]] = Counter()  # (event, reason)

    def emit(self, record: logging.LogRecord) -> None:
        values = parts(record)
        self.counts[values["event"], str(values.get("reason", ""))] += 1


@cache
def recent() -> Recent:
    """Returns the handler of this process, attached at first use."""
    handler = Recent()
    logging.getLogger("playground").addHandler(handler)
    logging.getLogger("playground").setLevel(logging.INFO)
    return handler


def begin() -> None:
    """Starts logging to stderr: our own records from INFO on, others from WARNING."""
    handler = logging.StreamHandler()
    handler.setFormatter(Json() if os.environ.get("PLAYGROUND_LOG", "").lower() == "json" else Words())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    recent()


def adopt(name: str) -> None:
    """Redirects a library's loggers to the server's handler."""
    for logger in (name, *(known for known in list(logging.Logger.manager.loggerDict) if known.startswith(f"{name}."))):
        logging.getLogger(logger).handlers.clear()
        logging.getLogger(logger).propagate = True


def _error(error: BaseException) -> dict[str, str]:
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return {"error": reason(error), "at": " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))}


def _safe(value: Any) -> Any:
    """Returns numbers unchanged; text without ids, on one line."""
    if isinstance(value, (int, float)):
        return value
    hidden = SECRET.sub(lambda match: pseudonym(match[0]), str(value))
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in hidden)


def _quoted(value: Any) -> str:
    text = str(value)
    return text if text and not set(text) & set(' "=') else json.dumps(text, ensure_ascii=False)
