"""Encoding guess: chardet's confidence in each encoding, reduced by characters that no text would contain.

A few short sentences are little evidence, and half of each line is often English. The best signal is then the oddness of a wrong guess:
letters of two scripts in one word, capitals within words, signs between letters.
"""

import io
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache

_SMALL = 2000  # bytes: smaller files are examined whole
_PIECES, _PIECE = 4, 3000  # else the number of pieces, and bytes in each
_PLAIN = 0.05  # prior of an encoding without odd characters where chardet has no opinion
_USUAL = 0.01  # bonus of the most common one, decisive only where there is a single character to judge by
_BAD_BYTES = 5.0  # weight of undecodable bytes relative to other odd characters
_WITHIN_WORDS = frozenset("’ʼ·‐‑–—\u200c\u200d")
_JAPANESE = ("shift_jis", "euc-jp")
_KANA = 0.3  # fraction; kana take so few byte values that hardly anything else looks like them


def rank_encodings(data: bytes, candidates: Mapping[str, Sequence[str]]) -> list[tuple[str, float]]:
    """Ranks candidates (name -> Python codecs to try), likeliest first, each with its oddness from 0 to 1. `data` is not ASCII. Ties keep
    the order of the candidates."""
    pieces = sample_bytes(data)
    likely = _measure_likelihoods(pieces, {name: codecs[-1] for name, codecs in candidates.items()})
    scores = []
    for name, codecs in candidates.items():
        text = "\n".join(piece.decode(codecs[0], "surrogateescape") for piece in pieces)
        odd = measure_oddness(text)
        beyond = max(1, sum(not character.isascii() for character in text))
        usual = _USUAL / beyond if name == "windows-1252" else 0
        is_japanese = name in _JAPANESE and sum("\u3040" <= character <= "\u30ff" for character in text) / beyond > _KANA
        score = (likely[name] + usual + _PLAIN) * (1 - odd) ** 2 + (0.2 if is_japanese else 0)
        scores.append((round(score, 3), name, odd))
    scores.sort(key=lambda entry: -entry[0])
    return [(name, odd) for _, name, odd in scores]


def sample_bytes(data: bytes) -> list[bytes]:
    """Returns a small file whole; of a larger one the first non-ASCII lines in each of a few equal parts."""
    if len(data) <= _SMALL:
        return [data]
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    total = sum(not line.isascii() for line in io.BytesIO(data))
    pieces, count = [b""] * _PIECES, 0
    for line in io.BytesIO(data):
        if not line.isascii():
            part, count = count * _PIECES // total, count + 1
            if len(pieces[part]) < _PIECE:
                pieces[part] = (pieces[part] + line)[:_PIECE]
    return [piece for piece in pieces if piece]


def _measure_likelihoods(pieces: Sequence[bytes], codecs: Mapping[str, str]) -> dict[str, float]:
    """Returns chardet's confidence in each codec, averaged over the pieces, so one broken line spoils one piece at most."""
    import chardet

    sums = dict.fromkeys(codecs, 0.0)
    for piece in pieces:
        answers = chardet.detect_all(piece, ignore_threshold=True, compat_names=False, include_encodings=list(codecs.values()))
        confidences = {answer["encoding"]: answer["confidence"] for answer in answers}
        for name, codec in codecs.items():
            sums[name] += confidences.get(codec, 0.0) / len(pieces)
    return sums


def measure_oddness(text: str) -> float:
    """Returns the fraction of non-ASCII characters that are implausible where they stand, from 0 to 1."""
    count, odd = 0, 0.0
    for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        kind = _classify(character)
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
            other_scripts = {_classify(before), _classify(after)} - {"", "wrong", "mark", "sign", kind}
            odd += bool(other_scripts) or (character.isupper() and before.islower())
    return min(1.0, odd / max(1, count))


@cache
def _classify(character: str) -> str:
    """Returns a letter's script; "sign" where no letter is adjacent, "mark" for other signs, "wrong" for non-text, else ""."""
    category = unicodedata.category(character)
    if category in ("Cc", "Cn", "Co", "Cs"):
        return "" if character in "\t\n\r\x0b\x0c\x1b" else "wrong"
    if category[0] in "LM":
        return _find_script(character)
    if character.isascii() or category[0] in "ZNC" or character in _WITHIN_WORDS or "\u3000" <= character <= "\u303f":
        return ""
    if "\uff00" <= character <= "\uffef":
        return ""
    if "\u2500" <= character <= "\u259f" or character in "˝ˇ˘¸˛˙":  # box-drawing and parts of letters
        return "wrong"
    return "sign" if character in "¶§" else "mark"


def _find_script(letter: str) -> str:
    script = unicodedata.name(letter, "").split()[:1]
    script = script[0].split("-")[0] if script else "wrong"
    if script == "CJK":
        return "CJK" if any(map(_can_encode, ("gb2312", "big5", "euc_jp"), letter * 3)) else "wrong"
    if script in ("HIRAGANA", "KATAKANA", "IDEOGRAPHIC"):
        return "CJK"
    if script in ("FEMININE", "MASCULINE", "MICRO"):
        return "mark"
    if script in ("COMBINING", "MODIFIER", "FULLWIDTH"):
        return ""
    return "wrong" if script == "HALFWIDTH" else script


def _can_encode(codec: str, character: str) -> bool:
    """Whether a character is common enough to be in one of the small character sets of the 1980s."""
    try:
        return bool(character.encode(codec))
    except UnicodeEncodeError:
        return False
