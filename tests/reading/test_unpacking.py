"""Archives: what is in them comes out, within limits, and nothing else happens; of two sides none is lost in silence."""

import gzip
import io
import os
import stat
import tarfile
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading import unpacking
from playground.reading.unpacking import label, unpack
from tests.reading.formats.test_aligned import ENGLISH, GERMAN, POEM, in_blocks, in_turn
from tests.reading.outcomes import check_refusal, numbered, outcome, read, refused, two

PAIRS = b"hallo\thello\nja\tyes\n"
ABOUT = b"** Info **\nDate: 2021\n\n** Terms of Use **\nhttp://creativecommons.org/licenses/by/2.0\nAttribution: tatoeba.org\n"
CREDIT = "http://creativecommons.org/licenses/by/2.0 Attribution: tatoeba.org"


def zipped(*members: tuple, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
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


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def opened(data: bytes, name: str = "up") -> list[tuple[str, bytes]]:
    return unpack([(name, data)])[0]


def refusal(data: bytes, name: str = "up") -> tuple[str, dict]:
    with pytest.raises(Refusal) as refused:
        unpack([(name, data)])
    check_refusal(refused.value)
    return refused.value.key, refused.value.values


# --- what is in them ---

EVIL = ("../../evil.txt", "/etc/evil.txt", "C:\\evil.txt", "a/../../evil.txt", "..\\evil.txt")
LITTER = ("__MACOSX/._deu.txt", "a/._deu.txt", ".DS_Store", "a/.DS_Store", "Thumbs.db", "desktop.ini", "a/~$deu.xlsx", ".~lock.deu.csv#")
BOOK = zipped(("[Content_Types].xml", b"<Types/>"), ("xl/workbook.xml", b"<x/>"))
OTHER_BOOK = zipped(("[Content_Types].xml", b"<Types/>"), ("xl/worksheets/sheet1.xml", b"<x/>"))
AB = [("x.en", b"a\n"), ("x.de", b"b\n")]


@pytest.mark.parametrize(
    ("data", "name", "files"),
    numbered(
        (PAIRS, "pairs.zip", [("pairs.zip", PAIRS)]),  # a name alone packs nothing
        (gzip.compress(PAIRS), "pairs.tsv.gz", [("pairs.tsv", PAIRS)]),
        (gzip.compress(PAIRS), "pairs.txt", [("pairs.txt", PAIRS)]),  # and takes nothing away
        (gzip.compress(PAIRS) + gzip.compress(PAIRS), "two.GZ", [("two", PAIRS * 2)]),
        (zipped(("pairs.tsv", PAIRS)), "a.zip", [("pairs.tsv", PAIRS)]),
        (zipped(("pairs.tsv", PAIRS)), "a.txt", [("pairs.tsv", PAIRS)]),
        (zipped(("b/x.en", b"a\n"), ("b/x.de", b"b\n")), "a.zip", AB),
        (tarred(("pairs.tsv", PAIRS)), "a.tar", [("pairs.tsv", PAIRS)]),
        (tarred(("d/x.en", b"a\n"), ("d/x.de", b"b\n"), mode="w:gz"), "a.tgz", AB),
        (zipped(("leer.tsv", b"")), "a.zip", [("leer.tsv", b"")]),
        (zipped(("wörter/süß.tsv", PAIRS)), "a.zip", [("süß.tsv", PAIRS)]),
        (zipped(("readme.txt", PAIRS)), "a.zip", [("readme.txt", PAIRS)]),  # the only file there is
        (b"BZh is no archive\tist kein Archiv\n", "a", [("a", b"BZh is no archive\tist kein Archiv\n")]),
        (zipped((link("link.txt"), b"/etc/passwd"), ("a.txt", PAIRS)), "a.zip", [("a.txt", PAIRS)]),
        *((book, "book.xlsx", [("book.xlsx", book)]) for book in (BOOK, OTHER_BOOK)),  # a workbook stays packed
        *((zipped(("book.xlsx", book)), "a.zip", [("book.xlsx", book)]) for book in (BOOK, OTHER_BOOK)),
        (gzip.compress(BOOK), "book.xlsx.gz", [("book.xlsx", BOOK)]),
        *((zipped(("x" * len(raw), PAIRS)).replace(b"x" * len(raw), raw), "a.zip", [(name, PAIRS)]) for name, raw in (
            (name, name.encode(codec))  # in an encoding that is not said
            for name, codec in (("wört.tsv", "utf-8"), ("wört.tsv", "cp437"), ("中文.tsv", "gbk"), ("语料库.tsv", "utf-8")))),
    ),
)  # fmt: skip
def test_files_come_out(data, name, files):
    assert opened(data, name) == files


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_names_are_labels_and_nothing_is_written(tmp_path, monkeypatch, pack):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path.parent))
    for evil in EVIL:
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


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/b/words.tsv", "words.tsv"), ("C:\\w.txt", "w.txt"), ("../../etc", "etc"), ("", "?"), ("a\nb\u202e", "a b"), ("x" * 99, "x" * 60)],
)
def test_labels(path, expected):
    assert label(path) == expected


