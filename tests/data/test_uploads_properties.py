"""Properties of uploads: whatever the bytes are, they are read or refused, and what was written reads back."""

import csv
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import Refusal
from playground.data.text import normalise
from playground.data.uploads import REASONS, Pairs, as_json, read_files, report
from playground.words import LANGUAGES

GOOD = (
    b"hello\thallo\nhow are you?\twie geht's?\n\nNA\tnull\n",
    b'source,target\n"Well, ""no""","Na ja, nein"\n"two\nlines",zwei Zeilen\n',
    "\ufeffJa, gut;Yes, good\r\nNein;No\r\n".encode(),
    "嗨。\tHi.\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (A)\n"
    "你好\u200b。\tHello.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2\n".encode(),
)
any_text = st.text(st.characters(codec="utf-8"), max_size=20)
HEADER = ("source", "target")
some_pairs = st.lists(st.tuples(any_text, any_text), min_size=1, max_size=8)


def read(*contents: str | bytes, **options) -> Pairs:
    return read_files([(f"file{n}", c if isinstance(c, bytes) else c.encode()) for n, c in enumerate(contents, 1)], **options)


def two(pairs: Pairs) -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt, _ in pairs.pairs]


def accounted(pairs: Pairs) -> None:
    """What holds for everything that was ever read."""
    dropped = [line for lines in pairs.dropped.values() for line in lines]
    lines = sorted([pair.line for pair in pairs.pairs] + dropped)
    assert len(lines) == len(set(lines)) == pairs.lines
    assert pairs.pairs
    assert set(pairs.dropped) <= set(REASONS)
    for src, tgt, _ in pairs.pairs:
        assert src
        assert tgt
        assert (normalise(src), normalise(tgt)) == (src, tgt)
    json.dumps(as_json(pairs)).encode()
    for language in LANGUAGES:
        assert len(report(pairs, language)) == 1 + len(pairs.dropped) + len(pairs.notes)


def read_or_refused(files) -> Pairs | None:
    try:
        pairs = read_files(files)
    except Refusal as refusal:
        assert all(refusal.say(language) for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
        return None
    accounted(pairs)
    return pairs


@given(st.lists(st.tuples(st.text(max_size=8), st.binary(max_size=200)), max_size=3))
@settings(max_examples=200, deadline=None)
def test_random_bytes_are_read_or_refused(files):
    read_or_refused(files)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_damaged_files_are_read_or_refused(data):
    damaged = bytearray(data.draw(st.sampled_from(GOOD)) * data.draw(st.integers(1, 4)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        piece = data.draw(st.binary(max_size=3) | st.sampled_from([b'"', b",", b";", b"\t", b"\n", b"\r", b"\0", "\u2028".encode()]))
        damaged[place : place + data.draw(st.integers(0, 9))] = piece
    files = [("damaged", bytes(damaged))]
    read_or_refused(files)
    read_or_refused([*files, ("good", data.draw(st.sampled_from(GOOD)))])


@given(st.text(st.sampled_from('ab é,;"\t\n\r\u200b\u2028'), max_size=80))
@settings(max_examples=300, deadline=None)
def test_readable_noise_is_read_or_refused(content):
    pairs = read_or_refused([("noise", content.encode())])
    if pairs and pairs.kind == "tsv":  # and what was kept stands where it is said to stand
        lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert all([src, tgt] == [normalise(cell) for cell in lines[line - 1].split("\t")[:2]] for src, tgt, line in pairs.pairs)


def clean(pairs) -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt in ((normalise(src), normalise(tgt)) for src, tgt in pairs) if src and tgt]


@given(some_pairs)
@settings(deadline=None)
def test_tsv_reads_back(pairs):
    pairs = clean(pairs)
    if pairs:
        assert two(read("\n".join("\t".join(pair) for pair in [HEADER, *pairs]))) == pairs


@given(some_pairs, st.booleans())
@settings(deadline=None)
def test_csv_reads_back_normalised(pairs, quote_all):
    pairs = [
        (src.replace("\0", "") + "x", tgt.replace("\0", "") + "y") for src, tgt in pairs
    ]  # raw text: line ends, quotes, anything but NUL
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerows([HEADER, *pairs])
    if "\t" not in file.getvalue():
        assert two(read(file.getvalue())) == clean(pairs)


@given(st.lists(any_text, min_size=1, max_size=8), st.data())
@settings(deadline=None)
def test_two_files_read_back_and_stay_aligned(src, data):
    src = ["first", *map(normalise, src), "last"]
    tgt = ["erste", *[normalise(data.draw(any_text)) for _ in src[1:-1]], "letzte"]
    pairs = read("\n".join(src), "\n".join(tgt))
    assert [(src[line - 1], tgt[line - 1]) for _, _, line in pairs.pairs] == two(pairs) == clean(zip(src, tgt, strict=True))
