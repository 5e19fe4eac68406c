"""Formats measured numbers: exact for all sentences, approximate for a sample of them."""

from __future__ import annotations

from playground.features.shared.queries.validation import Evaluated
from playground.features.shared.view import Screen
from playground.words.amounts import percentage


def percent(share: float, digits: int = 1) -> str:
    return f"{percentage(share, digits)}\N{NO-BREAK SPACE}%"


def measured(screen: Screen, value: str, pairs: int, every: int) -> str:
    """Formats a number measured on `pairs` of `every` sentences."""
    return value if pairs == every else screen.say("page.sample", value=value, pairs=f"{pairs:,}", all=f"{every:,}")


def format_share(screen: Screen, evaluated: Evaluated, name: str) -> str:
    """Formats a fraction of an evaluation by its name, such as "exact_match"."""
    return measured(screen, percent(getattr(evaluated.validation, name)), evaluated.validation.pairs, evaluated.of)
