"""Security headers: scripts and pictures from this server only, the sites that may frame the page, and CORS for pages of other sites."""

from __future__ import annotations

import os

from starlette.datastructures import URL, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.network import is_loopback

# Gradio writes its settings into inline scripts and builds functions from listeners' JavaScript: both need permission.
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

ASSET_TYPES = ("text/css", "text/javascript", "application/javascript", "font/")  # never a document: there the policy only adds bytes


def build_policy() -> str:
    """Returns the Content-Security-Policy. PLAYGROUND_FRAMES names further sites that may frame the page, such as a course's own."""
    # a character that could end the header or the directive is part of no address
    extra_sites = [site for site in os.environ.get("PLAYGROUND_FRAMES", "").split() if site.isascii() and not {";", ","} & set(site)]
    rules = SOURCES | {"frame-ancestors": (*SOURCES["frame-ancestors"], *extra_sites)}
    return "; ".join(" ".join((name, *sources)) for name, sources in rules.items())


class SecurityHeaders:
    """Adds the headers, unless a response has stricter ones of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._rules = {"Content-Security-Policy": build_policy(), "Referrer-Policy": "same-origin"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def add_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                rules = {} if headers.get("Content-Type", "").startswith(ASSET_TYPES) else self._rules
                for name, value in rules.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, add_headers)


class PublicCORS(CORSMiddleware):
    """Lets other sites read public resources, never with cookies; on this machine's own server, nothing."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_closed = scope["type"] != "http" or is_loopback(URL(scope=scope).hostname or "")
        await (self.app if is_closed else super().__call__)(scope, receive, send)
