"""`POST {PREFIX}/command`: the one door by which the page changes something. Who may come in, and what is taken from them.

A command is a small JSON object (see actions.py), sent by a page of this very server with the visitor's token in a header. A refusal is an
answer like another; what no page of ours sends gets a status that says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import copy
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.config import Refusal
from playground.runs.registry import Runs
from playground.ui.actions import Command, act, answer
from playground.ui.assets import PREFIX
from playground.ui.view import language

TOKEN = "X-Playground-Token"
STATUSES = {"page.not_from_here": 403, "runs.no_token": 403, "page.not_a_command": 400}


def route(runs: Runs) -> Route:
    async def endpoint(request: Request) -> Response:
        said = language(request.query_params)
        try:
            if refusal := turned_away(request.headers):
                raise refusal
            command = Command.parse(await message(request), token_of(request.headers), said)
        except Refusal as refusal:
            return told({"error": refusal.say(said), "key": refusal.key})
        except ClientDisconnect:
            return Response(status_code=400)
        return told(await run_in_threadpool(answer, said, lambda: act(runs, command)))

    return Route(f"{PREFIX}/command", endpoint, methods=["POST"])


async def in_thread(work: Callable, *asked: Any) -> Any:
    """What `work` returns, on a thread, or the Refusal that it raises: as a copy. Through the thread's future the refusal itself would hold
    the frames it came from, with all that was looked at there, and they it, until Python's collector comes."""

    def done() -> Any:
        try:
            return work(*asked)
        except Refusal as refusal:
            return copy(refusal)

    return await run_in_threadpool(done)


def turned_away(headers: Headers) -> Refusal | None:
    """Why this can't come from the page; None when it may. A browser says from where it sends something, and no other page can make it lie;
    and a header of our own is no part of a form."""
    if not same_origin(headers):
        return Refusal("page.not_from_here")
    return None if TOKEN in headers else Refusal("runs.no_token")


def token_of(headers: Headers) -> str:
    """The visitor's token, which says whose runs may be changed; "" where none was sent."""
    return headers.get(TOKEN, "")[:128]


def same_origin(headers: Headers) -> bool:
    """Whether a page of this server sends it, or no browser at all."""
    site, origin = headers.get("Sec-Fetch-Site"), headers.get("Origin")
    if site is not None:
        return site == "same-origin"
    hosts = {headers.get("Host"), os.environ.get("SPACE_HOST")}
    if origin is None:  # no browser
        return True
    try:
        return urlsplit(origin).netloc in hosts - {None, ""}
    except ValueError:  # no address
        return False


async def message(request: Request) -> Any:
    """What the body of a request says. Raises Refusal for what is no JSON."""
    return _json(await request.body())


def _json(body: bytes) -> Any:
    """What a body says. NaN and infinity pass, since a knob says itself what numbers it takes; half characters, which nothing could be
    written with, don't. Raises Refusal."""
    try:
        said = json.loads(body)
        json.dumps(said, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refusal("page.not_a_command") from None
    return said


def told(answer: dict[str, Any]) -> Response:
    """An answer, with the status that its refusal has."""
    return JSONResponse(answer, STATUSES.get(answer.get("key", ""), 200), {"Cache-Control": "no-store"})
