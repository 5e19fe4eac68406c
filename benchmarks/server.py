"""The page in a process of its own: started, asked over HTTP as a browser asks, and asked for what only it can know."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playground.runs.engines.children import NICENESS, NICENESS_VARIABLE
from playground.runs.orders import WORKING

ROOT = Path(__file__).parents[1]
ROUTES = "/gradio_api/playground"
TOKEN = "benchmark"  # whose the runs are that are made here
ENDLESS = {"steps": 100_000, "schedule": "constant", "learning_rate": 0.003}
PIPES: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
PATIENCE = 60.0  # seconds that a start or an end may take


class Server:
    """The page with a pipe to the process that serves it (served.py). Open while the `with` block lasts."""

    def __enter__(self) -> Server:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        command = [sys.executable, "-m", "benchmarks.served", self._folder.name, str(self.port)]
        self._process = subprocess.Popen(command, cwd=ROOT, env=_environment(), **PIPES)
        self._answer()
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.stdin.close()  # its sign to leave
        _end(self._process)
        self._folder.cleanup()

    def ask(self, do: str, **values: Any) -> Any:
        """Calls a method of served.Control there; waits for its answer. Raises RuntimeError with what went wrong there."""
        print(json.dumps({"do": do, **values}), file=self._process.stdin, flush=True)
        return self._answer()

    def held(self) -> dict[str, int | None]:
        """Returns the bytes of memory of the server and all of its processes (PSS: what they share counts once), and the threads and
        open files of the process that serves; None each where the system doesn't say (Linux does)."""
        about = Path("/proc") / str(self._process.pid)
        try:
            memory = sum(map(_pss, _descendants(self._process.pid)))
            return {"bytes": memory, "threads": len([*(about / "task").iterdir()]), "files": len([*(about / "fd").iterdir()])}
        except OSError:
            return dict.fromkeys(("bytes", "threads", "files"))

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the server has gone"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["answer"]


@contextmanager
def endless(server: Server, knobs: dict[str, Any]) -> Iterator[str]:
    """A run that trains for as long as the block lasts, from its tenth step on; its id."""
    run = server.ask("create", knobs=knobs | ENDLESS)
    while (state := server.ask("progress_of", runs=[run]))["steps"][0] < 10:
        if state["statuses"][0] not in WORKING:
            raise RuntimeError(f"the run is {state['statuses'][0]}")
        time.sleep(0.05)
    yield run
    server.ask("drop", run=run)


@contextmanager
def app(port: int) -> Iterator[None]:
    """`python app.py` on this port, with a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        environment = _environment() | {"PORT": str(port), "PLAYGROUND_DATA": folder}
        process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            _end(process)


class Client:
    """One visitor's connection, kept open between requests as a browser does."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def get(self, path: str, **parameters: object) -> tuple[bytes, float]:
        """Returns (body, seconds from asking to its last byte). Raises OSError or HTTPException without an answer, ValueError on a
        refusal."""
        started = time.perf_counter()
        self._connection.request("GET", f"{path}?{urlencode(parameters)}" if parameters else path)
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - started
        if answer.status != 200 or body.startswith(b'{"error"'):
            raise ValueError(f"{path}: {answer.status} {body[:200]!r}")
        return body, took

    def close(self) -> None:
        self._connection.close()


def wait_for_answer(port: int) -> None:
    """Until the page is sent. Raises TimeoutError."""
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
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


def _end(process: subprocess.Popen) -> None:
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _descendants(pid: int) -> list[int]:
    """Returns a process and all that it started, directly or not."""
    children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    return [pid, *(process for child in children for process in _descendants(child))]


def _pss(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
