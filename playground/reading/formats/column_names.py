"""Column names: the meaning of a column's name, from lists of words and languages; and source and target as told by labels and by the
names of two files.

columns.json has the lists, in many languages, written as `plain` returns them, except for accents: lower case, `_` for spaces.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from playground.reading.formats import COLUMN_LIMIT
from playground.reading.formats.languages import NAMES, find_code, find_language, fold, is_language

_LISTS = json.loads(Path(__file__).with_name("columns.json").read_text(encoding="utf-8"))


def _words(*lists: str) -> tuple[str, ...]:
    """Returns the words of some lists, folded, in order and without repetition."""
    return tuple(dict.fromkeys(fold(word) for name in lists for line in _LISTS[name] for word in line.split()))


SOURCES, TARGETS = _words("sources", "units"), _words("targets")  # the first of these present and mostly filled is the side
# the source beside a target; two of these may name the same text in two languages
UNITS = frozenset(("text", "sentence", "word", "term", "document", "article", "dialogue", "utterance", *_words("units")))
ASIDE, BESIDE = frozenset(_words("aside")), frozenset(_words("beside"))  # no sentences; remarks on sentences: readings, notes
VAGUE = frozenset(_words("vague", "kinds"))  # also words to learn: names only where the rows below are not a word list
KINDS = frozenset(_words("kinds", "regions"))  # of a language
FILLERS, MARKED, MARKS = (frozenset(_words(name)) for name in ("fillers", "marked", "marks"))  # in names of several words
LABELS = frozenset(_words("labels"))  # cells of label columns
ALSO_WORDS = frozenset(_words("also_words"))  # language codes that are also words
CREDITS = ("credit", "credits", "attribution", "license", "licence")
CERTAIN = ("src", "source", "tgt", "trg", "target")  # prefixes that decide even beside columns of languages
LANGUAGE_OF = ("lang", "language", "languages")  # suffix of a column of languages
SIDES = frozenset((*SOURCES, *TARGETS))
_SOURCE_ROLES = {*SOURCES, "q", "s", "sources", "questions", "原文", "源"}
_TARGET_ROLES = {*TARGETS, "a", "t", "ref", "refs", "reference", "references", "译文", "目标"}
_PARTS = re.compile(r"[.\s_\-()\[\]]+")  # between the parts of a file's name
_INNER = (".text", ".value", ".content", ".sentence", ".string")  # the key of the sentence within a source or target that is an object
_MAX_NAME_CHARACTERS = 40
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # sourceText
_BRACKETS = re.compile(r"([^()\[\]（）]+)[(\[（]([^()\[\]（）]+)[)\]）]")
_BETWEEN = re.compile(r"[\s_\-/.,:;|&+'’]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)")
_BULLETS = tuple("-–—•*+'\"")
_ENDS = " .:?*!。：？！"
_NUMBERS = {"nr", "num"}
_NO_CODES = {"am", "an", "as", "be", "or", "so", "to"}  # codes that are common words in a longer name
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


# --- labels, and the names of two files ---


def find_role(name: str) -> str:
    """Returns "source", "target" or "" (another name)."""
    low = plain(name)
    return "source" if low in _SOURCE_ROLES else "target" if low in _TARGET_ROLES else ""


def find_direction(names: tuple[str, str]) -> tuple[int, int] | None:
    """Returns the indices of source and target, if a name tells; single letters ("q", "a") only together."""
    left, right = map(find_role, names)
    if left == right or (not (left and right) and max(map(len, names)) < 2):
        return None
    return (1, 0) if left == "target" or right == "source" else (0, 1)


def compare_directions(left: str, right: str) -> tuple[int, int] | None:
    """Returns the direction told by the parts that the names of two files don't share."""
    first, second = _PARTS.split(left), _PARTS.split(right)
    sides = (first, second), (second, first)
    roles = [next((part for part in parts if part not in other_parts and find_role(part)), "") for parts, other_parts in sides]
    return find_direction((roles[0], roles[1]))


def name_columns(left: str, right: str) -> tuple[str, str]:
    """Returns what distinguishes two files: the languages or roles in their names, else the whole names.

    "train.de-en.de" and "train.de-en.en" give "de" and "en"; "src-test.txt" and "tgt-test.txt" give "src" and "tgt".
    """
    for places in (_strip_common, _find_last_parts):
        parts = places(left, right)
        if parts[0].casefold() != parts[1].casefold() and all(map(_is_known, parts)):
            return parts
    return left, right


def _is_known(part: str) -> bool:
    return bool(find_role(part)) or is_language(part.casefold())


def _strip_common(left: str, right: str) -> tuple[str, str]:
    """Returns the names without their common parts at both ends."""
    first, second = _PARTS.split(left), _PARTS.split(right)
    most, begin, end = min(len(first), len(second)) - 1, 0, 0
    while begin < most and first[begin] == second[begin]:
        begin += 1
    while end < most - begin and first[-1 - end] == second[-1 - end]:
        end += 1
    return "_".join(first[begin : len(first) - end]), "_".join(second[begin : len(second) - end])


def _find_last_parts(left: str, right: str) -> tuple[str, str]:
    """Returns the last part of each name that is a language or a role."""
    parts = [next((part for part in reversed(_PARTS.split(name)) if _is_known(part)), "") for name in (left, right)]
    return parts[0], parts[1]
