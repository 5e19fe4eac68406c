"""Training processes on this machine, one per core, so that training and page have an interpreter each.

Forked from a process with torch loaded, so that memory and start-up time are shared. They end with their parent; one that dies or hangs is
replaced, and its runs resume from their last saves.
"""

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
from playground.runs.engines import PREPARE_FACTOR, Lost
from playground.runs.engines.host import Answer, CallSettings, Host
from playground.runs.machine_speed import warm_up
from playground.runs.memory import share_arenas

log = logging.getLogger(__name__)
TIMEOUT_FRACTION = 0.75  # of a step's timeout: a process is replaced before the thread that waits for it would be
START_S = 120.0  # timeout for a new process to start and warm up
# The page has priority: its work is short, and beside 5 it waited for a core while a class trained. At home other programs have work, too,
# and a training would wait for all of them.
NICENESS, HOME_NICENESS, NICENESS_VARIABLE = 15, 5, "PLAYGROUND_NICENESS"
GRACE_S = 30  # from SIGTERM to the end, so that the parent can save
PARENT_DEATH_SIGNAL = 1  # Linux's PR_SET_PDEATHSIG
OOM_SCORE_FILE, OOM_SCORE = Path("/proc/self/oom_score_adj"), 500  # of 1000: as if it held half of the machine's memory besides


class Child:
    """A process with a host, and the link to it."""

    node, up = None, True  # a dead one is restarted on demand

    def __init__(self, number: int, context: BaseContext, step_seconds: float) -> None:
        self.number, self._context, self._step_seconds = number, context, step_seconds
        self._call_lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The process id; None while there is none."""
        return self._process and self._process.pid

    @property
    def where(self) -> dict[str, Any]:
        return {"process": self.number + 1}

    def ask(self, id: str, name: str, settings: CallSettings, *arguments: Any) -> Answer:
        with self._call_lock:
            if self._process is None:
                if name != "begin":  # a training's first call
                    raise Lost
                self._start()
            timeout = self._step_seconds * (PREPARE_FACTOR if name == "begin" else 1)
            return self._call((id, name, settings, *arguments), TIMEOUT_FRACTION * timeout)

    def start(self) -> None:
        """Starts the process and waits until it can train. Raises Lost on timeout."""
        with self._call_lock:
            self._start()

    def close(self) -> None:
        """Kills the process."""
        process, connection, self._process, self._connection = self._process, self._connection, None, None
        if process:
            process.kill()
            process.join()
            process.close()
        if connection:
            connection.close()

    def _start(self) -> None:
        own_end, child_end = self._context.Pipe()
        process = self._context.Process(target=serve, args=(child_end,), name=f"trainer-{self.number}", daemon=True)
        process.start()
        child_end.close()
        self._process, self._connection = process, own_end  # from now on `close` can end it
        self._call(None, START_S)

    def _call(self, question: tuple | None, seconds: float) -> Answer | None:
        try:
            if question:
                self._connection.send(question)
            if self._connection.poll(seconds):
                return self._connection.recv()
            event(log, "process_hung", logging.WARNING, number=self.number, seconds=round(seconds))
        except (OSError, EOFError, AttributeError):  # AttributeError: closed meanwhile
            event(log, "process_ended", logging.WARNING if self._process else logging.INFO, number=self.number)  # INFO: by `close`
        self.close()
        raise Lost(guilty=True)


def serve(connection: Connection) -> None:
    """Runs in the process: answers calls until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the server, which saves these trainings
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(GRACE_S))
    end_with_parent()
    with suppress(OSError):  # Linux only: its OOM killer prefers this process to the one that serves the page
        OOM_SCORE_FILE.write_text(str(OOM_SCORE))
    if hasattr(os, "nice"):  # not on Windows
        os.nice(int(niceness) if (niceness := os.environ.get(NICENESS_VARIABLE, "")).isdigit() else NICENESS)
    share_arenas()
    warm_up()
    host = Host()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send(None)
        while True:
            connection.send(host.answer(*connection.recv()))


def end_with_parent() -> None:
    """Ends this process with its parent."""
    if os.name == "posix" and hasattr(libc := ctypes.CDLL(None), "prctl"):
        libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
