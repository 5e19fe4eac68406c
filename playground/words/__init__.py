"""Every sentence of the interface, in every language, separate from the code.

A key is `area.name`. What a folder of the code says stands beside it, `en.json` and `zh.json`: {"area": {"name": text}}. What all share
stands here: `words/en/area.json` is one area, {"name": text}. LANGUAGES have the same keys with the same `{placeholders}`; a test
compares them.

Another language may have some of them: each missing sentence is the English one, and the page says how many it has. `python -m playground
words LANGUAGE` lists the missing ones. It needs only its folder with a `language.json`, here or in the folder PLAYGROUND_WORDS; any area
may be a file there.

A word that depends on a number has two forms, singular first: "{count} {count:step|steps}".

A `language.json` has the language's `name`, a `brief` one, its `html` tag and `direction` ("ltr" or "rtl"), and the tags by which a browser
requests it (`browser`, separated by " | ").

The glossary has definitions of the page's terms, and the word forms to link. In `words/<language>/glossary.json` a term has a `name`, other
`forms` separated by " | ", a `text` of one or two sentences and perhaps a `shape` (a formula, or letters for sizes). `not` holds phrases in
which the word means something else.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from hashlib import blake2s
from pathlib import Path
from string import Formatter

_FOLDERS = [Path(__file__).parent, *map(Path, filter(None, [os.environ.get("PLAYGROUND_WORDS")]))]
ENGLISH = "en"  # of the command line, and the fallback for unknown languages and missing sentences
LANGUAGES = (ENGLISH, "zh")  # with every sentence
_FOLDER_OF = {file.parent.name: file.parent for folder in _FOLDERS for file in folder.glob("*/language.json")}
OFFERED = (*LANGUAGES, *sorted(_FOLDER_OF.keys() - {*LANGUAGES}))  # also those with some, which a visitor gets on request only
_CHECKED = "english.txt"  # in a language's folder: its keys, each with the digest of the English sentence that it was compared with
_NUMBER = re.compile(r"-inf|-?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?")
_POWER = re.compile(r"e([-+])(?=\d\d)0*(\d+)")  # Python's form: a sign and two digits. -1e-9 was typed by a user
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FORMATTER = Formatter()
_GLOSSARY = "glossary."


def entries(language: str) -> dict[str, str]:
    """Returns all sentences of one language, as {"area.name": text}, in English where it has none. So does an unknown language."""
    return _entries(language if language in OFFERED else ENGLISH)


@cache
def _entries(language: str) -> dict[str, str]:
    english = own_entries(ENGLISH)
    return english | {key: text for key, text in own_entries(language).items() if key in english and _fits(text, english[key])}


def _fits(text: str, english: str) -> bool:
    """Tests whether a sentence has the placeholders of the English one."""
    try:
        own, known = ({name for _, name, _, _ in _FORMATTER.parse(each) if name} for each in (text, english))
    except ValueError:  # a brace that is never closed
        return False
    return own == known


def translated(language: str) -> int:
    """Returns how many percent of all sentences a language has, rounded down."""
    english, own = own_entries(ENGLISH), own_entries(language)
    return 100 * sum(key in own and _fits(own[key], text) for key, text in english.items()) // len(english)


def review(language: str) -> list[tuple[str, str]]:
    """Returns (finding, key) of each sentence that needs a translator: "missing"; "stale" where the English one has changed since `accept`;
    "wrong" where the placeholders differ, and English is shown; "unknown" where there is no such key."""
    english, own, file = own_entries(ENGLISH), own_entries(language), _FOLDER_OF[language] / _CHECKED
    checked = dict(line.split() for line in file.read_text().splitlines()) if file.exists() else {}
    findings = [("missing", key) for key in english if key not in own]
    findings += [("wrong", key) for key in own if key in english and not _fits(own[key], english[key])]
    findings += [("stale", key) for key in own if key in english and checked.get(key, _digest(english[key])) != _digest(english[key])]
    return findings + [("unknown", key) for key in own if key not in english]


def accept(language: str) -> None:
    """Records that all sentences of a language were compared with the present English ones."""
    lines = (f"{key} {_digest(text)}\n" for key, text in own_entries(ENGLISH).items() if key in own_entries(language))
    (_FOLDER_OF[language] / _CHECKED).write_text("".join(lines))


def _digest(text: str) -> str:
    return blake2s(text.encode(), digest_size=4).hexdigest()


@cache
def own_entries(language: str) -> dict[str, str]:
    """Returns the sentences that a language has."""
    return {
        f"{area}.{name}": text.replace(" %", "\N{NO-BREAK SPACE}%")
        for file in files(language)
        for area, texts in areas(file).items()
        for name, text in texts.items()
    }


def files(language: str) -> list[Path]:
    """Returns the files of sentences of one language, in a fixed order."""
    own = [file for folder in _FOLDERS for file in (folder / language).glob("*.json")]
    return sorted([*own, *_FOLDERS[0].parent.rglob(f"{language}.json")])


def areas(file: Path) -> dict[str, dict[str, str]]:
    """Returns {area: {name: text}} of one file of sentences."""
    texts = json.loads(file.read_text(encoding="utf-8"))
    return {file.stem: texts} if file.parent.parent in _FOLDERS else texts


def say(language: str, key: str, **values: object) -> str:
    """Returns the sentence `key` in `language`, its {placeholders} filled in. Raises KeyError for an unknown key or a missing value."""
    text = entries(language)[key]
    return filled(text, values) if values else text


def filled(text: str, values: dict[str, object]) -> str:
    """Fills in a sentence's placeholders. Raises KeyError, ValueError and the like for an invalid one."""
    return "".join(_pieces(text, values))


