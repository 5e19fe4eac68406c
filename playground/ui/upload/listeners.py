"""The box for own sentences: what is read when files come, on the button for pasted text, and when somebody has them read otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from playground.ui.actions import answer_call
from playground.ui.address import address_of
from playground.ui.bridge import script, told
from playground.ui.upload import uploading


def wire(bridge: gr.HTML, knobs: dict, upload: dict, ask: Callable[[dict, str], dict]) -> gr.events.Dependency:
    """Returns what ends a reading; `ask` makes the inputs of a listener (see ui/listeners.py)."""

    def look(request: gr.Request, asked: Any, files: list[str] | None, text: str, hub: str, **now: Any) -> list:
        language, own, chosen, way = (told(asked, name) for name in ("language", "own", "choices", "way"))
        ticket, address = told(asked, "ticket"), address_of(request.request) if request.request else ""
        given = {"files": files, "text": text, "hub": hub}  # of which one is to be seen; without the page's script all count
        seen = {name: value if way in ("", name) else None for name, value in given.items()}
        got = answer_call(language, lambda: uploading.read(seen["files"], seen["text"], seen["hub"], chosen, language, ticket, address))
        if "own" not in got:
            return [got, *[gr.skip()] * (1 + len(uploading.TAUGHT))]
        new = uploading.taught(own, got["own"], now, ticket=ticket)
        uploading.forget(own, ticket)  # this page knows only the new one
        return [got, "own", *new]

    inputs = {"asked": bridge, "files": upload["files"], "text": upload["text"], "hub": upload["hub"]}
    inputs |= {name: knobs[name] for name in (*uploading.TAUGHT, "batch_unit")}
    looked = gr.on(
        [upload["look"].click, upload["files"].upload],
        look,
        outputs=[bridge, *(knobs[name] for name in ("task", *uploading.TAUGHT))],
        api_name="read",
        concurrency_limit=8,
        trigger_mode="always_last",
        **ask(inputs, "readInputs") | {"queue": True, "show_progress": "minimal"},
    )
    upload["use"].click(None, list(knobs.values()), None, js=script("train", list(knobs), task="own"), api_visibility="private")
    return looked.success(None, bridge, None, js=script("takeReading", ["answer"]), api_visibility="private")
