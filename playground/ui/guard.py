"""Rate limits, before anything else: requests per visitor and per address, and open streams.

A token in a header identifies a visitor. Browsers send no header with a stream: parameters of its address identify it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import nullcontext

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.config import Refusal
from playground.logs import event, pseudonym
from playground.runs.admission import Visitors
from playground.runs.limits import Limits
from playground.runs.rate_limit import RateLimit
from playground.ui.address import address_of
from playground.ui.command import token_of
from playground.ui.gate import RETRY_AFTER_S, respond_refusal
from playground.ui.rights import Access, Table
from playground.ui.turns import Tally, Turns

log = logging.getLogger(__name__)
MINUTE = 60.0


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
