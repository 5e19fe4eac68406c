"""Time and threads as they are given to the parts of a server, so that a test can move both by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from playground.runs.steady_clock import now

Clock = Callable[[], float]  # seconds


def start_thread(work: Callable[[], object], name: str) -> threading.Thread:
    """Starts a daemon thread."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


@dataclass(frozen=True)
class Runtime:
    """What a server takes from the machine it runs on."""

    monotonic: Clock = time.monotonic  # seconds that only go forward
    date: Clock = now  # seconds since 1970
    spawn: Callable[[Callable[[], object], str], threading.Thread] = start_thread  # (work, name of the thread)
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait  # until an event is set, or so many seconds; whether it is set


REAL = Runtime()
