"""How the server ends: a signal asks for it, what trains is saved, and the process is gone within the ten seconds that Docker, a Space and
systemd wait before they kill.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any

import gradio as gr
from gradio.tunneling import CURRENT_TUNNELS

from playground.logs import event
from playground.runs.registry import Runs

log = logging.getLogger(__name__)
# Ctrl-C, what all who run servers send, a terminal that is closed, and Ctrl-Break on Windows.
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
LOOK_SECONDS = 0.1  # between two looks at whether the end was asked for


class Ending:
    """From its making on a signal ends nothing by itself: it is noted, a second one changes nothing. What this process was started deaf to,
    as by nohup, it stays deaf to."""

    def __init__(self) -> None:
        """In the main thread."""
        self.asked = False
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._ask)

    def wait(self) -> None:
        """Returns once the end was asked for."""
        while not self.asked:
            time.sleep(LOOK_SECONDS)

    def _ask(self, *said: Any) -> None:
        self.asked = True


def end(demo: gr.Blocks, runs: Runs) -> None:
    """Takes no more requests, saves what trains, and leaves with 0. Whoever still listens hears that a run was interrupted. Threads that
    are just answering are left where they are: torch may abort an interpreter that tidies up around them."""
    demo.server.should_exit = True
    runs.close()
    event(log, "server_ended")
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()
    with suppress(OSError):  # of a terminal that is gone
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)
