"""Every sentence a person reads, in two languages, kept out of the code.

A key is `area.name`: the area is the file (`words/en/area.json`), the name is the entry in it. Both languages hold the same keys with
the same `{placeholders}`; a test compares them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "zh")


def entries(language: str) -> dict[str, str]:
    """All sentences of one language, as {"area.name": text}. An unknown language is read as English."""
    return _entries(language if language in LANGUAGES else "en")


@cache
def _entries(language: str) -> dict[str, str]:
    folder = Path(__file__).parent / language
    return {
        f"{file.stem}.{name}": text
        for file in sorted(folder.glob("*.json"))
        for name, text in json.loads(file.read_text(encoding="utf-8")).items()
    }


def say(language: str, key: str, **values: object) -> str:
    """The sentence `key` in `language`, its {placeholders} filled in. Raises KeyError for an unknown key or a missing value."""
    return entries(language)[key].format_map(values) if values else entries(language)[key]


def known(language: str, key: str) -> bool:
    """Whether `key` has a sentence in `language`."""
    return key in entries(language)
