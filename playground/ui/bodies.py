"""The bodies of requests: each route takes as many bytes as the table of rights says and no more, of all that is still on its way so much
may lie here for one address and for all together, and an address uploads so many files and bytes an hour.
"""

from __future__ import annotations

import logging
import math
from collections import Counter

from python_multipart.multipart import parse_options_header
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.routing import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event, pseudonym
from playground.reading.formats.limits import BYTE_LIMIT
from playground.runs.limits import Limits
from playground.ui.address import address_of
from playground.ui.gate import AGAIN, told
from playground.ui.rights import UPLOAD, longest_body
from playground.ui.shares import Buckets

log = logging.getLogger(__name__)
MINUTE, HOUR = 60.0, 3600.0
ALL = ""  # the name under which the bytes of every address count


class Bodies:
    """Around the app, behind the gate, which has looked up the route."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self._limits = app, limits
        self._lying: Counter[str] = Counter()  # bytes that have come and whose request goes on, by address
        self._files, self._bytes = Buckets(limits.uploads_address, HOUR), Buckets(limits.upload_bytes_address, HOUR)
        self._noted = Buckets(1, MINUTE)  # in the log: of a thousand refusals in a minute one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request, begun = Request(scope), False
        is_upload = get_route_path(scope) == UPLOAD and request.method == "POST"
        body = (_Upload if is_upload else _Body)(self, request, receive)

        async def passed(message: Message) -> None:
            nonlocal begun
            if begun or not body.refusal:
                begun = True
                await send(message)

        try:
            body.expect()
            if not body.refusal:
                await self.app(scope, body.receive, passed)
        except (ClientDisconnect, MultiPartException):
            if not body.refusal:
                raise
        finally:
            self._count(body.address, -body.length)
        if body.refusal and not begun:
            headers = {"Connection": "close"}  # what is left of it is not read
            if not self._noted.take((body.address, body.refusal.key)):
                event(log, "limit_hit", reason=body.refusal.key, address=pseudonym(body.address))
            if seconds := body.refusal.values.get("seconds"):
                headers["Retry-After"] = str(seconds)
            await told(body.refusal, 429 if seconds else 413, request, headers)(scope, receive, send)

    def admit(self, address: str, more: int) -> Refusal | None:
        """Counts so many bytes more that lie here, unless there is no room for them."""
        most = {address: self._limits.body_bytes_address, ALL: self._limits.body_bytes}
        if any(self._lying[name] + more > limit for name, limit in most.items()):
            return Refusal("page.too_many_bytes", seconds=AGAIN)
        self._count(address, more)
        return None

    def admit_upload(self, address: str, files: int, size: int) -> Refusal | None:
        """Counts so many files and bytes more, unless the address has uploaded enough."""
        if seconds := self._files.take(address, files) or self._bytes.take(address, size):
            return Refusal("page.too_many_uploads", minutes=math.ceil(seconds / MINUTE), seconds=math.ceil(seconds))
        return None

    def _count(self, address: str, more: int) -> None:
        for name in (address, ALL):
            self._lying[name] += more
            if not self._lying[name]:
                del self._lying[name]


class _Body:
    """One request's. `refusal` says why no more of it is read."""

    def __init__(self, bodies: Bodies, request: Request, receive: Receive) -> None:
        self.address, self.length, self.refusal = address_of(request), 0, None
        self._bodies, self._receive, self._headers = bodies, receive, request.headers
        self._most = longest_body(request.method, get_route_path(request.scope))

    def expect(self) -> None:
        """Refuses a body by the length that it says it has."""
        length = self._headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._most:
            self.refusal = self._too_long()

    async def receive(self) -> Message:
        """To the app a body that goes too far looks like one whose sender has left."""
        message = await self._receive()
        if data := message.get("body", b""):
            self.refusal = self._too_long() if self.length + len(data) > self._most else self._admit(data)
        return {"type": "http.disconnect"} if self.refusal else message

    def _admit(self, data: bytes) -> Refusal | None:
        refusal = self._bodies.admit(self.address, len(data))
        self.length += 0 if refusal else len(data)
        return refusal

    def _too_long(self) -> Refusal:
        return Refusal("page.command_too_long")


class _Upload(_Body):
    """Of files, which stand between lines with a boundary that is in none of them."""

    def expect(self) -> None:
        super().expect()
        self.refusal = self.refusal or self._bodies.admit_upload(self.address, 1, 0)
        self._boundary = b"--" + parse_options_header(self._headers.get("Content-Type", ""))[1].get(b"boundary", b"")
        self._boundaries, self._end = 0, b""

    async def receive(self) -> Message:
        """Raises what makes Gradio delete the files that it has begun."""
        message = await super().receive()
        if message["type"] == "http.disconnect":
            raise MultiPartException("the upload was cut")
        return message

    def _admit(self, data: bytes) -> Refusal | None:
        before = max(self._boundaries, 2)  # of one file: one before it, and one behind
        seen = self._end + data
        self._boundaries += seen.count(self._boundary)
        self._end = seen[max(0, len(seen) - len(self._boundary) + 1) :]
        more = max(self._boundaries, 2) - before
        return self._bodies.admit_upload(self.address, more, len(data)) or super()._admit(data)

    def _too_long(self) -> Refusal:
        return Refusal("data.too_large", limit=BYTE_LIMIT // 1024**2)
