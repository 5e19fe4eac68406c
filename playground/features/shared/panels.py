"""Declares panels: what a tab shows, or a part of one that is loaded later or stands above every tab."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from playground.features.shared.view import View

SECTIONS = ("train", "inside", "use", "compare", "lessons")  # of the page, in its order
FORMULA = "formula"  # relies on the paper's formulas, and would be wrong for a model variant
ATTENTION = "attention"  # shows attention weights, one matrix per head and layer, which a recurrent model doesn't have
Build = TypeVar("Build", bound=Callable[[View], dict])


class Panel(NamedTuple):
    """A function of a `View` that returns {"step": the step of its numbers, "blocks": its content}; "recorded": the numbers were saved in
    training, at fewer steps than the sentence's snapshots. A tab has a `section` of the page, and an `order` in it; `needs` is FORMULA,
    ATTENTION or ""."""

    build: Callable[[View], dict]
    section: str
    order: int
    needs: str


PANELS: dict[str, Panel] = {}  # by name, as its modules are imported; playground/features/registry.py imports them all


def declare(name: str, section: str = "", order: int = 0, needs: str = "") -> Callable[[Build], Build]:
    """Declares the decorated function as the panel `name`, see `Panel`. Raises ValueError for a name that is taken."""

    def register(build: Build) -> Build:
        if name in PANELS:
            raise ValueError(f"there are two panels {name}")
        PANELS[name] = Panel(build, section, order, needs)
        return build

    return register
