"""Formats numbers and times with few significant digits."""

from __future__ import annotations

from playground.words import say


def short(number: float) -> str:
    """Formats with two significant digits: 0.043, 1.3, 38, 1,200."""
    return f"{float(f'{number:.2g}'):,.10g}"


def percentage(share: float, digits: int | None = 1) -> str:
    """Formats a fraction of 0 to 1 as percent, without the sign: with `digits` decimals, or, for None, two significant digits."""
    return short(100 * share) if digits is None else f"{100 * share:.{digits}f}"


def duration(seconds: float, language: str) -> str:
    if seconds < 100:
        return say(language, "page.outlook_seconds", count=short(seconds))
    return say(language, "page.outlook_minutes", count=short(seconds / 60))
