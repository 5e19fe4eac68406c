"""Signals to a server at work, after which everything is saved, in time; and tabs opened and closed without end, which leave nothing."""

import contextlib
import itertools
import json
import signal
import threading
import time

import httpx
import pytest

import benchmarks.server
from tests.browser.server import Server
from tests.runs.tiny import wait

RUNS = 8
SECONDS = 10.0  # after which Docker kills
HEADERS = [{"X-Playground-Token": f"{number:032d}"} for number in range(RUNS)]
WAYS = {"SIGTERM": ["app.py"], "SIGHUP": ["app.py"], "SIGINT": ["-m", "playground", "serve"]}

pytestmark = [pytest.mark.night, pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no such signals here")]
TABS, ROWS = 200, 6
FEW, MORE = 4, 15_000_000  # handles that come and go; bytes of the last 66 tabs, of which Gradio's own sessions took 23 MB


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.stop()


def ask(server, path, headers, **options):
    return httpx.request("POST" if options else "GET", f"{server.url}gradio_api/playground/{path}", headers=headers, timeout=60, **options)


def first_event(server, run):
    with httpx.stream("GET", f"{server.url}gradio_api/playground/live/{run}", timeout=60) as answer:
        return json.loads(next(line for line in answer.iter_lines() if line.startswith("data: ")).removeprefix("data: "))


def look(server, run, headers):
    """One visitor, reading one thing after the other until the server is gone."""
    with contextlib.suppress(httpx.HTTPError):
        for number in itertools.count():
            ask(server, f"panel/sentence?run={run}&text=zwei+{number}", headers)


@pytest.mark.fault("SIGTERM, SIGHUP or SIGINT with eight runs at work, and two more signals at once",
                   "gone within 10 s with code 0; all runs on the disk as they were")  # fmt: skip
@pytest.mark.parametrize("name", WAYS)
def test_everything_is_saved_in_time_whoever_asks_and_however_often(server, name):
    server.start(WAYS[name])
    message = {"action": "train", "run": "", "knobs": {"steps": 20_000}}
    runs = [ask(server, "command", headers, json=message).json()["run"] for headers in HEADERS]
    wait(lambda: all(first_event(server, run)["step"] for run in runs))
    readers = [threading.Thread(target=look, args=(server, run, headers)) for run, headers in zip(runs[:4], HEADERS, strict=False)]
    for reader in readers:
        reader.start()
    for number in (getattr(signal, name), signal.SIGTERM, signal.SIGINT):  # the first one counts
        server.send(number)
    try:
        code = server.ended(SECONDS)
    finally:
        server.stop()
        for reader in readers:
            reader.join()
    assert code == 0, server.logged()
    for run in runs:
        card = json.loads((server.folder / "data" / "runs" / run / "run.json").read_text())
        assert card["status"] == "interrupted"
        assert card["step"] == card["checkpoint_step"] > 0
        assert card["message"]["values"] == {"step": card["step"]}
    assert "Traceback" not in server.logged()


def visit(server, number):
    """A tab from its page to its first update, with Gradio's session, heartbeat and load events, and its end."""
    root, session = f"{server.url}gradio_api", f"visitor{number}"
    with httpx.Client(timeout=60) as client, client.stream("GET", f"{root}/heartbeat/{session}"):
        client.get(server.url)
        client.get(f"{root}/playground/boot")
        for event in client.get(f"{server.url}config").json()["dependencies"]:
            if event["backend_fn"] and any(trigger == "load" for _, trigger in event["targets"]):
                values = {"data": [""] * len(event["inputs"]), "fn_index": event["id"], "session_hash": session}
                client.post(f"{root}/queue/join", json=values)
                with client.stream("GET", f"{root}/queue/data?session_hash={session}") as answer:
                    assert any("process_completed" in line for line in answer.iter_lines())
        first_event(server, "reverse")


@pytest.mark.fault("two hundred tabs opened and closed", "no thread and no file handle stays, and hardly any memory")
def test_two_hundred_tabs_leave_what_thirty_left():
    rows = []
    with benchmarks.server.Server() as server:
        if server.held()["bytes"] is None:
            pytest.skip("only Linux says what a process holds")
        for number in range(1, TABS + 1):
            visit(server, number)
            if number % (TABS // ROWS) == 0:
                time.sleep(1.0)
                rows.append({"tabs": number, **server.held(), "sessions": httpx.get(f"{server.url}health").json()["sessions"]})
    first, *_, full, _, last = rows
    assert last["tabs"] - first["tabs"] > TABS / 2
    assert last["threads"] <= first["threads"] + FEW
    assert last["files"] <= first["files"] + FEW
    assert last["sessions"] == full["sessions"] == 0
    assert last["bytes"] - full["bytes"] < MORE
