"""Properties of uploads: whatever the bytes are, they are read or refused, and what was written reads back."""

import csv
import gzip
import io
import json
import tarfile
import unicodedata
import zipfile

import openpyxl
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.text import normalise
from playground.reading.uploads import REASONS, Choices, Pairs, as_json, read_files, report
from playground.words import LANGUAGES
from tests.thoroughness import examples_at_night

TSV = b"hello\thallo\nhow are you?\twie geht's?\n\nNA\tnull\n"
CREDITED = (
    "嗨。\tHi.\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (A)\n你好\u200b。\tHello.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2\n"
)
JSON = {"data": [{"translation": {"en": "Hi.", "de": "Hallo."}}, {"translation": {"en": "No.", "de": None}}]}
TMX = (
    '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>Hi <bpt i="1">x</bpt>you.</seg></tuv>'
    '<tuv xml:lang="de"><seg>Hallo &amp; du.</seg></tuv><tuv xml:lang="fr"><seg>Salut.</seg></tuv></tu></body></tmx>'
)
XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="de"><body>'
    "<trans-unit id='1'><source>Hi <g id='1'>you</g>.</source><target>Hallo.</target></trans-unit></body></file></xliff>"
)
PO = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n#: a.c:1\nmsgid "Hi"\nmsgstr "Hallo"\n\n#, fuzzy\nmsgid "No"\n'
    'msgstr "Nein"\n\nmsgid "one"\nmsgid_plural "many"\nmsgstr[0] "eins"\nmsgstr[1] "viele"\n'
)
ANKI = '#separator:tab\n#html:true\n#guid column:1\n#tags column:4\nAbc!x2\t<b>Hi</b>\tHallo\ttag\nDef!x3\tNo\t"Nein, ""nie"""\ttag\n'


