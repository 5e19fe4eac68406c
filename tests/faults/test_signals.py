"""Signals, as Docker, a Space, systemd, a terminal and a keyboard send them to a server at work: everything is saved, and in time."""

import itertools
import json
import signal
import subprocess
import threading
import time

import httpx
import pytest

from tests.browser.server import Server

RUNS = 8
SECONDS = 10.0  # after which Docker kills
HEADERS = [{"X-Playground-Token": f"{number:032d}"} for number in range(RUNS)]
WAYS = {"SIGTERM": ["app.py"], "SIGHUP": ["app.py"], "SIGINT": ["-m", "playground", "serve"]}

pytestmark = [pytest.mark.night, pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no such signals here")]


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.stop()


def ask(server, path, headers, **options):
    return httpx.request("POST" if options else "GET", f"{server.url}gradio_api/playground/{path}", headers=headers, timeout=60, **options)


def train_all(server):
    """Everybody's run, once all have trained a little."""
    message = {"action": "train", "run": "", "knobs": {"steps": 20_000}}
    runs = [ask(server, "command", headers, json=message).json()["run"] for headers in HEADERS]
    end = time.monotonic() + 60
    while not all(run["step"] for run in (told(server, run) for run in runs)):
        assert time.monotonic() < end, server.said()
    return runs


def told(server, run):
    """The first event of a run's stream."""
    with httpx.stream("GET", f"{server.url}gradio_api/playground/live/{run}", timeout=60) as answer:
        return json.loads(next(line for line in answer.iter_lines() if line.startswith("data: ")).removeprefix("data: "))


def look(server, run, headers, over):
    """Somebody who reads one thing after the other."""
    for number in itertools.takewhile(lambda _: not over.is_set(), itertools.count()):
        try:
            ask(server, f"panel/sentence?run={run}&text=zwei+{number}", headers)
        except httpx.HTTPError:
            return


@pytest.mark.fault(
    "SIGTERM, SIGHUP or SIGINT with eight runs at work, and two more signals at once",
    "gone within 10 s with code 0; all runs on the disk as they were",
)
@pytest.mark.parametrize("name", WAYS)
def test_everything_is_saved_in_time_whoever_asks_and_however_often(server, name):
    server.start(WAYS[name])
    runs, over = train_all(server), threading.Event()
    readers = [threading.Thread(target=look, args=(server, run, headers, over)) for run, headers in zip(runs[:4], HEADERS, strict=False)]
    for reader in readers:
        reader.start()
    try:
        started = time.monotonic()
        for number in (getattr(signal, name), signal.SIGTERM, signal.SIGINT):  # the first one counts
            server.send(number)
        try:
            code = server.ended(SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail(f"after {time.monotonic() - started:.0f} s it was still there")
    finally:
        over.set()
        for reader in readers:
            reader.join()
    assert code == 0, server.said()
    for run in runs:
        card = json.loads((server.folder / "data" / "runs" / run / "run.json").read_text())
        assert card["status"] == "interrupted"
        assert card["step"] == card["checkpoint_step"] > 0
        assert card["message"]["values"] == {"step": card["step"]}
    assert "Traceback" not in server.said()
