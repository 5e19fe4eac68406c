"""How the server is, for whoever starts and watches it: no names, no ids, nothing that must not be public."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from playground.runs.health import FAILING, health
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PATHS = ("/health", f"{PREFIX}/health")  # a Space forwards only addresses that begin as Gradio's do


def routes(runs: Runs, counts: Mapping[str, Callable[[], int]]) -> list[Route]:
    """`counts` are further numbers by their names. The answer waits for nothing: no thread, no disk, no lock that is held for long."""
    began = time.monotonic()

    async def answer(request: Request) -> Response:
        said = health(runs)
        found = {
            "status": said["status"],
            "version": app_version(),
            "uptime_seconds": round(time.monotonic() - began),
            **{name: count() for name, count in counts.items()},
            **said,
        }
        code = 503 if said["status"] == FAILING else 200
        return Response(orjson.dumps(found), code, {"Cache-Control": "no-store"}, "application/json")

    return [Route(path, answer, methods=["GET"]) for path in PATHS]


@cache
def app_version() -> str:
    """As pyproject.toml says, which stands beside a clone and in what was installed; "" where there is neither."""
    with suppress(OSError, TypeError):
        return re.search(r'^version = "(.+)"$', PROJECT.read_text(encoding="utf-8"), re.MULTILINE)[1]
    with suppress(PackageNotFoundError):
        return version("transformer-playground")
    return ""
