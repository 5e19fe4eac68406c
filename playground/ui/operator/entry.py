"""Who is the operator: whoever sends the token of PLAYGROUND_OPERATOR, once in a form, or with a request in its Authorization header.

The token is compared in constant time and kept as a digest; it stands in no address, no cookie and no log. A browser that sent it gets a
session of its own, known to this process alone.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from playground.config import Refusal
from playground.logs import event, pseudonym
from playground.rooms.attempts import Attempts
from playground.ui.address import address_of

log = logging.getLogger(__name__)
COOKIE = "playground_operator"
SESSION_SECONDS = 8 * 3600.0
MAX_SESSIONS = 20
WRONG, WRONG_SECONDS = 10, 600.0  # tokens of one address
LEAST = 16  # characters of a token that nobody guesses


class Entry:
    """For the event loop, which asks one after the other."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._digest, self._clock = _digest(token), clock
        self._wrong = Attempts(WRONG, WRONG_SECONDS, clock)
        self._sessions: dict[str, float] = {}  # digest -> when it ends

    @classmethod
    def from_environment(cls) -> Entry | None:
        """None where there is no operator: without a token, or with one that is too short, which the log says."""
        token = os.environ.get("PLAYGROUND_OPERATOR", "")
        if 0 < len(token) < LEAST:
            event(log, "operator_token_too_short", logging.WARNING, least=LEAST)
        return cls(token) if len(token) >= LEAST else None

    def admits(self, request: Request) -> bool:
        """Whether this request is the operator's."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer":
            try:
                self._check(token, address_of(request))
            except Refusal:
                return False
            return True
        ends = self._sessions.get(_digest(request.cookies.get(COOKIE, "")), 0.0)
        return ends > self._clock()

    def enter(self, token: str, request: Request, answer: Response) -> None:
        """Begins a session, whose cookie goes with the answer. Raises Refusal: a wrong token, or too many of them."""
        self._check(token, address_of(request))
        now, session = self._clock(), secrets.token_urlsafe(32)
        alive = sorted((ends, digest) for digest, ends in self._sessions.items() if ends > now)[1 - MAX_SESSIONS :]
        self._sessions = {digest: ends for ends, digest in alive} | {_digest(session): now + SESSION_SECONDS}
        secure = request.url.scheme == "https" or "SPACE_HOST" in os.environ
        # without a path it holds beside the page alone, also where a proxy has put the whole app below another one
        answer.set_cookie(COOKIE, session, int(SESSION_SECONDS), path=None, secure=secure, httponly=True, samesite="strict")
        event(log, "operator_entered", address=pseudonym(address_of(request)))

    def leave(self, request: Request, answer: Response) -> None:
        self._sessions.pop(_digest(request.cookies.get(COOKIE, "")), None)
        answer.set_cookie(COOKIE, "", 0, path=None, httponly=True, samesite="strict")

    def _check(self, token: str, address: str) -> None:
        if not hmac.compare_digest(_digest(token), self._digest):  # the right one passes, however many wrong ones came from its address
            self._wrong.check(address)
            self._wrong.note(address)
            event(log, "operator_turned_away", logging.WARNING, address=pseudonym(address))
            raise Refusal("operator.wrong_token")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
