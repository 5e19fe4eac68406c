"""What is posted to Gradio's listeners is read here before Gradio reads it, which would stumble over most of what it does not expect. What
it can't make values of is one sentence with a key too.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from tempfile import SpooledTemporaryFile
from typing import Any

import gradio as gr
import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event
from playground.ui.bridge import told as told_by_script
from playground.ui.endpoints import said
from playground.ui.endpoints.answers import ENDPOINTS
from playground.ui.endpoints.mistakes import unfit
from playground.ui.gate import told
from playground.ui.rights import Right, right_of
from playground.words import ENGLISH, LANGUAGES, preferred

log = logging.getLogger(__name__)
CALL = re.compile(r"/gradio_api/(run|call/v2|call|queue/join)(?:/([^/]+))?")
NAME = re.compile(r"[\w-]{1,64}", re.ASCII)  # of a listener, and what browsers and programs call themselves
IN_MEMORY = 2**18  # bytes of a call that has not come whole: what is longer waits on the disk
LONG = 100_000  # bytes that take so long to read that nobody else should wait for it
MAX_DEPTH, MAX_VALUES = 20, 100_000  # of lists and objects in each other; of values in all
MAX_DIGITS = 16  # of a whole number: beyond them it is no longer exact, in a browser
STATUSES = {"api.no_endpoint": 404}
LANGUAGE: ContextVar[str] = ContextVar("language", default=ENGLISH)  # of whoever has called, where a listener's inputs don't say it


class Calls:
    """Around the app. `listeners` are Gradio's, by their ids."""

    def __init__(self, app: ASGIApp, listeners: Mapping[int, Any]) -> None:
        self.app, self._listeners = app, listeners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = CALL.fullmatch(get_route_path(scope)) if scope["type"] == "http" and scope["method"] == "POST" else None
        if not found:
            return await self.app(scope, receive, send)
        request, (way, name) = Request(scope, receive), found.groups("")
        LANGUAGE.set(preferred(request.headers.get("Accept-Language", ""), request.query_params.get("lang", "")))
        try:
            body = await _body(request)
            if len(body) < LONG:
                self._check(way, name, body)
            else:
                await run_in_threadpool(self._check, way, name, body)
        except Refusal as refusal:
            return await told(refusal, STATUSES.get(refusal.key, 400), request)(scope, receive, send)
        answer = _Answer(request, send) if way == "run" else None
        await self.app(scope, _again(body, receive), answer.send if answer else send)

    def _check(self, way: str, name: str, body: bytes) -> None:
        """Raises Refusal for what is no call of one of the listeners."""
        call = _read(body)
        if way == "call/v2":
            _check_named(name, call)
            return
        listener = self._called(way, name, call)
        for key, fits in _FITTING.items():
            if key in call and not fits(call[key]):
                raise Refusal("page.not_a_command")
        given = call.get("data")
        counts = {len(listener.inputs)} if way == "run" else {len(listener.inputs), sum(not one.skip_api for one in listener.inputs)}
        if not isinstance(given, list) or len(given) not in counts:
            raise unfit(listener.api_name) if listener.api_name in ENDPOINTS else Refusal("page.not_a_command")

    def _called(self, way: str, name: str, call: dict[str, Any]) -> Any:
        """The listener. Raises Refusal where there is none, or none that may be called."""
        number = call.get("fn_index") if way != "call" else None
        if number is not None:
            found = self._listeners.get(number) if type(number) is int else None
        else:
            found = next((one for one in self._listeners.values() if name and one.api_name == name), None)
        fits = name in ENDPOINTS if way == "call" else not name or NAME.fullmatch(name)  # Gradio reads the address again, and stumbles
        if found is None or not fits or right_of(found.api_name) is Right.OFF:
            raise unfit(name) if way == "call" else Refusal("page.not_a_command")
        return found


def _check_named(name: str, call: dict[str, Any]) -> None:
    """Of an endpoint whose arguments are named."""
    if name not in ENDPOINTS:
        raise unfit(name)
    arguments = ENDPOINTS[name].arguments
    needed = {argument for argument, about in arguments.items() if about.required}
    if not needed <= call.keys() <= arguments.keys():
        raise unfit(name)


_FITTING: Mapping[str, Callable[[Any], bool]] = {
    "session_hash": lambda value: value is None or (isinstance(value, str) and NAME.fullmatch(value)),
    "event_id": lambda value: value is None or (isinstance(value, str) and NAME.fullmatch(value)),
    "trigger_id": lambda value: value is None or type(value) is int,
    "oauth_token": lambda value: value is None,
    "simple_format": lambda value: value in (None, False, True),
    "batched": lambda value: value in (None, False),
}


def install(demo: gr.Blocks) -> None:
    """From now on, what Gradio can't make values of is said in a sentence. It is by its own words an error of the server, without one."""
    made = demo.preprocess_data

    async def preprocess_data(listener: Any, inputs: list[Any], *more: Any, **options: Any) -> list[Any]:
        try:
            return await made(listener, inputs, *more, **options)
        except Exception as error:
            if isinstance(error, gr.Error) and not error.print_exception:  # said already
                raise
            event(log, "call_refused", listener=listener.api_name, reason=type(error).__name__)
            raise said(Refusal("page.not_a_command"), _language(inputs)) from error

    demo.preprocess_data = preprocess_data


def _language(inputs: list[Any]) -> str:
    """As the page's script says it through the bridge."""
    return next((said for value in inputs if (said := told_by_script(value, "language")) in LANGUAGES), LANGUAGE.get())


async def _body(request: Request) -> bytes:
    """All of it, once it is there: bodies.py sees to its length."""
    with SpooledTemporaryFile(IN_MEMORY) as file:
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        return file.read()


def _read(body: bytes) -> dict[str, Any]:
    """Raises Refusal for what is no JSON object in UTF-8: NaN, infinity, half characters and endless numbers are no JSON here."""
    try:
        call = json.loads(body.decode("utf-8-sig"), parse_constant=_no_number, parse_int=_whole_number)
        if b"\\ud" in body or b"\\uD" in body:
            json.dumps(call, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refusal("api.no_json") from None
    values, count = [call] if isinstance(call, dict) else [], 0
    for _ in range(MAX_DEPTH * bool(values)):
        count += len(values)
        if count > MAX_VALUES or not all(math.isfinite(value) for value in values if isinstance(value, float)):
            break
        values = [inner for value in values if isinstance(value, dict | list) for inner in _inside(value)]
        if not values:
            return call
    raise Refusal("api.no_json")


def _no_number(text: str) -> float:
    raise ValueError(text[:40])


def _whole_number(text: str) -> int:
    return int(text) if len(text) < MAX_DIGITS else int(_no_number(text))


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _again(body: bytes, receive: Receive) -> Receive:
    """What was read, once more; after it whatever else comes."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


class _Answer:
    """Of a listener that is called without the queue. Gradio tells every refusal as an error of the server: here it is the caller's, and
    only what is not told is the server's."""

    def __init__(self, request: Request, send: Send) -> None:
        self._request, self._send, self._failed, self._body = request, send, False, b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 500:
            self._failed = True
        elif not self._failed:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._told()

    async def _told(self) -> None:
        said = orjson.loads(self._body or b"{}")
        answer = told(Refusal("page.went_wrong"), 500, self._request)
        if key := said.get("title"):
            body = orjson.dumps({"error": said["error"], "detail": said["error"], "key": key})
            answer.body, answer.status_code = body, 400
            answer.headers["Content-Length"] = str(len(body))
        await answer(self._request.scope, self._request.receive, self._send)
