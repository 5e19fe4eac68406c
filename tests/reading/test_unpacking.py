"""Truths about archives: what is in them comes out, within limits, and nothing else happens."""

import gzip
import io
import os
import stat
import tarfile
import time
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading import unpacking
from playground.reading.unpacking import label, unpack
from playground.words import LANGUAGES
from tests.thoroughness import every_case, examples_at_night

PAIRS = b"hallo\thello\nja\tyes\n"
ABOUT = b"** Info **\nDate: 2021\n\n** Terms of Use **\nhttp://creativecommons.org/licenses/by/2.0\nAttribution: tatoeba.org\n"
CREDIT = "http://creativecommons.org/licenses/by/2.0 Attribution: tatoeba.org"


def zipped(*members: tuple, **options) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def tarred(*members: tuple, mode: str = "w") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, data in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def opened(data: bytes, name: str = "up") -> list[tuple[str, bytes]]:
    return unpack([(name, data)])[0]


def refused(data: bytes, name: str = "up") -> tuple[str, dict]:
    with pytest.raises(Refusal) as refusal:
        unpack([(name, data)])
    assert all(refusal.value.say(language) for language in LANGUAGES)
    return refusal.value.key, refusal.value.values


# --- what is in them ---


@every_case(
    ("data", "name", "found"),
    [
        (PAIRS, "pairs.zip", [("pairs.zip", PAIRS)]),  # a name alone packs nothing
        (gzip.compress(PAIRS), "pairs.tsv.gz", [("pairs.tsv", PAIRS)]),
        (gzip.compress(PAIRS), "pairs.txt", [("pairs.txt", PAIRS)]),  # and takes nothing away
        (gzip.compress(PAIRS) + gzip.compress(PAIRS), "two.GZ", [("two", PAIRS * 2)]),
        (zipped(("pairs.tsv", PAIRS)), "a.zip", [("pairs.tsv", PAIRS)]),
        (zipped(("pairs.tsv", PAIRS)), "a.txt", [("pairs.tsv", PAIRS)]),
        (zipped(("b/x.en", b"a\n"), ("b/x.de", b"b\n")), "a.zip", [("x.en", b"a\n"), ("x.de", b"b\n")]),
        (tarred(("pairs.tsv", PAIRS)), "a.tar", [("pairs.tsv", PAIRS)]),
        (tarred(("d/x.en", b"a\n"), ("d/x.de", b"b\n"), mode="w:gz"), "a.tgz", [("x.en", b"a\n"), ("x.de", b"b\n")]),
        (zipped(("leer.tsv", b"")), "a.zip", [("leer.tsv", b"")]),
        (zipped(("wörter/süß.tsv", PAIRS)), "a.zip", [("süß.tsv", PAIRS)]),
        (zipped(("readme.txt", PAIRS)), "a.zip", [("readme.txt", PAIRS)]),  # the only file there is
        (b"BZh is no archive\tist kein Archiv\n", "a", [("a", b"BZh is no archive\tist kein Archiv\n")]),
    ],
)
def test_files_come_out(data, name, found):
    assert opened(data, name) == found


def test_a_manythings_zip_gives_its_sentences_and_its_credit():
    files, notes = unpack([("deu-eng.zip", zipped(("deu.txt", PAIRS), ("_about.txt", ABOUT)))])
    assert files == [("deu.txt", PAIRS)]
    assert notes == (
        ("data.note_unpacked", {"name": "deu-eng.zip", "members": "deu.txt"}),
        ("data.note_credit", {"name": "deu-eng.zip", "text": CREDIT}),
    )


def test_an_opus_zip_gives_two_aligned_files_in_the_order_of_its_name():
    members = [("README", b"x"), ("LICENSE", b"Licence: CC-BY 4.0"), ("Books.de-en.en", b"a\n"), ("Books.de-en.de", b"b\n")]
    files, notes = unpack([("de-en.txt.zip", zipped(*members, ("Books.de-en.ids", b"1\n"), ("Books.de-en.xml", b"<x/>")))])
    assert files == [("Books.de-en.de", b"b\n"), ("Books.de-en.en", b"a\n")]
    assert dict(notes)["data.note_left_out"]["members"] == "Books.de-en.xml"
    assert dict(notes)["data.note_credit"]["text"] == "Licence: CC-BY 4.0"


LITTER = ("__MACOSX/._deu.txt", "a/._deu.txt", ".DS_Store", "a/.DS_Store", "Thumbs.db", "desktop.ini", "a/~$deu.xlsx", ".~lock.deu.csv#")


