"""The page in a process of its own: started, asked over HTTP as a browser asks, and by its operator for what no visitor sees."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from playground.runs.engines.children import NICENESS, NICENESS_VARIABLE
from playground.runs.memory import descendants, own_bytes
from playground.runs.orders import WORKING
from playground.ui.messages import TOKEN as HEADER

ROOT = Path(__file__).parents[1]
ROUTES = "/gradio_api/playground"
TOKEN = "benchmark"  # whose the runs are that are made here
OPERATOR = "operator of the benchmarks"
ENDLESS = {"steps": 100_000, "schedule": "constant", "learning_rate": 0.003}
PATIENCE = 60.0  # seconds that a start or an end may take


class Server:
    """The page, and what its operator may ask for. Open while the `with` block lasts."""

    def __enter__(self) -> Server:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self._app = app(self.port)
        self._pid = self._app.__enter__()
        wait_for_answer(self.port)
        return self

    def __exit__(self, *problem: object) -> None:
        self._app.__exit__(*problem)

    def act(self, action: str, run: str = "", **values: Any) -> dict[str, Any]:
        """Does what a visitor's page does to their runs. Raises ValueError on a refusal."""
        return self._post("command", json.dumps({"action": action, "run": run, **values}))

    def list_unfinished(self) -> dict[str, dict[str, Any]]:
        """Returns the runs that are unfinished at one moment, with "status" and "step", by names that stay the same."""
        return {row["run"]: row for row in self._post("operator", "")["unfinished"]}

    def held(self) -> dict[str, int | None]:
        """Returns the bytes of memory of the server and all of its processes (PSS: what they share counts once), and the threads and
        open files of the process that serves; None each where the system doesn't say (Linux does)."""
        about = Path("/proc") / str(self._pid)
        try:
            memory = sum(map(own_bytes, (self._pid, *descendants(self._pid))))
            return {"bytes": memory, "threads": len([*(about / "task").iterdir()]), "files": len([*(about / "fd").iterdir()])}
        except OSError:
            return dict.fromkeys(("bytes", "threads", "files"))

    def _post(self, path: str, body: str) -> dict[str, Any]:
        client = Client(self.port)
        try:
            return json.loads(client.ask(f"{ROUTES}/{path}", body, {HEADER: TOKEN, "Authorization": f"Bearer {OPERATOR}"})[0])
        finally:
            client.close()


def train(server: Server, knobs: dict[str, Any]) -> str:
    """Trains a new run to its end. Returns its id."""
    run = server.act("train", knobs=knobs)["run"]
    while server.list_unfinished():
        time.sleep(0.05)
    return run


@contextmanager
def endless(server: Server, knobs: dict[str, Any]) -> Iterator[str]:
    """A run that trains for as long as the block lasts, from its tenth step on; its id."""
    run = server.act("train", knobs=knobs | ENDLESS)["run"]
    while (state := next(iter(server.list_unfinished().values()), {"status": "ended", "step": 0}))["step"] < 10:
        if state["status"] not in WORKING:
            raise RuntimeError(f"the run is {state['status']}")
        time.sleep(0.05)
    yield run
    server.act("delete", run)


@contextmanager
def app(port: int) -> Iterator[int]:
    """`python app.py` on this port, with a folder of its own; the id of its process."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        environment = _environment() | {"PORT": str(port), "PLAYGROUND_DATA": folder, "PLAYGROUND_OPERATOR": OPERATOR}
        process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Client:
    """One visitor's connection, kept open between requests as a browser does."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def get(self, path: str, **parameters: object) -> tuple[bytes, float]:
        return self.ask(f"{path}?{urlencode(parameters)}" if parameters else path)

    def ask(self, path: str, body: str | None = None, headers: Mapping[str, str] = MappingProxyType({})) -> tuple[bytes, float]:
        """Returns (answer, seconds from asking to its last byte) to a GET, or with a body to a POST. Raises OSError or HTTPException
        without an answer, ValueError on a refusal."""
        started = time.perf_counter()
        self._connection.request("GET" if body is None else "POST", path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        took = time.perf_counter() - started
        if answer.status != 200 or text.startswith(b'{"error"'):
            raise ValueError(f"{path}: {answer.status} {text[:200]!r}")
        return text, took

    def close(self) -> None:
        self._connection.close()


def wait_for_answer(port: int, patience: float = PATIENCE, is_alive: Callable[[], bool] = lambda: True) -> None:
    """Until the page is sent. Raises TimeoutError, or when the server has ended."""
    until = time.perf_counter() + patience
    while time.perf_counter() < until and is_alive():
        client = Client(port)
        try:
            client.get("/")
            return
        except (OSError, HTTPException, ValueError):
            time.sleep(0.01)
        finally:
            client.close()
    raise TimeoutError("the app has not answered")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _environment() -> dict[str, str]:
    """Ours, without what would send the app elsewhere, and with the priorities of a class's server."""
    names = ("PORT", "GRADIO_SERVER_PORT", "GRADIO_SERVER_NAME", "GRADIO_ROOT_PATH", "SPACE_HOST", "SPACE_ID")
    return {name: value for name, value in os.environ.items() if name not in names} | {
        "NO_PROXY": "127.0.0.1,localhost", NICENESS_VARIABLE: str(NICENESS),
    }  # fmt: skip

