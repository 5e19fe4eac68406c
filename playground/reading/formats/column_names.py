"""Column names: the meaning of a column's name, from lists of words and languages."""

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
from playground.reading.formats.languages import NAMES, find_code, find_language, fold, is_language
from playground.reading.formats.limits import COLUMN_LIMIT

_INNER = (".text", ".value", ".content", ".sentence", ".string")  # the key of the sentence within a source or target that is an object
_MAX_NAME_CHARACTERS = 40
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # sourceText
_BRACKETS = re.compile(r"([^()\[\]（）]+)[(\[（]([^()\[\]（）]+)[)\]）]")
_BETWEEN = re.compile(r"[\s_\-/.,:;|&+'’]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)")
_BULLETS = tuple("-–—•*+'\"")
_ENDS = " .:?*!。：？！"
_NUMBERS = {"nr", "num"}
_NO_CODES = {"am", "an", "as", "be", "or", "so", "to"}  # codes that are common words in a longer name
SIDES = frozenset((*SOURCES, *TARGETS))
_CJK = "[\u3005-\u30ff\u3400-\u9fff]+"


class Meaning(NamedTuple):
    """The meaning of a name. Two columns of one table differ in it."""

    kind: str  # "language", "source", "target", "unit" (a piece of text), "aside", "beside" or "vague", as in the word lists
    detail: str = ""  # the language; the vague word; the number or letter that distinguishes two of a kind
    word: str = ""  # the source or target word, as in the lists


def plain(name: str) -> str:
    """Normalises a name to the form of the word lists."""
    low = re.sub("[ -]", "_", fold(_HUMP.sub("_", name.strip()[:60])))
    for inner in _INNER:
        low = low.removesuffix(inner)
    return low.rpartition(".")[2]


@lru_cache(maxsize=2000)
def find_meaning(name: str) -> Meaning | None:
    """Returns the meaning of a name of one or several words ("English sentence", "text_de", "Wort (Englisch)", "英文翻译"), or None."""
    text = name[: 2 * _MAX_NAME_CHARACTERS].strip()
    text = (text.strip("*_") if text[:1] == text[-1:] else text).rstrip(_ENDS)
    if not text or len(text) > _MAX_NAME_CHARACTERS or text.startswith(_BULLETS):
        return None
    if whole := _look_up_word(text):
        return whole
    if match := _BRACKETS.fullmatch(text):
        outer, inner = find_meaning(match[1]), find_meaning(match[2])
        language = inner.detail if inner and inner.kind == "language" else ""
        if outer and outer.kind == "unit" and language:
            return Meaning("language", language)
        return outer._replace(detail=f"{outer.detail} {match[2].casefold()}".strip()) if outer else None
    return _combine_words([part for word in _BETWEEN.split(_HUMP.sub(" ", text)) for part in _segment(word) if part], " " in text)


def _look_up_word(text: str) -> Meaning | None:
    """Returns the meaning of a name listed as it is."""
    word = plain(text)
    if code := find_language(text) or (word not in _NUMBERS and _find_code(text)):
        return Meaning("language", code)
    if word in VAGUE:
        return Meaning("vague", word, word)
    if word.endswith("_id"):  # a text's number, or a text in Indonesian
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


def _find_code(text: str) -> str:
    """Returns a language code with its region: "en", "EN", "zh_hans_cn"; "" for capitalised words: "No", "Mai"."""
    if text.istitle() and (len(text) > 2 or text.casefold() in ALSO_WORDS):
        return ""
    low = text.casefold()
    return low if find_code(text) or find_code(low) else ""


def _combine_words(words: Sequence[str], spaced: bool) -> Meaning | None:
    """Returns the meaning of several words that all have one: a language if there is one, else a side."""
    parts = [_classify_part(word) for word in words]
    if not parts or None in parts:
        return None
    low, by_kind = list(map(fold, words)), {part.kind: part for part in reversed(parts)}  # the first of each kind
    if parts[-1].kind == "aside" or low[0] in ("is", "has"):
        return Meaning("aside")
    languages = {part.detail for part in parts if part.kind == "language"} or _find_codes(words, spaced)
    letter = parts[-1].detail if parts[-1].kind == "letter" else ""
    marks = " ".join(filter(None, [*(part.detail for part in parts if part.kind == "mark" and part.detail not in languages), letter]))
    if "beside" in by_kind:
        return Meaning("beside", marks)
    if languages and "certain" not in by_kind:
        return Meaning("language", f"{languages.pop()} {marks}".strip()) if len(languages) == 1 else None
    side = next((by_kind[kind] for kind in ("certain", "target", "source", "unit") if kind in by_kind), None)
    if side:
        return Meaning("source" if side.word in SOURCES[:2] else "target" if side.kind == "certain" else side.kind, marks, side.word)
    return Meaning("unit", marks) if marks and not MARKED.isdisjoint(low) else None


def _find_codes(words: Sequence[str], spaced: bool) -> set[str]:
    """Returns the languages whose codes are among the words. In a spaced name only the last word or capitals count: "la" is a word too."""
    likely = [word for place, word in enumerate(words, 1) if not spaced or place == len(words) or word.isupper()]
    return {low for low in map(str.casefold, likely) if find_code(low) and low not in _NO_CODES}


def _classify_part(word: str) -> Meaning | None:
    """Returns the meaning of one word of several: as for a single word, or a "mark" (a number, "Brazilian"), a "letter", a "filler"."""
    low = fold(word)
    if code := find_language(word):
        return Meaning("language", code)
    if low in CERTAIN:
        return Meaning("certain", "", low)
    if low.isdigit() or low in MARKS or low in KINDS:
        return Meaning("letter" if len(low) == 1 and low.isalpha() else "mark", low)
    if low in FILLERS or low in MARKED:
        return Meaning("filler")
    sense = _look_up_word(word)
    return Meaning("mark", low) if sense and sense.kind == "vague" else sense


def _segment(word: str) -> list[str]:
    """Segments a word written without spaces: 英文翻译 is two."""
    return _WORDS.findall(word) if _WRITTEN_TOGETHER.fullmatch(word) else [word]


_ALL = {*NAMES, *SOURCES, *TARGETS, *ASIDE, *BESIDE, *KINDS, *FILLERS, *MARKS}
_WORDS = re.compile("|".join(sorted((word for word in _ALL if re.fullmatch(_CJK, word)), key=len, reverse=True)))
_WRITTEN_TOGETHER = re.compile(f"(?:{_WORDS.pattern})+")


def count_known(names: Collection[str]) -> int:
    """Counts the names of sources, targets or languages; 0 if all are on one side, or too many for columns."""
    if len(names) > COLUMN_LIMIT:
        return 0
    words = list(map(plain, names))
    languages = [is_language(name.rpartition(".")[2]) for name in names]
    sides = {word in SOURCES for word in words if word in SIDES}
    known = sum(word in SIDES or language for word, language in zip(words, languages, strict=True))
    return known if len(sides) + sum(languages) > 1 else 0


def count_certain(names: Iterable[str]) -> int:
    """Counts the names of languages, and those that mean a source or target in any context."""
    return sum(plain(name).startswith(CERTAIN) or is_language(name.rpartition(".")[2]) for name in names)
