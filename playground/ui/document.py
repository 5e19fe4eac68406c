"""The HTML of the page as the server sends it: Gradio's, with our own tags at the beginning of its head and body.

They are there before any script has run: the start watch, which explains why nothing is drawn; the base of relative addresses; the tags of
link previews in chats and posts, in place of Gradio's, of which previews would take the first; skip links past the controls, for visitors
without a mouse; and the first screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response

from playground.ui.assets import PREFIX, STATIC, asset_version
from playground.ui.rights import PUBLIC, GuardedRoute
from playground.ui.view import language
from playground.words import LANGUAGES, preferred, say

PICTURE = "preview.png"
SIZE = 1200, 630  # pixels: the format of previews
GRADIO_TAGS = re.compile(r"<meta\s+(?:property|name)=\"(?:og|twitter):[^>]*>|<base\s[^>]*>")
BODY = re.compile(r"<body[^>]*>")
REASONS = ("old", "file", "frame", "missing", "controls", "slow")  # why nothing is drawn
SKIP_LINKS = {"pg-sentence": "page.skip_sentence", "pg-view": "page.skip_picture", "pg-place-tabs": "page.skip_places"}  # by target
FirstScreen = Callable[[Mapping[str, str], str], str]  # from an address's query and the accepted languages


def complete(request: Request, page: str, head: str, first_screen: FirstScreen) -> str:
    """Returns Gradio's page with our tags; `head` goes to the end of its head."""
    query, accepted = request.query_params, request.headers.get("Accept-Language", "")
    root = find_root(request)
    path = request.scope.get("root_path", "").strip("/")
    base = f'<base href="{f"/{path}/" if path else "./"}" />'  # visitors type no slash at the end
    page = GRADIO_TAGS.sub("", page).replace("<head>", f"<head>{start_watch()}{base}{preview_tags(query, root)}", 1)
    page = page.replace("</head>", f"{head}</head>", 1)
    inner = skip_links(preferred(accepted, query.get("lang", "")), urlencode(query)) + first_screen(query, accepted)
    return BODY.sub(lambda tag: tag[0] + inner, page, count=1)


def find_root(request: Request) -> str:
    """Returns the page's own address, behind a proxy too: the gate has dropped forwarding headers that nothing declares."""
    forwarded = {name: request.headers.get(f"X-Forwarded-{name}", "").partition(",")[0].strip() for name in ("Host", "Proto")}
    host = forwarded["Host"].partition("/")[0] or request.headers.get("Host", "")
    scheme = "https" if "https" in (forwarded["Proto"], request.url.scheme) else "http"
    return f"{scheme}://{host}{request.scope.get('root_path', '').rstrip('/')}"


@cache
def start_watch() -> str:
    """Returns the page's first tags: a script that explains why nothing is drawn and what to do, with its sentences in every language. It
    needs no other file, and runs in browsers too old for the rest."""
    words = {language: {reason: say(language, f"page.start_{reason}") for reason in REASONS} for language in LANGUAGES}
    sentences_json = orjson.dumps(words).decode().replace("<", r"\u003c")
    script = (STATIC / "first_watch.js").read_text(encoding="utf-8")
    return f'<script type="application/json" id="pg-start">{sentences_json}</script><script>{script}</script>'


def preview_tags(parameters: Mapping[str, str], root: str) -> str:
    """Returns the tags in the link's language. Addresses must be absolute: `root` is the page's own."""
    chosen = language(parameters)
    title, about, alt = (say(chosen, f"page.{key}") for key in ("title", "preview_about", "preview_alt"))
    width, height = map(str, SIZE)
    properties = {
        "og:type": "website", "og:title": title, "og:description": about, "og:url": f"{root}/",
        "og:image": f"{root}{PREFIX}/{asset_version()}/{PICTURE}", "og:image:width": width, "og:image:height": height, "og:image:alt": alt,
        "og:locale": say(chosen, "language.html").replace("-", "_"),
    }  # fmt: skip
    names = {"twitter:card": "summary_large_image", "description": about}  # the other tags are taken from the properties
    meta_tags = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in properties.items()]
    return "".join([*meta_tags, *(f'<meta name="{name}" content="{escape(value)}" />' for name, value in names.items())])


def skip_links(language: str, query: str = "") -> str:
    """Returns links to the ids of SKIP_LINKS; static/keyboard.js makes them work, also those followed before it loads. Each keeps the
    address's `query`: the page has a base, so that a bare fragment would lead elsewhere."""
    here = escape(f"?{query}") if query else ""
    links = "".join(f'<a href="{here}#{id}">{escape(say(language, key))}</a>' for id, key in SKIP_LINKS.items())
    return f'<nav id="pg-skip">{links}</nav>'


def route() -> GuardedRoute:
    """Returns the route of the preview's picture. Its address changes with the page's files, so that it can be cached."""

    async def picture(request: Request) -> Response:
        return Response(_read_picture(), media_type="image/png", headers={"Cache-Control": "max-age=604800"})

    return GuardedRoute(f"{PREFIX}/{{version}}/{PICTURE}", picture, PUBLIC)


@cache
def _read_picture() -> bytes:
    return (STATIC / PICTURE).read_bytes()
