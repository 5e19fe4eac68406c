"""How a measured number is written: as it is when it is of all sentences, and as about so much when only some of them were asked."""

from __future__ import annotations

from playground.queries.validation import Evaluated
from playground.ui.view import Screen
from playground.words.amounts import percentage


def percent(share: float, digits: int = 1) -> str:
    return f"{percentage(share, digits)}\N{NO-BREAK SPACE}%"


def measured(screen: Screen, value: str, pairs: int, every: int) -> str:
    """A number that was measured on `pairs` of `every` sentences."""
    return value if pairs == every else screen.say("page.sample", value=value, pairs=f"{pairs:,}", all=f"{every:,}")


def share_of(screen: Screen, found: Evaluated, name: str) -> str:
    """A share of an evaluation by its name, such as "exact_match"."""
    return measured(screen, percent(getattr(found.validation, name)), found.validation.pairs, found.of)
