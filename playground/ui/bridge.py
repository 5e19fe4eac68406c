"""Where Gradio's listeners and the page's own script meet: the script's functions by their names, and values by theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from playground.ui.assets import asset_path

# what the script asks Gradio for: the words of another language, other values of the controls, what a training with them would take
ASKS = ("relabel", "settings", "look_ahead")


def bridge() -> gr.HTML:
    """A component that nobody sees. Its events are ASKS; it carries what the script tells listeners, and what they answer it."""
    asks = ", ".join(f"{name}: () => trigger('{name}')" for name in ASKS)
    return gr.HTML({}, html_template="", js_on_load=f"{_page()}.then((page) => page.meet({{ {asks} }}))", visible="hidden")


def script(function: str, inputs: Sequence[str] = (), outputs: Sequence[str] = (), **told: Any) -> str:
    """The JavaScript of a listener: calls the `function` that main.js exports with the values of its inputs, and what else is `told`,
    in one object; and gives back those of its outputs out of the object that comes back."""
    js = f"Object.fromEntries({json.dumps(list(inputs))}.map((name, at) => [name, values[at]]))"
    js = (
        f"async (...values) => {{ const answer = await (await {_page()}).{function}({{ ...{js}, ...{json.dumps(told)} }});"
        f" return {json.dumps(list(outputs))}.map((name) => answer[name]); }}"
    )
    return js


def told(asked: Any, name: str) -> str:
    """What the script tells a listener through the bridge; "" where that is no text."""
    value = asked.get(name) if isinstance(asked, dict) else None
    return value if isinstance(value, str) else ""


def _page() -> str:
    """Our own script, which may still be on its way. It is there once, however often it is asked for."""
    js = f"import(new URL('{asset_path('main.js')}', document.baseURI))"
    return js
