"""Escapes: markup that other tools left in sentences, detected so that the user can undo each kind.

- moses: character references (`&apos;`, `&#124;`) and separated hyphens (`@-@`) of the Moses tokenizer
- bpe: subwords, every piece but a word's last followed by `@@` (subword-nmt)
- pieces: subwords, `▁` where a word begins (SentencePiece)
- furigana, cloze: readings and blanks of Anki cards (`漢字[かんじ]`, `{{c1::word::hint}}`)
- html: tags and character references, as in cards and web pages
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from playground.reading.formats.markup import strip_markup

KINDS = ("pieces", "bpe", "moses", "cloze", "furigana", "html")  # in undo order
_NAMES = {
    "&amp;": "&", "&#124;": "|", "&bar;": "|", "&lt;": "<", "&gt;": ">", "&apos;": "'", "&quot;": '"', "&#91;": "[", "&#93;": "]",
    "&bra;": "[", "&ket;": "]",
}  # fmt: skip
_MOSES = re.compile("|".join(map(re.escape, _NAMES)))
_SET_APART = re.compile(r" (?:@([-/])@|##AT##([-/])##AT##) ")
_JOINT = re.compile(r"(?<=\S)@@(?: +|$)")
_HTML = re.compile(  # except for the numbers that Moses writes
    r"</?(?:b|br|div|em|font|i|img|li|p|span|strong|sub|sup|u)\b[^<>]*>|&nbsp;|&#(?!(?:124|91|93);)x?[0-9a-f]{2,5};", re.IGNORECASE
)
_BEGIN = "▁"
_KANA = "\u3041-\u3096\u30a1-\u30fc"
_WRITTEN = f"[{_KANA}\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]"
_FURIGANA = re.compile(rf" ?(?<!{_WRITTEN})({_WRITTEN}+)\[[{_KANA}]+\]")  # the space only marks the beginning of the word
_CLOZE = re.compile(r"\{\{c\d{1,3}::([^{}]*)\}\}")


def count_kinds(samples: Iterable[str]) -> dict[str, int]:
    """Counts the sentences of one side that contain each kind. Pieces must begin most sentences: `▁` may be ordinary text."""
    texts = [text for text in map(str.strip, samples) if text]
    counts = {
        "pieces": sum(text.startswith(_BEGIN) for text in texts),
        "bpe": sum(_JOINT.search(text) is not None for text in texts),
        "moses": sum(_MOSES.search(text) is not None or _SET_APART.search(text) is not None for text in texts),
        "cloze": sum(_CLOZE.search(text) is not None for text in texts),
        "furigana": sum(_FURIGANA.search(text) is not None for text in texts),
        "html": sum(_HTML.search(text) is not None for text in texts),
    }
    if 2 * counts["pieces"] < len(texts):
        counts["pieces"] = 0
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def undo(text: str, kinds: Iterable[str]) -> str:
    """Undoes `kinds` in `text`, each once: `&amp;lt;` becomes `&lt;`."""
    for kind in sorted(set(kinds), key=KINDS.index):
        text = _UNDO[kind](text)
    return text


def _undo_moses(text: str) -> str:
    joined = _SET_APART.sub(lambda match: match[1] or match[2], text)
    return _MOSES.sub(lambda match: _NAMES[match[0]], joined)


def _undo_bpe(text: str) -> str:
    return _JOINT.sub("", text.rstrip())


def _undo_pieces(text: str) -> str:
    return "".join(text.split()).replace(_BEGIN, " ").strip()


def _undo_cloze(text: str) -> str:
    return _CLOZE.sub(lambda match: match[1].partition("::")[0], text)


def _undo_furigana(text: str) -> str:
    return _FURIGANA.sub(r"\1", text)


_UNDO = {
    "pieces": _undo_pieces, "bpe": _undo_bpe, "moses": _undo_moses, "cloze": _undo_cloze, "furigana": _undo_furigana,
    "html": strip_markup,
}  # fmt: skip
