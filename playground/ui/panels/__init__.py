"""One module a tab: each reads a view, asks for what it needs and says which blocks to show.

A panel is a function of a `View` that returns {"step": the step its numbers are from, "uses": the cursor fields it depends on, "blocks"}.
"""

from __future__ import annotations

from collections.abc import Callable

from playground.ui.panels import attention, data, learn, masks, positions, sentence, translate
from playground.ui.view import View

PANELS: dict[str, Callable[[View], dict]] = {
    "sentence": sentence.panel,
    "learn": learn.panel,
    "translate": translate.panel,
    "attention": attention.panel,
    "masks": masks.panel,
    "positions": positions.panel,
    "data": data.panel,
}
TABS = tuple(name for name in PANELS if name != "sentence")
