"""What live updates of one run that trains cost the server, and the training, with so many visitors at once."""

from __future__ import annotations

import argparse
import selectors
import socket
import threading
import time
from urllib.parse import quote

from benchmarks.server import ROUTES, Server, endless
from benchmarks.suite import note
from benchmarks.tables import markdown, milliseconds, percent, shown, summary, whole
from playground.runs.run import WATCHED_SECONDS

QUIET = WATCHED_SECONDS + 0.5
SETTLE = 0.1  # of a window, before it counts


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"rows": [{"streams", "updates", "update_seconds", "bytes", "steps", "lost"}]}, all but the first summaries over the rounds.

    updates and steps are per second; update_seconds is processor time of the threads that serve, above what they take with no stream
    open, for each update sent (None where the system doesn't tell, and for no stream); lost is the share of steps per second that
    training has lost against no stream (where nobody watches, so that no live pictures are made either).
    """
    rounds = [_round(server, options) for _ in range(options.repeats)]
    rows = []
    for at, count in enumerate(_counts(options)):
        found = [one[at] for one in rounds]
        rows.append({"streams": count} | {name: summary(row[name] for row in found if row[name] is not None) for name in found[0]})
    return {"rows": rows}


def table(result: dict) -> str:
    head = ("streams", "updates/s", "server ms for an update", "bytes of one", "training steps/s", "training lost")
    forms = {"updates": whole, "update_seconds": milliseconds, "bytes": whole, "steps": lambda v: f"{v:.1f}", "lost": percent}
    rows = [(str(row["streams"]), *(shown(row[name], form) for name, form in forms.items())) for row in result["rows"]]
    return markdown(head, rows)


def _counts(options: argparse.Namespace) -> list[int]:
    """How many streams at once, none first."""
    return sorted({0, *options.streams})


def _round(server: Server, options: argparse.Namespace) -> list[dict[str, float | None]]:
    """One run from its beginning, watched by each number of visitors for a while."""
    with endless(server, dict(options.set)) as run:
        time.sleep(options.quiet)
        watched = [_watch(server, run, count, options.window) for count in _counts(options)]
    alone, found = watched[0], []
    for one in watched:
        serving = None if one["serving"] is None else max(one["serving"] - alone["serving"], 0.0)
        updates = one["updates"]
        found.append(
            {
                "updates": updates,
                "update_seconds": serving / updates if updates and serving is not None else None,
                "bytes": one["bytes"] / updates if updates else None,
                "steps": one["steps"],
                "lost": 1 - one["steps"] / alone["steps"],
            }
        )
    note("; ".join(f"{count} streams {one['steps']:.1f} steps/s" for count, one in zip(_counts(options), watched, strict=True)))
    return found


def _watch(server: Server, run: str, count: int, window: float) -> dict[str, float | None]:
    """Everything per second of the window: steps, updates, bytes, and processor seconds of the serving threads."""
    with Viewers(server.port, run, count) as viewers:
        time.sleep(SETTLE * window)
        before, used, (updates, size) = server.ask("progress", run=run), server.ask("processor"), viewers.seen
        time.sleep(window)
        after, use, (more, bigger) = server.ask("progress", run=run), server.ask("processor"), viewers.seen
    took = after["time"] - before["time"]
    serving = None if use["serving"] is None else (use["serving"] - used["serving"]) / took
    return {
        "steps": (after["step"] - before["step"]) / took,
        "updates": (more - updates) / took,
        "bytes": (bigger - size) / took,
        "serving": serving,
    }


class Viewers:
    """So many open streams, read by one thread that does nothing but count."""

    def __init__(self, port: int, run: str, count: int) -> None:
        self._address = ("127.0.0.1", port)
        self._request = f"GET {ROUTES}/live/{quote(run)}?since=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        self._count, self._updates, self._bytes, self._open = count, 0, 0, True
        self._thread = threading.Thread(target=self._read)

    @property
    def seen(self) -> tuple[int, int]:
        """Updates and bytes so far, over all streams."""
        return self._updates, self._bytes

    def __enter__(self) -> Viewers:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open = False
        self._thread.join()

    def _read(self) -> None:
        mark = b"data: {"
        with selectors.DefaultSelector() as ready:
            for _ in range(self._count):
                stream = socket.create_connection(self._address)
                stream.sendall(self._request)
                ready.register(stream, selectors.EVENT_READ, [b""])
            while self._open:
                if not self._count:
                    time.sleep(0.05)
                for key, _ in ready.select(0.1) if self._count else ():
                    text = key.data[0] + key.fileobj.recv(1 << 18)
                    self._updates += text.count(mark)
                    self._bytes += len(text) - len(key.data[0])
                    key.data[0] = text[-len(mark) + 1 :]
            for key in list(ready.get_map().values()):
                key.fileobj.close()