def test_a_manythings_zip_gives_its_sentences_and_its_credit():
    files, notes = unpack([("deu-eng.zip", zipped(("deu.txt", PAIRS), ("_about.txt", ABOUT), *[(name, b"\0junk") for name in LITTER]))])
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
    assert outcome({"x.zip": zipped(*members)}) == "two_files de→en: b→a +unpacked ©Licence: CC-BY 4.0"


@pytest.mark.parametrize(
    "paper", ["info.txt", "x/info_en.txt", "dataset-metadata.json", "metadata.json", "dataset_infos.json", "deu_license.txt", "About.txt"]
)
def test_papers_are_not_taken_for_sentences(paper):
    assert opened(zipped((paper, b"x"), ("deu.txt", PAIRS))) == [("deu.txt", PAIRS)]
    assert opened(zipped((paper, PAIRS)))[0][1] == PAIRS  # the only file there is


def test_two_archives_with_a_file_each():
    files, _ = unpack([("a.gz", gzip.compress(b"a\n")), ("b.zip", zipped(("b.txt", b"b\n")))])
    assert files == [("a", b"a\n"), ("b.txt", b"b\n")]


# --- refusals ---

TOO_MANY = [(f"{n}.txt", b"x") for n in range(101)]
LOCKED = bytearray(zipped(("a.txt", PAIRS)))
LOCKED[6] |= 1
LOCKED[LOCKED.index(b"PK\x01\x02") + 8] |= 1


