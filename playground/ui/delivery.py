"""Response middleware: security headers, CORS for pages of other sites, compression, immutable caching of files whose names change with
their content, and our parts of Gradio's responses."""

import os
from collections.abc import Callable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.routing import get_route_path
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

ORIGIN = b"x-playground-origin"  # a request's Origin header after PublicCORS
ASSET_TYPES = ("text/css", "text/javascript", "application/javascript", "font/")  # never a document: there the policy only adds bytes


def build_policy() -> str:
    """Returns the Content-Security-Policy. PLAYGROUND_FRAMES names further sites that may frame the page, such as a course's own."""
    # a character that could end the header or the directive is part of no address
    extra_sites = [site for site in os.environ.get("PLAYGROUND_FRAMES", "").split() if site.isascii() and not {";", ","} & set(site)]
    rules = SOURCES | {"frame-ancestors": (*SOURCES["frame-ancestors"], *extra_sites)}
    return "; ".join(" ".join((name, *sources)) for name, sources in rules.items())


class ResponseHeaders:
    """Adds the security headers, unless a response has stricter ones of its own; and makes browsers cache Gradio's files, whose names
    contain a hash, for ever."""

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
                if IMMUTABLE_PATH in scope["path"] and message["status"] == 200:
                    headers["Cache-Control"] = FOR_EVER
            await send(message)

        await self.app(scope, receive, add_headers)


class PublicCORS(CORSMiddleware):
    """Lets other sites read public resources, never with cookies; on this machine's own server, nothing. It stands before Gradio's rule,
    which lets every site send cookies, and on this machine every port: that one never sees where a request is from."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(_rename_origin(app), allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_closed = scope["type"] != "http" or is_loopback(URL(scope=scope).hostname or "")
        await (self.app if is_closed else super().__call__)(scope, receive, send)


def _rename_origin(app: ASGIApp) -> ASGIApp:
    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [(name, value) for name, value in scope["headers"] if name not in (b"access-control-request-method", ORIGIN)]
            scope = {**scope, "headers": [(ORIGIN if name == b"origin" else name, value) for name, value in headers]}
        await app(scope, receive, send)

    return call


GZIP_LEVEL, MIN_GZIP_BYTES = 4, 600  # gzip level, low since most responses are made anew; minimum bytes worth compressing
FOR_EVER = "public, max-age=31536000, immutable"
IMMUTABLE_PATH = "/assets/"  # Gradio's scripts and styles, with a hash in each name
Rewriter = Callable[[Request, bytes], bytes]  # makes a new body of Gradio's


def build_middleware(rewriters: Mapping[str, Rewriter], guards: Sequence[Middleware]) -> list[Middleware]:
    """Returns the middleware. `rewriters` complete Gradio's responses by path; `guards` may reject a request before anything is done for
    it."""
    return [
        Middleware(ResponseHeaders),
        Middleware(Compression, minimum_size=MIN_GZIP_BYTES, compresslevel=GZIP_LEVEL),
        *guards,
        Middleware(Rewriting, rewriters=rewriters),
    ]


class Compression(GZipMiddleware):
    """Compresses all but scripts and styles: Gradio compresses its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        files = scope["type"] == "http" and scope["path"].endswith((".js", ".css"))
        await (self.app if files else super().__call__)(scope, receive, send)


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