def listed(language: str, items: Iterable[object]) -> str:
    """Joins items with the language's separator."""
    return say(language, "lists.between").join(map(str, items))


def paragraph(sentences: Iterable[str]) -> str:
    """Joins sentences, skipping empty ones, with spaces except after a full-width stop, which includes its own."""
    return "".join(sentence + " " * (sentence[-1] not in "。！？") for sentence in sentences if sentence).rstrip()


def named(language: str, name: str, value: object) -> str:
    """Joins a name and its value with the language's colon."""
    return say(language, "lists.named", name=name, value=value)


def printed(text: str) -> str:
    """Formats a number for print: "-0.5" is −0.5, "2.8e-17" is 2.8 × 10⁻¹⁷. Other text stays as it is."""
    if not _NUMBER.fullmatch(text):
        return text
    if "e" in text and float(text) == 0:
        return "0"  # without a power of ten
    return _POWER.sub(lambda power: "\u00a0×\u00a010" + f"{power[1]}{power[2]}".lstrip("+").translate(_RAISED), text).replace("-", "−")


def _pieces(text: str, values: dict[str, object]) -> Iterator[str]:
    """Yields literal text and filled-in values in turn, as str.format; numbers are formatted for print, except inside quotation marks."""
    for before, name, spec, _ in _FORMATTER.parse(text):
        yield before
        if name is not None:
            value = _FORMATTER.get_field(name, (), values)[0]
            text = spec.split("|")[str(value) != "1"] if "|" in spec else format(value, spec)
            yield text if before.endswith("“") else printed(text)


def known(language: str, key: str) -> bool:
    """Returns whether `key` has a sentence in `language`."""
    return key in entries(language)


class Refusal(Exception):
    """A request that can't be fulfilled: `key` names its sentence, `values` fill it in.

    The sentence says what is wrong, where, and what to do. `str(refusal)` is English; `say(language)` is any language. A value that is a
    list is formatted as one in that language, a value {"key": another sentence's} translated. All can be saved as JSON.
    """

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values

    def __reduce__(self) -> tuple:
        """Pickles the values by name, for other processes."""
        return partial(type(self), self.key, **self.values), ()

    def say(self, language: str) -> str:
        def write(value: object) -> object:
            if isinstance(value, dict):
                return say(language, value["key"])
            return listed(language, value) if isinstance(value, (list, tuple)) else value

        return say(language, self.key, **{name: write(value) for name, value in self.values.items()})

    def __str__(self) -> str:
        return self.say(ENGLISH)


def browser_tags(language: str) -> list[str]:
    """Returns the lower-case tags by which browsers request one of LANGUAGES. A tag matches all it is a prefix of: "zh" matches
    "zh-hant-tw"."""
    return entries(language)["language.browser"].split(" | ") if language in LANGUAGES else []


def preferred(accepted: str, requested: str = "") -> str:
    """Returns the language that is `requested` by name; else the first available of a browser's Accept-Language header ("fr-CH, zh;q=0.9,
    en;q=0.8"), else English."""
    if requested in OFFERED:
        return requested
    for wanted in accepted.lower().split(","):
        tag = wanted.partition(";")[0].strip()
        for language in LANGUAGES:
            if any(f"{tag}-".startswith(f"{known}-") for known in browser_tags(language)):
                return language
    return ENGLISH


def list_terms() -> tuple[str, ...]:
    """Returns the ids of all terms, in the order of the file."""
    keys = (key.removeprefix(_GLOSSARY) for key in entries(ENGLISH) if key.startswith(_GLOSSARY))
    return tuple(key.removesuffix(".name") for key in keys if key.endswith(".name"))


@cache
def glossary(language: str) -> dict[str, list]:
    """Returns {"terms": [{"id", "name", "forms", "also": those of other languages, "text", "shape"}], "not": phrases} for the page."""
    sentences = entries(language)
    terms = [
        {
            "id": name,
            "name": sentences[f"{_GLOSSARY}{name}.name"],
            "forms": _list_forms(language, name),
            "also": [form for other in LANGUAGES if other != language for form in _list_forms(other, name)],
            "text": sentences[f"{_GLOSSARY}{name}.text"],
            "shape": sentences.get(f"{_GLOSSARY}{name}.shape", ""),
        }
        for name in list_terms()
    ]
    return {"terms": terms, "not": _split(sentences[f"{_GLOSSARY}not"])}


def _list_forms(language: str, term: str) -> list[str]:
    sentences = entries(language)
    return list(dict.fromkeys([sentences[f"{_GLOSSARY}{term}.name"], *_split(sentences[f"{_GLOSSARY}{term}.forms"])]))


def _split(forms: str) -> list[str]:
    return forms.split(" | ") if forms else []


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
