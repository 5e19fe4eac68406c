"""Archives: what was uploaded packed becomes files, within limits that are counted while it is read. Nothing is written anywhere."""

from __future__ import annotations

import gzip
import io
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import IO, NamedTuple

from playground.config import Refusal
from playground.reading.encoding_guess import measure_oddness
from playground.reading.formats.limits import MEMBER_LIMIT, UNPACKED_LIMIT
from playground.reading.formats.table import Notes
from playground.reading.formats.trimmed import TERMS
from playground.reading.parts import parts_of
from playground.reading.text import normalise

File = tuple[str, bytes]
SIGNATURES = {
    b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"PK\x07\x08": "zip", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar", b"\x28\xb5\x2f\xfd": "zstd",
}  # fmt: skip
_OFFICE = (("xl/workbook.bin", "Excel (.xlsb)"), ("word/", "Word (.docx)"), ("ppt/", "PowerPoint (.pptx)"))
_SHEETS = b"application/vnd.oasis.opendocument.spreadsheet"
_ANKI = ("collection.anki2", "collection.anki21", "collection.anki21b")
_RUN = {"config.json", "model.safetensors"}  # files of a run that was taken home
_DIRECTORY_ENTRY = b"PK\x01\x02"
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError, LookupError,
    NotImplementedError,
)  # fmt: skip
_LITTER = re.compile(r"(?is)(^|.*/)(__MACOSX/.*|\._[^/]*|~\$[^/]*|\.~lock\.[^/]*|\.DS_Store|\.git\w*|Thumbs\.db|desktop\.ini)")
_ABOUT = "read.?me|licen[cs]es?|copying|copyright|notice|authors|changelog|citation|credits|disclaimer|terms|about|info"
_PAPER = re.compile(
    rf"(?i)({_ABOUT})([_-]\w+)?(\.(txt|rst))?|.*[_-](about|licen[cs]e|info|readme)\.txt"
    r"|(?=.*(meta-?data|dataset_?infos?|data-?package|croissant)).*\.json|.*\.(md|pdf|html?|rtf|bib|ids|scores|url)"
)
_DOCUMENT = re.compile(rf"(?i)(?!(.*[_-])?({_ABOUT})[_.-]).*\.(md|pdf|html?|rtf)")  # papers that may have been meant as sentences
_ALIGNED = re.compile(r"(.+)\.([A-Za-z_]{2,})-([A-Za-z_]{2,})\.(\2|\3)")  # OPUS and Moses: stem.de-en.de beside stem.de-en.en
_CREDIT = 300  # characters of a licence text that are kept


class _Member(NamedTuple):
    name: str
    open: Callable[[], IO[bytes]] | None  # None for a link and whatever else is no plain file
    locked: bool = False


def unpack(files: Sequence[File], part: str = "train") -> tuple[list[File], Notes]:
    """The files as they are, those in a .gz, .zip or .tar(.gz) taken out; names cut down to labels; and what a person should know.

    Of an archive whose names say what is for training, validation and test, only that `part` ("" for all); the note "data.parts" has the
    `parts` that there are, and "data.note_credit" the licence beside them as `text`. Raises Refusal, and nothing else.
    """
    found: list[File] = []
    notes: list = []
    left = UNPACKED_LIMIT
    for path, data in files:
        name = label(path)
        try:
            inside, said = _open(name, data, left, part)
        except _BROKEN:
            raise Refusal("data.broken_archive", name=name) from None
        left -= sum(len(content) for _, content in inside) if said is not None else 0
        found += inside
        notes += said or ()
    return found, tuple(notes)


def label(path: str) -> str:
    """A name fit to be shown: no folders, nothing hidden, at most 60 characters."""
    return normalise(path.replace("\\", "/").rsplit("/", 1)[-1])[:60] or "?"


def packing(data: bytes) -> str:
    """How a file is packed (a value of SIGNATURES, or "tar"), by its first bytes; "" if it isn't."""
    if data[257:262] == b"ustar":
        return "tar"
    kind = next((kind for signature, kind in SIGNATURES.items() if data.startswith(signature)), "")
    return "" if kind == "bzip2" and data[4:10] != b"1AY&SY" else kind  # three letters may begin a text


def _open(name: str, data: bytes, left: int, part: str) -> tuple[list[File], list | None]:
    """What is in one upload, and notes about it; None for notes if it was not packed."""
    kind = packing(data)
    if kind == "zip" and _is_workbook(name, data):
        kind = ""
    if not kind:
        return [(name, data)], None
    if kind == "gzip":
        data = _read(name, gzip.GzipFile(fileobj=io.BytesIO(data)), left)
        inner = re.sub(r"(?i)\.(gz|gzip)$", "", name)
        kind = packing(data)
        if kind != "tar":
            return [_not_packed(name, inner, data)], []
    if kind == "zip":
        members = _members_of_zip(name, data)
    elif kind == "tar":
        members = _members_of_tar(name, data)
    else:
        raise Refusal("data.packed", name=name, what=kind)
    return _take(name, members, left, part)


def _is_workbook(name: str, data: bytes) -> bool:
    """Whether a zip is a workbook, which is read as it is. Raises Refusal for other documents that are zips inside."""
    archive = _open_zip(name, data)
    inside = archive.namelist()
    if any(member in _ANKI for member in inside):
        raise Refusal("data.anki_package", name=name)
    if "mimetype" in inside[:1]:
        first = archive.infolist()[0]
        if not first.flag_bits & 1 and _open_member(archive, first).read(len(_SHEETS)) == _SHEETS:
            return True
        raise Refusal("data.packed", name=name, what="OpenDocument/EPUB")
    if "[Content_Types].xml" not in inside:
        return False
    for start, what in _OFFICE:
        if any(member.startswith(start) for member in inside):
            raise Refusal("data.packed", name=name, what=what)
    return any(member.startswith("xl/") for member in inside)


