"""One control for every knob, made from its declaration: a slider, segments, a list or a tick box, named in the visitor's language."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import fields
from typing import Any

import gradio as gr

from playground.config import KNOBS, PARTS, PRESETS, default, limits
from playground.knobs import as_text
from playground.words import ENGLISH, known, paragraph, say

CONTROLLED = [name for name in KNOBS if not limits(name).text]
OWN = "own"  # what the list of presets says of settings that are none of them
SEGMENTS = 18  # letters of all choices together that stand beside one another; more of them fold into a list


def _unchecked(kind: type[gr.components.Component]) -> type[gr.components.Component]:
    """The same component, whose value reaches our own check as it is: Gradio's answers one out of range with an error of the server. It is
    a class, since Gradio makes the component anew for each page whose words have changed; and made past Gradio's own metaclass, which
    would write a file of stubs beside this one."""
    own = {"preprocess": lambda self, payload: payload, "__module__": kind.__module__}
    return ABCMeta.__new__(type(kind), kind.__name__, (kind,), own)


Checkbox, Dropdown, Number, Radio, Slider = map(_unchecked, (gr.Checkbox, gr.Dropdown, gr.Number, gr.Radio, gr.Slider))


def _group(part: str) -> tuple[list[str], list[str]]:
    """The knobs of one part: those for a first look, and those that are folded away until they are wanted."""
    names = [knob.name for knob in fields(PARTS[part]) if knob.name in CONTROLLED]
    return [name for name in names if limits(name).first], [name for name in names if not limits(name).first]


GROUPS = {part: _group(part) for part in ("data", "model", "training")}  # as they stand on the page


def label(name: str, language: str) -> str:
    return say(language, f"knobs.{name}.label")


def info(name: str, language: str) -> str:
    """One sentence of help, with the default and, for a knob that acts in a running run, nothing more: the sentence says so itself."""
    shown = shown_value(name, default(name), language)
    return paragraph([say(language, f"knobs.{name}.help"), say(language, "page.default", value=shown)])


def shown_value(name: str, value: Any, language: str) -> str:
    """A knob's value as people read it."""
    if isinstance(value, bool):
        return say(language, "page.on" if value else "page.off")
    if name == "task":
        return say(language, f"tasks.{value}.label")
    key = f"knobs.{name}.{as_text(value)}"
    return say(language, key) if known(language, key) else f"{value:g}" if isinstance(value, float) else str(value)


def shown_setting(name: str, value: Any, language: str) -> str:
    """A knob with its value: “Heads 4”."""
    return f"{label(name, language)} {shown_value(name, value, language)}"


def options(name: str, language: str) -> list[tuple[str, Any]]:
    return [(shown_value(name, choice, language), choice) for choice in limits(name).choices]


def control(name: str) -> gr.components.Component:
    """The Gradio component of a knob, in English; `wording` says the rest in another language."""
    knob, value = limits(name), default(name)
    common = dict(label=label(name, ENGLISH), info=info(name, ENGLISH), elem_id=f"knob-{name}")
    if isinstance(value, bool):
        return Checkbox(value=value, **common)
    if knob.choices:
        if sum(len(text) for text, _ in options(name, ENGLISH)) <= SEGMENTS:
            return Radio(choices=options(name, ENGLISH), value=value, elem_classes="pg-segmented", **common)
        return Dropdown(choices=options(name, ENGLISH), value=value, filterable=False, **common)
    bounds = dict(minimum=knob.low, maximum=knob.high, step=knob.step)
    if knob.typed:
        return Number(value=value, precision=0 if isinstance(value, int) else None, **bounds, **common)
    return Slider(value=value, **bounds, **common)


def preset_control() -> gr.Dropdown:
    """A list of the presets. That the settings are none of them is a value of its own and no choice: a list that grows shorter while it is
    open breaks Gradio's."""
    presets = Dropdown(
        allow_custom_value=True,
        choices=preset_options(ENGLISH),
        value="default",
        elem_id="preset",
        label=label("preset", ENGLISH),
        info=say(ENGLISH, "knobs.preset.help"),
    )
    presets.filterable = False  # nobody types that value: the constructor doesn't know both at once
    return presets


def preset_options(language: str) -> list[tuple[str, str]]:
    return [(say(language, f"knobs.preset.{name}"), name) for name in PRESETS]


def preset_shown(found: str | None, language: str) -> dict[str, Any]:
    """The update that names the preset that the settings are, or says that they are none."""
    return gr.update(value=found or say(language, f"knobs.preset.{OWN}"))


def wording(name: str, language: str) -> dict[str, Any]:
    """The update that puts a control into another language; its value stays."""
    if name == "preset":
        return gr.update(label=label(name, language), info=say(language, "knobs.preset.help"), choices=preset_options(language))
    words: dict[str, Any] = dict(label=label(name, language), info=info(name, language))
    if limits(name).choices and not isinstance(default(name), bool):
        words["choices"] = options(name, language)
    return gr.update(**words)
