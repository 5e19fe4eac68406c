"""Numbers and times as a person takes them in: no more digits than count."""

from __future__ import annotations

from playground.words import say


def short(number: float) -> str:
    """Two digits that count: 0.043, 1.3, 38, 1,200."""
    return f"{float(f'{number:.2g}'):,.10g}"


def percentage(share: float, digits: int | None = 1) -> str:
    """A share of 0 to 1 as percent, without the sign: with so many decimals, or, for None, with two digits that count."""
    return short(100 * share) if digits is None else f"{100 * share:.{digits}f}"


def duration(seconds: float, language: str) -> str:
    if seconds < 100:
        return say(language, "page.outlook_seconds", count=short(seconds))
    return say(language, "page.outlook_minutes", count=short(seconds / 60))
