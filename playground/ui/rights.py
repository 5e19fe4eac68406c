"""Access control. Each route, listener and action declares its right where it is made: a GuardedRoute, `Listeners.add`, or the pair of a
right and a function. A route is looked up before anything is done for it, by a middleware that turns every error behind it into one
sentence with a key; a listener before its values are read (calls.py); an action is authorised here before it begins. Closed, unknown and
forbidden paths get the same response, to the last byte.

Everything undeclared is closed: a new route of Gradio's, and a forgotten one of ours, which a test finds.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, compile_path, get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import Refusal
from playground.features.shared import uploading
from playground.logs import event
from playground.rooms.registry import Rooms
from playground.rooms.room import require_teacher
from playground.runs.registry import Runs
from playground.ui.network import count_proxies
from playground.words import preferred

log = logging.getLogger(__name__)
RETRY_AFTER_S = 10  # Retry-After where the time until there is room is unknown
LONGEST_PATH = 255  # bytes: no file has a longer name, and the operating system rejects one
GRADIO_FIELDS = (b"page", b"deep_link")
FORWARDED, PREFIXED = b"x-forwarded-host", b"x-forwarded-prefix"
LOCATION_HEADERS = (FORWARDED, PREFIXED, b"x-gradio-server")  # headers that say where the page is; Gradio builds every address from them
HOST = re.compile(rb"([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?(,.*)?")  # a proxy's name for the host: the first of several
HTTPS = re.compile(rb"https(,.*)?")
PATH = re.compile(rb"(/[\w.~-]+)+/?")  # the path under which the proxy serves the page
Event = TypeVar("Event", bound=Mapping[str, Any])  # what Gradio returns of a connected event
API = "/gradio_api"
UPLOAD = f"{API}/upload"
CALL_BYTES = 20_000_000  # pasted sentences are part of a call, and as long as a file may be
UPLOAD_BYTES = 21 * 1024**2  # all files of one upload with their multipart headers


class Right(Enum):
    """The right a request needs. Without it the response is the same as for a missing resource."""

    PUBLIC = "public"  # every client
    LINK = "link"  # clients that know the run's unguessable id
    READER = "reader"  # readers of the sentences: their owner, and visitors with whom they are shared
    VISITOR = "visitor"  # visitors with a key
    OWNER = "owner"  # the visitor that made the run
    MEMBER = "member"  # members of the room, its teacher included
    TEACHER = "teacher"  # the visitor that opened the room
    OFF = "off"  # no client


PUBLIC, LINK, READER, VISITOR, OWNER, MEMBER, TEACHER, OFF = Right


@dataclass(frozen=True)
class Access:
    """The access rule of a route; GET includes HEAD."""

    method: str
    path: str
    right: Right
    cost: float = 1.0  # in requests, for the rate limits; 0 is never limited
    max_bytes: int = 32_768  # of a body; a run's settings are two thousand
    stream: str = ""  # a long-lived response: identified by a "visitor", an open "tab", or the "session" or "event" listened to
    is_queued: bool = False  # a call that waits in Gradio's queue


class GuardedRoute(Route):
    """A route of ours with its access rule; `rule` sets further fields of Access."""

    def __init__(self, path: str, endpoint: Callable, right: Right, method: str = "GET", **rule: Any) -> None:
        super().__init__(path, endpoint, methods=[method])
        self.access = Access(method, path, right, **rule)


FILE = 0.1  # cost of a file, which browsers cache

STREAMS = {"queue/data": "session", "heartbeat/{session_hash}": "tab"}

# Gradio's routes that the page, gradio_client and the snippets use.
GRADIO = (
    *(Access("GET", path, PUBLIC) for path in ("/", "/config", "/robots.txt")),
    *(Access("GET", path, PUBLIC, FILE) for path in ("/assets/{path:path}", "/static/{path:path}")),
    *(Access("GET", path, PUBLIC, FILE) for path in ("/theme.css", "/favicon.ico", "/manifest.json")),
    *(Access("GET", f"{API}/{path}", PUBLIC) for path in ("upload_progress", "app_id", "startup-events", "info")),
    *(Access("GET", f"{API}/{path}", PUBLIC, stream=stream) for path, stream in STREAMS.items()),
    *(Access("GET", f"{API}/call/{path}/{{event_id}}", PUBLIC, stream="event") for path in ("{api_name}", "v2/{api_name}")),
    Access("POST", f"{API}/run/{{api_name}}", PUBLIC, max_bytes=CALL_BYTES),
    *(
        Access("POST", f"{API}/{path}", PUBLIC, max_bytes=CALL_BYTES, is_queued=True)
        for path in ("queue/join", "call/{api_name}", "call/v2/{api_name}")
    ),
    Access("POST", f"{API}/cancel", PUBLIC),
    Access("POST", UPLOAD, PUBLIC, max_bytes=UPLOAD_BYTES),
)


RULES = "playground.rules"  # the rules of a request's path in its scope


class Table:
    """The access rules of our routes on this server and of Gradio's."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self.rules = (*(route.access for route in routes if isinstance(route, GuardedRoute)), *GRADIO)
        self._patterns = [(compile_path(rule.path)[0], rule) for rule in self.rules]

    def find(self, path: str) -> dict[str, Access]:
        """Returns the path's rules by method, of several the first, as its route; {} for an unknown path."""
        rules: dict[str, Access] = {}
        for pattern, rule in self._patterns:
            if pattern.match(path or "/"):
                rules.setdefault(rule.method, rule)
        return rules | ({"HEAD": rules["GET"]} if "GET" in rules else {})

    def find_rules(self, scope: Scope) -> dict[str, Access]:
        """Returns the rules of a request's path, searched once a request: the path below the root that the page is served at."""
        if RULES not in scope:
            scope[RULES] = self.find(get_route_path(scope))
        return scope[RULES]

    def rule_of(self, scope: Scope) -> Access:
        """Returns a request's rule; OFF for an unknown one."""
        return self.find_rules(scope).get(scope["method"]) or Access(scope["method"], "", OFF)


