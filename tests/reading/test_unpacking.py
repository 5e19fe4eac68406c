"""Archives: what is in them comes out, within limits, and nothing else happens; of two sides none is lost in silence."""

import gzip
import io
import os
import stat
import tarfile
import tracemalloc
import zipfile
from itertools import product
from unittest.mock import patch

from playground.reading import opening, unpacking
from playground.reading.unpacking import unpack
from tests.reading.formats.test_tables import ENGLISH, POEM, in_blocks
from tests.reading.outcomes import outcome, read, refusal_of, refused, two

PAIRS = b"hallo\thello\nja\tyes\n"
ABOUT = b"** Info **\nDate: 2021\n\n** Terms of Use **\nhttp://creativecommons.org/licenses/by/2.0\nAttribution: tatoeba.org\n"
CREDIT = "http://creativecommons.org/licenses/by/2.0 Attribution: tatoeba.org"
SPLIT = ("train de", "train en", "test en", "test de")
STYLE = '<style style:name="h"><table-properties table:display="false"/></style>'
ROWS = """<table-row><table-cell table:number-rows-spanned="2"><p>a<s text:c="2"/>b</p><p>c</p></table-cell><table-cell><p>d</p>
</table-cell></table-row><table-row><covered-table-cell/><table-cell><annotation><p>no</p></annotation><p>e</p></table-cell></table-row><table-row
table:number-rows-repeated="{}"><table-cell table:number-columns-repeated="16384"/></table-row><table-row table:number-rows-repeated="{}">
<table-cell office:value="7"/><table-cell><p>g</p></table-cell></table-row>"""


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
    refused = refusal_of(unpack, [(name, data)])
    return refused.key, refused.values


LITTER = ("__MACOSX/._deu.txt", "a/._deu.txt", ".DS_Store", "a/.DS_Store", "Thumbs.db", "desktop.ini", "a/~$deu.xlsx", ".~lock.deu.csv#")
BOOK = zipped(("[Content_Types].xml", b"<Types/>"), ("xl/workbook.xml", b"<x/>"))
OTHER_BOOK = zipped(("[Content_Types].xml", b"<Types/>"), ("xl/worksheets/sheet1.xml", b"<x/>"))
AB = [("x.en", b"a\n"), ("x.de", b"b\n")]
PAPERS = (
    "info.txt", "x/info_en.txt", "dataset-metadata.json", "metadata.json", "dataset_infos.json", "deu_license.txt", "About.txt",
    "README.md", "x_readme.html", "LICENSE.pdf", "x.ids", "about.htm", "__MACOSX/._x.pdf",
)  # fmt: skip


def other_kinds() -> list[tuple]:
    entries = []
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
        info = tarfile.TarInfo("x.de")
        info.type, info.linkname = kind, "/etc/passwd"
        entries.append((info, b""))
    return entries


