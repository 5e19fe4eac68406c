"""What every answer passes on its way to a browser: it is compressed, files whose names change with their content are kept for ever, and
the page's own HTML begins with its first screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.headers import Guarding, Origins

LEVEL, LEAST = 4, 600  # of gzip: a quick one, since most answers are made anew each time; bytes that are worth it
FOR_EVER = "public, max-age=31536000, immutable"
KEPT = "/assets/"  # Gradio's scripts and styles, with a hash in each name


BODY = re.compile(rb"<body[^>]*>")


Begin = Callable[[Mapping[str, str], str], str]  # makes HTML of an address's query and of the languages that a browser accepts


def middleware(head: str, *begin: Begin, guards: Sequence[Middleware]) -> list[Middleware]:
    """`head` goes into the head of the page, and what each `begin` makes, in their order, to where its body begins. `guards` may turn a
    request away before anything is done for it."""
    return [
        Middleware(Guarding),
        Middleware(Origins),
        Middleware(Compressed, minimum_size=LEAST, compresslevel=LEVEL),
        Middleware(Kept),
        *guards,
        Middleware(Begun, head=head, begin=begin),
    ]


class Compressed(GZipMiddleware):
    """Compresses what nobody else does: Gradio sees to its own files."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        files = scope["type"] == "http" and scope["path"].endswith((".js", ".css"))
        await (self.app if files else super().__call__)(scope, receive, send)


class Kept:
    """Tells browsers to keep Gradio's files, of which each has a name of its own, for ever."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or KEPT not in scope["path"]:
            return await self.app(scope, receive, send)

        async def passed(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message)["Cache-Control"] = FOR_EVER
            await send(message)

        await self.app(scope, receive, passed)


class Begun:
    """Puts our own head, the ways past the controls and the first screen into Gradio's page."""

    def __init__(self, app: ASGIApp, head: str, begin: tuple[Begin, ...]) -> None:
        self.app, self.head, self.begin = app, head, begin

    def _html(self, query: Mapping[str, str], accepted: str) -> str:
        return "".join(make(query, accepted) for make in self.begin)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in ("", "/") or scope["method"] != "GET":
            return await self.app(scope, receive, send)
        request, start, body = Request(scope), {}, b""

        async def gathered(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            if start["status"] == 200 and (opened := BODY.search(body)):
                first = await run_in_threadpool(self._html, request.query_params, request.headers.get("Accept-Language", ""))
                head = body[: opened.start()].replace(b"</head>", self.head.encode() + b"</head>")
                body = head + opened[0] + first.encode() + body[opened.end() :]
                headers = MutableHeaders(scope=start)
                headers["Content-Length"] = str(len(body))
                headers.add_vary_header("Accept-Language")
                headers["Cache-Control"] = "no-store"  # by whatever name it was asked for
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, gathered)