@pytest.mark.parametrize(
    ("data", "key", "values"),
    numbered(
        (zipped(("[Content_Types].xml", b""), ("word/document.xml", b"")), "data.packed", {"what": "Word (.docx)"}),
        (zipped(("[Content_Types].xml", b""), ("ppt/x.xml", b"")), "data.packed", {"what": "PowerPoint (.pptx)"}),
        (zipped(("[Content_Types].xml", b""), ("xl/workbook.bin", b"")), "data.packed", {"what": "Excel (.xlsb)"}),
        (zipped(("mimetype", b"application/vnd.oasis"), ("content.xml", b"")), "data.packed", {"what": "OpenDocument/EPUB"}),
        (zipped(("collection.anki2", b""), ("media", b"{}")), "data.anki_package", {}),
        (b"7z\xbc\xaf\x27\x1c...", "data.packed", {"what": "7z"}), (b"Rar!\x1a\x07\x00", "data.packed", {"what": "rar"}),
        (b"\xfd7zXZ\0...", "data.packed", {"what": "xz"}), (b"BZh91AY&SY...", "data.packed", {"what": "bzip2"}),
        (b"\x28\xb5\x2f\xfd...", "data.packed", {"what": "zstd"}),
        (zipped(("inner.zip", zipped(("a.txt", b"x")))), "data.nested", {"member": "inner.zip"}),
        (zipped(("a.txt.gz", gzip.compress(b"x"))), "data.nested", {"member": "a.txt.gz"}),
        (tarred(("inner.tar", tarred(("a.txt", b"x")))), "data.nested", {"member": "inner.tar"}),
        (gzip.compress(gzip.compress(b"x")), "data.nested", {"member": "up"}),
        (gzip.compress(zipped(("a.txt", b"x"))), "data.nested", {"member": "up"}),
        (zipped(*TOO_MANY), "data.too_many_members", {"limit": 100}), (tarred(*TOO_MANY), "data.too_many_members", {"limit": 100}),
        (tarred(*TOO_MANY, mode="w:gz"), "data.too_many_members", {"limit": 100}),
        (b"PK\x03\x04" + b"PK\x01\x02" * 1_000_000, "data.too_many_members", {}),  # which are not listed
        (zipped(*[(str(n), b"x") for n in range(8)]), "data.many_members", {"count": 8, "members": "0, 1, 2, 3, 4, 5, …"}),
        (zipped(), "data.empty_archive", {}), (zipped(("folder/", b""), (".DS_Store", b"x")), "data.empty_archive", {}),
        (zipped(("a.txt", PAIRS))[:-10], "data.broken_archive", {}), (gzip.compress(PAIRS * 99)[:-10], "data.broken_archive", {}),
        (gzip.compress(PAIRS)[:-8] + b"\0" * 8, "data.broken_archive", {}),
        (tarred(("a.txt", PAIRS * 999))[:9000], "data.broken_archive", {}), (b"PK\x03\x04", "data.broken_archive", {}),
        (b"\x1f\x8b", "data.broken_archive", {}), (bytes(LOCKED), "data.locked", {}),
        (zipped(("a.txt", PAIRS), how=zipfile.ZIP_LZMA), "data.broken_member", {"member": "a.txt"}),
    ),
)  # fmt: skip
def test_refusals(data, key, values):
    actual, named_values = refusal(data)
    assert (actual, named_values["name"]) == (key, "up")
    assert values.items() <= named_values.items()


