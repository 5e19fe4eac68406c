"""The gate: every request is looked up in the table of rights before anything is done for it, and whatever goes wrong behind it is one
sentence with a key. What is closed, what is unknown and what is forbidden are answered alike, to the last byte.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Mapping
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event
from playground.ui.address import proxies
from playground.ui.rights import Right, right_to, row_of
from playground.words import preferred

log = logging.getLogger(__name__)
AGAIN = 10  # seconds after which to ask once more where nobody knows when there is room
LONGEST_PATH = 255  # bytes: no file has a longer name, and the system stumbles over one
GRADIOS = (b"page", b"deep_link")
FORWARDED, PREFIXED = b"x-forwarded-host", b"x-forwarded-prefix"
NAMING = (FORWARDED, PREFIXED, b"x-gradio-server")  # headers that say where the page is; Gradio makes the address of everything from them
HOST = re.compile(rb"([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?(,.*)?")  # what a proxy says that it was called, which is the first of several
PATH = re.compile(rb"(/[\w.~-]+)+/?")  # and at which path of it the page is
Check = Callable[[Request], bool]


class Gate:
    """Around the app. `checks` says of rights that a request alone can prove whether it does, such as the operator's; a right that none
    of them knows is proved by what stands behind the gate, but OPERATOR, without a check, is nobody's."""

    def __init__(self, app: ASGIApp, checks: Mapping[Right, Check] | None = None, absent: Container[str] = ()) -> None:
        """`absent` are paths of the table that this server does not have."""
        self.app, self._absent, self._checks = app, absent, {Right.OFF: _nobody, Right.OPERATOR: _nobody, **(checks or {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # the page has none
            return await send({"type": "websocket.close", "code": 1000})
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request, begun, over = Request(scope), False, False

        async def passed(message: Message) -> None:
            nonlocal begun, over
            begun = begun or message["type"] == "http.response.start"
            over = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        try:
            if answer := self._turned_away(request):
                return await answer(scope, receive, send)
            await self.app(_ours(scope), receive, passed)
        except ClientDisconnect:
            pass
        except Exception as error:
            if not isinstance(error.__cause__, HTTPException):  # which Gradio's streams raise when they have told of it already
                event(log, "request_failed", logging.ERROR, error, route=row_of(get_route_path(scope)))
            if not begun:
                await told(Refusal("page.went_wrong"), 500, request)(scope, receive, send)
            elif not over:
                await send({"type": "http.response.body", "body": b""})

    def _turned_away(self, request: Request) -> Response | None:
        path = get_route_path(request.scope)
        right, methods = right_to(request.method, path)
        absent = not methods or path in self._absent or len(path.encode()) > LONGEST_PATH
        if absent or (right is not Right.OFF and not self._checks.get(right, _anybody)(request)):
            return not_there(request)
        if right is Right.OFF:
            return told(Refusal("page.not_there"), 405, request, {"allow": ", ".join(methods)})
        return None


def _ours(scope: Scope) -> Scope:
    """Of the page's address, what is ours: Gradio would show a page of its own, or a state that somebody kept. Anybody
    can say how we are called: a proxy is believed where PLAYGROUND_PROXIES says that there is one, and where it names a host or a path."""
    said, headers = dict(scope["headers"]), [(name, value) for name, value in scope["headers"] if name not in NAMING]
    host, path = (_believed(said.get(name, b""), shape) for name, shape in ((FORWARDED, HOST), (PREFIXED, PATH)))
    path = path.rstrip(b"/")
    if path:  # Gradio knows no such header, and takes what follows the host for a path
        host = (host or _believed(said.get(b"host", b""), HOST)).partition(b",")[0]
        scope = {**scope, "root_path": path.decode()}
    scope = {**scope, "headers": [*headers, (FORWARDED, host + path)] if host else headers}
    if get_route_path(scope) not in ("", "/", "/config"):
        return scope
    parts = scope["query_string"].split(b"&")
    return {**scope, "query_string": b"&".join(part for part in parts if unquote_to_bytes(part.partition(b"=")[0]) not in GRADIOS)}


def _believed(said: bytes, shape: re.Pattern[bytes]) -> bytes:
    return said if proxies() > 0 and shape.fullmatch(said) else b""


def _nobody(request: Request) -> bool:
    return False


def _anybody(request: Request) -> bool:
    return True


def not_there(request: Request) -> Response:
    """For what there is not, and for what is not the asker's."""
    return told(Refusal("page.not_there"), 404, request)


def told(refusal: Refusal, status: int, request: Request, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal with a status, in the language of the request; with `detail` too, which is what Gradio's script shows."""
    sentence = refusal.say(preferred(request.headers.get("Accept-Language", ""), request.query_params.get("lang", "")))
    body = orjson.dumps({"error": sentence, "detail": sentence, "key": refusal.key})
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def handlers() -> dict[type[Exception], Callable]:
    """For the app: what it says where Gradio and FastAPI have statuses and no sentences."""
    return {HTTPException: _status, RequestValidationError: _unfit}


async def _status(request: Request, error: HTTPException) -> Response:
    if error.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN):
        return not_there(request)
    if error.status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # the queue is full
        return told(Refusal("page.too_many_calls", seconds=AGAIN), HTTPStatus.TOO_MANY_REQUESTS, request, {"Retry-After": str(AGAIN)})
    key = "page.went_wrong" if error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR else "page.not_a_command"
    return told(Refusal(key), error.status_code, request, error.headers)


async def _unfit(request: Request, error: RequestValidationError) -> Response:
    return told(Refusal("page.not_a_command"), 400, request)
