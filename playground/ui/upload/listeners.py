"""Listeners of the upload box: read files when they arrive, pasted text on the button, and again after a changed choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from playground.ui.actions import answer_call
from playground.ui.address import address_of
from playground.ui.bridge import js_call, read_text
from playground.ui.upload import uploading


def connect(bridge: gr.HTML, knobs: dict, upload: dict, ask: Callable[[dict, str], dict]) -> gr.events.Dependency:
    """Returns the event after a reading; `ask` makes the inputs of a listener (see ui/listeners.py)."""

    def look(request: gr.Request, asked: Any, files: list[str] | None, text: str, hub: str, **now: Any) -> list:
        language, own, chosen, way = (read_text(asked, name) for name in ("language", "own", "choices", "way"))
        ticket, address = read_text(asked, "ticket"), address_of(request.request) if request.request else ""
        inputs = {"files": files, "text": text, "hub": hub}  # only one is used; without the page's script all count
        used = {name: value if way in ("", name) else None for name, value in inputs.items()}
        answer = answer_call(language, lambda: uploading.read_upload(*used.values(), chosen, language, ticket, address))
        if "own" not in answer:
            return [answer, *[gr.skip()] * (1 + len(uploading.SUGGESTED))]
        values = uploading.values_for(own, answer["own"], now, ticket=ticket)
        uploading.forget(own, ticket)  # this page knows only the new upload
        return [answer, "own", *values]

    inputs = {"asked": bridge, "files": upload["files"], "text": upload["text"], "hub": upload["hub"]}
    inputs |= {name: knobs[name] for name in (*uploading.SUGGESTED, "batch_unit")}
    reading = gr.on(
        [upload["look"].click, upload["files"].upload],
        look,
        outputs=[bridge, *(knobs[name] for name in ("task", *uploading.SUGGESTED))],
        api_name="read",
        concurrency_limit=8,
        trigger_mode="always_last",
        **ask(inputs, "readInputs") | {"queue": True, "show_progress": "minimal"},
    )
    upload["use"].click(None, list(knobs.values()), None, js=js_call("train", list(knobs), task="own"), api_visibility="private")
    return reading.success(None, bridge, None, js=js_call("takeReading", ["answer"]), api_visibility="private")
