"""Response middleware: compression, immutable caching of files whose names change with their content, and our parts of Gradio's responses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.routing import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.headers import PublicCORS, SecurityHeaders

GZIP_LEVEL, MIN_GZIP_BYTES = 4, 600  # gzip level, low since most responses are made anew; minimum bytes worth compressing
FOR_EVER = "public, max-age=31536000, immutable"
IMMUTABLE_PATH = "/assets/"  # Gradio's scripts and styles, with a hash in each name
Rewriter = Callable[[Request, bytes], bytes]  # makes a new body of Gradio's


def build_middleware(rewriters: Mapping[str, Rewriter], guards: Sequence[Middleware]) -> list[Middleware]:
    """Returns the middleware. `rewriters` complete Gradio's responses by path; `guards` may reject a request before anything is done for
    it."""
    return [
        Middleware(SecurityHeaders),
        Middleware(PublicCORS),
        Middleware(Compression, minimum_size=MIN_GZIP_BYTES, compresslevel=GZIP_LEVEL),
        Middleware(ImmutableCache),
        *guards,
        Middleware(Rewriting, rewriters=rewriters),
    ]


class Compression(GZipMiddleware):
    """Compresses all but scripts and styles: Gradio compresses its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        files = scope["type"] == "http" and scope["path"].endswith((".js", ".css"))
        await (self.app if files else super().__call__)(scope, receive, send)


class ImmutableCache:
    """Makes browsers cache Gradio's files, whose names contain a hash, for ever."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or IMMUTABLE_PATH not in scope["path"]:
            return await self.app(scope, receive, send)

        async def set_header(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message)["Cache-Control"] = FOR_EVER
            await send(message)

        await self.app(scope, receive, set_header)


class Rewriting:
    """Completes responses of Gradio's, such as its page, which are then never cached."""

    def __init__(self, app: ASGIApp, rewriters: Mapping[str, Rewriter]) -> None:
        self.app, self._rewriters = app, rewriters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        rewrite = self._rewriters.get(get_route_path(scope) or "/") if scope["type"] == "http" and scope["method"] == "GET" else None
        if not rewrite:
            return await self.app(scope, receive, send)
        start, body = {}, b""

        async def collect(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            if start["status"] == 200:
                body = await run_in_threadpool(rewrite, Request(scope), body)
                headers = MutableHeaders(scope=start)
                headers["Content-Length"] = str(len(body))
                headers.add_vary_header("Accept-Language")
                headers["Cache-Control"] = "no-store"
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, collect)