@dataclass(frozen=True)
class Listener:
    """A function behind a control or an endpoint, with the right to call it, its number of inputs, which of them are files, and
    whether it waits in Gradio's queue."""

    name: str
    right: Right
    inputs: int
    files: tuple[int, ...]
    is_queued: bool


class Listeners(dict[int, Listener]):
    """Listeners by Gradio's ids. One that isn't added here is closed."""

    def add(self, dependency: Event, right: Right, files: Iterable[int] = ()) -> Event:
        """Opens a listener to callers with this right; `files` are the places of file boxes among its inputs."""
        self[dependency["id"]] = Listener(dependency["api_name"], right, len(dependency["inputs"]), tuple(files), dependency["queue"])
        return dependency


def require_run(right: Right, runs: Runs, run: str, token: str) -> None:
    """Checks an action on a run. Raises Refusal without the right."""
    _require_key(token)
    if right is OWNER:
        runs.require_owner(run, token)
    elif right is READER:
        runs.require_reader(run, token)


def require_room(right: Right, rooms: Rooms, code: str, ticket: str) -> None:
    """Checks an action in a room; an empty `ticket` has no rights. Raises Refusal."""
    _require_key(ticket)
    if right in (MEMBER, TEACHER):
        _, number = rooms.authenticate(code, ticket)
        if right is TEACHER:
            require_teacher(number)


def require_sentences(runs: Runs, values: Any, token: str) -> None:
    """Checks that every id of own sentences anywhere in `values` is readable with this token. Raises Refusal."""
    run_uploads, pending = {run.experiment.data.own for run in runs.list_unshipped()} - {""}, [values]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
        elif not isinstance(value, str) or (value not in run_uploads and value not in uploading.UPLOADS):
            continue
        elif uploading.find_pairs(runs, value, uploading.ticket_of(token)) is None:
            raise Refusal("page.no_upload", knob="task")


def _require_key(token: str) -> None:
    if not token:
        raise Refusal("runs.no_token")


class Gate:
    """ASGI middleware. Handlers behind the gate prove the rights that a path alone doesn't, such as a run's owner."""

    def __init__(self, app: ASGIApp, table: Table) -> None:
        self.app, self._table = app, table

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
                pattern = next((rule.path for rule in self._table.find_rules(scope).values()), "")  # free of user input
                event(log, "request_failed", logging.ERROR, error, route=pattern)
            if not has_started:
                await respond_refusal(Refusal("page.went_wrong"), 500, request)(scope, receive, send)
            elif not is_complete:
                await send({"type": "http.response.body", "body": b""})

    def _reject(self, request: Request) -> Response | None:
        rules = self._table.find_rules(request.scope)
        if not rules or len(get_route_path(request.scope).encode()) > LONGEST_PATH:
            return respond_not_found(request)
        if self._table.rule_of(request.scope).right is OFF:
            return respond_refusal(Refusal("page.not_there"), 405, request, {"allow": ", ".join(sorted(rules))})
        return None


def _strip_scope(scope: Scope) -> Scope:
    """Drops parameters of the page's address that would open another page of Gradio's or a saved state. Clients can forge forwarding
    headers: a proxy's are trusted only where PLAYGROUND_PROXIES declares one and they name a host or a path."""
    received, headers = dict(scope["headers"]), [(name, value) for name, value in scope["headers"] if name not in LOCATION_HEADERS]
    host, path = (_trust_header(received.get(name, b""), shape) for name, shape in ((FORWARDED, HOST), (PREFIXED, PATH)))
    path = path.rstrip(b"/")
    if path:  # Gradio doesn't know the prefix header, and reads a path behind the host
        host = (host or _trust_header(received.get(b"host", b""), HOST)).partition(b",")[0]
        scope = {**scope, "root_path": path.decode()}
    if _trust_header(received.get(b"x-forwarded-proto", b""), HTTPS):  # the links in answers and downloads begin with it
        scope = {**scope, "scheme": "https"}
    scope = {**scope, "headers": [*headers, (FORWARDED, host + path)] if host else headers}
    if get_route_path(scope) not in ("", "/", "/config"):
        return scope
    parts = scope["query_string"].split(b"&")
    return {**scope, "query_string": b"&".join(part for part in parts if unquote_to_bytes(part.partition(b"=")[0]) not in GRADIO_FIELDS)}


def _trust_header(header: bytes, shape: re.Pattern[bytes]) -> bytes:
    return header if count_proxies() > 0 and shape.fullmatch(header) else b""


def respond_not_found(request: Request) -> Response:
    """Returns 404, for missing resources and for those of another visitor alike."""
    return respond_refusal(Refusal("page.not_there"), 404, request)


def respond_refusal(refusal: Refusal, status: int, request: Request, headers: Mapping[str, str] | None = None) -> Response:
    """Returns a refusal with a status, in the request's language; with `detail` too, which Gradio's script shows."""
    sentence = refusal.say(language_of(request))
    body = orjson.dumps({"error": sentence, "detail": sentence, "key": refusal.key})
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def language_of(request: Request) -> str:
    """Returns the language of the link, else the browser's."""
    return preferred(request.headers.get("Accept-Language", ""), request.query_params.get("lang", ""))


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


# For the app: sentences where Gradio and FastAPI have only a status.
EXCEPTION_HANDLERS: dict[type[Exception], Callable] = {HTTPException: _handle_status, RequestValidationError: _handle_invalid}
