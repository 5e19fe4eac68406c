"""ASGI middleware that looks every request up in the table of rights before anything is done for it, and turns every error behind it into
one sentence with a key. Closed, unknown and forbidden paths get the same response, to the last byte."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
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
from playground.ui.network import count_proxies
from playground.ui.rights import OFF, Right, Table
from playground.words import preferred

log = logging.getLogger(__name__)
RETRY_AFTER_S = 10  # Retry-After where the time until there is room is unknown
LONGEST_PATH = 255  # bytes: no file has a longer name, and the operating system rejects one
GRADIO_FIELDS = (b"page", b"deep_link")
FORWARDED, PREFIXED = b"x-forwarded-host", b"x-forwarded-prefix"
LOCATION_HEADERS = (FORWARDED, PREFIXED, b"x-gradio-server")  # headers that say where the page is; Gradio builds every address from them
HOST = re.compile(rb"([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?(,.*)?")  # a proxy's name for the host: the first of several
PATH = re.compile(rb"(/[\w.~-]+)+/?")  # the path under which the proxy serves the page
Check = Callable[[Request], bool]


class Gate:
    """ASGI middleware. `checks` decides the rights that a request alone can prove, such as the operator's. Handlers behind the gate prove
    rights without a check; OPERATOR without a check is denied."""

    def __init__(self, app: ASGIApp, table: Table, checks: Mapping[Right, Check] | None = None) -> None:
        self.app, self._table, self._checks = app, table, {Right.OFF: _deny, Right.OPERATOR: _deny, **(checks or {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # the page has none
            return await send({"type": "websocket.close", "code": 1000})
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request, has_started, is_complete = Request(scope), False, False

        async def forward(message: Message) -> None:
            nonlocal has_started, is_complete
            has_started = has_started or message["type"] == "http.response.start"
            is_complete = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        try:
            if answer := self._reject(request):
                return await answer(scope, receive, send)
            await self.app(_strip_scope(scope), receive, forward)
        except ClientDisconnect:
            pass
        except Exception as error:
            if not isinstance(error.__cause__, HTTPException):  # Gradio's streams raise it after sending the error themselves
                event(log, "request_failed", logging.ERROR, error, route=self._pattern(scope))
            if not has_started:
                await respond_refusal(Refusal("page.went_wrong"), 500, request)(scope, receive, send)
            elif not is_complete:
                await send({"type": "http.response.body", "body": b""})

    def _reject(self, request: Request) -> Response | None:
        rules, right = self._table.find_rules(request.scope), self._table.rule_of(request.scope).right
        absent = not rules or len(get_route_path(request.scope).encode()) > LONGEST_PATH
        if absent or (right is not OFF and not self._checks.get(right, _allow)(request)):
            return respond_not_found(request)
        if right is OFF:
            return respond_refusal(Refusal("page.not_there"), 405, request, {"allow": ", ".join(sorted(rules))})
        return None

    def _pattern(self, scope: Scope) -> str:
        """Returns the path's pattern, free of user input; "" for an unknown path."""
        return next((rule.path for rule in self._table.find_rules(scope).values()), "")


def _strip_scope(scope: Scope) -> Scope:
    """Drops parameters of the page's address that would open another page of Gradio's or a saved state. Clients can forge forwarding
    headers: a proxy's are trusted only where PLAYGROUND_PROXIES declares one and they name a host or a path."""
    received, headers = dict(scope["headers"]), [(name, value) for name, value in scope["headers"] if name not in LOCATION_HEADERS]
    host, path = (_trust_header(received.get(name, b""), shape) for name, shape in ((FORWARDED, HOST), (PREFIXED, PATH)))
    path = path.rstrip(b"/")
    if path:  # Gradio doesn't know the prefix header, and reads a path behind the host
        host = (host or _trust_header(received.get(b"host", b""), HOST)).partition(b",")[0]
        scope = {**scope, "root_path": path.decode()}
    scope = {**scope, "headers": [*headers, (FORWARDED, host + path)] if host else headers}
    if get_route_path(scope) not in ("", "/", "/config"):
        return scope
    parts = scope["query_string"].split(b"&")
    return {**scope, "query_string": b"&".join(part for part in parts if unquote_to_bytes(part.partition(b"=")[0]) not in GRADIO_FIELDS)}


def _trust_header(header: bytes, shape: re.Pattern[bytes]) -> bytes:
    return header if count_proxies() > 0 and shape.fullmatch(header) else b""


def _deny(request: Request) -> bool:
    return False


def _allow(request: Request) -> bool:
    return True


def respond_not_found(request: Request) -> Response:
    """Returns 404, for missing resources and for those of another visitor alike."""
    return respond_refusal(Refusal("page.not_there"), 404, request)


def respond_refusal(refusal: Refusal, status: int, request: Request, headers: Mapping[str, str] | None = None) -> Response:
    """Returns a refusal with a status, in the request's language; with `detail` too, which Gradio's script shows."""
    sentence = refusal.say(preferred(request.headers.get("Accept-Language", ""), request.query_params.get("lang", "")))
    body = orjson.dumps({"error": sentence, "detail": sentence, "key": refusal.key})
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def exception_handlers() -> dict[type[Exception], Callable]:
    """Returns exception handlers for the app, with sentences where Gradio and FastAPI have only a status."""
    return {HTTPException: _handle_status, RequestValidationError: _handle_invalid}


async def _handle_status(request: Request, error: HTTPException) -> Response:
    if error.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN):
        return respond_not_found(request)
    if error.status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # the queue is full
        refusal, headers = Refusal("page.too_many_calls", seconds=RETRY_AFTER_S), {"Retry-After": str(RETRY_AFTER_S)}
        return respond_refusal(refusal, HTTPStatus.TOO_MANY_REQUESTS, request, headers)
    key = "page.went_wrong" if error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR else "page.not_a_command"
    return respond_refusal(Refusal(key), error.status_code, request, error.headers)


async def _handle_invalid(request: Request, error: RequestValidationError) -> Response:
    return respond_refusal(Refusal("page.not_a_command"), 400, request)
