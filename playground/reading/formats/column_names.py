"""Column names: what the names of columns mean, as far as a list of words and languages can tell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from playground.reading.formats.column_words import (
    ALSO_WORDS,
    ASIDE,
    BESIDE,
    CERTAIN,
    FILLERS,
    KINDS,
    LANGUAGE_OF,
    MARKED,
    MARKS,
    SOURCES,
    TARGETS,
    UNITS,
    VAGUE,
)
from playground.reading.formats.languages import NAMES, coded, folded, is_language, named
from playground.reading.formats.limits import COLUMN_LIMIT

_INNER = (".text", ".value", ".content", ".sentence", ".string")  # what a source or target that is an object calls its sentence
_MAX_NAME_CHARACTERS = 40
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # sourceText
_BRACKETS = re.compile(r"([^()\[\]（）]+)[(\[（]([^()\[\]（）]+)[)\]）]")
_BETWEEN = re.compile(r"[\s_\-/.,:;|&+'’]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)")
_BULLETS = tuple("-–—•*+'\"")
_ENDS = " .:?*!。：？！"
_NUMBERS = {"nr", "num"}
_NO_CODES = {"am", "an", "as", "be", "or", "so", "to"}  # words that stand beside others
SIDES = frozenset((*SOURCES, *TARGETS))
_CJK = "[\u3005-\u30ff\u3400-\u9fff]+"


class Meaning(NamedTuple):
    """What a name says. Two columns of one table differ in it."""

    kind: str  # "language", "source", "target", "unit" (a piece of text), "aside", "beside" or "vague", as the lists of words have it
    what: str = ""  # the language; the vague word; the number or letter that tells two of a kind apart
    word: str = ""  # the source or target word, as the lists have it


def plain(name: str) -> str:
    """A name in the form of the lists of words."""
    low = re.sub("[ -]", "_", folded(_HUMP.sub("_", name.strip()[:60])))
    for inner in _INNER:
        low = low.removesuffix(inner)
    return low.rpartition(".")[2]


@lru_cache(maxsize=2000)
def meaning(name: str) -> Meaning | None:
    """What a name of one word or several says about its column ("English sentence", "text_de", "Wort (Englisch)", "英文翻译"), or None."""
    text = name[: 2 * _MAX_NAME_CHARACTERS].strip()
    text = (text.strip("*_") if text[:1] == text[-1:] else text).rstrip(_ENDS)
    if not text or len(text) > _MAX_NAME_CHARACTERS or text.startswith(_BULLETS):
        return None
    if whole := _of_word(text):
        return whole
    if found := _BRACKETS.fullmatch(text):
        outer, inner = meaning(found[1]), meaning(found[2])
        language = inner.what if inner and inner.kind == "language" else ""
        if outer and outer.kind == "unit" and language:
            return Meaning("language", language)
        return outer._replace(what=f"{outer.what} {found[2].casefold()}".strip()) if outer else None
    return _of_words([part for word in _BETWEEN.split(_HUMP.sub(" ", text)) for part in _segments(word) if part], " " in text)


def _of_word(text: str) -> Meaning | None:
    """The meaning of a name that stands in a list as it is."""
    word = plain(text)
    if code := named(text) or (word not in _NUMBERS and _code(text)):
        return Meaning("language", code)
    if word in VAGUE:
        return Meaning("vague", word, word)
    if word.endswith("_id"):  # a number of texts, or a text in Indonesian
        return Meaning("language", "id") if word.removesuffix("_id") in UNITS else Meaning("aside")
    if word in ASIDE:
        return Meaning("aside")
    if word.endswith(LANGUAGE_OF) and word.startswith(CERTAIN):  # a language, or sentences in it
        return Meaning("source" if word.startswith(CERTAIN[:2]) else "target", "", word)
    if word in BESIDE:
        return Meaning("beside")
    if word in TARGETS:
        return Meaning("target", "", word)
    return Meaning("unit" if word in UNITS else "source", "", word) if word in SOURCES else None


def _code(text: str) -> str:
    """A language's code, with its region: "en", "EN", "En", "zh_hans_cn"; not what is a word with a capital: "No", "Mai"."""
    if text.istitle() and (len(text) > 2 or text.casefold() in ALSO_WORDS):
        return ""
    low = text.casefold()
    return low if coded(text) or coded(low) else ""