def test_files_come_out_in_order_with_their_credit_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path.parent))
    for data, name, files in (
        (PAIRS, "pairs.zip", [("pairs.zip", PAIRS)]),  # a name alone packs nothing
        (gzip.compress(PAIRS), "pairs.txt", [("pairs.txt", PAIRS)]),  # and takes nothing away
        (gzip.compress(PAIRS) + gzip.compress(PAIRS), "two.GZ", [("two", PAIRS * 2)]),
        *((data, name, [("pairs.tsv", PAIRS)]) for data, name in (
            (gzip.compress(PAIRS), "pairs.tsv.gz"), (tarred(("pairs.tsv", PAIRS)), "a.tar"), (zipped(("pairs.tsv", PAIRS)), "a.txt"))),
        (zipped(("b/x.en", b"a\n"), ("b/x.de", b"b\n")), "a.zip", AB),
        (tarred(("d/x.en", b"a\n"), ("d/x.de", b"b\n"), mode="w:gz"), "a.tgz", AB),
        (zipped(("leer.tsv", b"")), "a.zip", [("leer.tsv", b"")]),
        (zipped(("readme.txt", PAIRS)), "a.zip", [("readme.txt", PAIRS)]),  # the only file there is
        (b"BZh is no archive\tist kein Archiv\n", "a", [("a", b"BZh is no archive\tist kein Archiv\n")]),
        (zipped((link("link.txt"), b"/etc/passwd"), ("a.txt", PAIRS)), "a.zip", [("a.txt", PAIRS)]),
        (tarred(*other_kinds(), ("a.txt", PAIRS)), "a.tar", [("a.txt", PAIRS)]),
        *((pack((path, PAIRS)), "a.zip", [(name, PAIRS)]) for pack in (zipped, tarred) for path, name in (
            ("wörter/süß.tsv", "süß.tsv"), ("C:\\evil.txt", "evil.txt"), ("..\\evil.txt", "evil.txt"), ("a/../../evil.txt", "evil.txt"),
            ("/etc/evil.txt", "evil.txt"), ("a\nb\u202e.txt", "a b.txt"), ("x" * 99, "x" * 60))),
        *((book, "book.xlsx", [("book.xlsx", book)]) for book in (BOOK, OTHER_BOOK)),  # a workbook stays packed
        *((zipped(("book.xlsx", book)), "a.zip", [("book.xlsx", book)]) for book in (BOOK, OTHER_BOOK)),
        (gzip.compress(BOOK), "book.xlsx.gz", [("book.xlsx", BOOK)]),
        *((zipped(("x" * len(raw), PAIRS)).replace(b"x" * len(raw), raw), "a.zip", [(name, PAIRS)]) for name, raw in (
            (name, name.encode(codec))  # in an encoding that is not said
            for name, codec in (("wört.tsv", "utf-8"), ("wört.tsv", "cp437"), ("中文.tsv", "gbk"), ("语料库.tsv", "utf-8")))),
    ):  # fmt: skip
        assert opened(data, name) == files
    assert (sorted(os.listdir(tmp_path.parent)), os.listdir(tmp_path)) == (before, [])
    files, notes = unpack([("deu-eng.zip", zipped(("deu.txt", PAIRS), ("_about.txt", ABOUT), *[(name, b"\0junk") for name in LITTER]))])
    assert files == [("deu.txt", PAIRS)]
    assert notes == (
        ("data.note_unpacked", {"name": "deu-eng.zip", "members": "deu.txt"}),
        ("data.note_credit", {"name": "deu-eng.zip", "text": CREDIT}),
    )
    members = [("README", b"x"), ("LICENSE", b"Licence: CC-BY 4.0"), ("Books.de-en.en", b"a\n"), ("Books.de-en.de", b"b\n")]
    files, notes = unpack([("de-en.txt.zip", zipped(*members, ("Books.de-en.ids", b"1\n"), ("Books.de-en.xml", b"<x/>")))])
    assert files == [("Books.de-en.de", b"b\n"), ("Books.de-en.en", b"a\n")]
    assert dict(notes)["data.note_left_out"]["members"] == "Books.de-en.xml"
    assert dict(notes)["data.note_credit"]["text"] == "Licence: CC-BY 4.0"
    assert outcome({"x.zip": zipped(*members)}) == "two_files de→en: b→a +unpacked ©Licence: CC-BY 4.0"


