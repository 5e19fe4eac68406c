"""The glossary: definitions of the page's terms, and the word forms to link.

In `words/<language>/glossary.json` a term has a `name`, other `forms` separated by " | ", a `text` of one or two sentences and perhaps a
`shape` (a formula, or letters for sizes). `not` holds phrases in which the word means something else.
"""

from __future__ import annotations

from functools import cache

from playground.words import ENGLISH, entries

_AREA = "glossary."


def names() -> tuple[str, ...]:
    """Returns the ids of all terms, in the order of the file."""
    keys = (key.removeprefix(_AREA) for key in entries(ENGLISH) if key.startswith(_AREA))
    return tuple(key.removesuffix(".name") for key in keys if key.endswith(".name"))


@cache
def glossary(language: str) -> dict[str, list]:
    """Returns {"terms": [{"id", "name", "forms", "text", "shape"}], "not": phrases} for the page's script."""
    sentences = entries(language)
    terms = [
        {
            "id": name,
            "name": sentences[f"{_AREA}{name}.name"],
            "forms": list(dict.fromkeys([sentences[f"{_AREA}{name}.name"], *_split(sentences[f"{_AREA}{name}.forms"])])),
            "text": sentences[f"{_AREA}{name}.text"],
            "shape": sentences.get(f"{_AREA}{name}.shape", ""),
        }
        for name in names()
    ]
    return {"terms": terms, "not": _split(sentences[f"{_AREA}not"])}


def _split(forms: str) -> list[str]:
    return forms.split(" | ") if forms else []
