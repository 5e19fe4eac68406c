"""What a sentence is: text in one canonical form, free of what nobody can see.

Everything that comes in goes through `normalise` (files, typed sentences), so that two texts that look alike are alike.
"""

from __future__ import annotations

import re
import unicodedata

# Control characters that are no white space, soft hyphens, zero-width spaces, marks of writing direction, byte order marks, lone
# surrogates. The zero-width joiner and non-joiner stay: emoji, Persian and Hindi are spelt with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_INVISIBLE = re.compile(r"[\s\u200c\u200d\ufe00-\ufe0f]*")


def normalise(text: str) -> str:
    """NFC, no hidden characters, every run of white space one space, none at the ends; "" if nothing visible is left."""
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFC", _HIDDEN.sub("", text))
        if _INVISIBLE.fullmatch(text):
            return ""
    return " ".join(text.split())


def is_symbol(text: object) -> bool:
    """Whether `text` can stand in a vocabulary: a word or a character as `normalise` leaves it, or a space."""
    return text == " " or (isinstance(text, str) and text.split() == [text] and not _HIDDEN.search(text))