def test_the_parts_of_an_archive_are_what_their_names_say():
    for form, names, way in product(("a.de-en-{}.{}", "data/{}/{}.txt"), (("train", "dev", "test"), ("training", "valid")), (1, -1)):
        files = [(form.format(name, side), f"{name} {side}\n".encode()) for side in ("en", "de") for name in names][::way]
        with patch.object(opening, "unpack", wraps=unpack) as unpacked:
            pairs = read({"a.zip": zipped(*files, ("README", b"x"))})
        assert unpacked.call_count == 1
        first, second = ("en", "de")[::way]
        assert (two(pairs), pairs.given) == ([(f"{name} {first}", f"{name} {second}") for name in names], (1, len(names) - 2))
    assert read({"a.zip": zipped(("val.tsv", b"c\td"), ("train.tsv", PAIRS))}).given == (1, 0)
    for form in ("test/{}/{}.txt", "a-test/{}/{}.txt", "train/{}.{}", "my-test.{}.{}", "train/{}/{}/x.txt"):  # a part names what holds all
        pairs = read({"a.zip": zipped(*[(form.format(*name.split()), name.encode()) for name in SPLIT])})
        assert (two(pairs), pairs.given) == ([("train de", "train en"), ("test de", "test en")], (0, 1)), form
    for odd in ("x.en", "train.fr", "dev.train.en"):
        assert refusal(zipped(("train.en", b"a"), ("train.de", b"b"), (odd, b"c")))[0] == "data.many_members"
    linked = {"de.tsv": "1\tde\ta b\n2\tde\tc", "en.tsv": "3\ten\td\n4\ten\te f", "de-en_links.tsv": "1\t4"}
    assert read({"a.zip": zipped(*linked.items())}).pairs == read(linked).pairs == (("a b", "e f", 1),)
    for paper in PAPERS:  # which are neither sentences nor a lost side
        assert opened(zipped((paper, b"%PDF-1.7"), ("deu.txt", PAIRS))) == [("deu.txt", PAIRS)], paper
        assert paper.startswith("__MACOSX") or opened(zipped((paper, PAIRS)))[0][1] == PAIRS  # the only file there is
        assert refused({"a.zip": zipped(("x.txt", TURNS), (paper, b"%PDF-1.7"))}).key == "data.same_language"


def ods(empty: object, equal: object, name: str = "content.xml") -> bytes:
    sheets = f'{STYLE}<table table:style-name="h">{ROWS.format(0, 1)}</table><table>{ROWS.format(empty, equal)}</table>'
    return zipped(("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), (name, f"<x>{sheets}</x>".encode()))


TOO_MANY = [(f"{n}.txt", b"x") for n in range(101)]
LOCKED = bytearray(zipped(("a.txt", PAIRS)))
LOCKED[6] |= 1
LOCKED[LOCKED.index(b"PK\x01\x02") + 8] |= 1


def test_refusals_and_a_sheet_of_opendocument_is_read_as_one_of_excel():
    for data, key, values in (
        *((data, "data.packed", {"what": kind}) for kind, data in {
            **{kind: zipped(("[Content_Types].xml", b""), (name, b"")) for kind, name in (
                ("Word (.docx)", "word/document.xml"), ("PowerPoint (.pptx)", "ppt/x.xml"), ("Excel (.xlsb)", "xl/workbook.bin"))},
            "OpenDocument/EPUB": zipped(("mimetype", b"application/vnd.oasis"), ("content.xml", b"")), "xz": b"\xfd7zXZ\0...",
            "7z": b"7z\xbc\xaf\x27\x1c...", "rar": b"Rar!\x1a\x07\x00", "bzip2": b"BZh91AY&SY...", "zstd": b"\x28\xb5\x2f\xfd...",
        }.items()),
        (zipped(("collection.anki2", b""), ("media", b"{}")), "data.anki_package", {}),
        (zipped(("config.json", b"{}"), ("model.safetensors", b""), ("README.md", b"x")), "data.trained_run", {}),
        (zipped(("inner.zip", zipped(("a.txt", b"x")))), "data.nested", {"member": "inner.zip"}),
        (zipped(("a.txt.gz", gzip.compress(b"x"))), "data.nested", {"member": "a.txt.gz"}),
        (tarred(("inner.tar", tarred(("a.txt", b"x")))), "data.nested", {"member": "inner.tar"}),
        *((gzip.compress(packed), "data.nested", {"member": "up"}) for packed in (gzip.compress(b"x"), zipped(("a.txt", b"x")))),
        *((data, "data.too_many_members", {"limit": 100}) for data in (
            zipped(*TOO_MANY), tarred(*TOO_MANY), tarred(*TOO_MANY, mode="w:gz"))),
        (b"PK\x03\x04" + b"PK\x01\x02" * 1_000_000, "data.too_many_members", {}),  # which are not listed
        (zipped(*[(str(n), b"x") for n in range(8)]), "data.many_members", {"count": 8, "members": "0, 1, 2, 3, 4, 5, …"}),
        (zipped(), "data.empty_archive", {}), (zipped(("folder/", b""), (".DS_Store", b"x")), "data.empty_archive", {}),
        *((data, "data.broken_archive", {}) for data in (
            zipped(("a.txt", PAIRS))[:-10], gzip.compress(PAIRS * 99)[:-10], gzip.compress(PAIRS)[:-8] + b"\0" * 8, b"PK\x03\x04",
            tarred(("a.txt", PAIRS * 999))[:9000], b"\x1f\x8b")),
        (bytes(LOCKED), "data.locked", {}),
        (zipped(("a.txt", PAIRS), how=zipfile.ZIP_LZMA), "data.broken_member", {"member": "a.txt"}),
    ):  # fmt: skip
        actual, named_values = refusal(data)
        assert (actual, named_values["name"]) == (key, "up")
        assert values.items() <= named_values.items()
    for book, expected in (
        (ods(2, 2), "ods/row: a b c→d · a b c→e · (blank) · (blank) · 7→g · 7→g"), (ods(1, 1, "a.xml"), "!not_understood"),
        (ods(9, 10**9), "!workbook_too_large"), (ods(9, "x"), "!workbook_broken"),
    ):  # fmt: skip
        assert outcome({"a.ods": book}) == expected


def test_bombs_are_stopped_at_the_limit_which_is_one_for_all_files_and_no_size_is_believed(monkeypatch):
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 20 * 1024**2)
    zeros = bytes(24 * 1024**2)
    for data in (
        gzip.compress(zeros, 9), zipped(("a.txt", zeros)), gzip.compress(tarred(("a.txt", zeros)), 9),
        zipped(("a.txt", zeros[: 12 * 1024**2]), ("b.txt", zeros[: 12 * 1024**2])),
    ):  # fmt: skip
        tracemalloc.start()
        assert refusal(data)[0] == "data.unpacked_too_large"
        assert tracemalloc.get_traced_memory()[1] < 52 * 1024**2  # the limit, once more while the pieces are put together
        tracemalloc.stop()
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 10)
    assert unpack([("a.gz", gzip.compress(b"12345")), ("b.zip", zipped(("b.txt", b"12345")))])[0] == [("a", b"12345"), ("b.txt", b"12345")]
    assert refusal_of(unpack, [("a.gz", gzip.compress(b"12345")), ("b.gz", gzip.compress(b"123456"))]).values["name"] == "b.gz"
    monkeypatch.setattr(unpacking, "UNPACKED_LIMIT", 1000)
    data = zipped(("a.txt", b"x" * 5000)).replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert refusal(data)[0] in ("data.unpacked_too_large", "data.broken_member")


