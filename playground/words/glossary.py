"""The glossary: what the terms of this page mean, and the forms in which its prose says them.

In `words/<language>/glossary.json` a term has a `name`, other `forms` with " | " between them, a `text` of one or two sentences and perhaps a
`shape` (a formula, or letters for sizes). `not` holds phrases in which such a word means something else.
"""

from __future__ import annotations

from functools import cache

from playground.words import ENGLISH, entries

_AREA = "glossary."


def names() -> tuple[str, ...]:
    """The ids of all terms, in the order of the file."""
    keys = (key.removeprefix(_AREA) for key in entries(ENGLISH) if key.startswith(_AREA))
    return tuple(key.removesuffix(".name") for key in keys if key.endswith(".name"))


@cache
def glossary(language: str) -> dict[str, list]:
    """{"terms": [{"id", "name", "forms", "text", "shape"}], "not": phrases}, as the page's script takes it."""
    said = entries(language)
    terms = [
        {
            "id": name,
            "name": said[f"{_AREA}{name}.name"],
            "forms": list(dict.fromkeys([said[f"{_AREA}{name}.name"], *_split(said[f"{_AREA}{name}.forms"])])),
            "text": said[f"{_AREA}{name}.text"],
            "shape": said.get(f"{_AREA}{name}.shape", ""),
        }
        for name in names()
    ]
    return {"terms": terms, "not": _split(said[f"{_AREA}not"])}


def _split(forms: str) -> list[str]:
    return forms.split(" | ") if forms else []
