"""The HTML of the page as the server sends it: Gradio's, with our own tags at the beginning of its head and body.

They are there before any script has run: the start watch, which explains why nothing is drawn; the base of relative addresses; the tags of
link previews in chats and posts, in place of Gradio's, of which previews would take the first; skip links past the controls, for visitors
without a mouse; and the first screen: the frame, the sentence and the first picture. It overlays the page until that has drawn its own
first picture of the same run, sentence and numbers. Links to other views don't get it, and static/first.js removes it for visitors who
return to a run of their own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response

from playground.config import Refusal
from playground.cursor import declared
from playground.features.registry import PANELS, PLACES
from playground.features.shared.figures.plain import still
from playground.features.shared.naming import label, title
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View, language
from playground.runs.memory import LRU
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX, SCRIPT, STATIC, STYLE, asset_path, asset_version
from playground.ui.controls import GROUPS
from playground.ui.rights import PUBLIC, GuardedRoute
from playground.words import OFFERED, browser_tags, preferred, say, translated

PICTURE = "preview.png"
SIZE = 1200, 630  # pixels: the format of previews
GRADIO_TAGS = re.compile(r"<meta\s+(?:property|name)=\"(?:og|twitter):[^>]*>|<base\s[^>]*>")
BODY = re.compile(r"<body[^>]*>")
REASONS = ("old", "file", "frame", "missing", "controls", "slow")  # why nothing is drawn
SKIP_LINKS = {"pg-sentence": "page.skip_sentence", "pg-view": "page.skip_picture", "pg-place-tabs": "page.skip_places"}  # by target
DrawFirst = Callable[[Mapping[str, str], str], str]  # from an address's query and the accepted languages


def complete(request: Request, page: str, head: str, first_screen: DrawFirst) -> str:
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
    words = {language: {reason: say(language, f"page.start_{reason}") for reason in REASONS} for language in OFFERED}
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
    return f'<nav id="pg-skip" style="position: absolute">{links}</nav>'  # before its style sheet is there, too


def head() -> str:
    """Returns the tags that load the page's style and script, and first the data that the script needs before any request. Relative
    addresses work behind a proxy and inside a Space's frame."""
    return (
        f'<link rel="stylesheet" href="{asset_path(STYLE)}">{known_tag(PLACES)}'
        f'<script type="module" src="{asset_path(SCRIPT)}"></script>'
        '<meta name="referrer" content="same-origin">'
    )


def known_tag(places: Mapping[str, Sequence[str]], offered: Sequence[str] = OFFERED) -> str:
    """Returns a tag that declares the cursor, languages, places and tabs to the script."""
    known = orjson.dumps({"cursor": declared(), "languages": languages(offered), "places": places}).decode().replace("<", r"\u003c")
    return f'<script type="application/json" id="pg-known">{known}</script>'


def languages(offered: Sequence[str] = OFFERED) -> dict[str, dict[str, Any]]:
    """Returns these languages by code: long and brief names, the tag of their text and the tags by which browsers request them."""
    return {
        code: {
            "name": say(code, "language.name"),
            "brief": say(code, "language.brief"),
            "html": say(code, "language.html"),
            "direction": say(code, "language.direction"),
            "translated": translated(code),
            "browser": browser_tags(code),
        }
        for code in offered
    }


def route() -> GuardedRoute:
    """Returns the route of the preview's picture. Its address changes with the page's files, so that it can be cached."""

    async def picture(request: Request) -> Response:
        return Response((STATIC / PICTURE).read_bytes(), media_type="image/png", headers={"Cache-Control": "max-age=604800"})

    return GuardedRoute(f"{PREFIX}/{{version}}/{PICTURE}", picture, PUBLIC)


# Widths (px) of the picture, whose labels are as long as there is room for; the style sheet selects one.
WIDTHS = {"wide": 1040, "narrow": 360}
MODEL_TEXT = 'translate="no" lang="und" dir="auto"'  # as modelText of static/dom.js
MAX_BYTES = 2_000_000
NEUTRAL_FIELDS = {"run", "lang"}  # fields that don't change the view; nor do Gradio's: __theme, __sign


