"""Makes a control for every knob from its declaration: a slider, segments, a list or a check box, labelled in the visitor's language."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import gradio as gr

from playground.config import KNOBS, PARTS, PRESETS, default, limits
from playground.knobs import as_text
from playground.words import ENGLISH, known, paragraph, say

CONTROLLED = [name for name in KNOBS if not limits(name).text]
OWN = "own"  # the preset list's entry for custom settings
SEGMENTS = 18  # maximum letters of choices side by side; longer ones become a list


def _group_knobs(part: str) -> tuple[list[str], list[str]]:
    """Returns the knobs of one part: basic ones, and those that are folded."""
    names = [knob.name for knob in fields(PARTS[part]) if knob.name in CONTROLLED]
    return [name for name in names if limits(name).first], [name for name in names if not limits(name).first]


GROUPS = {part: _group_knobs(part) for part in ("data", "model", "training")}  # in the order of the page


def label(name: str, language: str) -> str:
    return say(language, f"knobs.{name}.label")


def help_text(name: str, language: str) -> str:
    """Returns one sentence of help with the default; a live knob's help says itself that it is live."""
    default_text = shown_value(name, default(name), language)
    return paragraph([say(language, f"knobs.{name}.help"), say(language, "page.default", value=default_text)])


def shown_value(name: str, value: Any, language: str) -> str:
    """Formats a knob's value for the page."""
    if isinstance(value, bool):
        return say(language, "page.on" if value else "page.off")
    if name == "task":
        return say(language, f"tasks.{value}.label")
    key = f"knobs.{name}.{as_text(value)}"
    return say(language, key) if known(language, key) else f"{value:g}" if isinstance(value, float) else str(value)


def shown_setting(name: str, value: Any, language: str) -> str:
    """Formats a knob with its value: “Heads 4”."""
    return f"{label(name, language)} {shown_value(name, value, language)}"


def list_options(name: str, language: str) -> list[tuple[str, Any]]:
    return [(shown_value(name, choice, language), choice) for choice in limits(name).choices]


def make_control(name: str) -> gr.components.Component:
    """Returns a knob's Gradio component, in English; `translate` translates it."""
    knob, value = limits(name), default(name)
    common = dict(label=label(name, ENGLISH), info=help_text(name, ENGLISH), elem_id=f"knob-{name}")
    if isinstance(value, bool):
        return gr.Checkbox(value=value, **common)
    if knob.choices:
        if sum(len(text) for text, _ in list_options(name, ENGLISH)) <= SEGMENTS:
            return gr.Radio(choices=list_options(name, ENGLISH), value=value, elem_classes="pg-segmented", **common)
        return gr.Dropdown(choices=list_options(name, ENGLISH), value=value, filterable=False, **common)
    bounds = dict(minimum=knob.low, maximum=knob.high, step=knob.step)
    if knob.typed:
        return gr.Number(value=value, precision=0 if isinstance(value, int) else None, **bounds, **common)
    return gr.Slider(value=value, **bounds, **common)


def make_preset_list() -> gr.Dropdown:
    """Returns the list of presets. Custom settings are a value of its own and no choice: Gradio breaks when an open list gets shorter."""
    presets = gr.Dropdown(
        allow_custom_value=True,
        choices=preset_options(ENGLISH),
        value="default",
        elem_id="preset",
        label=label("preset", ENGLISH),
        info=say(ENGLISH, "knobs.preset.help"),
    )
    presets.filterable = False  # no user types that value: the constructor rejects the combination
    return presets


def preset_options(language: str) -> list[tuple[str, str]]:
    return [(say(language, f"knobs.preset.{name}"), name) for name in PRESETS]


def preset_update(preset_name: str | None, language: str) -> dict[str, Any]:
    """Returns the update that selects the settings' preset, or marks them as custom."""
    return gr.update(value=preset_name or say(language, f"knobs.preset.{OWN}"))


def translate(name: str, language: str) -> dict[str, Any]:
    """Returns the update that translates a control; its value stays."""
    if name == "preset":
        return gr.update(label=label(name, language), info=say(language, "knobs.preset.help"), choices=preset_options(language))
    words: dict[str, Any] = dict(label=label(name, language), info=help_text(name, language))
    if limits(name).choices and not isinstance(default(name), bool):
        words["choices"] = list_options(name, language)
    return gr.update(**words)
