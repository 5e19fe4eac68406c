"""One app in this process for all tests of the page's Python side, over an empty store and the shipped runs."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.routes import PREFIX
from playground.ui.server import start


@dataclass
class Site:
    """The running app and what is behind it."""

    runs: Runs
    reader: Reader
    app: FastAPI
    url: str
    http: httpx.Client

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        """One of our own routes."""
        return self.http.get(f"{PREFIX}/{path}", params=parameters)

    def panel(self, name: str, **parameters: Any) -> dict:
        answer = self.get(f"panel/{name}", **parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runs = Runs(tmp_path_factory.mktemp("runs"))
    reader = Reader(runs)
    demo, app, url = start(runs, reader, port=port)
    with httpx.Client(base_url=url.rstrip("/"), timeout=60) as http:
        yield Site(runs, reader, app, url, http)
    demo.close()
    reader.close()
    runs.close()
