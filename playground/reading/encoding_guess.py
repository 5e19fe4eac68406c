"""Guessing an encoding: chardet says how much a text looks like a language in each, and what no text would look like counts against it.

A few short sentences are little evidence, and half of each line is often English. What helps most then is how odd a wrong guess looks:
letters of two scripts in one word, capitals within words, signs between letters.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

_SMALL = 2000  # bytes that are looked at as a whole
_PIECES, _PIECE = 4, 3000  # otherwise so many pieces of so many bytes
_PLAIN = 0.05  # what an encoding is worth in which nothing looks odd, when chardet knows nothing
_USUAL = 0.01  # what the most usual one is worth in addition, where there is but one character to judge by
_BAD_BYTES = 5.0  # how much odder than other odd things it is if bytes are no text at all
_WITHIN_WORDS = frozenset("’ʼ·‐‑–—\u200c\u200d")
_JAPANESE = ("shift_jis", "euc-jp")
_KANA = 0.3  # kana are spelt with so few bytes that hardly anything else looks like them


def rank(data: bytes, candidates: Mapping[str, Sequence[str]]) -> list[tuple[str, float]]:
    """The candidates (name -> Python codecs to try), the likeliest first, each with its oddness from 0 to 1. `data` is not ASCII.

    Of equally likely ones the first stays first.
    """
    pieces = sample(data)
    likely = _likelihoods(pieces, {name: codecs[-1] for name, codecs in candidates.items()})
    found = []
    for name, codecs in candidates.items():
        text = "\n".join(piece.decode(codecs[0], "surrogateescape") for piece in pieces)
        odd = oddness(text)
        usual = _USUAL / max(1, sum(not character.isascii() for character in text)) if name == "windows-1252" else 0
        score = (likely[name] + usual + _PLAIN) * (1 - odd) ** 2 + (0.2 if name in _JAPANESE and _share_of_kana(text) > _KANA else 0)
        found.append((round(score, 3), name, odd))
    found.sort(key=lambda one: -one[0])
    return [(name, odd) for _, name, odd in found]


def sample(data: bytes) -> list[bytes]:
    """All of a small file; of a larger one the first lines that are not ASCII in each of a few equal parts."""
    if len(data) <= _SMALL:
        return [data]
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    total = sum(not line.isascii() for line in io.BytesIO(data))
    pieces, seen = [b""] * _PIECES, 0
    for line in io.BytesIO(data):
        if not line.isascii():
            part, seen = seen * _PIECES // total, seen + 1
            if len(pieces[part]) < _PIECE:
                pieces[part] = (pieces[part] + line)[:_PIECE]
    return [piece for piece in pieces if piece]


def _likelihoods(pieces: Sequence[bytes], codecs: Mapping[str, str]) -> dict[str, float]:
    """What chardet thinks of each, as a mean over the pieces: so one broken line spoils one of them at most."""
    import chardet

    sums = dict.fromkeys(codecs, 0.0)
    for piece in pieces:
        answers = chardet.detect_all(piece, ignore_threshold=True, compat_names=False, include_encodings=list(codecs.values()))
        said = {answer["encoding"]: answer["confidence"] for answer in answers}
        for name, codec in codecs.items():
            sums[name] += said.get(codec, 0.0) / len(pieces)
    return sums


def oddness(text: str) -> float:
    """The share of a text's characters beyond ASCII that no one would have written where they stand, from 0 to 1."""
    count, odd = 0, 0.0
    for before, character, after in _trigrams(text):
        kind = _kind(character)
        if character.isascii():
            if kind == "wrong":
                count, odd = count + 1, odd + 1
            continue
        count += 1
        if kind == "wrong":
            odd += _BAD_BYTES if "\ud800" <= character <= "\udfff" else 1
        elif kind == "mark":
            odd += before.isalpha() and after.isalpha()
        elif kind == "sign":
            odd += before.isalpha() or after.isalpha()
        elif kind:
            others = {_kind(before), _kind(after)} - {"", "wrong", "mark", "sign", kind}
            odd += bool(others) or (character.isupper() and before.islower())
    return min(1.0, odd / max(1, count))


def _trigrams(text: str) -> Iterator[tuple[str, str, str]]:
    return zip(f" {text}", text, f"{text[1:]} ", strict=False)


@cache
def _kind(character: str) -> str:
    """The script of a letter; "sign" for what no letter touches, "mark" for other signs, "wrong" for what stands in no text, else ""."""
    category = unicodedata.category(character)
    if category in ("Cc", "Cn", "Co", "Cs"):
        return "" if character in "\t\n\r\x0b\x0c\x1b" else "wrong"
    if category[0] in "LM":
        return _script(character)
    if character.isascii() or category[0] in "ZNC" or character in _WITHIN_WORDS or "\u3000" <= character <= "\u303f":
        return ""
    if "\uff00" <= character <= "\uffef":
        return ""
    if "\u2500" <= character <= "\u259f" or character in "˝ˇ˘¸˛˙":  # pieces of frames and of letters
        return "wrong"
    return "sign" if character in "¶§" else "mark"


def _script(letter: str) -> str:
    script = unicodedata.name(letter, "").split()[:1]
    script = script[0].split("-")[0] if script else "wrong"
    if script == "CJK":
        return "CJK" if any(map(_holds, ("gb2312", "big5", "euc_jp"), letter * 3)) else "wrong"
    if script in ("HIRAGANA", "KATAKANA", "IDEOGRAPHIC"):
        return "CJK"
    if script in ("FEMININE", "MASCULINE", "MICRO"):
        return "mark"
    if script in ("COMBINING", "MODIFIER", "FULLWIDTH"):
        return ""
    return "wrong" if script == "HALFWIDTH" else script


def _holds(codec: str, character: str) -> bool:
    """Whether a character is common enough to be in one of the small sets of the eighties."""
    try:
        return bool(character.encode(codec))
    except UnicodeEncodeError:
        return False


def _share_of_kana(text: str) -> float:
    beyond = sum(not character.isascii() for character in text)
    return sum("\u3040" <= character <= "\u30ff" for character in text) / max(1, beyond)
