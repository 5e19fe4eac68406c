"""A static first screen in the server's HTML, visible before any script has run: the frame, the sentence and the first picture.

It overlays the page until that has drawn its own first picture of the same run, sentence and numbers. Links to other views don't get it,
and static/first.js removes it for visitors who return to a run of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from playground.config import Refusal
from playground.features.registry import PANELS, PLACES
from playground.features.shared.figures.plain import still
from playground.features.shared.naming import label, title
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View
from playground.runs.cache import LRU
from playground.runs.registry import Runs
from playground.ui.assets import STATIC, asset_path, list_modules
from playground.ui.controls import GROUPS
from playground.words import preferred, say

# Widths (px) of the picture, whose labels are as long as there is room for; the style sheet selects one.
WIDTHS = {"wide": 1040, "middle": 440, "narrow": 320}
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
        figure = f'<div class="figure"><h3>{escape(wide_block["title"])}</h3><p>{escape(wide_block["caption"])}</p>{pictures}</div>'
        tour = f'<div class="new">{escape(view.say("tour.open"))}</div>'
        body = f'<div class="body">{_draw_knobs(language)}<div class="panel">{tour}{figure}</div></div>'
        screen = f"<style>{_read_static('first.css')}</style>{_draw_frame(view)}{body}"
        return f'<div id="pg-first" lang="{view.say("language.html")}">{screen}</div><script>{_read_static("first.js")}</script>'


def preloads() -> str:
    """Returns tags that preload every file of the page, Plotly last."""
    modules = "".join(f'<link rel="modulepreload" href="{asset_path(name)}">' for name in list_modules())
    return f'{modules}<link rel="preload" as="script" fetchpriority="low" href="{asset_path("plotly.js")}">'


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
    """Returns the names of the basic settings; their values come with the controls."""
    names = [label(name, language) for name in ("preset", *(name for first, _ in GROUPS.values() for name in first))]
    rows = "".join(f"<span>{escape(name)}</span>" for name in names)
    return f'<div class="knobs"><b>{say(language, "page.train")}</b>{rows}</div>'
