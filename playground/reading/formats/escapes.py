"""Escapes: traces that other people's tools left in sentences, found to be offered for undoing, each on its own.

- moses: characters written as names (`&apos;`, `&#124;`), and hyphens set apart (`@-@`), as the Moses tokenizer writes them
- bpe: words cut in pieces, every piece but the last with `@@` behind it (subword-nmt)
- pieces: words cut in pieces, `▁` where a word begins (SentencePiece)
- furigana, cloze: how a word is read and what is asked, as Anki writes it in cards (`漢字[かんじ]`, `{{c1::word::hint}}`)
- html: tags and names of characters, as in cards and web pages
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from playground.reading.formats.markup import plain

KINDS = ("pieces", "bpe", "moses", "cloze", "furigana", "html")  # in the order in which they are undone
_NAMES = {
    "&amp;": "&", "&#124;": "|", "&bar;": "|", "&lt;": "<", "&gt;": ">", "&apos;": "'", "&quot;": '"', "&#91;": "[", "&#93;": "]",
    "&bra;": "[", "&ket;": "]",
}  # fmt: skip
_MOSES = re.compile("|".join(map(re.escape, _NAMES)))
_SET_APART = re.compile(r" (?:@([-/])@|##AT##([-/])##AT##) ")
_JOINT = re.compile(r"(?<=\S)@@(?: +|$)")
_HTML = re.compile(  # but for the numbers that Moses writes
    r"</?(?:b|br|div|em|font|i|img|li|p|span|strong|sub|sup|u)\b[^<>]*>|&nbsp;|&#(?!(?:124|91|93);)x?[0-9a-f]{2,5};", re.IGNORECASE
)
_BEGIN = "▁"
_KANA = "\u3041-\u3096\u30a1-\u30fc"
_WRITTEN = f"[{_KANA}\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]"
_FURIGANA = re.compile(rf" ?(?<!{_WRITTEN})({_WRITTEN}+)\[[{_KANA}]+\]")  # the space only says where the word begins
_CLOZE = re.compile(r"\{\{c\d{1,3}::([^{}]*)\}\}")


def found(samples: Iterable[str]) -> dict[str, int]:
    """Which kinds are in sentences of one side, and in how many of them. Pieces must begin most sentences: `▁` may be text in one."""
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
    """`text` without the traces of `kinds`, each undone once: `&amp;lt;` becomes `&lt;`."""
    for kind in sorted(set(kinds), key=KINDS.index):
        text = _UNDO[kind](text)
    return text


def _without_moses(text: str) -> str:
    joined = _SET_APART.sub(lambda match: match[1] or match[2], text)
    return _MOSES.sub(lambda match: _NAMES[match[0]], joined)


def _without_joints(text: str) -> str:
    return _JOINT.sub("", text.rstrip())


def _without_pieces(text: str) -> str:
    return "".join(text.split()).replace(_BEGIN, " ").strip()


def _without_cloze(text: str) -> str:
    return _CLOZE.sub(lambda match: match[1].partition("::")[0], text)


def _without_furigana(text: str) -> str:
    return _FURIGANA.sub(r"\1", text)


_UNDO = {
    "pieces": _without_pieces, "bpe": _without_joints, "moses": _without_moses, "cloze": _without_cloze, "furigana": _without_furigana,
    "html": plain,
}  # fmt: skip
