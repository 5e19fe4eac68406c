"""Archives: unpacks uploads in memory, within limits enforced while reading. Nothing is written to disk."""

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
from playground.reading.formats import MEMBER_LIMIT, UNPACKED_LIMIT, Notes
from playground.reading.formats.wrapped import TERMS
from playground.reading.text import normalise

File = tuple[str, bytes]
SIGNATURES = {
    b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"PK\x07\x08": "zip", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar", b"\x28\xb5\x2f\xfd": "zstd",
}  # fmt: skip
_OFFICE = (("xl/workbook.bin", "Excel (.xlsb)"), ("word/", "Word (.docx)"), ("ppt/", "PowerPoint (.pptx)"))
_SHEETS = b"application/vnd.oasis.opendocument.spreadsheet"
_ANKI = ("collection.anki2", "collection.anki21", "collection.anki21b")
_RUN = {"config.json", "model.safetensors"}  # files of a downloaded run
_DIRECTORY_ENTRY = b"PK\x01\x02"
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError, LookupError,
    NotImplementedError,
)  # fmt: skip
_JUNK = re.compile(r"(?is)(^|.*/)(__MACOSX/.*|\._[^/]*|~\$[^/]*|\.~lock\.[^/]*|\.DS_Store|\.git\w*|Thumbs\.db|desktop\.ini)")
_DOC_NAMES = "read.?me|licen[cs]es?|copying|copyright|notice|authors|changelog|citation|credits|disclaimer|terms|about|info"
_DOCUMENTATION = re.compile(
    rf"(?i)({_DOC_NAMES})([_-]\w+)?(\.(txt|rst))?|.*[_-](about|licen[cs]e|info|readme)\.txt"
    r"|(?=.*(meta-?data|dataset_?infos?|data-?package|croissant)).*\.json|.*\.(md|pdf|html?|rtf|bib|ids|scores|url)"
)
_DOCUMENT = re.compile(rf"(?i)(?!(.*[_-])?({_DOC_NAMES})[_.-]).*\.(md|pdf|html?|rtf)")  # possibly meant as sentences
_ALIGNED = re.compile(r"(.+)\.([A-Za-z_]{2,})-([A-Za-z_]{2,})\.(\2|\3)")  # OPUS and Moses: stem.de-en.de beside stem.de-en.en
_LINKS = re.compile(r"(?i)(?<![^\W_])links(?![^\W_])")  # of Tatoeba: a third file, with the ids of two sentences on each line
_CALLED = {
    "train": ("train", "training"), "validation": ("dev", "val", "valid", "validation"), "test": ("test",),
}  # fmt: skip
_PARTS = {word: part for part, words in _CALLED.items() for word in words}
_BETWEEN = re.compile(r"[\W_]+")
_CREDIT = 300  # maximum characters of a licence text


class _Member(NamedTuple):
    name: str
    open: Callable[[], IO[bytes]] | None  # None for a link or any other non-regular file
    locked: bool = False


def unpack(files: Sequence[File], apart: bool = True) -> tuple[list[File], Notes]:
    """Returns the files, with those in a .gz, .zip or .tar(.gz) unpacked and names shortened, and notes for the user.

    If `apart`, the files of an archive split into training, validation and test stand part by part; the note "data.parts" lists the part of
    each as `parts`, and "data.note_credit" has the licence beside them as `text`. Raises Refusal, and nothing else.
    """
    unpacked: list[File] = []
    notes: list = []
    bytes_left = UNPACKED_LIMIT
    for path, data in files:
        name = shorten_name(path)
        try:
            inside, file_notes = _unpack_file(name, data, bytes_left, apart)
        except _BROKEN:
            raise Refusal("data.broken_archive", name=name) from None
        bytes_left -= sum(len(content) for _, content in inside) if file_notes is not None else 0
        unpacked += inside
        notes += file_notes or ()
    return unpacked, tuple(notes)


def shorten_name(path: str) -> str:
    """Returns a displayable file name: no folders, nothing invisible, at most 60 characters."""
    return normalise(path.replace("\\", "/").rsplit("/", 1)[-1])[:60] or "?"


def detect_packing(data: bytes) -> str:
    """Detects how a file is packed from its first bytes: a value of SIGNATURES, "tar", or ""."""
    if data[257:262] == b"ustar":
        return "tar"
    kind = next((kind for signature, kind in SIGNATURES.items() if data.startswith(signature)), "")
    return "" if kind == "bzip2" and data[4:10] != b"1AY&SY" else kind  # plain text may begin with these three letters


