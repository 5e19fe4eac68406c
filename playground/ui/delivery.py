"""Response middleware: compression, immutable caching of files whose names change with their content, and the first screen in the page's
HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.headers import PublicCORS, SecurityHeaders

GZIP_LEVEL, MIN_GZIP_BYTES = 4, 600  # gzip level, low since most responses are made anew; minimum bytes worth compressing
FOR_EVER = "public, max-age=31536000, immutable"
IMMUTABLE_PATH = "/assets/"  # Gradio's scripts and styles, with a hash in each name


BODY = re.compile(rb"<body[^>]*>")


HtmlMaker = Callable[[Mapping[str, str], str], str]  # makes HTML from an address's query and the accepted languages


def build_middleware(head: str, *begin: HtmlMaker, guards: Sequence[Middleware]) -> list[Middleware]:
    """Returns the middleware. `head` goes into the page's head, and each `begin`'s HTML, in order, to the start of its body. `guards` may
    reject a request before anything is done for it."""
    return [
        Middleware(SecurityHeaders),
        Middleware(PublicCORS),
        Middleware(Compression, minimum_size=MIN_GZIP_BYTES, compresslevel=GZIP_LEVEL),
        Middleware(ImmutableCache),
        *guards,
        Middleware(PageOpening, head=head, begin=begin),
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


class PageOpening:
    """Inserts our own head, the skip links and the first screen into Gradio's page."""

    def __init__(self, app: ASGIApp, head: str, begin: tuple[HtmlMaker, ...]) -> None:
        self.app, self.head, self.begin = app, head, begin

    def _html(self, query: Mapping[str, str], accepted: str) -> str:
        return "".join(make(query, accepted) for make in self.begin)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in ("", "/") or scope["method"] != "GET":
            return await self.app(scope, receive, send)
        request, start, body = Request(scope), {}, b""

        async def collect(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            if start["status"] == 200 and (body_tag := BODY.search(body)):
                first_html = await run_in_threadpool(self._html, request.query_params, request.headers.get("Accept-Language", ""))
                head = body[: body_tag.start()].replace(b"</head>", self.head.encode() + b"</head>")
                body = head + body_tag[0] + first_html.encode() + body[body_tag.end() :]
                headers = MutableHeaders(scope=start)
                headers["Content-Length"] = str(len(body))
                headers.add_vary_header("Accept-Language")
                headers["Cache-Control"] = "no-store"  # under any name
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, collect)