@pytest.mark.parametrize(
    "paper", ["info.txt", "x/info_en.txt", "dataset-metadata.json", "metadata.json", "dataset_infos.json", "deu_license.txt", "About.txt"]
)
def test_papers_are_not_taken_for_sentences(paper):
    assert opened(zipped((paper, b"x"), ("deu.txt", PAIRS))) == [("deu.txt", PAIRS)]
    assert opened(zipped((paper, PAIRS)))[0][1] == PAIRS  # the only file there is


def test_litter_is_left_alone():
    litter = [(name, b"\0junk") for name in LITTER]
    files, notes = unpack([("a.zip", zipped(("a/deu.txt", PAIRS), *litter))])
    assert files == [("deu.txt", PAIRS)]
    assert notes == (("data.note_unpacked", {"name": "a.zip", "members": "deu.txt"}),)


def test_two_archives_with_a_file_each():
    files, _ = unpack([("a.gz", gzip.compress(b"a\n")), ("b.zip", zipped(("b.txt", b"b\n")))])
    assert files == [("a", b"a\n"), ("b.txt", b"b\n")]


@pytest.mark.parametrize(("name", "codec"), [("wört.tsv", "utf-8"), ("wört.tsv", "cp437"), ("中文.tsv", "gbk"), ("语料库.tsv", "utf-8")])
def test_names_whose_encoding_is_not_said(name, codec):
    raw = name.encode(codec)
    placeholder = "x" * len(raw)
    assert opened(zipped((placeholder, PAIRS)).replace(placeholder.encode(), raw))[0][0] == name


@pytest.mark.parametrize("inside", ["xl/workbook.xml", "xl/worksheets/sheet1.xml"])
def test_a_workbook_stays_packed(inside):
    book = zipped(("[Content_Types].xml", b"<Types/>"), (inside, b"<x/>"))
    assert unpack([("book.xlsx", book)]) == ([("book.xlsx", book)], ())
    assert opened(zipped(("book.xlsx", book))) == [("book.xlsx", book)]
    assert opened(gzip.compress(book), "book.xlsx.gz") == [("book.xlsx", book)]


# --- refusals ---

TOO_MANY = [(f"{n}.txt", b"x") for n in range(101)]


@every_case(
    ("data", "key", "values"),
    [
        (zipped(("[Content_Types].xml", b""), ("word/document.xml", b"")), "data.packed", {"what": "Word (.docx)"}),
        (zipped(("[Content_Types].xml", b""), ("ppt/x.xml", b"")), "data.packed", {"what": "PowerPoint (.pptx)"}),
        (zipped(("[Content_Types].xml", b""), ("xl/workbook.bin", b"")), "data.packed", {"what": "Excel (.xlsb)"}),
        (zipped(("mimetype", b"application/vnd.oasis"), ("content.xml", b"")), "data.packed", {"what": "OpenDocument/EPUB"}),
        (zipped(("collection.anki2", b""), ("media", b"{}")), "data.anki_package", {}),
        (b"7z\xbc\xaf\x27\x1c...", "data.packed", {"what": "7z"}),
        (b"Rar!\x1a\x07\x00", "data.packed", {"what": "rar"}),
        (b"\xfd7zXZ\0...", "data.packed", {"what": "xz"}),
        (b"BZh91AY&SY...", "data.packed", {"what": "bzip2"}),
        (b"\x28\xb5\x2f\xfd...", "data.packed", {"what": "zstd"}),
        (zipped(("inner.zip", zipped(("a.txt", b"x")))), "data.nested", {"member": "inner.zip"}),
        (zipped(("a.txt.gz", gzip.compress(b"x"))), "data.nested", {"member": "a.txt.gz"}),
        (tarred(("inner.tar", tarred(("a.txt", b"x")))), "data.nested", {"member": "inner.tar"}),
        (gzip.compress(gzip.compress(b"x")), "data.nested", {"member": "up"}),
        (gzip.compress(zipped(("a.txt", b"x"))), "data.nested", {"member": "up"}),
        (zipped(*TOO_MANY), "data.too_many_members", {"limit": 100}),
        (tarred(*TOO_MANY), "data.too_many_members", {"limit": 100}),
        (tarred(*TOO_MANY, mode="w:gz"), "data.too_many_members", {"limit": 100}),
        (zipped(*[(str(n), b"x") for n in range(8)]), "data.many_members", {"count": 8, "members": "0, 1, 2, 3, 4, 5, …"}),
        (zipped(), "data.empty_archive", {}),
        (zipped(("folder/", b""), (".DS_Store", b"x")), "data.empty_archive", {}),
        (zipped(("a.txt", PAIRS))[:-10], "data.broken_archive", {}),
        (gzip.compress(PAIRS * 99)[:-10], "data.broken_archive", {}),
        (gzip.compress(PAIRS)[:-8] + b"\0" * 8, "data.broken_archive", {}),
        (tarred(("a.txt", PAIRS * 999))[:9000], "data.broken_archive", {}),
        (b"PK\x03\x04", "data.broken_archive", {}),
        (b"\x1f\x8b", "data.broken_archive", {}),
    ],
)  # fmt: skip
def test_refusals(data, key, values):
    found, said = refused(data)
    assert found == key
    assert said["name"] == "up"
    assert values.items() <= said.items()