def _unpack_file(name: str, data: bytes, bytes_left: int, apart: bool) -> tuple[list[File], list | None]:
    """Returns the files in one upload, and notes about it (None if it was not packed)."""
    kind = detect_packing(data)
    if kind == "zip" and _is_workbook(name, data):
        kind = ""
    if not kind:
        return [(name, data)], None
    if kind == "gzip":
        data = _read(name, gzip.GzipFile(fileobj=io.BytesIO(data)), bytes_left)
        inner = re.sub(r"(?i)\.(gz|gzip)$", "", name)
        kind = detect_packing(data)
        if kind != "tar":
            return [_check_not_nested(name, inner, data)], []
    if kind == "zip":
        members = _list_zip(name, data)
    elif kind == "tar":
        members = _list_tar(name, data)
    else:
        raise Refusal("data.packed", name=name, what=kind)
    return _unpack_members(name, members, bytes_left, apart)


def _is_workbook(name: str, data: bytes) -> bool:
    """Whether a zip is a workbook, which has a reader of its own. Raises Refusal for other documents that are zips inside."""
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
    for start, kind in _OFFICE:
        if any(member.startswith(start) for member in inside):
            raise Refusal("data.packed", name=name, what=kind)
    return any(member.startswith("xl/") for member in inside)


def _open_zip(name: str, data: bytes) -> zipfile.ZipFile:
    if data.count(_DIRECTORY_ENTRY) > 10 * MEMBER_LIMIT:  # before zipfile builds the list
        raise Refusal("data.too_many_members", name=name, limit=MEMBER_LIMIT)
    return zipfile.ZipFile(io.BytesIO(data))


def _list_zip(name: str, data: bytes) -> list[_Member]:
    archive = _open_zip(name, data)
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MEMBER_LIMIT:
        raise Refusal("data.too_many_members", name=name, limit=MEMBER_LIMIT)
    members = []
    for info in infos:
        plain = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
        members.append(_Member(_decode_name(info), partial(_open_member, archive, info) if plain else None, bool(info.flag_bits & 1)))
    return members


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Opens a member. LZMA may allocate gigabytes before the first byte, so only stored and deflated ones are allowed."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    return archive.open(info)