def _of_words(words: Sequence[str], spaced: bool) -> Meaning | None:
    """The meaning of several words that are all such words: a language if there is one, else a side."""
    parts = [_part(word) for word in words]
    if not parts or None in parts:
        return None
    low, said = list(map(folded, words)), {part.kind: part for part in reversed(parts)}  # the first of each kind
    if parts[-1].kind == "aside" or low[0] in ("is", "has"):
        return Meaning("aside")
    languages = {part.what for part in parts if part.kind == "language"} or _codes(words, spaced)
    letter = parts[-1].what if parts[-1].kind == "letter" else ""
    marks = " ".join(filter(None, [*(part.what for part in parts if part.kind == "mark" and part.what not in languages), letter]))
    if "beside" in said:
        return Meaning("beside", marks)
    if languages and "certain" not in said:
        return Meaning("language", f"{languages.pop()} {marks}".strip()) if len(languages) == 1 else None
    side = next((said[kind] for kind in ("certain", "target", "source", "unit") if kind in said), None)
    if side:
        return Meaning("source" if side.word in SOURCES[:2] else "target" if side.kind == "certain" else side.kind, marks, side.word)
    return Meaning("unit", marks) if marks and not MARKED.isdisjoint(low) else None


def _codes(words: Sequence[str], spaced: bool) -> set[str]:
    """The languages whose codes are among the words. Between spaces such a small word may be one like "la" but at the end."""
    likely = [word for place, word in enumerate(words, 1) if not spaced or place == len(words) or word.isupper()]
    return {low for low in map(str.casefold, likely) if coded(low) and low not in _NO_CODES}


def _part(word: str) -> Meaning | None:
    """What one word adds to a name of several: as above, or a "mark" (a number, "Brazilian"), a "letter", a "filler"."""
    low = folded(word)
    if code := named(word):
        return Meaning("language", code)
    if low in CERTAIN:
        return Meaning("certain", "", low)
    if low.isdigit() or low in MARKS or low in KINDS:
        return Meaning("letter" if len(low) == 1 and low.isalpha() else "mark", low)
    if low in FILLERS or low in MARKED:
        return Meaning("filler")
    found = _of_word(word)
    return Meaning("mark", low) if found and found.kind == "vague" else found


def _segments(word: str) -> list[str]:
    """The words in what is written without spaces: 英文翻译 is two."""
    return _WORDS.findall(word) if _WRITTEN_TOGETHER.fullmatch(word) else [word]


_ALL = {*NAMES, *SOURCES, *TARGETS, *ASIDE, *BESIDE, *KINDS, *FILLERS, *MARKS}
_WORDS = re.compile("|".join(sorted((word for word in _ALL if re.fullmatch(_CJK, word)), key=len, reverse=True)))
_WRITTEN_TOGETHER = re.compile(f"(?:{_WORDS.pattern})+")


def common(names: Collection[str]) -> int:
    """How many of the names are those of a source, a target or a language; none where they are all on one side, or too many for columns."""
    if len(names) > COLUMN_LIMIT:
        return 0
    words = list(map(plain, names))
    languages = [is_language(name.rpartition(".")[2]) for name in names]
    sides = {word in SOURCES for word in words if word in SIDES}
    known = sum(word in SIDES or language for word, language in zip(words, languages, strict=True))
    return known if len(sides) + sum(languages) > 1 else 0


def certain(names: Iterable[str]) -> int:
    """How many of the names are those of a language, or of a source or target in any context."""
    return sum(plain(name).startswith(CERTAIN) or is_language(name.rpartition(".")[2]) for name in names)
