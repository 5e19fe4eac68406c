"""The app as a visitor meets it: a process of its own over a folder of its own, which can be ended and started again."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from benchmarks.server import free_port

PATH = "/tools/pg"
ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds, for whatever is awaited here: a start, a page, the end of a training on a busy machine


class Server:
    """`url` stays the same over restarts. What the server says is in server.log in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = folder / "server.log"
        self._process: subprocess.Popen | None = None

    def start(self, way: Sequence[str] = ("-m", "playground", "serve")) -> None:
        """Returns when the page can be opened; at once where it was started before."""
        if self._process is not None:
            return
        own = {"PORT": str(self.port), "PLAYGROUND_DATA": str(self.folder / "data"), "GRADIO_SERVER_NAME": "127.0.0.1"}
        own["PLAYGROUND_ENGINE"] = "auto"
        own["PLAYGROUND_PROXIES"] = "1"
        own["PLAYGROUND_FRAMES"] = "http://127.0.0.1:*"  # beside a Space's own page: one of this machine's shows it in a frame
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *way], cwd=ROOT, env=os.environ | own, stdout=log, stderr=log,
                preexec_fn=_hear_ctrl_c,
            )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, f"the server ended at once:\n{self.logged()}"
            assert time.monotonic() < end, f"the server did not start:\n{self.logged()}"
            time.sleep(0.1)

    def stop(self) -> None:
        """As Ctrl-C does it."""
        if self._process is None:
            return
        self.send(signal.SIGINT)
        try:
            self.ended(60)
        except subprocess.TimeoutExpired:
            self.kill()

    def send(self, number: int) -> None:
        """Sends a signal to the server alone."""
        self._process.send_signal(number)

    def ended(self, seconds: float) -> int:
        """The exit code of a server that is about to end. Raises subprocess.TimeoutExpired."""
        code = self._process.wait(seconds)
        self._process = None
        return code

    def kill(self) -> None:
        """As a power cut does it: nothing is saved, and no client is told."""
        self._process.kill()
        self._process.wait(10)
        self._process = None

    def logged(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}gradio_api/playground/boot", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class _Proxy(_Quiet):
    """Passes on to its `port` what is asked for below PATH, and says so."""

    def do_GET(self) -> None:
        if not self.path.startswith(PATH):
            return self.send_error(404)
        with closing(HTTPConnection("127.0.0.1", self.port)) as server:
            address, body = f"/{self.path.removeprefix(PATH).lstrip('/')}", self.rfile.read(int(self.headers["Content-Length"] or 0))
            server.request(self.command, address, body, {**self.headers, "X-Forwarded-Prefix": PATH})
            answer = server.getresponse()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.end_headers()
            with suppress(OSError, HTTPException):  # the page has left, or the server
                while part := answer.read1(65536):
                    self.wfile.write(part)

    do_POST = do_GET


@contextmanager
def serving(handler: Callable) -> Iterator[str]:
    """A server of these requests, while it is needed. Yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()


def files(folder: Path) -> AbstractContextManager[str]:
    """A plain file server over a folder."""
    return serving(partial(_Quiet, directory=folder))


def proxy(server: Server) -> AbstractContextManager[str]:
    """A proxy that has a server below PATH."""
    return serving(type("Proxy", (_Proxy,), {"port": server.port}))


def _hear_ctrl_c() -> None:
    """A process started in the background of a script is deaf to Ctrl-C otherwise."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
