"""Encodings: decodes a file into lines of text, by its own marks, by a guess shown to the user, or by the user's choice."""

import codecs
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.encoding_guess import measure_oddness, rank_encodings, sample_bytes
from playground.reading.formats import MAX_LINES
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
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"), (b"\x84\x31\x95\x33", "gb18030"),
)  # fmt: skip
_BINARY = {
    b"%PDF": "PDF", b"\xd0\xcf\x11\xe0": "Word/Excel 97", b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"\x7fELF": "ELF", b"MZ\x90": "EXE",
    b"SQLite format 3\0": "SQLite", b"\x93NUMPY": "NumPy", b"\x89HDF": "HDF5", b"ARROW1\0": "Arrow", b"{\\rtf": "RTF",
    b"\xde\x12\x04\x95": "MO", b"\x95\x04\x12\xde": "MO",
}  # fmt: skip
_TABLES = (b"PK\x03\x04", b"PAR1")  # binary formats with a reader
_PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95.{8}|[\]\[(}c)qK\x8c\x94XU])", re.DOTALL)
_XML = re.compile(r"\s*<(\?xml|!DOCTYPE\s+(tmx|xliff|TS)|tmx|xliff|TS|resources)\b", re.IGNORECASE)
_MEMORY = re.compile(rb"<(tmx|xliff|ts|resources)\b", re.IGNORECASE)  # parsed from the bytes: their lines would only use memory
_HEAD = 4096
_DECLARED = re.compile(r"""(?:<\?xml[^>]{0,99}encoding\s*=\s*["']|"Content-Type:[^"\n]{0,99}charset=)([\w.:-]{2,40})""")
_BAD = re.compile("[\udc80-\udcff]")  # an undecodable byte under "surrogateescape"
_DAMAGED = 4  # valid sequences per invalid one that make a file damaged UTF-8 rather than another encoding
_ODD = 0.3  # oddness of the best guess above which the file is not text
_SAMPLES, _SAMPLE = 3, 120


@dataclass(frozen=True)
class Encoding:
    """How a file was decoded. `alternatives` are other encodings, likeliest first; `samples` are lines to check the guess."""

    file: str
    name: str = ""  # one of ENCODINGS; "" for a binary file
    guessed: bool = False
    alternatives: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()


class Decoded(NamedTuple):
    """`lines` without line ends, and the first bytes as `data`; binary files and translation memories have no lines and all their data. XML
    is always in UTF-8."""

    lines: list[str]
    data: bytes
    encoding: Encoding


def decode(name: str, data: bytes, encoding: str = "") -> Decoded:
    """Decodes a file into lines ended by LF, CRLF or CR only. `encoding` is the user's choice, "" to detect it.

    Undecodable bytes under a guessed encoding stay as lone surrogates (see `is_damaged`). Raises Refusal.
    """
    if data.startswith(_TABLES):
        return Decoded([], data, Encoding(name))
    for signature, kind in _BINARY.items():
        if data[:64].lstrip().startswith(signature):
            raise Refusal("data.packed", name=name, what=kind)
    if _PICKLE.match(data):
        raise Refusal("data.packed", name=name, what="pickle")
    if encoding:
        chosen, guessed, alternatives = find_encoding(encoding), False, ()
        if chosen == "utf-16" and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            chosen = "utf-16-be" if data[::2].count(0) > data[1::2].count(0) else "utf-16-le"
    else:
        chosen, guessed, alternatives = _detect(name, data)
    codec = _choose_codec(data, ENCODINGS[chosen])
    if encoding and not _fits(data, codec):
        raise Refusal("data.wrong_encoding", name=name, encoding=chosen, line=_first_bad_line(data, codec))
    if _XML.match(data[:400].decode(codec, "ignore").lstrip("\ufeff")):
        data, codec = _convert_to_utf8(data, codec)
    if data[:_HEAD].lstrip().startswith(b"<") and _MEMORY.search(data[:_HEAD]):
        return Decoded([], data, Encoding(name, chosen, guessed, alternatives))
    lines = _read_lines(name, data, codec)
    if b"\0" in data and any("\0" in line for line in lines):
        raise Refusal("data.binary", name=name, line=next(number for number, line in enumerate(lines, 1) if "\0" in line))
    return Decoded(lines, data[:_HEAD], Encoding(name, chosen, guessed, alternatives, _find_samples(lines)))


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


def is_damaged(text: str) -> bool:
    """Whether a text contains undecodable bytes."""
    return _BAD.search(text) is not None


