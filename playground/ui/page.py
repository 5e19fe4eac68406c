"""The page's layout in Gradio. listeners.py handles its controls, panels/ draws its panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import gradio as gr

from playground.features.registry import PLACES
from playground.features.shared.naming import CONTROLLED
from playground.runs.registry import Runs
from playground.ui import listeners
from playground.ui.assets import CORE, list_styles
from playground.ui.controls import GROUPS, make_control, make_preset_list
from playground.ui.document import known_tag, skip_links, start_watch
from playground.ui.rights import Listeners
from playground.ui.turns import Turns
from playground.words import ENGLISH, say

# The frame, always visible, in three lines: the run, the sentence, the replay. The page's script fills them in, the names of
# places and tabs into the first and the third (see static/tabs.js), so that reading and keyboard order are the visual order. The third line
# ends with the visitor's room. Below, over nothing clickable, the run's error.
FRAME = (
    '<div id="pg-frame"><header id="pg-head"></header><div id="pg-place-tabs"></div><div id="pg-tools" class="pg-tools"></div>'
    '<div class="pg-stage"><div id="pg-sentence-bar"></div></div><div id="pg-inner-tabs"></div><div id="pg-replay-bar"></div>'
    '<div id="pg-room"></div></div><div id="pg-run-alert" role="alert" hidden></div>'
)
FOOT = '<footer id="pg-foot"></footer>'


@dataclass
class Parts:
    """The components that listeners need, by role."""

    bridge: gr.HTML
    knobs: dict[str, gr.components.Component] = field(default_factory=dict)
    upload: dict[str, gr.components.Component] = field(default_factory=dict)
    titled: list[tuple[object, dict[str, str]]] = field(default_factory=list)  # (component, property -> key of its words)
    train: gr.Button | None = None
    reset: gr.Button | None = None
    preset: gr.Radio | None = None
    outlook: gr.Markdown | None = None
    schedule: gr.HTML | None = None

    def title(self, component: object, key: str, property: str = "label", **more: str) -> object:
        """Registers `property` of a component as the words `page.key`, to be translated; and `more` properties likewise."""
        self.titled.append((component, {name: f"page.{words}" for name, words in {property: key, **more}.items()}))
        return component


def words(key: str) -> str:
    return say(ENGLISH, f"page.{key}")


def build_page(runs: Runs, turns: Turns) -> tuple[gr.Blocks, Listeners]:
    """Builds the page in English; listeners.py translates it to the visitor's language. Returns it with its listeners."""
    with gr.Blocks(title=words("title"), fill_width=True, analytics_enabled=False, delete_cache=(3600, 86400)) as demo:
        parts = Parts(listeners.bridge())
        gr.HTML(FRAME, elem_id="pg-frame-place", apply_default_css=False)
        with gr.Row(elem_id="pg-body"):
            with gr.Column(elem_id="pg-knobs", scale=0, min_width=316):  # always there, so that a lesson can set them from anywhere
                _add_knobs(parts)
            with gr.Column(elem_id="pg-rail", scale=0, min_width=0):
                gr.HTML('<nav id="pg-figure"></nav>', apply_default_css=False)
            with gr.Column(elem_id="pg-view", min_width=0), gr.Tabs(elem_id="pg-places", overflow_behavior="wrap"):
                for place, names in PLACES.items():
                    with _add_tab(parts, f"place_{place}", f"pg-place-{place}"):
                        _add_place(parts, place, names)
            with gr.Column(elem_id="pg-dock", scale=0, min_width=0):
                gr.HTML('<aside id="pg-lesson-bar" hidden></aside>', apply_default_css=False)
        gr.HTML(FOOT, apply_default_css=False)
        parts.knobs = {name: parts.knobs[name] for name in CONTROLLED}
        opened = listeners.connect(demo, runs, parts, turns)
    return demo, opened