def _open_zip(name: str, data: bytes) -> zipfile.ZipFile:
    if data.count(_DIRECTORY_ENTRY) > 10 * MEMBER_LIMIT:  # before a list of them is made
        raise Refusal("data.too_many_members", name=name, limit=MEMBER_LIMIT)
    return zipfile.ZipFile(io.BytesIO(data))


def _members_of_zip(name: str, data: bytes) -> list[_Member]:
    archive = _open_zip(name, data)
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MEMBER_LIMIT:
        raise Refusal("data.too_many_members", name=name, limit=MEMBER_LIMIT)
    members = []
    for info in infos:
        plain = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
        members.append(_Member(_name_in_zip(info), partial(_open_member, archive, info) if plain else None, bool(info.flag_bits & 1)))
    return members


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """LZMA may ask for gigabytes before the first byte comes out: only what every program can unpack is unpacked."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    return archive.open(info)


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """Many programs write UTF-8 without saying so, and Windows in China GBK."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        raw = info.filename.encode("cp437")
        return raw.decode("utf-8")
    except UnicodeEncodeError:
        return info.filename
    except UnicodeDecodeError:
        return min((raw.decode(codec, "replace") for codec in ("cp437", "gb18030")), key=measure_oddness)


def _members_of_tar(name: str, data: bytes) -> list[_Member]:
    archive = tarfile.open(fileobj=io.BytesIO(data), mode="r:")  # noqa: SIM115 (it is bytes in memory)
    members = []
    for count, info in enumerate(archive, 1):
        if count > MEMBER_LIMIT:
            raise Refusal("data.too_many_members", name=name, limit=MEMBER_LIMIT)
        if not info.isdir():
            members.append(_Member(info.name, partial(archive.extractfile, info) if info.isreg() else None))
    return members


def _take(name: str, members: Iterable[_Member], left: int, part: str) -> tuple[list[File], list]:
    """The one or two files of an archive that hold sentences. Papers (a licence, a readme) are read for the credit only."""
    members = [member for member in members if not _LITTER.fullmatch(member.name.replace("\\", "/"))]
    papers = [member for member in members if _PAPER.fullmatch(label(member.name)) and member.open]
    rest = [member for member in members if member not in papers and member.open]
    if {label(member.name) for member in rest} >= _RUN:
        raise Refusal("data.trained_run", name=name)
    parts = parts_of([member.name for member in rest]) if part else {}
    chosen = [rest[place] for place in parts.get(part, ())] or _aligned(rest) or rest or papers
    if not chosen:
        raise Refusal("data.empty_archive", name=name)
    if len(chosen) > 2:
        raise Refusal("data.many_members", name=name, count=len(chosen), members=_named(chosen))
    files, notes = [], [("data.note_unpacked", {"name": name, "members": _named(chosen)})]
    for member in chosen:
        files.append(_unpacked(name, member, left))
        left -= len(files[-1][1])
    maybe = [member for member in members if member not in papers or _DOCUMENT.fullmatch(label(member.name))]
    if left_out := [member for member in maybe if member not in chosen and (member not in rest or not parts)]:
        notes.append(("data.note_left_out", {"name": name, "members": _named(left_out)}))
    if credit := "; ".join(filter(None, (_credit(member) for member in papers if not member.locked)))[:_CREDIT]:
        notes.append(("data.note_credit", {"name": name, "text": credit}))
    return files, [*notes, ("data.parts", {"parts": tuple(parts)})] if parts else notes


def _unpacked(name: str, member: _Member, left: int) -> File:
    """A file out of the archive of this name, which may have so many bytes."""
    inner = label(member.name)
    if member.locked:
        raise Refusal("data.locked", name=name)
    try:
        return _not_packed(name, inner, _read(name, member.open(), left))
    except _BROKEN:
        raise Refusal("data.broken_member", name=name, member=inner) from None


def _aligned(members: Sequence[_Member]) -> list[_Member]:
    """The two files of one line-aligned pair, in the order of its name ("de-en": first .de); [] unless there is exactly one pair."""
    pairs: dict[tuple, dict[str, _Member]] = {}
    for member in members:
        if match := _ALIGNED.fullmatch(label(member.name)):
            stem, one, two, which = match.groups()
            pairs.setdefault((stem, one, two), {})[which] = member
    whole = [[sides[one], sides[two]] for (_, one, two), sides in pairs.items() if len(sides) == 2]
    return whole[0] if len(whole) == 1 else []


def _read(name: str, stream: IO[bytes], left: int) -> bytes:
    """All of a stream, which is never asked for more than one byte beyond what is allowed."""
    with stream:
        data = stream.read(left + 1)
    if len(data) > left:
        raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
    return data


def _not_packed(archive: str, name: str, data: bytes) -> File:
    kind = packing(data)
    if kind and not (kind == "zip" and _is_workbook(name, data)):
        raise Refusal("data.nested", name=archive, member=name)
    return name, data


def _credit(paper: _Member) -> str:
    """The lines of a paper that speak of the licence, as one short text."""
    try:
        with paper.open() as stream:
            text = stream.read(20_000).decode("utf-8", "ignore")
    except _BROKEN:
        return ""
    return " ".join(line for line in map(normalise, text.splitlines()) if TERMS.search(line))[:_CREDIT]


def _named(members: Sequence[_Member]) -> str:
    names = [label(member.name) for member in members]
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
