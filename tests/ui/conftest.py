"""One app in this process for all tests of the page's Python side, over an empty store and the shipped runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from benchmarks.server import free_port
from playground.features.shared import uploading
from playground.features.shared.queries.reader import Reader
from playground.reading.uploads import read_files
from playground.rooms import registry
from playground.runs.machine_speed import warm_up_and_measure
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.command import ACTIONS, Command, act
from playground.ui.server import start


@dataclass
class Site:
    """The running app and what is behind it."""

    runs: Runs
    reader: Reader
    app: FastAPI
    url: str
    http: httpx.Client
    demo: Any

    def get(self, path: str, /, **parameters: Any) -> httpx.Response:
        return self.http.get(f"{PREFIX}/{path}", params=parameters)

    def panel(self, name: str, /, **parameters: Any) -> dict:
        answer = self.get(f"panel/{name}", **parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def act(self, token: str, action: str, run: str = "", **values: Any) -> dict:
        """What the page's buttons do. Raises Refusal."""
        return act(self.runs, Command.parse({"action": action, "run": run, **values}, token, "en"), ACTIONS)

    def train(self, token: str, knobs: dict[str, Any]) -> Run:
        return self.runs.get(self.act(token, "train", knobs=knobs)["run"])

    def command(self, message: Any, token: str | None, language: str = "en", **headers: str) -> httpx.Response:
        """The same from outside: JSON, or bytes that are meant as such."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()  # NaN and infinity as Python writes them
        sent = {"X-Playground-Token": token} if token is not None else {}
        return self.http.post(f"{PREFIX}/command", params={"lang": language}, content=body, headers=sent | headers)


OPENED: list[Site] = []


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    with serving(Runs(tmp_path_factory.mktemp("runs"))) as opened:
        OPENED.append(opened)
        yield opened


@contextmanager
def serving(runs: Runs) -> Iterator[Site]:
    reader = Reader(runs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "OPENED", 10**6)  # rooms from one address: all tests of a file are one
        demo, app, url = start(runs, reader, port=free_port())
    with httpx.Client(base_url=url.rstrip("/"), timeout=60) as http:
        yield Site(runs, reader, app, url, http, demo)
    demo.close()
    reader.close()
    runs.close()


@pytest.fixture(scope="module", autouse=True)
def _read_here():
    """Uploads are read in this process; that one of their own reads the same, see tests/runs/test_upload_process.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uploading, "upload_process", SimpleNamespace(read=lambda files, choices, asker: read_files(files, choices)))
        yield


@pytest.fixture(scope="module", autouse=True)
def _at_rest():
    """When a file is over no run of it is left, and nothing trains: the next one may count what is computed in this process."""
    yield
    for site in OPENED:
        warm_up_and_measure("cpu")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(site.runs, "_get_owned", lambda id, token, get=site.runs.get: get(id))
            for run in site.runs.list_unshipped():
                site.runs.delete(run.id, "")
