"""What every request passes first: each visitor and each address asks only so often, and holds so many streams open.

A visitor is known by the token in a header; streams, with which a browser sends no header, by what stands in their address.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from contextlib import nullcontext

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event, pseudonym
from playground.runs.limits import Limits
from playground.runs.visitors import Visitors
from playground.ui.address import address_of
from playground.ui.assets import PREFIX
from playground.ui.command import token_of
from playground.ui.gate import AGAIN, told
from playground.ui.health import PATHS as UNCOUNTED
from playground.ui.shares import Buckets, Open

log = logging.getLogger(__name__)
MINUTE = 60.0
FILES = re.compile(rf"/(assets|static)/|{PREFIX}/asset/|/(theme\.css|favicon\.ico|manifest\.json)$")
FILE = 0.1  # of a request: what browsers fetch once and keep
JOIN = "/gradio_api/queue/join"
# Answers that go on for as long as somebody listens, and by what it is known who listens.
RUN = re.compile(rf"{PREFIX}/(live/[^/]+|room/live)$")
GRADIO = re.compile(r"/gradio_api/(queue/data$|heartbeat/|call/.+/(?P<event>\w+)$)")


class Guard:
    """Around the app. `lifted` says of a visitor's token whether the limits of an address are no matter, and `waiting` how many calls of
    an address are in the queue."""

    def __init__(
        self, app: ASGIApp, limits: Limits, visitors: Visitors, lifted: Callable[[str], bool], waiting: Callable[[str], int], streams: Open
    ) -> None:
        self.app, self._limits, self._visitors, self._lifted, self._waiting, self._open = app, limits, visitors, lifted, waiting, streams
        self._each, self._address = Buckets(limits.requests_each, MINUTE), Buckets(limits.requests_address, MINUTE)
        self._told = Buckets(1, MINUTE)  # to the log: of a thousand refusals in a minute one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNCOUNTED:
            return await self.app(scope, receive, send)
        request = Request(scope)
        address, token = address_of(request), token_of(request.headers)
        if token:
            self._visitors.record_address(token, address)
        refusal = self._asks(request, address, token) or self._waits(request, address)
        streams, most = self._streams(request, address)
        if not refusal and self._open.full(most):
            refusal = Refusal("page.too_many_streams", seconds=AGAIN)
        if refusal:
            if not self._told.take((address, refusal.key)):
                event(log, "limit_hit", reason=refusal.key, address=pseudonym(address))
            return await told(refusal, 429, request, {"Retry-After": str(refusal.values["seconds"])})(scope, receive, send)
        with self._open.holding(*streams) if streams else nullcontext():
            await self.app(scope, receive, send)

    def _asks(self, request: Request, address: str, token: str) -> Refusal | None:
        cost = FILE if FILES.match(request.url.path) else 1.0
        seconds = self._each.take(token, cost) if token else 0.0
        if not seconds and (seconds := self._address.take(address, cost)) and token and self._lifted(token):
            seconds = 0.0
        return Refusal("page.too_many_requests", seconds=math.ceil(seconds)) if seconds else None

    def _waits(self, request: Request, address: str) -> Refusal | None:
        path = request.url.path.rstrip("/")
        is_call = path == JOIN or path.startswith("/gradio_api/call/")
        if request.method == "POST" and is_call and self._waiting(address) >= self._limits.calls_address:
            return Refusal("page.too_many_calls", seconds=AGAIN)
        return None

    def _streams(self, request: Request, address: str) -> tuple[list, dict]:
        """The names under which a stream counts, and how many there may be of each; none for what is no stream."""
        path, query = request.url.path, request.query_params
        if request.method != "GET" or not (found := RUN.match(path) or GRADIO.match(path)):
            return [], {}
        most = {("address", address): self._limits.streams_address}
        if found.re is GRADIO:
            return [*most, ("listener", found["event"] or query.get("session_hash", ""))], most
        who = (query.get("ticket") or query.get("by") or "")[:128]
        visitor = {("visitor", address, who): self._limits.streams_each} if who else {}  # programs of a school say no more than its address
        return [*most, *visitor], most | visitor
