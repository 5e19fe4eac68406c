"""A line between a browser and a server that can be cut, as when a telephone leaves its network."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Thread

BYTES = 65536  # at a time


class Line:
    """`url` leads to the server at `port`. While the line is cut, what went through it is gone and nothing new gets through."""

    def __init__(self, port: int) -> None:
        self._port, self._is_cut, self._ends = port, False, []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}/"
        Thread(target=self._open, daemon=True).start()

    def cut(self) -> None:
        self._is_cut = True
        for end in self._ends:
            _close(end)
        self._ends.clear()

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        _close(self._door)
        self.cut()

    def _open(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                near, _ = self._door.accept()
                if self._is_cut:
                    _close(near)
                    continue
                far = socket.create_connection(("127.0.0.1", self._port))
                self._ends += near, far
                for one, other in ((near, far), (far, near)):
                    Thread(target=_carry, args=(one, other), daemon=True).start()


def _carry(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(BYTES):
            other.sendall(data)
    _close(one)
    _close(other)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
