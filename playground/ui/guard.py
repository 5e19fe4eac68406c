"""Limits on requests: how many per visitor and per address, and open streams, checked before anything else; bytes of a body per route (see
rights.py), bytes in transit per address and in all, files and bytes uploaded per address and hour; and uploaded files in the server's own
folder, to be read once more, deleted after an hour or when it is full.

A token in a header identifies a visitor. Browsers send no header with a stream: parameters of its address identify it.
"""

import logging
import math
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path

from python_multipart.multipart import parse_options_header
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.routing import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event, pseudonym
from playground.reading.formats import BYTE_LIMIT
from playground.runs.admission import Visitors
from playground.runs.disk import files
from playground.runs.limits import Limits, RateLimit
from playground.runs.registry import Runs
from playground.ui.messages import token_of
from playground.ui.network import address_of
from playground.ui.rights import RETRY_AFTER_S, UPLOAD, UPLOAD_BYTES, Access, Table, respond_refusal
from playground.ui.turns import Tally, Turns

log = logging.getLogger(__name__)
MINUTE, HOUR = 60.0, 3600.0
UPLOADS_FOLDER = "uploads"  # in the folder of the runs
MAX_AGE_S = 3600.0
ALL_ADDRESSES = ""  # the name under which the bytes of all addresses count


class Guard:
    """ASGI middleware. `lifted(token)` exempts a visitor from the limits per address; `turns` has the calls that wait."""

    def __init__(
        self,
        app: ASGIApp,
        table: Table,
        limits: Limits,
        visitors: Visitors,
        lifted: Callable[[str], bool],
        turns: Turns,
        streams: Tally,
    ) -> None:
        self.app, self._table, self._limits, self._visitors = app, table, limits, visitors
        self._lifted, self._turns, self._open = lifted, turns, streams
        self._each, self._address = RateLimit(limits.requests_each, MINUTE), RateLimit(limits.requests_address, MINUTE)
        self._log_limit = RateLimit(1, MINUTE)  # one log entry a minute for repeated refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = Request(scope)
        rule = self._table.rule_of(scope)
        if not rule.cost:
            return await self.app(scope, receive, send)
        address, token = address_of(request), token_of(request.headers)
        if token:
            self._visitors.record_address(token, address)
        refusal = self._check_rate(rule.cost, address, token) or (self._turns.admit(address) if rule.is_queued else None)
        streams, most = self._stream_limits(rule, request, address)
        if not refusal and self._open.is_full(most):
            refusal = Refusal("page.too_many_streams", seconds=RETRY_AFTER_S)
        if refusal:
            if not self._log_limit.take((address, refusal.key)):
                event(log, "limit_hit", reason=refusal.key, address=pseudonym(address))
            return await respond_refusal(refusal, 429, request, {"Retry-After": str(refusal.values["seconds"])})(scope, receive, send)
        with self._open.holding(*streams) if streams else nullcontext():
            await self.app(scope, receive, send)

    def _check_rate(self, cost: float, address: str, token: str) -> Refusal | None:
        seconds = self._each.take(token, cost) if token else 0.0
        if not seconds and (seconds := self._address.take(address, cost)) and token and self._lifted(token):
            seconds = 0.0
        return Refusal("page.too_many_requests", seconds=math.ceil(seconds)) if seconds else None

    def _stream_limits(self, rule: Access, request: Request, address: str) -> tuple[list, dict]:
        """Returns the names under which a stream counts and the limit of each; both empty for other requests."""
        query = request.query_params
        if request.method != "GET" or not rule.stream:
            return [], {}
        most = {("address", address): self._limits.streams_address}
        last = request.url.path.rpartition("/")[2]
        if rule.stream == "tab":
            return [*most, ("tab", last)], most
        if rule.stream != "visitor":
            return [*most, ("listener", last if rule.stream == "event" else query.get("session_hash", ""))], most
        visitor_id = (query.get("ticket") or query.get("by") or "")[:128]
        visitor_limit = {("visitor", address, visitor_id): self._limits.streams_each} if visitor_id else {}
        return [*most, *visitor_limit], most | visitor_limit


