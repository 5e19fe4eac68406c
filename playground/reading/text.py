"""Sentences in one canonical form, without invisible characters.

All input (files, typed sentences) goes through `normalise`, so texts that look alike are equal. Joiners and variation selectors act only on
their neighbours: they spell Persian, Hindi, Mongolian, Chinese names and emoji. They stay where they have an effect (the Unicode standard,
23.2 to 23.4; UTS 51 for emoji) and go elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

# Control characters that are not white space, soft hyphens, zero-width spaces, bidi marks, byte order marks, lone surrogates,
# noncharacters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff"
    + "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_BLANK = re.compile("[\u2800\u3164\uffa0]")  # an empty Braille cell and the Hangul fillers: blank, but not white space to Unicode
_INVISIBLE = re.compile(r"[\s\u115f\u1160]*")

_SELECTORS = "\ufe00-\ufe0f"
_JOINERS = f"\u180b-\u180f\u200c\u200d{_SELECTORS}\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_ANY_JOINER = re.compile(f"[{_JOINERS}]")
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"  # of a region: a black flag and its name in tags
_PICTURE = f"(?:{_FLAG}|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])[{_SELECTORS}]?"
_KEYCAP = "[0-9#*]\ufe0f\u20e3"
_IDEOGRAPH = f"[\u3001\u3002\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003fffd][{_SELECTORS}\U000e0100-\U000e01ef]"
_MONGOLIAN = "[\u1820-\u18aa][\u180b-\u180f]{0,2}"
_JOINED = "[\u0600-\u109f\u1700-\u180a\u1810-\u181f\u18ab-\u1cff\ua800-\uabff\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
_LETTERS = f"(?:{_MONGOLIAN}|{_JOINED})+"  # of scripts whose letters change with their neighbours
_EFFECTIVE = re.compile(
    f"({_PICTURE}(?:\u200d?{_PICTURE})*|{_KEYCAP}|{_IDEOGRAPH}|{_LETTERS}(?:[\u200c\u200d]{_LETTERS})*\u200d?)|[{_JOINERS}]"
)

# Letters, ideographs and signs unchanged by NFC whatever neighbour of this list they have: most texts have no others.
_STABLE = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0388-\u0482\u048a-\u052f\u0531-\u0556\u0561-\u0587\u05d0-\u05ea\u0620-\u064a\u0e01-\u0e30\u10d0-\u10fa"
    "\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u3001-\u3020\u3041-\u3096\u30a1-\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)

MAX_MARKS = 30  # combining marks per character (UAX 15, stream-safe text); sorting them takes quadratic time
_STACKED = re.compile(f"[^\\w\\s!-~]{{{MAX_MARKS + 1},}}")


def normalise(text: str) -> str:
    """Returns NFC without invisible characters, white space collapsed and stripped; "" if nothing visible is left."""
    if not _STABLE.fullmatch(text):
        text = _compose(_BLANK.sub(" ", _HIDDEN.sub("", text)))
        if _ANY_JOINER.search(text):
            text = _compose(_EFFECTIVE.sub(r"\1", text))
        if _INVISIBLE.fullmatch(text):
            return ""
    return " ".join(text.split())


def _compose(text: str) -> str:
    """Returns NFC with at most MAX_MARKS marks per character."""
    return _STACKED.sub(_drop_marks, unicodedata.normalize("NFC", _STACKED.sub(_drop_marks, text)))


def _drop_marks(run: re.Match[str]) -> str:
    """Drops the marks beyond MAX_MARKS from each character of a run of non-letters."""
    characters, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MAX_MARKS:
            characters.append(character)
    return "".join(characters)


def split_graphemes(text: str) -> list[str]:
    """Splits a text into grapheme clusters (UAX 29): a letter with its marks, a flag, an emoji sequence."""
    if _STABLE.fullmatch(text):
        return list(text)
    graphemes: list[str] = []
    for character in text:
        if graphemes and _joins(graphemes[-1], character):
            graphemes[-1] += character
        else:
            graphemes.append(character)
    return graphemes


def _joins(cluster: str, character: str) -> bool:
    """Whether a character extends the grapheme cluster before it."""
    if cluster == " ":
        return False
    if cluster[-1] == "\u200d":
        return re.match(_PICTURE, character) is not None and re.match(_PICTURE, cluster) is not None
    if "\U0001f1e6" <= character <= "\U0001f1ff":  # two regional indicators are a flag
        return len(cluster) == 1 and "\U0001f1e6" <= cluster <= "\U0001f1ff"
    return unicodedata.category(character).startswith("M") or re.match(f"[{_JOINERS}\U0001f3fb-\U0001f3ff]", character) is not None


def is_symbol(text: object) -> bool:
    """Whether `text` can be a vocabulary entry: a word or a character as `normalise` leaves it, or a space."""
    return text == " " or (isinstance(text, str) and text.split() == [text] and not _HIDDEN.search(text))
