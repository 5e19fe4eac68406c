"""Columns by their names: which are source and target, which are languages, and which hold no sentences at all.

A name is told from its look: the same word is a column of sentences in one file and of sources' addresses in the next, so what is in
the cells has a say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from playground.data.formats.limits import COLUMN_LIMIT

SOURCES = (  # the first of these that is there and mostly filled is the source
    "src", "source", "source_text", "src_text", "source_sentence", "src_sentence", "sentence_source", "input", "inputs", "input_text",
    "in", "question", "user", "instruction", "prompt", "query", "text", "sentence", "original", "sentence1", "sentence_1", "document",
    "article", "dialogue", "word", "term", "front", "command", "commands", "x", "from", "msgid", "incorrect", "noisy", "utterance",
)  # fmt: skip
TARGETS = (
    "tgt", "trg", "target", "targets", "target_text", "tgt_text", "trg_text", "target_sentence", "tgt_sentence", "sentence_target",
    "output", "outputs", "output_text", "out", "answer", "answers", "assistant", "response", "completion", "reply", "translation",
    "translations", "translated", "translation_text", "summary", "highlights", "corrected", "correction", "correct", "sentence2",
    "sentence_2", "paraphrase", "definition", "meaning", "back", "actions", "action", "y", "to", "msgstr", "clean", "label",
)  # fmt: skip
CREDITS = ("credit", "credits", "attribution", "license", "licence")
_CERTAIN = ("src", "source", "tgt", "trg", "target")  # names that begin so mean what they say even where languages stand beside them
_INNER = (".text", ".value", ".content", ".sentence", ".string")  # what a source or target that is an object calls its sentence
_CODES = {
    "aa", "ab", "af", "ak", "am", "an", "ar", "as", "ay", "az", "ba", "be", "bg", "bho", "bi", "bm", "bn", "bo", "br", "bs", "ca", "ceb",
    "ch", "ckb", "cmn", "co", "cs", "cv", "cy", "da", "de", "deu", "dv", "dz", "ee", "el", "en", "eng", "eo", "es", "et", "eu", "fa", "ff",
    "fi", "fil", "fj", "fo", "fr", "fra", "fy", "ga", "gd", "gl", "gn", "grn", "gsw", "gu", "gv", "ha", "haw", "he", "hi", "hin", "hmn",
    "hr", "ht", "hu", "hy", "ia", "id", "ig", "ilo", "is", "it", "ita", "iu", "ja", "jav", "jpn", "jv", "ka", "kg", "ki", "kk", "kl", "km",
    "kn", "ko", "kor", "ks", "ku", "kw", "ky", "la", "lat", "lb", "lg", "li", "ln", "lo", "lt", "lv", "lzh", "mai", "mg", "mh", "mi", "mk",
    "ml", "mn", "mr", "ms", "mt", "my", "na", "nb", "nd", "nds", "ne", "ng", "nl", "nld", "nn", "no", "nr", "nso", "nv", "ny", "oc", "om",
    "or", "os", "pa", "pap", "pl", "pol", "por", "prs", "ps", "pt", "qu", "rm", "rn", "ro", "ru", "rus", "rw", "sa", "sc", "sd", "se", "sg",
    "si", "sk", "sl", "sm", "sn", "so", "spa", "sq", "sr", "ss", "st", "su", "sv", "sw", "ta", "te", "tet", "tg", "th", "ti", "tk", "tl",
    "tn", "to", "tok", "tpi", "tr", "ts", "tt", "tur", "tw", "ty", "ug", "uk", "ukr", "ur", "uz", "ve", "vi", "vie", "wa", "war", "wo",
    "xh", "yi", "yo", "yue", "za", "zh", "zho", "zu",
}  # fmt: skip
_NAMES = {
    "afrikaans", "albanian", "arabic", "armenian", "basque", "bengali", "bulgarian", "cantonese", "catalan", "chinese", "croatian",
    "czech", "danish", "dutch", "english", "esperanto", "estonian", "finnish", "french", "georgian", "german", "greek", "gujarati",
    "hebrew", "hindi", "hungarian", "icelandic", "indonesian", "irish", "italian", "japanese", "korean", "latin", "latvian", "lithuanian",
    "malay", "mandarin", "marathi", "norwegian", "persian", "polish", "portuguese", "punjabi", "romanian", "russian", "serbian", "slovak",
    "slovenian", "spanish", "swahili", "swedish", "tagalog", "tamil", "telugu", "thai", "turkish", "ukrainian", "urdu", "uzbek",
    "vietnamese", "welsh", "yoruba", "zulu", "deutsch", "englisch", "französisch", "spanisch", "anglais", "allemand", "français",
    "espagnol", "español", "inglés", "alemán", "francés", "italiano", "português", "русский", "английский",
    "中文", "汉语", "英文", "英语", "英語", "日语", "日語", "日本語", "德语", "法语", "韩语", "俄语", "西班牙语", "한국어", "영어",
}  # fmt: skip
_ASIDE = {
    "_id", "idx", "index", "uid", "uuid", "guid", "key", "no", "nr", "num", "number", "url", "uri", "link", "href", "lang", "language",
    "languages", "score", "scores", "rating", "similarity", "license", "licence", "credit", "credits", "attribution", "author", "split",
    "domain", "category", "topic", "tags", "tag", "level", "difficulty", "dataset", "corpus", "file", "filename", "page", "line",
    "timestamp", "date", "time", "created_at", "updated_at", "source_lang", "target_lang", "src_lang", "tgt_lang", "source_language",
    "target_language", "sourcelang", "targetlang", "direction", "meta", "metadata", "audio", "image",
}  # fmt: skip
_SCRIPTED = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|\d{3}))?")  # en, en-US, zh_Hans_CN, eng_Latn, es-419


class Look(NamedTuple):
    """What is in the cells of a column."""

    rows: int
    filled: int
    texts: int  # of these are no numbers
    coded: int  # of these hold a digit
    different: int


def look(cells: Iterable[str | list[str]]) -> Look:
    said = [cell if isinstance(cell, str) else (cell[0] if cell else "") for cell in cells]
    filled = [cell for cell in said if cell]
    texts = [cell for cell in filled if type(cell) is str and not cell.isdigit()]
    coded = sum(any(character.isdigit() for character in cell[:200]) for cell in texts)
    return Look(len(said), len(filled), len(texts), coded, len(set(filled)))


def is_language(name: str) -> bool:
    """Whether a column is called after a language: "de", "pt-BR", "eng_Latn", "German"."""
    low = name.casefold().strip()
    return low in _NAMES or (bool(_SCRIPTED.fullmatch(name.strip(), 0, 20)) and re.split("[-_]", low)[0] in _CODES)


def plain(name: str) -> str:
    """A name in the form of the lists above."""
    low = re.sub("[ -]", "_", name.strip().casefold()[:60])
    for inner in _INNER:
        low = low.removesuffix(inner)
    return low.rpartition(".")[2]


def pair_of(names: Sequence[str], looks: Sequence[Look]) -> tuple[int, int] | tuple[()]:
    """The places of source and target where names say so, else ()."""
    simple = [plain(name) for name in names]
    src = _first(SOURCES, simple, looks, varied=True)
    tgt = _first(TARGETS, simple, looks)
    if src is None or tgt is None:
        return ()
    sure = simple[src].startswith(_CERTAIN) and simple[tgt].startswith(_CERTAIN)
    return (src, tgt) if sure or sum(map(is_language, names)) < 2 else ()


def _first(wanted: Sequence[str], simple: Sequence[str], looks: Sequence[Look], varied: bool = False) -> int | None:
    """The place of the first name of the list; of one whose cells are mostly filled, and differ where they should, if there is any."""
    there = [simple.index(name) for name in wanted if name in simple]
    full = [place for place in there if 2 * looks[place].filled >= looks[place].rows]
    if varied:  # an instruction or the name of a collection is the same in every row
        full = [place for place in full if looks[place].different > 3 or looks[place].rows < 10] or full
    return next(iter(full or there), None)


def ranks(names: Sequence[str], looks: Sequence[Look]) -> list[int]:
    """For each column 0 if it is a language, 1 if it holds other sentences, 2 if it holds numbers or little, 3 if its name says no text.

    Numbers count as sentences where there are too few of these.
    """
    found = list(map(_rank, names, looks))
    return found if sum(place < 2 for place in found) > 1 else [1 if place < 3 else 3 for place in found]


def _rank(name: str, seen: Look) -> int:
    last = name.rpartition(".")[2]
    simple = plain(last)
    numbers = 2 * seen.texts < seen.filled
    if simple == "id":
        return 3 if numbers or 2 * seen.coded >= seen.filled else 0  # numbers of records, or Indonesian
    if simple in _ASIDE or simple.endswith("_id") or simple.startswith("__"):
        return 3
    return 2 if numbers or 2 * seen.filled < seen.rows else 0 if is_language(last) else 1


def common(names: Collection[str]) -> int:
    """How many of the names are those of a source, a target or a language; none where there are too many names for columns."""
    known = {*SOURCES, *TARGETS}
    return sum(plain(name) in known or is_language(name.rpartition(".")[2]) for name in names) if len(names) <= COLUMN_LIMIT else 0


def certain(names: Iterable[str]) -> int:
    """How many of the names are those of a language, or of a source or target in any context."""
    return sum(plain(name).startswith(_CERTAIN) or is_language(name.rpartition(".")[2]) for name in names)
