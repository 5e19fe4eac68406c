"""The engine of processes beside the page's, one for a core: training and page then have an interpreter each.

They are forked off a process that has loaded torch, so that they share what takes memory and time to load. They end with the process that
asks them, whatever happens to it; one that dies or does not answer is replaced, and what it trained goes on from its last save.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from playground.logs import event
from playground.runs.engines.host import Answer, Host
from playground.runs.engines.hosted import Wishes
from playground.runs.engines.trainer import Lost
from playground.runs.heap import share_arenas
from playground.runs.queue.warmup import warm_up
from playground.runs.queue.watchdog import FIRST

log = logging.getLogger(__name__)
SHARE = 0.75  # of the time that a step may take, in which a process must have answered: then it is replaced before its thread would be
START_S = 120.0  # the longest until a new process has trained its first steps
NICENESS = 5  # the page goes first: what it has to do is short
GRACE_S = 30  # from the order to end until the end, in which whoever asks may save
PARENT_DEATH_SIGNAL = 1  # Linux's number of the setting
OOM_SCORE, FIRST_TO_GO = Path("/proc/self/oom_score_adj"), 500  # of 1000: as if it held half of the machine's memory besides


class Child:
    """A process with a host, and the link to it."""

    node, up = None, True  # one that has ended is begun anew when somebody asks

    def __init__(self, number: int, context: BaseContext, step_seconds: float) -> None:
        self.number, self._context, self._step_seconds = number, context, step_seconds
        self._one_at_a_time = threading.Lock()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """Of the process; None while there is none."""
        return self._process and self._process.pid

    @property
    def where(self) -> dict[str, Any]:
        return {"process": self.number + 1}

    def ask(self, id: str, name: str, wishes: Wishes, *arguments: Any) -> Answer:
        with self._one_at_a_time:
            if self._process is None:
                if name != "begin":  # the first that is asked of a training
                    raise Lost
                self._start()
            patience = self._step_seconds * (FIRST if name == "begin" else 1)
            return self._call((id, name, wishes, *arguments), SHARE * patience)

    def start(self) -> None:
        """Returns once it is ready to train. Raises Lost when it isn't in time."""
        with self._one_at_a_time:
            self._start()

    def close(self) -> None:
        """Ends the process, whatever it is doing."""
        process, connection, self._process, self._connection = self._process, self._connection, None, None
        if process:
            process.kill()
            process.join()
            process.close()
        if connection:
            connection.close()

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs,), name=f"trainer-{self.number}", daemon=True)
        process.start()
        theirs.close()
        self._process, self._connection = process, ours  # only now there is something to end
        self._call(None, START_S)

    def _call(self, question: tuple | None, seconds: float) -> Answer | None:
        try:
            if question:
                self._connection.send(question)
            if self._connection.poll(seconds):
                return self._connection.recv()
            event(log, "process_hung", logging.WARNING, number=self.number, seconds=round(seconds))
        except (OSError, EOFError, AttributeError):  # AttributeError: it has been closed meanwhile
            event(log, "process_ended", logging.WARNING, number=self.number)
        self.close()
        raise Lost(guilty=True)


def serve(connection: Connection) -> None:
    """The life of a process: it answers until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a person's Ctrl-C is the server's business, which saves what is here
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(GRACE_S))
    end_with_who_asks()
    end_first()
    os.nice(NICENESS)
    share_arenas()
    warm_up()
    host = Host()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send(None)
        while True:
            connection.send(host.answer(*connection.recv()))


def end_with_who_asks() -> None:
    """This process ends when the one does that began it."""
    if os.name == "posix" and hasattr(libc := ctypes.CDLL(None), "prctl"):
        libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def end_first() -> None:
    """Where the machine has no memory left the system ends this process, and not the one that answers everybody."""
    with suppress(OSError):  # only Linux has this file
        OOM_SCORE.write_text(str(FIRST_TO_GO))
