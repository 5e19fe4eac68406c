"""Charsets: the encodings offered to the user, their aliases, and the candidates for guessing."""

from __future__ import annotations

import codecs

from playground.config import Refusal
from playground.reading.text import normalise

# Offered encodings: name -> Python codecs, the widest commonly written under that name; the second is the fallback where the first doesn't
# fit.
ENCODINGS: dict[str, tuple[str, ...]] = {
    "utf-8": ("utf-8-sig",), "utf-16": ("utf-16",), "utf-16-le": ("utf-16-le",), "utf-16-be": ("utf-16-be",), "utf-32": ("utf-32",),
    "windows-1252": ("cp1252",), "shift_jis": ("cp932",), "gb18030": ("gb18030",), "euc-kr": ("cp949",),
    "euc-jp": ("euc_jp", "euc_jis_2004"), "big5": ("cp950", "big5hkscs"), "windows-1251": ("cp1251",), "windows-1250": ("cp1250",),
    "windows-1253": ("cp1253",), "windows-1254": ("cp1254",), "windows-1255": ("cp1255",), "windows-1256": ("cp1256",),
    "windows-1257": ("cp1257",), "windows-874": ("cp874",), "koi8-r": ("koi8-r",), "koi8-u": ("koi8-u",), "cp866": ("cp866",),
    "iso-8859-2": ("iso8859-2",), "iso-8859-5": ("iso8859-5",), "iso-8859-7": ("iso8859-7",), "windows-1258": ("cp1258",),
    "mac-roman": ("mac-roman",), "iso-8859-6": ("iso8859-6",), "iso-8859-15": ("iso8859-15",), "iso-2022-jp": ("iso2022_jp_ext",),
    "cp850": ("cp850",), "cp437": ("cp437",),
}  # fmt: skip
_NAMES = tuple(ENCODINGS)
GUESSED = {name: ENCODINGS[name] for name in _NAMES[_NAMES.index("windows-1252") : _NAMES.index("mac-roman") + 1]}
_WIDER = {  # alias -> the superset that files so labelled mostly use
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5", "big5hkscs": "big5", "cp950": "big5", "shift_jis": "shift_jis",
    "euc_kr": "euc-kr", "iso8859-1": "windows-1252", "ascii": "windows-1252", "iso8859-9": "windows-1254",
    "iso8859-8": "windows-1255", "iso8859-13": "windows-1257", "tis-620": "windows-874", "iso8859-11": "windows-874",
    "iso2022_jp": "iso-2022-jp", "utf-8": "utf-8", "euc_jp": "euc-jp",
}  # fmt: skip


def find_encoding(name: str) -> str:
    """Returns the entry of ENCODINGS that an alias means. Raises Refusal."""
    folded = name.strip().casefold().replace("_", "-")
    for known in (folded, folded.replace("-", "_")):
        if known in ENCODINGS:
            return known
    try:
        codec = codecs.lookup(folded).name
    except (LookupError, ValueError):
        codec = ""
    same = (known for known, tried in ENCODINGS.items() if codec and codec in {codecs.lookup(alias).name for alias in tried})
    match = _WIDER.get(codec) or next(same, None)
    if match is None:
        raise Refusal("data.unknown_encoding", encoding=normalise(name)[:40], known=", ".join(ENCODINGS))
    return match
