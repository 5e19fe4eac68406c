"""Authentication of the operator: the token of PLAYGROUND_OPERATOR, sent once in a form or in a request's Authorization header.

The token is compared in constant time and stored as a digest; it is in no address, cookie or log. A browser that sent it gets a session,
which only this process knows.
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
MAX_WRONG, WRONG_SECONDS = 10, 600.0  # wrong tokens per address
MIN_TOKEN = 16  # characters of a token that can't be guessed


class Entry:
    """Not thread-safe: for the event loop only."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._digest, self._clock = _digest(token), clock
        self._wrong = Attempts(MAX_WRONG, WRONG_SECONDS, clock)
        self._sessions: dict[str, float] = {}  # digest -> end of the session

    @classmethod
    def from_environment(cls) -> Entry | None:
        """Returns None without a token, and logs one that is too short."""
        token = os.environ.get("PLAYGROUND_OPERATOR", "")
        if 0 < len(token) < MIN_TOKEN:
            event(log, "operator_token_too_short", logging.WARNING, least=MIN_TOKEN)
        return cls(token) if len(token) >= MIN_TOKEN else None

    def admits(self, request: Request) -> bool:
        """Whether this request is the operator's."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer":
            try:
                self._check(token, address_of(request))
            except Refusal:
                return False
            return True
        end = self._sessions.get(_digest(request.cookies.get(COOKIE, "")), 0.0)
        return end > self._clock()

    def enter(self, token: str, request: Request, response: Response) -> None:
        """Begins a session and sets its cookie. Raises Refusal for a wrong token, and for too many of them."""
        self._check(token, address_of(request))
        now, session = self._clock(), secrets.token_urlsafe(32)
        alive = sorted((ends, digest) for digest, ends in self._sessions.items() if ends > now)[1 - MAX_SESSIONS :]
        self._sessions = {digest: ends for ends, digest in alive} | {_digest(session): now + SESSION_SECONDS}
        secure = request.url.scheme == "https" or "SPACE_HOST" in os.environ
        # without a path the cookie holds beside the page only, also where a proxy serves the app below another path
        response.set_cookie(COOKIE, session, int(SESSION_SECONDS), path=None, secure=secure, httponly=True, samesite="strict")
        event(log, "operator_entered", address=pseudonym(address_of(request)))

    def leave(self, request: Request, response: Response) -> None:
        self._sessions.pop(_digest(request.cookies.get(COOKIE, "")), None)
        response.set_cookie(COOKIE, "", 0, path=None, httponly=True, samesite="strict")

    def _check(self, token: str, address: str) -> None:
        if not hmac.compare_digest(_digest(token), self._digest):  # the right token passes after any number of wrong ones from its address
            self._wrong.check(address)
            self._wrong.note(address)
            event(log, "operator_turned_away", logging.WARNING, address=pseudonym(address))
            raise Refusal("operator.wrong_token")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
