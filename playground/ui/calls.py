"""The page's listeners, and the check of every call of one before Gradio parses it, which fails on most unexpected input."""

import json
import logging
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import gradio as gr
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event
from playground.ui.endpoints.answers import ENDPOINTS
from playground.ui.endpoints.arguments import check_names, explain_arguments
from playground.ui.rights import OFF, Listener, respond_refusal

log = logging.getLogger(__name__)
CALL = re.compile(r"/gradio_api/(run|call/v2|call|queue/join)(?:/([^/]+))?")
NAME = re.compile(r"[\w-]{1,64}", re.ASCII)  # names of listeners, and ids of browsers and programs
SPOOL_BYTES = 2**18  # bytes of an incomplete call in memory; a longer one is spooled to disk
LARGE_BYTES = 100_000  # bytes whose parsing would block the event loop
MAX_DEPTH, MAX_VALUES = 20, 100_000  # nesting of lists and objects; values in all
MAX_DIGITS = 16  # digits of an integer that JavaScript represents exactly
STATUSES = {"api.no_endpoint": 404}


class Calls:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, listeners: Mapping[int, Listener], uploads: Callable[[], Path]) -> None:
        """`uploads` returns the folder of uploaded files."""
        self.app, self._listeners, self._uploads = app, listeners, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call_path = CALL.fullmatch(get_route_path(scope)) if scope["type"] == "http" and scope["method"] == "POST" else None
        if not call_path:
            return await self.app(scope, receive, send)
        request, (way, name) = Request(scope, receive), call_path.groups("")
        try:
            body = await _read_body(request)
            if len(body) < LARGE_BYTES:
                self._check(way, name, body)
            else:
                await run_in_threadpool(self._check, way, name, body)
        except Refusal as refusal:
            return await respond_refusal(refusal, STATUSES.get(refusal.key, 400), request)(scope, receive, send)
        answer = _Response(request, send) if way == "run" else None
        await self.app(scope, _replay(body, receive), answer.send if answer else send)

    def _check(self, way: str, name: str, body: bytes) -> None:
        """Raises Refusal for an invalid call."""
        call = _parse_call(body)
        if way == "call/v2":
            _check_named_call(name, call, self._uploads())
            return
        listener = self._find_listener(way, name, call)
        for key, fits in _FIELD_CHECKS.items():
            if key in call and not fits(call[key]):
                raise Refusal("page.not_a_command")
        if (way == "call" and call.get("session_hash")) or (way == "run" and listener.is_queued):  # see turns.py: it listens in vain
            raise Refusal("page.not_a_command")
        values = call.get("data")
        if not isinstance(values, list) or len(values) != listener.inputs:
            raise _explain_mismatch(listener.name) if listener.name in ENDPOINTS else Refusal("page.not_a_command")
        if not all(_are_uploads(values[at], self._uploads()) for at in listener.files):
            event(log, "call_refused", listener=listener.name)
            raise Refusal("api.not_a_file" if listener.name in ENDPOINTS else "page.not_a_command")

    def _find_listener(self, way: str, name: str, call: dict[str, Any]) -> Listener:
        """Returns the listener. Raises Refusal where none exists, or calling it is not allowed."""
        number = call.get("fn_index") if way != "call" else None
        if number is not None:
            listener = self._listeners.get(number) if type(number) is int else None
        else:
            listener = next((candidate for candidate in self._listeners.values() if name and candidate.name == name), None)
        fits = name in ENDPOINTS if way == "call" else not name or NAME.fullmatch(name)  # Gradio parses names again, and fails on others
        if listener is None or not fits or listener.right is OFF:
            raise _explain_mismatch(name) if way == "call" else Refusal("page.not_a_command")
        return listener


def _are_uploads(files: Any, folder: Path) -> bool:
    """Whether these are files that Gradio stored in our folder, as its file box reports them."""
    if files is None:
        return True
    files = [files] if isinstance(files, dict) else files
    try:
        paths = [Path(gr.FileData.model_validate(file, strict=True).path).resolve() for file in files if "meta" in file]
        return len(paths) == len(files) and all(folder.resolve() in path.parents and path.is_file() for path in paths)
    except (TypeError, ValueError, OSError):  # pydantic's is a ValueError
        return False


def _check_named_call(name: str, call: dict[str, Any], uploads: Path) -> None:
    """Checks a call of an endpoint with named arguments. Raises Refusal."""
    if name not in ENDPOINTS:
        raise _explain_mismatch(name)
    arguments = ENDPOINTS[name].arguments
    check_names(name, arguments, call.keys())
    if not all(_are_uploads(value, uploads) for argument, value in call.items() if arguments[argument].is_file):
        raise Refusal("api.not_a_file")


def _explain_mismatch(name: str) -> Refusal:
    """Explains why there is no such endpoint, or these are not its arguments."""
    if name not in ENDPOINTS:
        return Refusal("api.no_endpoint", name=name[:40], names=", ".join(ENDPOINTS))
    return explain_arguments(name, ENDPOINTS[name].arguments)


_FIELD_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "session_hash": lambda value: value is None or (isinstance(value, str) and NAME.fullmatch(value)),
    "event_id": lambda value: value is None or (isinstance(value, str) and NAME.fullmatch(value)),
    "trigger_id": lambda value: value is None or type(value) is int,
    "oauth_token": lambda value: value is None,
    "simple_format": lambda value: value in (None, False, True),
    "batched": lambda value: value in (None, False),
}


async def _read_body(request: Request) -> bytes:
    """Reads the whole body; guard.py limits its length."""
    with SpooledTemporaryFile(SPOOL_BYTES) as file:
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        return file.read()


def _parse_call(body: bytes) -> dict[str, Any]:
    """Parses a JSON object. Raises Refusal for NaN, infinity, lone surrogates, and numbers or nesting out of bounds."""
    try:
        message = json.loads(body.decode("utf-8-sig"), parse_constant=_reject_number, parse_int=_parse_int)
        if b"\\ud" in body or b"\\uD" in body:
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refusal("api.no_json") from None
    level, count = [message] if isinstance(message, dict) else [], 0
    for _ in range(MAX_DEPTH * bool(level)):
        count += len(level)
        if count > MAX_VALUES or not all(math.isfinite(value) for value in level if isinstance(value, float)):
            break
        parents = [value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)]
        level = [child for children in parents for child in children]
        if not level:
            return message
    raise Refusal("api.no_json")


def _reject_number(text: str) -> float:
    raise ValueError(text[:40])


def _parse_int(text: str) -> int:
    return int(text) if len(text) < MAX_DIGITS else int(_reject_number(text))


def _replay(body: bytes, receive: Receive) -> Receive:
    """Replays the body that was read; then passes on further messages."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


class _Response:
    """The response of a listener called without the queue. Gradio reports an error as its own text: here it is one sentence."""

    def __init__(self, request: Request, send: Send) -> None:
        self._request, self._send, self._failed = request, send, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 500:
            self._failed = True
            await respond_refusal(Refusal("page.went_wrong"), 500, self._request)(self._request.scope, self._request.receive, self._send)
        elif not self._failed:
            await self._send(message)