def _add_tab(parts: Parts, key: str, elem_id: str) -> gr.Tab:
    return parts.title(gr.Tab(words(key), id=elem_id, elem_id=elem_id), key)


def _add_place(parts: Parts, place: str, names: tuple[str, ...]) -> None:
    """Adds the tabs of one place."""
    with gr.Tabs(elem_id=f"pg-tabs-{place}", elem_classes="pg-tabs", overflow_behavior="wrap"):
        for name in names:
            with _add_tab(parts, f"tab_{name}", f"pg-tab-{name}"):
                if name == "data":
                    _add_upload(parts)
                gr.HTML(f'<div class="pg-panel" id="pg-panel-{name}" data-panel="{name}"></div>', apply_default_css=False, padding=False)


def _add_knobs(parts: Parts) -> None:
    """Adds the train button and the settings of the next run: the basic ones in one list, others folded."""
    gr.HTML('<div id="pg-drawer-head"></div>', elem_id="pg-drawer-top", apply_default_css=False)  # on a narrow screen
    with gr.Column(elem_id="pg-go"):
        parts.train = parts.title(gr.Button(words("train"), variant="primary", elem_id="pg-train"), "train", "value")
        gr.HTML('<div id="pg-run-buttons"></div><div id="pg-deal"></div>', apply_default_css=False)
        parts.outlook = gr.Markdown(elem_id="pg-outlook")
    with gr.Column(elem_id="pg-first-knobs"):
        parts.preset = make_preset_list()
        for first, _ in GROUPS.values():
            for name in first:
                parts.knobs[name] = make_control(name)
    for group, (_, more) in GROUPS.items():
        options = {"open": False, "elem_id": f"pg-more-{group}", "elem_classes": "pg-more"}
        with parts.title(gr.Accordion(words(f"more_{group}"), **options), f"more_{group}"):
            for name in more:
                parts.knobs[name] = make_control(name)
                if name == "warmup":  # the last knob of the schedule
                    parts.schedule = gr.HTML(elem_id="pg-schedule", apply_default_css=False)
    parts.reset = parts.title(gr.Button(words("reset"), size="sm", elem_id="pg-reset"), "reset", "value")


def _add_upload(parts: Parts) -> None:
    """Adds the box for own sentences: files or pasted text, read at once and shown as interpreted before any training."""
    with gr.Column(elem_id="pg-own"):
        parts.title(gr.Markdown(words("own_title")), "own_title", "value")
        parts.title(gr.Markdown(words("own_about")), "own_about", "value")
        gr.HTML('<div id="pg-ways"></div>', apply_default_css=False)  # one of three is open, see features/data/reading.js
        files = gr.File(show_label=False, file_count="multiple", type="filepath", elem_id="pg-files", height=84)
        text = parts.title(
            gr.Textbox(label=words("own_text"), lines=3, max_lines=12, elem_id="pg-paste", placeholder=words("own_hint")),
            "own_text",
            placeholder="own_hint",
        )
        hub = parts.title(
            gr.Textbox(label=words("own_hub"), max_lines=1, max_length=300, elem_id="pg-hub", placeholder=words("hub_hint")),
            "own_hub",
            placeholder="hub_hint",
        )
        read_button = parts.title(gr.Button(words("own_read"), size="sm", elem_id="pg-read"), "own_read", "value")
        gr.HTML('<div id="pg-reading" class="pg-block"></div>', apply_default_css=False)
        train_button = parts.title(gr.Button(words("own_train"), variant="primary", elem_id="pg-train-own"), "own_train", "value")
        gr.HTML('<p id="pg-nothing-read"></p><div id="pg-preview"></div>', apply_default_css=False)
    parts.upload = {"files": files, "text": text, "hub": hub, "look": read_button, "use": train_button}