def _zip(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # not compressed, so that damage reaches the contents
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def _tar(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def _xlsx() -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (("source", "target"), ("Hi.", "Hallo."), (7, 1.5), (None, "x")):
        book.active.append(row)
    book.save(file)
    with zipfile.ZipFile(file) as packed:
        return _zip(*[(name, packed.read(name)) for name in packed.namelist()])


GOOD = {  # name -> file
    "a.tsv": TSV,
    "a.csv": b'source,target\n"Well, ""no""","Na ja, nein"\n"two\nlines",zwei Zeilen\n',
    "excel.csv": "\ufeffsep=;\r\nJa, gut;Yes, good\r\nNein;No\r\n".encode(),
    "credited.txt": CREDITED.encode(),
    "utf16.txt": CREDITED.encode("utf-16"),
    "gbk.txt": CREDITED.replace("\u200b", "").encode("gbk"),
    "latin.txt": "café\tcoffee\nthé\ttea\n".encode("latin-1"),
    "bars.txt": b"Hi. ||| Hallo.\nNo. ||| Nein.\n",
    "scan.txt": b"IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk OUT: I_WALK\n",
    "interleaved.txt": b"How are you?\nWie geht es dir?\n\nI am here.\nIch bin hier.\n\nWhere is the house?\nWo ist das Haus?\n",
    "anki.txt": ANKI.encode(),
    "words.yml": b"# words\nhi: \"hallo\"\nbye: 'tsch\\u00fcss' # x\ngood day: guten Tag\n",
    "replay.srt": b"1\n00:00:01,000 --> 00:00:02,500\nHi.\nHallo.\n\n2\n00:00:03,000 --> 00:00:04,500\nNo.\nNein.\n",
    "gen.txt": b"S-1\tHi\nT-1\tHallo\nH-1\t-0.3\tHal\nS-0\tNo\nT-0\tNein\n",
    "cards.txt": b"Hi\tHallo;No\tNein;Yes\tJa",
    "dictionary.u8": "# CC\n漢語 汉语 [Han4 yu3] /Chinese/\n狗 狗 [gou3] /dog/\n".encode(),
    "list.txt": b"# list\n1. Hi\tHallo\n2. No\tNein\n3. Yes\tJa\n",
    "hub.csv": b",translation\n0,\"{'en': 'Hi', 'de': 'Hallo'}\"\n1,\"{'en': 'No', 'de': 'Nein'}\"\n",
    "table.md": b"# Words\n\n| en | de |\n|---|---|\n| Hi | Hallo |\n| No | Nein |\n",
    "a.json": json.dumps(JSON).encode(),
    "a.jsonl": b'{"src": "a", "tgt": "b"}\n{"src": "c", "tgt": "d", "id": 7}\n',
    "pairs.json": b'[["a", "b"], ["c", "d"]]',
    "words.json": b'{"cat": "Katze", "dog": "Hund"}',
    "a.tmx": TMX.encode(),
    "a.xlf": XLIFF.encode(),
    "a.po": PO.encode(),
    "a.xlsx": _xlsx(),
    "a.gz": gzip.compress(TSV, 0),
    "a.zip": _zip(("deu.txt", TSV), ("_about.txt", b"CC-BY 2.0"), ("__MACOSX/._deu.txt", b"\0")),
    "opus.zip": _zip(("X.de-en.de", b"a\nb\n"), ("X.de-en.en", b"c\nd\n"), ("README", b"x")),
    "a.tar": _tar(("x.en", b"a\nb\n"), ("x.de", b"c\nd\n")),
    "a.tar.gz": gzip.compress(_tar(("a.tsv", TSV)), 0),
}
CONTROLS = {"Cc", "Cs"}
any_text = st.text(st.characters(codec="utf-8"), max_size=20)
HEADER = ("source", "target")
some_pairs = st.lists(st.tuples(any_text, any_text), min_size=1, max_size=8)


def read(*contents: str | bytes, **choices) -> Pairs:
    return read_files([(f"file{n}", c if isinstance(c, bytes) else c.encode()) for n, c in enumerate(contents, 1)], Choices(**choices))


def two(pairs: Pairs) -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt, _ in pairs.pairs]


def accounted(pairs: Pairs) -> None:
    """What holds for everything that was ever read."""
    dropped = [line for lines in pairs.dropped.values() for line in lines]
    lines = [pair.line for pair in pairs.pairs] + dropped
    assert len(lines) == pairs.lines
    assert len(set(lines)) == len(lines) or pairs.kind in ("po", "json_lines", "json", "tmx", "xliff")  # an item may be several rows
    assert pairs.pairs
    assert set(pairs.dropped) <= set(REASONS)
    for src, tgt, _ in pairs.pairs:
        assert src
        assert tgt
        assert (normalise(src), normalise(tgt)) == (src, tgt)
        assert not CONTROLS & set(map(unicodedata.category, src + tgt))
    source, target = pairs.chosen
    assert source != target
    assert 0 <= min(pairs.chosen) <= max(pairs.chosen) < len(pairs.columns)
    assert {reason: len(rows) for reason, rows in pairs.dropped_rows.items()} == {
        r: min(50, len(lines)) for r, lines in pairs.dropped.items()
    }
    assert len(pairs.preview) == min(8, pairs.lines)
    json.dumps(as_json(pairs), ensure_ascii=False).encode()
    for language in LANGUAGES:
        assert len(report(pairs, language)) == 1 + len(pairs.dropped) + len(pairs.notes)


def read_or_refused(files, choices: Choices = Choices()) -> Pairs | None:  # noqa: B008
    try:
        pairs = read_files(files, choices)
    except Refusal as refusal:
        assert all(refusal.say(language).strip() for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
        json.dumps({"key": refusal.key, "values": refusal.values})
        return None
    accounted(pairs)
    return pairs


def test_the_good_files_are_read():
    for name, data in GOOD.items():
        assert read_or_refused([(name, data)]), name


@given(st.lists(st.tuples(st.text(max_size=8), st.binary(max_size=200)), max_size=3))
@examples_at_night(200)
def test_random_bytes_are_read_or_refused(files):
    read_or_refused(files)


@given(st.sampled_from(sorted(GOOD)), st.binary(max_size=200))
@examples_at_night(100)
def test_random_bytes_behind_a_good_beginning(name, rest):
    data = GOOD[name]
    read_or_refused([(name, data[: len(data) // 2] + rest)])


column = st.none() | st.integers(-1, 5) | st.sampled_from(["source", "tgt", "en", ""])
some_choices = st.builds(
    Choices,
    column,
    column,
    st.none() | st.booleans(),
    st.sampled_from(["", "", "gbk", "utf-16", "utf-8,latin-1"]),
    st.none() | st.booleans(),
    st.booleans(),
)
pieces = st.binary(max_size=3) | st.sampled_from(
    [b'"', b",", b";", b"\t", b"\n", b"\r", b"\0", b"<", b">", b"&", b"{", b"}", b"[", b"]", b"\\", b"msgid", b"\xff", "\u2028".encode()]
)


@given(st.data())
@examples_at_night(200)
def test_damaged_files_are_read_or_refused(data):
    name = data.draw(st.sampled_from(sorted(GOOD)))
    damaged = bytearray(GOOD[name] * data.draw(st.sampled_from([1, 1, 1, 3])))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        damaged[place : place + data.draw(st.integers(0, 9))] = data.draw(pieces)
    files = [(name, bytes(damaged))]
    choices = data.draw(some_choices)
    read_or_refused(files, choices)
    other = data.draw(st.sampled_from(sorted(GOOD)))
    read_or_refused([*files, (other, GOOD[other])], choices)


@given(st.text(st.sampled_from('ab é,;"\t\n\r\u200b\u2028'), max_size=80))
@examples_at_night(300)
def test_readable_noise_is_read_or_refused(content):
    pairs = read_or_refused([("noise", content.encode())])
    if pairs and pairs.kind == "tsv" and '"' not in content and "\t\t" not in content:  # and what was kept stands where it is said to stand
        lines = [line.split("\t") for line in content.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        assert all([src, tgt] == [normalise(lines[line - 1][place]) for place in pairs.chosen] for src, tgt, line in pairs.pairs)


def clean(pairs) -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt in ((normalise(src), normalise(tgt)) for src, tgt in pairs) if src and tgt]


@given(some_pairs)
def test_tsv_reads_back(pairs):
    pairs = clean(pairs)
    if pairs:
        assert two(read("\n".join("\t".join(pair) for pair in [HEADER, *pairs]))) == pairs


@given(some_pairs, st.booleans())
def test_csv_reads_back_normalised(pairs, quote_all):
    pairs = [
        (src.replace("\0", "") + "x", tgt.replace("\0", "") + "y") for src, tgt in pairs
    ]  # raw text: line ends, quotes, anything but NUL
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerows([HEADER, *pairs])
    if "\t" not in file.getvalue():
        assert two(read(file.getvalue())) == clean(pairs)


@given(st.lists(any_text, min_size=1, max_size=8), st.data())
def test_two_files_read_back_and_stay_aligned(src, data):
    src = ["first", *map(normalise, src), "last"]
    tgt = ["erste", *[normalise(data.draw(any_text)) for _ in src[1:-1]], "letzte"]
    pairs = read("\n".join(src), "\n".join(tgt))
    assert [(src[line - 1], tgt[line - 1]) for _, _, line in pairs.pairs] == two(pairs) == clean(zip(src, tgt, strict=True))