MEGABYTES = 60 * 1024**2
BOMBS = {
    "gzip": lambda: gzip.compress(bytes(MEGABYTES), 9), "twice": lambda: gzip.compress(gzip.compress(bytes(MEGABYTES), 9), 9),
    "zip": lambda: zipped(("a.txt", bytes(MEGABYTES))), "tar": lambda: gzip.compress(tarred(("a.txt", bytes(MEGABYTES))), 9),
    "two": lambda: zipped(("a.txt", bytes(MEGABYTES // 2)), ("b.txt", bytes(MEGABYTES // 2))),
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_stopped_at_the_limit(bomb):
    data = BOMBS[bomb]()
    assert len(data) < 1024**2
    tracemalloc.start()
    key, _ = refusal(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert key == ("data.nested" if bomb == "twice" else "data.unpacked_too_large")
    assert peak < 130 * 1024**2  # the 50 MB, once more while they are put together


def test_the_limit_is_one_for_all_files(monkeypatch):
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 10)
    assert unpack([("a.gz", gzip.compress(b"12345")), ("b.gz", gzip.compress(b"12345"))])[0]
    with pytest.raises(Refusal) as refused:
        unpack([("a.gz", gzip.compress(b"12345")), ("b.gz", gzip.compress(b"123456"))])
    assert refused.value.values["name"] == "b.gz"


def test_a_size_that_lies_is_not_believed(monkeypatch):
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 1000)
    data = zipped(("a.txt", b"x" * 5000)).replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert refusal(data)[0] in ("data.unpacked_too_large", "data.broken_member")


@given(st.data())
def test_damaged_archives_are_opened_or_refused(data):
    good = [gzip.compress(PAIRS), zipped(("a.txt", PAIRS), ("_about.txt", ABOUT)), tarred(("a.txt", PAIRS), mode="w:gz"), BOOK]
    damaged = bytearray(data.draw(st.sampled_from([*good, tarred(("a.txt", PAIRS))])))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(damaged)))
        damaged[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        files, _ = unpack([("damaged", bytes(damaged))])
    except Refusal as refused:
        check_refusal(refused)
    else:
        assert 1 <= len(files) <= 2


# --- archives of which one half can't be read ---

TURNS = in_blocks(POEM).encode()  # which could be read against itself
WORDS = b"the words of the other side\n" * 3
UNUSABLE = {
    "empty": (zipped(("x.en", TURNS), ("x.de", b"")), "x.de"),
    "blank": (zipped(("x.en", TURNS), ("x.de", b"\n \n\n")), "x.de"),
    "binary": (zipped(("x.en", TURNS), ("x.de", b"\0\1\2\3" * 99)), "x.de"),
    "picture": (zipped(("x.de", b"\x89PNG\r\n\x1a\n" + bytes(99)), ("x.en", TURNS)), "x.de"),
    "packed": (zipped(("x.en", TURNS), ("x.de.gz", gzip.compress(b"eins"))), "x.de.gz"),
    "link": (zipped(("x.en", TURNS), (link("x.de"), b"/etc/passwd")), "x.de"),
    "pdf": (zipped(("x.en", TURNS), ("x.pdf", b"%PDF-1.7")), "x.pdf"),
    "page": (zipped(("x.en", TURNS), ("x.de.html", b"<html>")), "x.de.html"),
    "damaged": (zipped(("x.en", TURNS), ("x.de", WORDS), how=zipfile.ZIP_STORED).replace(WORDS, WORDS.upper()), "x.de"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_the_file_that_cannot_be_used_is_named_and_the_other_not_read_against_itself(name):
    data, unusable = UNUSABLE[name]
    for choices in ({}, {"same_language": True}):
        refusal = refused({"both.zip": data}, **choices)
        assert refusal.key != "data.same_language"
        assert unusable in refusal.say("en")
        assert unusable in refusal.say("zh")


def test_a_side_that_was_lost_is_said_to_be_missing():
    other = tarfile.TarInfo("x.de")
    other.type, other.linkname = tarfile.LNKTYPE, "x.en"
    refusal = refused({"both.tar": tarred(("x.en", TURNS), (other, b""))})
    assert (refusal.key, refusal.values["members"]) == ("data.lost_side", "x.de")
    refusal = refused({"both.zip": zipped(("x.en", "\n".join(ENGLISH).encode()), ("x.pdf", b"%PDF-1.7"))})  # not columns
    assert (refusal.key, refusal.values) == ("data.lost_side", {"name": "both.zip", "taken": "x.en", "members": "x.pdf"})


@pytest.mark.parametrize("paper", ["README.md", "x_readme.html", "LICENSE.pdf", "x.ids", "about.htm", "__MACOSX/._x.pdf"])
def test_papers_and_litter_are_no_lost_side(paper):
    languages = in_blocks(in_turn(ENGLISH, GERMAN)).encode()
    assert len(read({"a.zip": zipped(("x.txt", languages), (paper, b"%PDF-1.7"))}).pairs) == 15
    assert refused({"a.zip": zipped(("x.txt", TURNS), (paper, b"%PDF-1.7"))}).key == "data.same_language"


def test_a_file_that_says_what_its_pairs_are_needs_no_other_and_what_was_left_aside_is_said():
    pairs = read({"a.zip": zipped(("x.tsv", b"a\tb\nc\td\n"), ("x.pdf", b"%PDF-1.7"))})
    assert two(pairs) == [("a", "b"), ("c", "d")]
    assert ("data.note_left_out", {"name": "a.zip", "members": "x.pdf"}) in pairs.notes


def test_packed_files_are_read_as_unpacked_ones():
    plain = read(PAIRS)
    for data in (zipped(("cmn.txt", PAIRS), ("_about.txt", b"Licence: CC-BY 2.0")), gzip.compress(PAIRS)):
        pairs = read({"x.zip": data})
        assert (pairs.pairs, pairs.kind) == (plain.pairs, plain.kind)