def _decode_name(info: zipfile.ZipInfo) -> str:
    """Decodes a member's name: many programs write UTF-8 unflagged, and Chinese Windows GBK."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        raw = info.filename.encode("cp437")
        return raw.decode("utf-8")
    except UnicodeEncodeError:
        return info.filename
    except UnicodeDecodeError:
        return min((raw.decode(codec, "replace") for codec in ("cp437", "gb18030")), key=measure_oddness)


def _list_tar(name: str, data: bytes) -> list[_Member]:
    archive = tarfile.open(fileobj=io.BytesIO(data), mode="r:")  # noqa: SIM115 (in memory)
    members = []
    for count, info in enumerate(archive, 1):
        if count > MEMBER_LIMIT:
            raise Refusal("data.too_many_members", name=name, limit=MEMBER_LIMIT)
        if not info.isdir():
            members.append(_Member(info.name, partial(archive.extractfile, info) if info.isreg() else None))
    return members


def _unpack_members(name: str, members: Iterable[_Member], bytes_left: int, apart: bool) -> tuple[list[File], list]:
    """Unpacks the files of an archive that hold sentences: one, two, or three of which one links the others, for each part. Documentation
    (a licence, a readme) is only searched for the credit."""
    members = [member for member in members if not _JUNK.fullmatch(member.name.replace("\\", "/"))]
    documents = [member for member in members if _DOCUMENTATION.fullmatch(shorten_name(member.name)) and member.open]
    rest = [member for member in members if member not in documents and member.open]
    if {shorten_name(member.name) for member in rest} >= _RUN:
        raise Refusal("data.trained_run", name=name)
    parts = group_parts([member.name for member in rest]) if apart else {}
    chosen = [rest[place] for place in parts.get("train", ())] or _find_aligned(rest) or rest or documents
    if not chosen:
        raise Refusal("data.empty_archive", name=name)
    if len(chosen) > 2 + any(_LINKS.search(shorten_name(member.name)) for member in chosen):
        raise Refusal("data.many_members", name=name, count=len(chosen), members=_join_names(chosen))
    files, notes = [], [("data.note_unpacked", {"name": name, "members": _join_names(chosen)})]
    for member in [rest[place] for places in parts.values() for place in places] or chosen:
        files.append(_unpack_member(name, member, bytes_left))
        bytes_left -= len(files[-1][1])
    candidates = [member for member in members if member not in documents or _DOCUMENT.fullmatch(shorten_name(member.name))]
    if left_out := [member for member in candidates if member not in chosen and (member not in rest or not parts)]:
        notes.append(("data.note_left_out", {"name": name, "members": _join_names(left_out)}))
    if credit := "; ".join(filter(None, (_find_credit(member) for member in documents if not member.locked)))[:_CREDIT]:
        notes.append(("data.note_credit", {"name": name, "text": credit}))
    if parts:
        notes.append(("data.parts", {"parts": [part for part, places in parts.items() for _ in places]}))
    return files, notes


def _unpack_member(name: str, member: _Member, bytes_left: int) -> File:
    """Unpacks one member, at most `bytes_left` bytes."""
    inner = shorten_name(member.name)
    if member.locked:
        raise Refusal("data.locked", name=name)
    try:
        return _check_not_nested(name, inner, _read(name, member.open(), bytes_left))
    except _BROKEN:
        raise Refusal("data.broken_member", name=name, member=inner) from None


def _find_aligned(members: Sequence[_Member]) -> list[_Member]:
    """Returns the two files of the only line-aligned pair, in the order of its name ("de-en": first .de); [] unless there is exactly
    one."""
    pairs: dict[tuple, dict[str, _Member]] = {}
    for member in members:
        if match := _ALIGNED.fullmatch(shorten_name(member.name)):
            stem, first, second, language = match.groups()
            pairs.setdefault((stem, first, second), {})[language] = member
    complete = [[sides[first], sides[second]] for (_, first, second), sides in pairs.items() if len(sides) == 2]
    return complete[0] if len(complete) == 1 else []


def _read(name: str, stream: IO[bytes], bytes_left: int) -> bytes:
    """Reads a stream, requesting at most one byte more than the limit."""
    with stream:
        data = stream.read(bytes_left + 1)
    if len(data) > bytes_left:
        raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
    return data


def _check_not_nested(archive: str, name: str, data: bytes) -> File:
    kind = detect_packing(data)
    if kind and not (kind == "zip" and _is_workbook(name, data)):
        raise Refusal("data.nested", name=archive, member=name)
    return name, data


def _find_credit(document: _Member) -> str:
    """Returns the lines of a document that mention the licence, as one short text."""
    try:
        with document.open() as stream:
            text = stream.read(20_000).decode("utf-8", "ignore")
    except _BROKEN:
        return ""
    return " ".join(line for line in map(normalise, text.splitlines()) if TERMS.search(line))[:_CREDIT]


def _join_names(members: Sequence[_Member]) -> str:
    names = [shorten_name(member.name) for member in members]
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")


# --- training, validation and test ---


def group_parts(names: Sequence[str]) -> dict[str, list[int]]:
    """Returns the indices of the one or two files of each part, both sides in the same order, "train" first; {} unless every file's name or
    folder names exactly one part and all parts have equally many files."""
    parts: dict[str, list[tuple[list[str], int]]] = {part: [] for part in _CALLED}
    paths = [[[*filter(None, _BETWEEN.split(text))] for text in name.replace("\\", "/").casefold().split("/")] for name in names]
    common = set.intersection(*(_named(file) for *_, file in paths)) if paths else set()  # "my-test.train.en" beside "my-test.dev.en"
    for place, (*folders, file) in enumerate(paths):
        # a folder of parts may be named like one of them
        named = next(filter(None, (_named(file) - common, _named(file), *map(_named, reversed(folders)))), set())
        if len(named) != 1:
            return {}
        parts[named.pop()].append(([word for words in (*folders, file) for word in words if word not in _PARTS][::-1], place))
    parts = {part: files for part, files in parts.items() if files}
    if len(parts) < 2 or "train" not in parts or {*map(len, parts.values())} not in ({1}, {2}):
        return {}
    turned = parts["train"][0] > parts["train"][-1]
    return {part: [place for _, place in sorted(files, reverse=turned)] for part, files in parts.items()}


def _named(words: Sequence[str]) -> set[str]:
    return {_PARTS[word] for word in words if word in _PARTS}
