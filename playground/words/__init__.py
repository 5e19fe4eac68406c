"""Every sentence a person reads, in every language, kept out of the code.

A key is `area.name`: the area is the file (`words/en/area.json`), the name is the entry in it. All languages hold the same keys with
the same `{placeholders}`; a test compares them.

A word that depends on a number names both of its forms, the one for 1 first: "{count} {count:step|steps}".

A language is a folder with a `language.json`: its own `name` and a `brief` one, its `html` tag, and the tags by which a browser asks
for it (`browser`, with " | " between them).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from string import Formatter

_FOLDER = Path(__file__).parent
ENGLISH = "en"  # the command line's, and that of whoever asks for a language that is not here
LANGUAGES = (ENGLISH, *sorted({file.parent.name for file in _FOLDER.glob("*/language.json")} - {ENGLISH}))
_NUMBER = re.compile(r"-inf|-?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?")
_POWER = re.compile(r"e([-+])(?=\d\d)0*(\d+)")  # as Python writes it: a sign and two digits. -1e-9 is what somebody typed
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FORMATTER = Formatter()


def entries(language: str) -> dict[str, str]:
    """All sentences of one language, as {"area.name": text}. An unknown language is read as English."""
    return _entries(language if language in LANGUAGES else ENGLISH)


@cache
def _entries(language: str) -> dict[str, str]:
    return {
        f"{file.stem}.{name}": text.replace(" %", "\N{NO-BREAK SPACE}%")
        for file in sorted((_FOLDER / language).glob("*.json"))
        for name, text in json.loads(file.read_text(encoding="utf-8")).items()
    }


def say(language: str, key: str, **values: object) -> str:
    """The sentence `key` in `language`, its {placeholders} filled in. Raises KeyError for an unknown key or a missing value."""
    text = entries(language)[key]
    return filled(text, values) if values else text


def filled(text: str, values: dict[str, object]) -> str:
    """A sentence with its placeholders filled in. Raises KeyError, ValueError and their like for one that can't be."""
    return "".join(_pieces(text, values))


def listed(language: str, items: Iterable[object]) -> str:
    """Several things in a row, with what the language puts between them."""
    return say(language, "lists.between").join(map(str, items))


def paragraph(sentences: Iterable[str]) -> str:
    """One after the other, without the empty ones. After a full-width stop there is no space: it brings its own."""
    return "".join(sentence + " " * (sentence[-1] not in "。！？") for sentence in sentences if sentence).rstrip()


def named(language: str, name: str, value: object) -> str:
    """What something is, after its name and the language's colon."""
    return say(language, "lists.named", name=name, value=value)


def printed(text: str) -> str:
    """A number as books print it: "-0.5" is −0.5, "2.8e-17" is 2.8 × 10⁻¹⁷. Any other text stays as it is."""
    if not _NUMBER.fullmatch(text):
        return text
    if "e" in text and float(text) == 0:
        return "0"  # without a power of ten
    return _POWER.sub(lambda power: "\u00a0×\u00a010" + f"{power[1]}{power[2]}".lstrip("+").translate(_RAISED), text).replace("-", "−")


def _pieces(text: str, values: dict[str, object]) -> Iterator[str]:
    """As str.format does it, but with numbers as books print them. What stands in quotation marks is a quotation: nothing changes in it."""
    for before, name, spec, _ in _FORMATTER.parse(text):
        yield before
        if name is not None:
            value = _FORMATTER.get_field(name, (), values)[0]
            text = _form(value, spec) if "|" in spec else format(value, spec)
            yield text if before.endswith("“") else printed(text)


def _form(count: object, forms: str) -> str:
    """Of two forms, "step|steps", the one for this number."""
    one, many = forms.split("|")
    return one if str(count) == "1" else many


def known(language: str, key: str) -> bool:
    """Whether `key` has a sentence in `language`."""
    return key in entries(language)


def browser_tags(language: str) -> list[str]:
    """The tags by which browsers ask for a language, in small letters. One stands for all that go on after it: "zh" for "zh-hant-tw"."""
    return entries(language)["language.browser"].split(" | ")


def preferred(accepted: str, asked: str = "") -> str:
    """The language that is `asked` for by name; else the first of ours that a browser's Accept-Language header names ("fr-CH, zh;q=0.9,
    en;q=0.8"), else English."""
    if asked in LANGUAGES:
        return asked
    for wanted in accepted.lower().split(","):
        tag = wanted.partition(";")[0].strip()
        for language in LANGUAGES:
            if any(f"{tag}-".startswith(f"{known}-") for known in browser_tags(language)):
                return language
    return ENGLISH
