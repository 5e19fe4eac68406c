"""Clocks and threads, injected into the parts of a server so that tests control both."""

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
    """The machine's clocks and threads."""

    monotonic: Clock = time.monotonic  # seconds, monotonic
    date: Clock = now  # seconds since 1970
    spawn: Callable[[Callable[[], object], str], threading.Thread] = start_thread  # (work, name of the thread)
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait  # waits for an event or a timeout in s; returns whether it is set


REAL = Runtime()
