"""Limits what Gradio keeps for each browser tab: little, and only the last hundred. A page whose session was evicted gets another
unnoticed: all state is in the page and in the runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container
from contextlib import suppress
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import blocks, mcp, route_utils, state_holder
from gradio.queueing import Queue
from gradio.state_holder import SessionState

MAX_SESSIONS = 100
SESSION_BYTES = 12_000  # measured size of one session
CLEANUP_S, UNREAD_S = 10.0, 300.0  # seconds between two cleanups, and until an unread response is dropped


class LeanSession(SessionState):
    """A session without Gradio's copy of all component settings, which serves links to its state. Such links are closed here, and the copy
    takes 0.7 MB and more time than the rest of a first event."""

    def __init__(self, page: gr.Blocks) -> None:
        super().__init__(SimpleNamespace(default_config=page.default_config, blocks={}))

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass


def use_lean_sessions() -> None:
    """Replaces Gradio's session class everywhere."""
    for module in (blocks, route_utils, state_holder) + ((mcp,) if hasattr(mcp, "SessionState") else ()):
        module.SessionState = LeanSession


class Sessions:
    """The sessions of a launched page, as a share of the memory budget (see runs/cache.py)."""

    def __init__(self, page: gr.Blocks) -> None:
        self._page = page

    def __len__(self) -> int:
        return len(self._page.state_holder.session_data)

    @property
    def bytes(self) -> int:
        return SESSION_BYTES * len(self)

    @property
    def oldest(self) -> float:
        then = min(list(self._page.state_holder.time_last_used.values()), default=None)
        return math.inf if then is None else time.monotonic() - (datetime.now() - then).total_seconds()

    def evict_oldest(self) -> None:
        holder = self._page.state_holder
        with holder.lock, suppress(ValueError):
            oldest = min(holder.time_last_used, key=holder.time_last_used.get)
            holder.time_last_used.pop(oldest, None)
            holder.session_data.pop(oldest, None)


class QueueCleanup:
    """Cleans up a queue's state of closed tabs. Gradio forgets a tab only if it disconnects at the right moment, and unread responses
    never."""

    def __init__(self, queue: Queue, listeners: Container, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue, self._listeners, self._clock = queue, listeners, clock
        self._next, self._idle = 0.0, dict[str, float]()

    def begin(self) -> None:
        """Runs the cleanup from time to time when the queue looks for work, in the thread of the queue's own bookkeeping."""
        original_get = self._queue.get_events

        def get_events() -> tuple | None:
            if self._clock() >= self._next:
                self._next = self._clock() + CLEANUP_S
                self.clean_up()
            return original_get()

        self._queue.get_events = get_events

    def clean_up(self) -> None:
        """Forgets idle tabs, and those whose responses stay unread too long."""
        waiting, answers, now = self._queue.pending_event_ids_session, self._queue.pending_messages_per_session, self._clock()
        idle = {session for session in (*waiting, *answers) if not self._is_used(session)}
        self._idle = {session: self._idle.get(session, now) for session in idle}
        for session, since in list(self._idle.items()):
            if not waiting.get(session) or now - since >= UNREAD_S:
                waiting.pop(session, None)
                answers.pop(session, None)
                del self._idle[session]

    def _is_used(self, session: str) -> bool:
        events = self._queue.pending_event_ids_session.get(session, ())
        names = [("listener", name) for name in (session, *events)]
        return any(name in self._listeners for name in names) or any(event in self._queue.event_ids_to_events for event in events)
