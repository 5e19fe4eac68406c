"""The page's layout in Gradio. listeners.py handles its controls, panels/ draws its panels."""

from __future__ import annotations

from dataclasses import dataclass, field

import gradio as gr

from playground.features.registry import PLACES
from playground.features.shared.naming import CONTROLLED
from playground.runs.registry import Runs
from playground.ui import listeners
from playground.ui.controls import GROUPS, make_control, make_preset_list
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