def test_a_password():
    data = bytearray(zipped(("a.txt", PAIRS)))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert refused(bytes(data)) == ("data.locked", {"name": "up"})


def test_packed_in_an_unusual_way():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", PAIRS)
    assert refused(file.getvalue()) == ("data.broken_member", {"name": "up", "member": "a.txt"})


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "bomb",
    [
        lambda: gzip.compress(bytes(60 * 1024**2), 9),
        lambda: gzip.compress(gzip.compress(bytes(60 * 1024**2), 9), 9),
        lambda: zipped(("a.txt", bytes(60 * 1024**2))),
        lambda: zipped(("a.txt", bytes(30 * 1024**2)), ("b.txt", bytes(30 * 1024**2))),
        lambda: gzip.compress(tarred(("a.txt", bytes(60 * 1024**2))), 9),
    ],
)
def test_bombs_are_stopped_at_the_limit(bomb):
    data = bomb()
    assert len(data) < 1024**2
    started = time.process_time()
    tracemalloc.start()
    key, _ = refused(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert key in ("data.unpacked_too_large", "data.nested")
    assert peak < 130 * 1024**2  # the 50 MB, once more while they are put together
    assert time.process_time() - started < 10


def test_the_limit_is_one_for_all_files(monkeypatch):
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 10)
    assert unpack([("a.gz", gzip.compress(b"12345")), ("b.gz", gzip.compress(b"12345"))])[0]
    with pytest.raises(Refusal) as refusal:
        unpack([("a.gz", gzip.compress(b"12345")), ("b.gz", gzip.compress(b"123456"))])
    assert refusal.value.values["name"] == "b.gz"


def test_a_size_that_lies_is_not_believed(monkeypatch):
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 1000)
    data = zipped(("a.txt", b"x" * 5000)).replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert refused(data)[0] in ("data.unpacked_too_large", "data.broken_member")


def test_a_directory_of_a_million_entries_is_not_listed():
    assert refused(b"PK\x03\x04" + b"PK\x01\x02" * 1_000_000)[0] == "data.too_many_members"


# --- nothing outside, nothing but files ---


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("evil", ["../../evil.txt", "/etc/evil.txt", "C:\\evil.txt", "a/../../evil.txt", "..\\evil.txt"])
def test_names_are_labels_and_nothing_is_written(tmp_path, monkeypatch, pack, evil):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path.parent))
    assert opened(pack((evil, PAIRS))) == [("evil.txt", PAIRS)]
    assert sorted(os.listdir(tmp_path.parent)) == before
    assert not os.listdir(tmp_path)


def test_what_is_no_file_in_a_tar_is_passed_over():
    others = []
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
        info = tarfile.TarInfo("other.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        others.append((info, b""))
    assert opened(tarred(*others, ("a.txt", PAIRS))) == [("a.txt", PAIRS)]


def test_a_link_in_a_zip_is_passed_over():
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert opened(zipped((link, b"/etc/passwd"), ("a.txt", PAIRS))) == [("a.txt", PAIRS)]


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a/b/words.tsv", "words.tsv"), ("C:\\w.txt", "w.txt"), ("../../etc", "etc"), ("", "?"), ("a\nb\u202e", "a b"), ("x" * 99, "x" * 60)],
)
def test_labels(path, shown):
    assert label(path) == shown


@given(st.data())
@examples_at_night(300)
def test_damaged_archives_are_opened_or_refused(data):
    good = st.sampled_from([
        gzip.compress(PAIRS), zipped(("a.txt", PAIRS), ("_about.txt", ABOUT)),
        tarred(("a.txt", PAIRS)), tarred(("a.txt", PAIRS), mode="w:gz"),
        zipped(("[Content_Types].xml", b"<Types/>"), ("xl/workbook.xml", b"<x/>")),
    ])  # fmt: skip
    damaged = bytearray(data.draw(good))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(damaged)))
        damaged[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        files, _ = unpack([("damaged", bytes(damaged))])
    except Refusal as refusal:
        assert all(refusal.say(language) for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
    else:
        assert 1 <= len(files) <= 2
