"""The page in Gradio: where everything stands. What happens on a click is in actions.py, what a panel shows in panels/."""

from __future__ import annotations

from dataclasses import dataclass, field

import gradio as gr

from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui import actions
from playground.ui.controls import CONTROLLED, GROUPS, control, preset_control
from playground.ui.panels import TABS
from playground.words import ENGLISH, say


@dataclass
class Parts:
    """The components that listeners need, by what they are."""

    knobs: dict[str, gr.components.Component] = field(default_factory=dict)
    titled: list[tuple[object, dict[str, str]]] = field(default_factory=list)  # (component, property -> key of its words)

    def title(self, component: object, key: str, property: str = "label", **others: str) -> object:
        """Remembers that `property` of a component holds the words `page.key`, so that another language can replace them; and `others`
        like it."""
        self.titled.append((component, {name: f"page.{words}" for name, words in {property: key, **others}.items()}))
        return component


def words(key: str) -> str:
    return say(ENGLISH, f"page.{key}")


def build(runs: Runs, reader: Reader) -> gr.Blocks:
    """The whole page. English first; `actions.relabel` says everything in another language when the visitor's is another."""
    parts = Parts()
    with gr.Blocks(title=words("title"), fill_width=True, analytics_enabled=False, delete_cache=(3600, 86400)) as demo:
        hidden = _hidden()
        with gr.Sidebar(width=330, elem_id="pg-sidebar"):
            with gr.Column(elem_id="pg-go"):
                train = parts.title(gr.Button(words("train"), variant="primary", elem_id="pg-train"), "train", "value")
                gr.HTML('<div id="pg-run-buttons"></div>', apply_default_css=False)
            preset = preset_control()
            outlook = gr.Markdown(elem_id="pg-outlook")
            for group, (first, more) in GROUPS.items():
                parts.title(gr.Markdown(words(f"group_{group}"), elem_classes="pg-group"), f"group_{group}", "value")
                for name in first:
                    parts.knobs[name] = control(name)
                with parts.title(gr.Accordion(words(f"more_{group}"), open=False, elem_classes="pg-more"), f"more_{group}"):
                    for name in more:
                        parts.knobs[name] = control(name)
            reset = parts.title(gr.Button(words("reset"), size="sm", elem_id="pg-reset"), "reset", "value")
        gr.HTML(
            '<header id="pg-head"></header><div class="pg-stage"><div id="pg-sentence-bar"></div><div id="pg-replay-bar"></div>'
            '<div id="pg-lesson-bar" hidden></div></div>',
            apply_default_css=False,
        )
        with gr.Tabs(overflow_behavior="wrap", elem_id="pg-tabs") as tabs:
            for name in TABS:
                with parts.title(gr.Tab(words(f"tab_{name}"), id=name, elem_id=f"pg-tab-{name}"), f"tab_{name}") as tab:
                    if name == "data":
                        upload = _upload(parts)
                    gr.HTML(f'<div class="pg-panel" id="pg-panel-{name}" data-panel="{name}"></div>', apply_default_css=False)
                tab.select(None, None, None, js=f"() => window.playground.tab('{name}')", api_visibility="private")
    parts.knobs = {name: parts.knobs[name] for name in CONTROLLED}
    with demo:
        actions.wire(demo, runs, reader, parts, hidden, train=train, preset=preset, outlook=outlook, reset=reset, tabs=tabs, upload=upload)
    return demo


def _hidden() -> dict[str, gr.components.Component]:
    """What carries values between the page's script and the listeners; nobody sees it."""
    return {
        "token": gr.Textbox(visible="hidden", elem_id="pg-token"),
        "language": gr.Textbox(visible="hidden", elem_id="pg-lang"),
        "message": gr.Textbox(visible="hidden", elem_id="pg-message"),
        "own": gr.Textbox(visible="hidden", elem_id="pg-own"),
        "choices": gr.Textbox(visible="hidden", elem_id="pg-choices"),
        "reply": gr.JSON(visible="hidden", elem_id="pg-reply"),
        "command": gr.Button(visible="hidden", elem_id="pg-command"),
        "relabel": gr.Button(visible="hidden", elem_id="pg-relabel"),
        "settings": gr.Button(visible="hidden", elem_id="pg-settings"),
    }


def _upload(parts: Parts) -> dict[str, gr.components.Component]:
    """Own sentences: files or pasted text, read at once and shown as understood before anything trains."""
    parts.title(gr.Markdown(words("own_title"), elem_classes="pg-group"), "own_title", "value")
    parts.title(gr.Markdown(words("own_about")), "own_about", "value")
    with gr.Row():
        files = parts.title(
            gr.File(label=words("own_files"), file_count="multiple", type="filepath", elem_id="pg-files", height=120), "own_files"
        )
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
    with gr.Row():
        look = parts.title(gr.Button(words("own_read"), elem_id="pg-read"), "own_read", "value")
        use = parts.title(gr.Button(words("own_train"), variant="primary", elem_id="pg-train-own"), "own_train", "value")
    gr.HTML('<div id="pg-reading" class="pg-block"></div><div id="pg-preview"></div>', apply_default_css=False)
    return {"files": files, "text": text, "hub": hub, "look": look, "use": use}
