"""What every answer tells browsers to keep to: scripts and pictures of this server alone, who may show the page in a frame, and which pages
of other sites may read it.
"""

from __future__ import annotations

import os

from gradio.route_utils import CustomCORSMiddleware
from starlette.applications import Starlette
from starlette.datastructures import URL, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.network import is_own

# Gradio writes its settings into scripts of the page, and makes functions of the listeners' JavaScript: both must be allowed to it.
SELF, INLINE = "'self'", "'unsafe-inline'"
SOURCES = {
    "default-src": (SELF,),
    "script-src": (SELF, INLINE, "'unsafe-eval'"),
    "style-src": (SELF, INLINE),
    "img-src": (SELF, "data:", "blob:"),
    "font-src": (SELF, "data:"),
    "connect-src": (SELF, "data:", "blob:"),
    "worker-src": (SELF, "blob:"),
    "object-src": ("'none'",),
    "base-uri": (SELF,),
    "form-action": (SELF,),
    "frame-ancestors": (SELF, "https://huggingface.co", "https://*.hf.space"),
}

PARTS = ("text/css", "text/javascript", "application/javascript", "font/")  # never a document: rules for one would only make it longer


def policy() -> str:
    """The Content-Security-Policy. PLAYGROUND_FRAMES names others who may show the page in a frame, such as a course's own site."""
    # what could end the header, or this part of it, is no address
    more = [one for one in os.environ.get("PLAYGROUND_FRAMES", "").split() if one.isascii() and not {";", ","} & set(one)]
    rules = SOURCES | {"frame-ancestors": (*SOURCES["frame-ancestors"], *more)}
    return "; ".join(" ".join((name, *sources)) for name, sources in rules.items())


class Guarding:
    """Adds them, unless an answer has stricter ones of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._rules = {"Content-Security-Policy": policy(), "Referrer-Policy": "same-origin"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def passed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                rules = {} if headers.get("Content-Type", "").startswith(PARTS) else self._rules
                for name, value in rules.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, passed)


class Origins(CORSMiddleware):
    """Lets pages of other sites ask what anybody may ask, never with a visitor's cookies; of this machine's own server, none."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_closed = scope["type"] != "http" or is_own(URL(scope=scope).hostname or "")
        await (self.app if is_closed else super().__call__)(scope, receive, send)


def drop_gradios_origins(app: Starlette) -> None:
    """Gradio's own rule would stand before ours: it lets any page of another port of this machine ask with cookies."""
    app.user_middleware = [one for one in app.user_middleware if one.cls is not CustomCORSMiddleware]
    app.middleware_stack = None  # is built anew for the next request
