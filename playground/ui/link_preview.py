"""How the page's HTML begins: the watch over its start, where relative addresses begin, and what a link to it looks like in a chat or a
post: title, sentence and picture of the app.

Gradio's template begins with tags of its own about Gradio, and whoever makes a preview takes the first ones. They go, ours come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from urllib.parse import urlsplit

from jinja2 import BaseLoader, Environment
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from playground.ui.assets import PREFIX, STATIC, asset_version
from playground.ui.start_watch import start_watch
from playground.ui.view import language
from playground.words import say

PICTURE = "preview.png"
SIZE = 1200, 630  # pixels, as previews are cut
GRADIOS = re.compile(r"<meta\s+(?:property|name)=\"(?:og|twitter):[^>]*>")
OURS = "<head>{{start_watch()|safe}}{{link_preview(request,config['root'])|safe}}"  # Gradio gives its template `request` and `config`
BASE = "{{ base_url | default('./') }}"  # to which relative addresses are


class OwnTags(BaseLoader):
    """Loads the templates that another loader has, with our tags in place of theirs."""

    def __init__(self, theirs: BaseLoader) -> None:
        self.theirs = theirs

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        source, path, is_current = self.theirs.get_source(environment, template)
        source = source.replace(BASE, "{{base_of(config['root'])}}", 1)
        return GRADIOS.sub("", source).replace("<head>", OURS, 1), path, is_current


def install(environment: Environment) -> None:
    """Lets these templates begin with our tags. A second time changes nothing."""
    environment.globals |= {"start_watch": start_watch, "base_of": base_of}
    environment.globals["link_preview"] = lambda request, root: tags(request.query_params, root)
    if not isinstance(environment.loader, OwnTags):
        environment.loader = OwnTags(environment.loader)


def base_of(root: str) -> str:
    """The folder that a page's relative addresses begin at. Behind a proxy that has the page at a path it is that path, with a slash at its
    end though a visitor typed none."""
    path = urlsplit(root).path.strip("/")
    return f"/{path}/" if path else "./"


def tags(parameters: Mapping[str, str], root: str) -> str:
    """The tags in the language that the link asks for. Addresses must be whole ones: `root` is the page's own, behind a proxy too."""
    chosen = language(parameters)
    title, about, alt = (say(chosen, f"page.{key}") for key in ("title", "preview_about", "preview_alt"))
    width, height = map(str, SIZE)
    properties = {
        "og:type": "website", "og:title": title, "og:description": about, "og:url": f"{root}/",
        "og:image": f"{root}{PREFIX}/{asset_version()}/{PICTURE}", "og:image:width": width, "og:image:height": height, "og:image:alt": alt,
        "og:locale": say(chosen, "language.html").replace("-", "_"),
    }  # fmt: skip
    names = {"twitter:card": "summary_large_image", "description": about}  # the rest is taken from the properties
    found = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in properties.items()]
    return "".join([*found, *(f'<meta name="{name}" content="{escape(value)}" />' for name, value in names.items())])


def route() -> Route:
    """Where the picture is. Its address changes with the page's files, so that it may be kept."""

    async def picture(request: Request) -> Response:
        return Response(_picture(), media_type="image/png", headers={"Cache-Control": "max-age=604800"})

    return Route(f"{PREFIX}/{{version}}/{PICTURE}", picture, methods=["GET", "HEAD"])


@cache
def _picture() -> bytes:
    return (STATIC / PICTURE).read_bytes()
