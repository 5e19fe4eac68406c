"""Dates: translates six ways to write a date into one (ISO 8601, year-month-day)."""

from __future__ import annotations

import random
import re
from calendar import monthrange

from playground.tasks.example import Example, Task

ENGLISH = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
GERMAN = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember")
SHORT = tuple(month[:3] for month in ENGLISH)
FORMS = (  # {month} is a number, the names are in the language of the form
    "{day} {english} {year}",
    "{english} {day}, {year}",
    "{day} {short} {year}",
    "{day}. {german} {year}",
    "{day}.{month}.{year}",
    "{year}年{month}月{day}日",
)
YEARS = (1900, 2099)
UNSEEN_YEARS = range(1990, 2000)  # the 2090s are in training, so each digit is known at its place


def _pattern(form: str) -> re.Pattern[str]:
    """Returns the regular expression of a form, with a named group for each part."""
    part = {
        "day": "[1-9][0-9]?",
        "month": "[1-9][0-2]?",
        "year": "[0-9]{4}",
        "english": "|".join(ENGLISH),
        "german": "|".join(GERMAN),
        "short": "|".join(SHORT),
    }
    return re.compile(re.sub(r"\\{(\w+)\\}", lambda slot: f"(?P<{slot[1]}>{part[slot[1]]})", re.escape(form)))


PATTERNS = tuple(map(_pattern, FORMS))


def _draw(rng: random.Random, harder: bool) -> Example:
    while True:
        year = rng.choice(UNSEEN_YEARS) if harder else rng.randint(*YEARS)
        if (year in UNSEEN_YEARS) == harder:
            break
    month = rng.randint(1, 12)
    day = rng.randint(1, monthrange(year, month)[1])
    names = {"english": ENGLISH[month - 1], "german": GERMAN[month - 1], "short": SHORT[month - 1]}
    return _answers(rng.choice(FORMS).format(day=day, month=month, year=year, **names))[0]


def _answers(src: str) -> tuple[Example, ...]:
    """Parses a date. Digits align with the same digits of the source; those of a month's name and a leading 0 align with None."""
    match = next(filter(None, (pattern.fullmatch(src) for pattern in PATTERNS)), None)
    if not match:
        return ()
    parts = match.groupdict()
    year, day, month = int(parts["year"]), int(parts["day"]), int(parts.get("month") or 1 + _month_by_name(parts))
    if not YEARS[0] <= year <= YEARS[1] or not 1 <= month <= 12 or day > monthrange(year, month)[1]:
        return ()
    alignment = [*range(match.start("year"), match.end("year")), None]
    alignment += [*(_two_digits(match, "month") if "month" in parts else (None, None)), None, *_two_digits(match, "day")]
    return (Example(src, f"{year}-{month:02}-{day:02}", tuple(alignment)),)


def _month_by_name(parts: dict[str, str]) -> int:
    names = {"english": ENGLISH, "german": GERMAN, "short": SHORT}
    return next(names[language].index(parts[language]) for language in names if language in parts)


def _two_digits(match: re.Match[str], part: str) -> list[int | None]:
    """Returns the source positions of the two digits of the day or month."""
    places = [*range(match.start(part), match.end(part))]
    return places if len(places) == 2 else [None, *places]


def _unseen_year(src: str) -> bool:
    return any(str(year) in src for year in UNSEEN_YEARS)


DATES = Task("dates", "characters", "characters", _draw, _answers, is_harder=_unseen_year, steps=150, place=110)
