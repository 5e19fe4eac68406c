"""Graceful shutdown: on a signal training runs are saved, within the ten seconds that Docker, a Space and systemd wait before they kill."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any

import gradio as gr

from playground.logs import event
from playground.runs.registry import Runs
from playground.ui import gradio_private

log = logging.getLogger(__name__)
# Ctrl-C, the signal of service managers, a closed terminal, and Ctrl-Break on Windows
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
POLL_S = 0.1  # between two checks of the flag


class Shutdown:
    """Replaces the default action of the signals: the first sets a flag, further ones change nothing. Signals ignored at the start, as by
    nohup, stay ignored."""

    def __init__(self) -> None:
        """Must run in the main thread."""
        self.requested = False
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._request)

    def wait(self) -> None:
        """Blocks until a signal requests the end."""
        while not self.requested:
            time.sleep(POLL_S)

    def _request(self, *signal_args: Any) -> None:
        self.requested = True


def shut_down(demo: gr.Blocks, runs: Runs) -> None:
    """Stops accepting requests, saves training runs and exits with 0. Open streams report the interruption. Threads still answering are
    abandoned: torch may abort an interpreter that cleans up around them."""
    gradio_private.stop_server(demo)
    runs.close()
    event(log, "server_ended")
    gradio_private.close_tunnels()
    with suppress(OSError):  # the terminal is closed
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)
