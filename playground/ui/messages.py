"""Messages of visitors to a route: the check of their origin, their JSON, and the response."""

import json
from collections.abc import Awaitable, Callable
from copy import copy as duplicate
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from playground.config import Refusal
from playground.features.shared.view import language
from playground.ui.delivery import ORIGIN
from playground.ui.network import list_space_hosts

TOKEN = "X-Playground-Token"
STATUSES = {"page.not_from_here": 403, "runs.no_token": 403, "page.not_a_command": 400}


async def run_in_thread(work: Callable, *arguments: Any) -> Any:
    """Runs `work` on a thread. Returns its result, or a copy of the Refusal it raises: the original, kept by the thread's future, would
    hold its stack frames and all their objects until the garbage collector runs."""

    def call() -> Any:
        try:
            return work(*arguments)
        except Refusal as refusal:
            return duplicate(refusal)

    return await run_in_threadpool(call)


def check_origin(headers: Headers) -> Refusal | None:
    """Returns the refusal of a cross-site request (CSRF), else None. Browsers send their origin truthfully, and a form can't send a header
    of our own."""
    if not same_origin(headers):
        return Refusal("page.not_from_here")
    return None if TOKEN in headers else Refusal("runs.no_token")


def token_of(headers: Headers) -> str:
    """Returns the visitor's token, which proves ownership of runs; "" without one."""
    return headers.get(TOKEN, "")[:128]


def same_origin(headers: Headers) -> bool:
    """Whether a page of this server sent the request, or a client that is no browser."""
    site, origin = headers.get("Sec-Fetch-Site"), headers.get(ORIGIN.decode(), headers.get("Origin"))
    if site is not None:
        return site == "same-origin"
    hosts = {headers.get("Host"), *list_space_hosts()}
    if origin is None:  # not a browser
        return True
    try:
        return urlsplit(origin).netloc in hosts - {None, ""}
    except ValueError:  # not an address
        return False


async def read_message(request: Request) -> Any:
    """Reads a request's JSON. NaN and infinity pass, since knobs check their numbers; lone surrogates, which can't be encoded, don't.
    Raises Refusal for invalid JSON."""
    body = await request.body()
    try:
        parsed = json.loads(body)
        json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refusal("page.not_a_command") from None
    return parsed


async def answer_post(
    request: Request, do: Callable[[Any], dict[str, Any]], read: Callable[[Request], Awaitable[Any]] = read_message
) -> Response:
    """Answers a POST of our own page: what it asks is done on a thread."""
    chosen = language(request.query_params)
    try:
        if refusal := check_origin(request.headers):
            raise refusal
        message = await read(request)
        return respond(await run_in_thread(do, message), chosen)
    except Refusal as refusal:
        return respond(refusal, chosen)
    except ClientDisconnect:
        return Response(status_code=400)


def respond(answer: dict[str, Any] | Refusal, chosen: str) -> Response:
    """Returns an answer, or a refusal in this language, as JSON with its status."""
    answer = {"error": answer.say(chosen), "key": answer.key} if isinstance(answer, Refusal) else answer
    return JSONResponse(answer, STATUSES.get(answer.get("key", ""), 200), {"Cache-Control": "no-store"})
