"""The bridge between Gradio's listeners and the page's own script: functions and values by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from playground.ui.assets import MAIN, asset_path

# the script's requests to Gradio: words in another language, other values of the controls, a cost estimate
EVENTS = ("relabel", "settings", "look_ahead")


def bridge() -> gr.HTML:
    """Returns a hidden component. Its events are EVENTS; it carries the script's inputs to listeners, and their answers."""
    triggers = ", ".join(f"{name}: () => trigger('{name}')" for name in EVENTS)
    return gr.HTML({}, html_template="", js_on_load=f"{_import_script()}.then((page) => page.meet({{ {triggers} }}))", visible="hidden")


def js_call(function: str, inputs: Sequence[str] = (), outputs: Sequence[str] = (), **constants: Any) -> str:
    """Returns a listener's JavaScript: it calls main.js's `function` with the inputs' values and the `constants` in one object, and returns
    the outputs from the resulting object."""
    named = f"Object.fromEntries({json.dumps(list(inputs))}.map((name, at) => [name, values[at]]))"
    return (
        f"async (...values) => {{ const answer = await (await {_import_script()}).{function}({{ ...{named}, ...{json.dumps(constants)} }});"
        f" return {json.dumps(list(outputs))}.map((name) => answer[name]); }}"
    )


def read_text(fields: Any, name: str) -> str:
    """Returns a text that the script passed to a listener through the bridge; "" for another type."""
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) else ""


def _import_script() -> str:
    """Returns a JavaScript promise of our own script, which may still be loading. Repeated imports load it once."""
    return f"import(new URL('{asset_path(MAIN)}', document.baseURI))"
