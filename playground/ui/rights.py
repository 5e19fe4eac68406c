"""Access control. Each route, listener and action declares its right where it is made: a GuardedRoute, `Listeners.add`, or the pair of
a right and a function. A route is looked up before anything else (gate.py), a listener before its values are read (calls.py); an action is
authorised here before it begins.

Everything undeclared is closed: a new route of Gradio's, and a forgotten one of ours, which a test finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from starlette.routing import Route, compile_path, get_route_path
from starlette.types import Scope

from playground.config import Refusal
from playground.rooms.registry import Rooms
from playground.rooms.room import require_teacher
from playground.runs.registry import Runs
from playground.ui.upload import uploading

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
    OPERATOR = "operator"  # the operator of the server
    OFF = "off"  # no client


PUBLIC, LINK, READER, VISITOR, OWNER, MEMBER, TEACHER, OPERATOR, OFF = Right


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

# Gradio's routes that the page, gradio_client and the snippets use; /mcp exists only with PLAYGROUND_MCP.
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
    *(Access(method, f"{API}/mcp/{{path:path}}", PUBLIC, max_bytes=CALL_BYTES) for method in ("GET", "POST", "DELETE")),
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