def _detect(name: str, data: bytes) -> tuple[str, bool, tuple[str, ...]]:
    """Returns the name of a file's encoding, whether it is a guess, and the alternatives."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and ((fits := _fits(data, ENCODINGS[encoding][0])) or encoding == "utf-8"):
            return encoding, not fits, ()
    if b"\0" in data:
        return _detect_utf16(data), True, ()
    if b"\x1b$" in data and _fits(data, "iso2022_jp_ext"):
        return "iso-2022-jp", True, ("utf-8",)
    if _fits(data, "utf-8"):
        return "utf-8", False, ()
    if declared := _find_declared(data):
        return declared, False, tuple(GUESSED)[:5]
    ranked = rank_encodings(data, GUESSED)
    names = [encoding for encoding, odd in ranked if odd <= _ODD]
    text = "".join(piece.decode("utf-8", "surrogateescape") for piece in sample_bytes(data))
    bad = len(_BAD.findall(text))
    if sum(not character.isascii() for character in text) - bad >= _DAMAGED * bad:
        return "utf-8", True, tuple(names[:5])
    if not names:
        raise Refusal("data.not_utf8", name=name, line=_first_bad_line(data, "utf-8"))
    return names[0], True, (*names[1:6], "utf-8")


def _detect_utf16(data: bytes) -> str:
    """Detects UTF-16 without a BOM by the positions of zero bytes; "utf-8" if it isn't: its line ends are then single bytes."""
    little = data[1::2].count(0) >= data[::2].count(0)
    codec = "utf-16-le" if little else "utf-16-be"
    if len(data) % 2 == 0 and _fits(data, codec):
        start = data[:20_000].decode(codec, "ignore")
        ended = "\n" in start or "\r" in start or not (b"\n" in data[:20_000] or b"\r" in data[:20_000])
        if ended and "\0" not in start and measure_oddness(start) < _ODD:
            return codec
    return "utf-8"


def _find_declared(data: bytes) -> str:
    """Returns the encoding declared in the head of an XML or PO file, if it exists and fits; else ""."""
    match = _DECLARED.search(data[:_HEAD].decode("latin-1"))
    try:
        name = find_encoding(match[1]) if match else ""
    except Refusal:
        return ""
    return name if name and not name.startswith("utf") and _fits(data, _choose_codec(data, ENCODINGS[name])) else ""


def _fits(data: bytes, codec: str) -> bool:
    """Whether all data decodes in this codec."""
    try:
        codecs.getincrementaldecoder(codec)().decode(data, True)  # unlike bytes.decode, wants the mark of UTF-16 and UTF-32
    except UnicodeError:
        return False
    return True


def _choose_codec(data: bytes, tried: tuple[str, ...]) -> str:
    return next((codec for codec in tried if len(tried) == 1 or _fits(data, codec)), tried[0])


def _open_reader(data: bytes, codec: str) -> io.TextIOWrapper:
    """Opens a reader that splits at LF, CRLF and CR only: str.splitlines would also split at U+2028 and other characters of a sentence."""
    errors = "replace" if codec.startswith(("utf-16", "utf-32")) else "surrogateescape"
    return io.TextIOWrapper(io.BytesIO(data), encoding=codec, errors=errors, newline=None)


def _read_lines(name: str, data: bytes, codec: str) -> list[str]:
    lines: list[str] = []
    for line in _open_reader(data, codec):
        lines.append(line.removesuffix("\n"))
        if len(lines) > 5 * MAX_LINES:  # an indented JSON list has several per item; more are too many for any format
            raise Refusal("data.too_many_lines", name=name, limit=MAX_LINES)
    return lines


def _first_bad_line(data: bytes, codec: str) -> int:
    number = 1
    try:
        for number, line in enumerate(_open_reader(data, codec), 1):  # noqa: B007 (returned after the loop)
            if _BAD.search(line) or "\ufffd" in line:
                break
    except UnicodeError:  # UTF-16 and UTF-32 without a BOM
        pass
    return number


def _convert_to_utf8(data: bytes, codec: str) -> tuple[bytes, str]:
    """Converts an XML file and its declaration to UTF-8, unless it can't be decoded; returns its data and codec."""
    try:
        text = data.decode(codec).lstrip("\ufeff\r\n\t ")
    except UnicodeError:
        return data, codec
    head, end, rest = text.partition("?>")
    if end and len(head) < 400:
        text = re.sub(r"""encoding\s*=\s*["'][^"']*["']""", 'encoding="utf-8"', head) + end + rest
    return text.encode("utf-8"), "utf-8"


def _find_samples(lines: Iterable[str]) -> tuple[str, ...]:
    """Returns the first lines that other encodings would show differently."""
    samples: list[str] = []
    for line in lines:
        if not line.isascii() and (text := normalise(line[: 2 * _SAMPLE])):
            samples.append(text[:_SAMPLE])
            if len(samples) == _SAMPLES:
                break
    return tuple(samples)
