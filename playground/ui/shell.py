"""The page without Gradio and without a server: the same places and tabs as plain buttons, around the same panels. For frozen pages only,
see playground/freeze."""

from __future__ import annotations

from html import escape

import gradio as gr
from fastapi import FastAPI
from starlette.testclient import TestClient

from playground.ui.document import skip_links, start_watch
from playground.ui.page import FOOT, FRAME, words
from playground.ui.panels import PLACES
from playground.ui.server import STYLES, known_tag, theme
from playground.words import ENGLISH


def theme_css() -> str:
    """Returns the CSS of the page's Gradio theme, as Gradio serves it."""
    app = gr.mount_gradio_app(FastAPI(), gr.Blocks(analytics_enabled=False), "/", theme=theme())
    return TestClient(app).get("/theme.css").text


def page(assets: str, modules: str, live: str = "") -> str:
    """Returns the HTML, with styles and the script `modules` in the folder `assets`; `live` is the address of a page with a server."""
    styles = "".join(f'<link rel="stylesheet" href="{assets}/{name}">' for name in ("theme.css", "frozen.css", *STYLES))
    inner = "".join(_panel(f"pg-place-{place}", _tabs(f"pg-tabs-{place}", names)) for place, names in PLACES.items())
    about = f'<p data-say="frozen_about">{escape(words("frozen_about"))}</p><p id="pg-to-live"></p>'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{start_watch()}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(words("title"))}</title><link rel="icon" href="data:,">{styles}{known_tag(PLACES)}'
        f'<script src="{assets}/{modules}"></script></head>'
        f'<body data-live="{escape(live)}">{skip_links(ENGLISH)}'
        f'<div class="gradio-container"><main class="fillable">{FRAME}<div id="pg-body">'
        f'<div id="pg-knobs">{about}<div id="pg-run-buttons" hidden></div></div>'
        f'<div id="pg-rail"><nav id="pg-figure"></nav></div>'
        f'<div id="pg-view"><div id="pg-places">{_list("place", tuple(PLACES))}{inner}</div></div>'
        f'<div id="pg-dock"><aside id="pg-lesson-bar" hidden></aside></div></div>{FOOT}</main></div></body></html>'
    )


def _list(kind: str, names: tuple[str, ...]) -> str:
    """Returns the buttons of places, or of the tabs of one."""
    template = (
        '<button type="button" role="tab" id="pg-{kind}-{name}-button" aria-controls="pg-{kind}-{name}" aria-selected="false" '
        'data-say="{kind}_{name}">{text}</button>'
    )
    buttons = "".join(template.format(kind=kind, name=name, text=escape(words(f"{kind}_{name}"))) for name in names)
    return f'<div class="tab-wrapper"><div class="tab-container" role="tablist">{buttons}</div></div>'


def _panel(id: str, inner: str) -> str:
    return f'<div id="{id}" class="tabitem" role="tabpanel" aria-labelledby="{id}-button" hidden>{inner}</div>'


def _tabs(id: str, names: tuple[str, ...]) -> str:
    inner = "".join(_panel(f"pg-tab-{name}", f'<div class="pg-panel" id="pg-panel-{name}" data-panel="{name}"></div>') for name in names)
    return f'<div id="{id}" class="pg-tabs">{_list("tab", names)}{inner}</div>'