def theme() -> gr.Theme:
    """Returns Gradio's default theme in quiet colours, with system fonts: nothing is fetched from elsewhere."""
    chinese = ["PingFang SC", "Noto Sans SC", "Noto Sans CJK SC", "Microsoft YaHei"]
    sans = ["system-ui", "-apple-system", "Segoe UI", "Roboto", *chinese, "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    base = gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=sans, font_mono=mono, spacing_size="sm", radius_size="md")
    return base.set(  # contrast of at least 4.5, which Gradio's own greys and indigo miss
        body_text_color_subdued="*neutral_600",
        block_title_text_color="*neutral_600",
        block_label_text_color="*neutral_600",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        color_accent="*primary_600",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
    )


def theme_css() -> str:
    """Returns the CSS of the page's Gradio theme, as Gradio serves it."""
    from fastapi import FastAPI  # here, since only a frozen page needs them
    from starlette.testclient import TestClient

    app = gr.mount_gradio_app(FastAPI(), gr.Blocks(analytics_enabled=False), "/", theme=theme())
    return TestClient(app).get("/theme.css").text


def build_frozen_page(
    assets: str, modules: str, live: str, places: Mapping[str, Sequence[str]], hidden: Sequence[str], languages: Sequence[str]
) -> str:
    """Returns the HTML of the page without Gradio and without a server: the same places and tabs as plain buttons, around the same panels;
    with styles and the script `modules` in the folder `assets`; `live` is the address of a page with a server. The names of `hidden` tabs
    are not shown."""
    styles = "".join(f'<link rel="stylesheet" href="{assets}/{name}">' for name in ("theme.css", f"{CORE}frozen.css", *list_styles()))
    inner = "".join(_panel(f"pg-place-{place}", _tabs(f"pg-tabs-{place}", names)) for place, names in places.items())
    names = [f"#pg-to-tab-{name}" for name in hidden]
    names += [f"#pg-to-place-{place}" for place, tabs in places.items() if set(tabs) <= set(hidden)]
    styles += f"<style>{','.join(names)}{{display:none!important}}</style>" if names else ""
    about = f'<p data-say="frozen_about">{escape(words("frozen_about"))}</p><p id="pg-to-live"></p>'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{start_watch()}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(words("title"))}</title><link rel="icon" href="data:,">{styles}{known_tag(places, languages)}'
        f'<script src="{assets}/{modules}"></script></head>'
        f'<body data-live="{escape(live)}">{skip_links(ENGLISH)}'
        f'<div class="gradio-container"><main class="fillable">{FRAME}<div id="pg-body">'
        f'<div id="pg-knobs">{about}<div id="pg-run-buttons" hidden></div></div>'
        f'<div id="pg-rail"><nav id="pg-figure"></nav></div>'
        f'<div id="pg-view"><div id="pg-places">{_list("place", tuple(places))}{inner}</div></div>'
        f'<div id="pg-dock"><aside id="pg-lesson-bar" hidden></aside></div></div>{FOOT}</main></div></body></html>'
    )


def _list(kind: str, names: Sequence[str]) -> str:
    """Returns the buttons of places, or of the tabs of one."""
    template = (
        '<button type="button" role="tab" id="pg-{kind}-{name}-button" aria-controls="pg-{kind}-{name}" aria-selected="false" '
        'data-say="{kind}_{name}">{text}</button>'
    )
    buttons = "".join(template.format(kind=kind, name=name, text=escape(words(f"{kind}_{name}"))) for name in names)
    return f'<div class="tab-wrapper"><div class="tab-container" role="tablist">{buttons}</div></div>'


def _panel(id: str, inner: str) -> str:
    return f'<div id="{id}" class="tabitem" role="tabpanel" aria-labelledby="{id}-button" hidden>{inner}</div>'


def _tabs(id: str, names: Sequence[str]) -> str:
    inner = "".join(_panel(f"pg-tab-{name}", f'<div class="pg-panel" id="pg-panel-{name}" data-panel="{name}"></div>') for name in names)
    return f'<div id="{id}" class="pg-tabs">{_list("tab", names)}{inner}</div>'
