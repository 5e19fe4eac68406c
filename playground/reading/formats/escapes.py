"""Escapes: markup that other tools left in sentences, detected so that the user can undo each kind.

- moses: character references (`&apos;`, `&#124;`) and separated hyphens (`@-@`) of the Moses tokenizer
- bpe: subwords, every piece but a word's last followed by `@@` (subword-nmt)
- pieces: subwords, `▁` where a word begins (SentencePiece)
- furigana, cloze: readings and blanks of Anki cards (`漢字[かんじ]`, `{{c1::word::hint}}`)
- html: tags and character references, as in cards and web pages. Cells are many, short, and seldom well formed: the patterns take linear
  time; html.parser fails on `<![`, and takes quadratic time for unclosed tags.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:[;,]\s*)?(?:#.*|//.*)?""")
_BACKSLASH = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ENDS = {"n": "\n", "t": "\t", "r": "\n"}
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
_SOUND = re.compile(r"\[sound:[^\[\]]*\]")
_UNSEEN = re.compile(r"<(script|style|rt|rp)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)  # rt, rp: ruby readings above characters
_BREAK = re.compile(r"</?(?:br|div|p|li|ul|ol|tr|td|th|table|hr|h[1-6]|blockquote|pre|dl|dt|dd)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<![^<>]*>", re.IGNORECASE)
_CLOZE = re.compile(r"\{\{c\d{1,3}::([^{}]*)\}\}")
_TRACES = {
    "bpe": (_JOINT,), "moses": (_MOSES, _SET_APART), "cloze": (_CLOZE,), "furigana": (_FURIGANA,), "html": (_HTML,),
}  # fmt: skip


def count_kinds(samples: Iterable[str]) -> dict[str, int]:
    """Counts the sentences of one side that contain each kind. Pieces must begin most sentences: `▁` may be ordinary text."""
    texts = [text for text in map(str.strip, samples) if text]
    counts = {kind: sum(any(trace.search(text) for trace in traces) for text in texts) for kind, traces in _TRACES.items()}
    pieces = sum(text.startswith(_BEGIN) for text in texts)
    counts["pieces"] = pieces if 2 * pieces >= len(texts) else 0
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def undo(text: str, kinds: Iterable[str]) -> str:
    """Undoes `kinds` in `text`, each once: `&amp;lt;` becomes `&lt;`."""
    for kind in sorted(set(kinds), key=KINDS.index):
        text = _UNDO[kind](text)
    return text


def strip_markup(text: str) -> str:
    """Strips tags, sounds and comments, resolves character references, and puts a space where a line or a block ends."""
    if "[" in text:
        text = _SOUND.sub(" ", text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub(" ", _UNSEEN.sub("", text)))
    return html.unescape(text) if "&" in text else text


_UNDO = {
    "pieces": lambda text: "".join(text.split()).replace(_BEGIN, " ").strip(),
    "bpe": lambda text: _JOINT.sub("", text.rstrip()),
    "moses": lambda text: _MOSES.sub(lambda match: _NAMES[match[0]], _SET_APART.sub(lambda match: match[1] or match[2], text)),
    "cloze": lambda text: _CLOZE.sub(lambda match: match[1].partition("::")[0], text),
    "furigana": lambda text: _FURIGANA.sub(r"\1", text),
    "html": strip_markup,
}


# --- in programs' texts ---


def unquote(text: str) -> str | None:
    """Returns the text inside quotation marks that enclose all of `text`; None without them."""
    match = _QUOTED.fullmatch(text)
    if not match:
        return None
    return unescape(match[1] if match[2] is None else match[2].replace("''", "'"))


def unescape(text: str) -> str:
    r"""Resolves backslash escapes: \u00e4 is ä, \n ends a line."""
    return _BACKSLASH.sub(lambda match: chr(int(match[1][1:], 16)) if len(match[1]) > 1 else _ENDS.get(match[1], match[1]), text)
