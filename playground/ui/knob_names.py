"""Names of knobs and of their values, in the language of the page."""

from __future__ import annotations

from typing import Any

from playground.config import KNOBS, limits
from playground.knobs import as_text
from playground.words import known, say

CONTROLLED = [name for name in KNOBS if not limits(name).text]


def label(name: str, language: str) -> str:
    return say(language, f"knobs.{name}.label")


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
