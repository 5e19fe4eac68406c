"""The health endpoint, for whatever starts and monitors the server: no names, no ids, nothing private."""

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

from playground.runs.health import FAILING, health
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX
from playground.ui.rights import PUBLIC, GuardedRoute

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PATHS = ("/health", f"{PREFIX}/health")  # a Space forwards only addresses that begin as Gradio's do


def health_routes(runs: Runs, counts: Mapping[str, Callable[[], int]]) -> list[GuardedRoute]:
    """Returns the routes. `counts` adds numbers by name. The response never blocks: no thread, no disk, no lock held for long."""
    began = time.monotonic()

    async def respond(request: Request) -> Response:
        health_report = health(runs)
        report = {
            "status": health_report["status"],
            "version": app_version(),
            "uptime_seconds": round(time.monotonic() - began),
            **{name: count() for name, count in counts.items()},
            **health_report,
        }
        code = 503 if health_report["status"] == FAILING else 200
        return Response(orjson.dumps(report), code, {"Cache-Control": "no-store"}, "application/json")

    return [GuardedRoute(path, respond, PUBLIC, cost=0) for path in PATHS]


@cache
def app_version() -> str:
    """Returns the version in pyproject.toml, beside a clone or in the installed package; "" without either."""
    with suppress(OSError, TypeError):
        return re.search(r'^version = "(.+)"$', PROJECT.read_text(encoding="utf-8"), re.MULTILINE)[1]
    with suppress(PackageNotFoundError):
        return version("transformer-playground")
    return ""