TURNS = in_blocks(POEM).encode()  # which could be read against itself
WORDS = b"the words of the other side\n" * 3
UNUSABLE = [
    *((zipped(("x.en", TURNS), (name, data)), getattr(name, "filename", name)) for name, data in (
        ("x.de", b""), ("x.de", b"\n \n\n"), ("x.de", b"\0\1\2\3" * 99), ("x.de", b"\x89PNG\r\n\x1a\n" + bytes(99)),
        ("x.de.gz", gzip.compress(b"eins")), (link("x.de"), b"/etc/passwd"), ("x.pdf", b"%PDF-1.7"), ("x.de.html", b"<html>"))),
    (zipped(("x.en", TURNS), ("x.de", WORDS), how=zipfile.ZIP_STORED).replace(WORDS, WORDS.upper()), "x.de"),
]  # fmt: skip


def test_the_file_that_cannot_be_used_is_named_and_the_other_not_read_against_itself():
    for (data, unusable), choices in product(UNUSABLE, ({}, {"same_language": True})):
        refusal = refused({"both.zip": data}, **choices)
        assert refusal.key != "data.same_language"
        assert all(unusable in refusal.say(language) for language in ("en", "zh"))
    for content, single, members in (
        ({"up": tarred(("x.en", TURNS), other_kinds()[1])}, "x.en", "x.de"),
        ({"up": zipped(("x.en", "\n".join(ENGLISH).encode()), ("x.pdf", b"%PDF-1.7"))}, "x.en", "x.pdf"),  # no columns either
    ):
        refusal = refused(content)
        assert (refusal.key, refusal.values) == ("data.lost_side", {"name": "up", "taken": single, "members": members})