class Bodies:
    """ASGI middleware, behind the gate, which has looked up the route."""

    def __init__(self, app: ASGIApp, table: Table, limits: Limits) -> None:
        self.app, self.table, self._limits = app, table, limits
        self._in_transit: Counter[str] = Counter()  # bytes received for unfinished requests, by address
        self._files, self._bytes = RateLimit(limits.uploads_address, HOUR), RateLimit(limits.upload_bytes_address, HOUR)
        self._log_limit = RateLimit(1, MINUTE)  # one log entry a minute for repeated refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request, has_started = Request(scope), False
        is_upload = get_route_path(scope) == UPLOAD and request.method == "POST"
        body = (_Upload if is_upload else _Body)(self, request, receive)

        async def forward(message: Message) -> None:
            nonlocal has_started
            if has_started or not body.refusal:
                has_started = True
                await send(message)

        try:
            body.check_length()
            if not body.refusal:
                await self.app(scope, body.receive, forward)
        except (ClientDisconnect, MultiPartException):
            if not body.refusal:
                raise
        finally:
            self._count(body.address, -body.length)
        if body.refusal and not has_started:
            headers = {"Connection": "close"}  # the rest of the body is not read
            if not self._log_limit.take((body.address, body.refusal.key)):
                event(log, "limit_hit", reason=body.refusal.key, address=pseudonym(body.address))
            if seconds := body.refusal.values.get("seconds"):
                headers["Retry-After"] = str(seconds)
            await respond_refusal(body.refusal, 429 if seconds else 413, request, headers)(scope, receive, send)

    def admit(self, address: str, size: int) -> Refusal | None:
        """Counts bytes in transit, unless there is no room for them."""
        limits = {address: self._limits.body_bytes_address, ALL_ADDRESSES: self._limits.body_bytes}
        if any(self._in_transit[name] + size > limit for name, limit in limits.items()):
            return Refusal("page.too_many_bytes", seconds=RETRY_AFTER_S)
        self._count(address, size)
        return None

    def admit_upload(self, address: str, files: int, size: int) -> Refusal | None:
        """Counts files and bytes of an upload, unless the address has reached its limit."""
        if seconds := self._files.take(address, files) or self._bytes.take(address, size):
            return Refusal("page.too_many_uploads", minutes=math.ceil(seconds / MINUTE), seconds=math.ceil(seconds))
        return None

    def _count(self, address: str, size: int) -> None:
        for name in (address, ALL_ADDRESSES):
            self._in_transit[name] += size
            if not self._in_transit[name]:
                del self._in_transit[name]


class _Body:
    """The body of one request. A set `refusal` ends the reading."""

    def __init__(self, bodies: Bodies, request: Request, receive: Receive) -> None:
        self.address, self.length, self.refusal = address_of(request), 0, None
        self._bodies, self._receive, self._headers = bodies, receive, request.headers
        self._most = bodies.table.rule_of(request.scope).max_bytes

    def check_length(self) -> None:
        """Refuses a body by its declared length."""
        length = self._headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._most:
            self.refusal = self._refuse_length()

    async def receive(self) -> Message:
        """Receives and counts a message. Once a body exceeds its limit, tells the app that the client has left."""
        message = await self._receive()
        if data := message.get("body", b""):
            self.refusal = self._refuse_length() if self.length + len(data) > self._most else self._admit(data)
        return {"type": "http.disconnect"} if self.refusal else message

    def _admit(self, data: bytes) -> Refusal | None:
        refusal = self._bodies.admit(self.address, len(data))
        self.length += 0 if refusal else len(data)
        return refusal

    def _refuse_length(self) -> Refusal:
        is_file = self._most >= UPLOAD_BYTES
        return Refusal("data.too_large", limit=BYTE_LIMIT // 1024**2) if is_file else Refusal("page.command_too_long")


class _Upload(_Body):
    """A multipart body of files, separated by a boundary."""

    def check_length(self) -> None:
        super().check_length()
        self.refusal = self.refusal or self._bodies.admit_upload(self.address, 1, 0)
        self._boundary = b"--" + parse_options_header(self._headers.get("Content-Type", ""))[1].get(b"boundary", b"")
        self._boundaries, self._end = 0, b""

    async def receive(self) -> Message:
        """Receives a message. Raises the exception on which Gradio deletes its partial files."""
        message = await super().receive()
        if message["type"] == "http.disconnect":
            raise MultiPartException("the upload was cut")
        return message

    def _admit(self, data: bytes) -> Refusal | None:
        counted = max(self._boundaries, 2)  # one file has a boundary before it and one behind
        window = self._end + data
        self._boundaries += window.count(self._boundary)
        self._end = window[max(0, len(window) - len(self._boundary) + 1) :]
        added = max(self._boundaries, 2) - counted
        return self._bodies.admit_upload(self.address, added, len(data)) or super()._admit(data)


def store_uploads(runs: Runs) -> None:
    """Makes Gradio store uploads in our folder, and deletes those of an earlier server. Call it before building the page, in a process with
    one page: Gradio has one such folder for all."""
    folder = runs.store.folder / UPLOADS_FOLDER
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    delete_old(folder, -1)
    runs.add_task(partial(delete_old, folder, runs.limits.upload_bytes))


def uploads_folder() -> Path:
    """Returns the folder in which Gradio stores uploads."""
    return Path(os.environ.get("GRADIO_TEMP_DIR") or Path(tempfile.gettempdir()) / "gradio")


def delete_old(folder: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
    """Deletes files older than an hour, and the oldest beyond `most_bytes`; with -1 all of them."""
    with suppress(OSError):  # the folder is missing, or another round deletes the same file
        total_bytes = 0
        for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
            total_bytes += files.tree_size(path)
            if total_bytes > most_bytes or clock() - path.stat().st_mtime >= MAX_AGE_S:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
