"""The head of the page's HTML: the start watch, the base of relative addresses, and the tags of link previews in chats and posts: the app's
title, sentence and picture.

Gradio's template has such tags about Gradio, and previews take the first ones: they are replaced.
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

from playground.features.shared.view import language
from playground.ui.assets import PREFIX, STATIC, asset_version
from playground.ui.rights import PUBLIC, GuardedRoute
from playground.ui.start_watch import start_watch
from playground.words import say

PICTURE = "preview.png"
SIZE = 1200, 630  # pixels: the format of previews
GRADIO_TAGS = re.compile(r"<meta\s+(?:property|name)=\"(?:og|twitter):[^>]*>")
HEAD_START = "<head>{{start_watch()|safe}}{{link_preview(request,config['root'])|safe}}"  # Gradio's template gets `request` and `config`
BASE = "{{ base_url | default('./') }}"  # of relative addresses


class OwnTagsLoader(BaseLoader):
    """Loads another loader's templates, with our tags in place of theirs."""

    def __init__(self, theirs: BaseLoader) -> None:
        self.theirs = theirs

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        source, path, is_current = self.theirs.get_source(environment, template)
        source = source.replace(BASE, "{{base_of(config['root'])}}", 1)
        return GRADIO_TAGS.sub("", source).replace("<head>", HEAD_START, 1), path, is_current


def install(environment: Environment) -> None:
    """Makes an environment's templates begin with our tags. Idempotent."""
    environment.globals |= {"start_watch": start_watch, "base_of": find_base}
    environment.globals["link_preview"] = lambda request, root: preview_tags(request.query_params, root)
    if not isinstance(environment.loader, OwnTagsLoader):
        environment.loader = OwnTagsLoader(environment.loader)


def find_base(root: str) -> str:
    """Returns the base of a page's relative addresses: behind a proxy that serves it at a path, that path with a slash at its end, though
    the visitor typed none."""
    path = urlsplit(root).path.strip("/")
    return f"/{path}/" if path else "./"


def preview_tags(parameters: Mapping[str, str], root: str) -> str:
    """Returns the tags in the link's language. Addresses must be absolute: `root` is the page's own, behind a proxy too."""
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


def route() -> GuardedRoute:
    """Returns the picture's route. Its address changes with the page's files, so that it can be cached."""

    async def picture(request: Request) -> Response:
        return Response(_read_picture(), media_type="image/png", headers={"Cache-Control": "max-age=604800"})

    return GuardedRoute(f"{PREFIX}/{{version}}/{PICTURE}", picture, PUBLIC)


@cache
def _read_picture() -> bytes:
    return (STATIC / PICTURE).read_bytes()
