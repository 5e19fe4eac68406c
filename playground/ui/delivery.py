"""What every answer passes on its way to a browser: it is compressed, files whose names change with their content are kept for ever, and the
page's own HTML begins with its first screen."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEVEL, LEAST = 4, 600  # of gzip: a quick one, since most answers are made anew each time; bytes that are worth it
FOR_EVER = "public, max-age=31536000, immutable"
KEPT = "/assets/"  # Gradio's scripts and styles, with a hash in each name


def middleware() -> list[Middleware]:
    return [Middleware(Compressed, minimum_size=LEAST, compresslevel=LEVEL), Middleware(Kept)]


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
