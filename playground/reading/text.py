"""What a sentence is: text in one canonical form, free of what nobody can see.

Everything that comes in goes through `normalise` (files, typed sentences), so that two texts that look alike are alike. Some characters
are seen only by what they do to their neighbours: joiners and variation selectors spell Persian, Hindi, Mongolian, Chinese names and
emoji. They stay where they do something (the Unicode standard, 23.2 to 23.4; UTS 51 for emoji) and go elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

# Control characters that are no white space, soft hyphens, zero-width spaces, marks of writing direction, byte order marks, lone
# surrogates, what is reserved and not a character.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff"
    + "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_BLANK = re.compile("[\u2800\u3164\uffa0]")  # an empty Braille cell and the fillers of Hangul: white space by looks only
_UNSEEN = re.compile(r"[\s\u115f\u1160]*")

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
_DOING_SOMETHING = re.compile(
    f"({_PICTURE}(?:\u200d?{_PICTURE})*|{_KEYCAP}|{_IDEOGRAPH}|{_LETTERS}(?:[\u200c\u200d]{_LETTERS})*\u200d?)|[{_JOINERS}]"
)

# Letters, ideographs and signs that are the same in NFC whatever stands beside them out of this list: most texts have no others.
_SETTLED = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0388-\u0482\u048a-\u052f\u0531-\u0556\u0561-\u0587\u05d0-\u05ea\u0620-\u064a\u0e01-\u0e30\u10d0-\u10fa"
    "\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u3001-\u3020\u3041-\u3096\u30a1-\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)

MAX_MARKS = 30  # on one character (UAX 15, stream-safe text); sorting them takes time by their square
_CROWD = re.compile(f"[^\\w\\s!-~]{{{MAX_MARKS + 1},}}")


def normalise(text: str) -> str:
    """NFC, no hidden characters, every run of white space one space, none at the ends; "" if nothing visible is left."""
    if not _SETTLED.fullmatch(text):
        text = _composed(_BLANK.sub(" ", _HIDDEN.sub("", text)))
        if _ANY_JOINER.search(text):
            text = _composed(_DOING_SOMETHING.sub(r"\1", text))
        if _UNSEEN.fullmatch(text):
            return ""
    return " ".join(text.split())


def _composed(text: str) -> str:
    """NFC, with at most MAX_MARKS marks on a character."""
    return _CROWD.sub(_thinned, unicodedata.normalize("NFC", _CROWD.sub(_thinned, text)))


def _thinned(crowd: re.Match[str]) -> str:
    """Characters that are no letters, without the marks that are too many on one of them."""
    kept, marks = [], 0
    for character in crowd[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def clusters(text: str) -> list[str]:
    """What people take for characters (UAX 29): a letter with its marks, a flag, a picture with all that it is put together of."""
    if _SETTLED.fullmatch(text):
        return list(text)
    found: list[str] = []
    for character in text:
        if found and _belongs(found[-1], character):
            found[-1] += character
        else:
            found.append(character)
    return found


def _belongs(cluster: str, character: str) -> bool:
    """Whether a character goes on what stands before it."""
    if cluster == " ":
        return False
    if cluster[-1] == "\u200d":
        return re.match(_PICTURE, character) is not None and re.match(_PICTURE, cluster) is not None
    if "\U0001f1e6" <= character <= "\U0001f1ff":  # two letters are a flag
        return len(cluster) == 1 and "\U0001f1e6" <= cluster <= "\U0001f1ff"
    return unicodedata.category(character).startswith("M") or re.match(f"[{_JOINERS}\U0001f3fb-\U0001f3ff]", character) is not None


def is_symbol(text: object) -> bool:
    """Whether `text` can stand in a vocabulary: a word or a character as `normalise` leaves it, or a space."""
    return text == " " or (isinstance(text, str) and text.split() == [text] and not _HIDDEN.search(text))