class FirstScreen:
    """The first screen of a server's first run, cached per language."""

    def __init__(self, runs: Runs, reader: Reader) -> None:
        self._runs, self._reader = runs, reader
        self.cache = LRU(most_bytes=MAX_BYTES, size=len)

    def html(self, query: Mapping[str, str], accepted: str) -> str:
        """Returns the HTML before the page, for an address's `query` and a browser's `accepted` languages; "" unless it is a first
        visitor's page."""
        shipped = self._runs.shipped()
        other_fields = [name for name in query if name not in NEUTRAL_FIELDS and not name.startswith("__")]
        if not shipped or other_fields or query.get("run", shipped[0].id) != shipped[0].id:
            return ""
        language, run = preferred(accepted, query.get("lang", "")), shipped[0]
        try:
            return self.cache.get_or_make((run.id, language), lambda: self._html(run.id, language))
        except Refusal:  # the page explains it
            return ""

    def _view(self, parameters: Mapping[str, str]) -> View:
        return View(self._runs, self._reader, parameters)

    def _html(self, run: str, language: str) -> str:
        parameters = {"run": run, "lang": language}
        view = self._view(parameters)
        blocks = {
            (name, dark): _find_picture(PANELS["training"](self._view(parameters | {"width": str(width), "dark": dark})))
            for name, width in WIDTHS.items()
            for dark in ("", "1")
        }
        wide_block = blocks["wide", ""]
        stills = (still(blocks[name, ""]["figure"], blocks[name, "1"]["figure"], wide_block["title"]) for name in WIDTHS)
        pictures = "".join(f'<div class="{name}" {MODEL_TEXT}>{picture}</div>' for name, picture in zip(WIDTHS, stills, strict=True))
        words = f'<h3>{escape(wide_block["title"])}</h3><p>{escape(wide_block["caption"])}</p>'
        about = f'<p class="what">{escape(view.say("page.preview_about"))}</p>'
        figure = f'<div class="panel">{about}<div class="figure">{words}<div class="pictures">{pictures}</div></div></div>'
        body = f'<div class="body">{_draw_knobs(language)}{figure}</div>'
        screen = f"<style>{_read_static('first_line.css')}{_read_static('first.css')}</style>{_draw_frame(view)}{body}"
        tag = f'<div id="pg-first" lang="{view.say("language.html")}" dir="{view.say("language.direction")}">'
        return f"{tag}{screen}</div><script>{_read_static('first.js')}</script>"


def preloads() -> str:
    """Returns tags that preload the page's script and style, which Gradio adds late."""
    return f'<link rel="modulepreload" href="{asset_path(SCRIPT)}"><link rel="preload" as="style" href="{asset_path(STYLE)}">'


def _read_static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _find_picture(parent: dict) -> dict | None:
    """Returns the large picture in a panel or a row; None where there is none."""
    inside = (block if block["id"] == "learn-cross" else _find_picture(block) for block in parent.get("blocks", ()))
    return next((block for block in inside if block), None)


def _draw_frame(view: View) -> str:
    """Returns three lines: title, run and places; the sentence and its output; the tabs of the first place."""
    place = next(iter(PLACES))
    places = "".join(f"<span{_lit_class(name == place)}>{view.say(f'page.place_{name}')}</span>" for name in PLACES)
    tabs = "".join(f"<span{_lit_class(name == PLACES[place][0])}>{view.say(f'page.tab_{name}')}</span>" for name in PLACES[place])
    line = PANELS["sentence"](view)
    source, output = (f'<span class="tokens {side}" {MODEL_TEXT}>{"".join(map(_chip, line[side]))}</span>' for side in ("source", "output"))
    result = f'<span class="result">{_draw_verdict(view, line["correct"])}{source}<span class="arrow">→</span>{output}</span>'
    run = escape(title(view.run, view.language, view.token))
    return (
        f'<div class="head"><h1>{view.say("page.title")}</h1><span class="run">{run}</span></div>'
        f'<div class="places">{places}</div>'
        f'<div class="sentence"><span class="text" {MODEL_TEXT}>{escape(view.text)}</span>{result}</div>'
        f'<div class="tabs">{tabs}</div>'
    )


def _lit_class(on: bool) -> str:
    return ' class="lit"' if on else ""


def _draw_verdict(view: View, correct: bool | None) -> str:
    if correct is None:
        return ""
    kind, mark = ("right", "✓") if correct else ("wrong", "✗")
    return f'<span class="verdict {kind}">{mark} {view.say(f"page.{kind}")}</span>'


def _chip(token: dict) -> str:
    mark = {True: " right", False: " wrong", None: ""}[token.get("right")]
    return f'<span class="chip{mark}">{escape(token["text"])}</span>'


def _draw_knobs(language: str) -> str:
    """Returns a button that trains as soon as the controls are there, and the names of the basic settings; their values come with those."""
    names = [label(name, language) for name in ("preset", *(name for first, _ in GROUPS.values() for name in first))]
    rows = "".join(f"<span>{escape(name)}</span>" for name in names)
    button = f'<button type="button" data-pressed="{say(language, "page.status_preparing")}">{say(language, "page.train")}</button>'
    return f'<div class="knobs">{button}{rows}</div>'
