"""Truths about uploads: it is read, or a sentence says why not, and every line is accounted for."""

import pytest

from playground.config import Refusal
from playground.data import uploads
from playground.data.uploads import REASONS, Pairs, as_json, read_files, report
from playground.words import LANGUAGES, entries, known

CREDITED = (
    "嗨。\tHi.\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (A)\n你好\u200b。\tHello.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2\n"
)


def read(*contents: str | bytes, **options) -> Pairs:
    return read_files([(f"file{n}", c if isinstance(c, bytes) else c.encode()) for n, c in enumerate(contents, 1)], **options)


def two(pairs: Pairs) -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt, _ in pairs.pairs]


def accounted(pairs: Pairs) -> None:
    """Every row is kept or dropped, once."""
    lines = [pair.line for pair in pairs.pairs] + [line for lines in pairs.dropped.values() for line in lines]
    assert len(lines) == len(set(lines)) == pairs.lines


# --- formats ---


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        ("a\tb\nc\td\n", "tsv", [("a", "b"), ("c", "d")]),
        ("\ufeffa\tb\r\nc\td", "tsv", [("a", "b"), ("c", "d")]),
        ("a\tb\rc\td\r", "tsv", [("a", "b"), ("c", "d")]),
        ("a\tb\t\nc\td\t\n", "tsv", [("a", "b"), ("c", "d")]),
        ('say "hi\tsag "hi\n"x"\ty', "tsv", [('say "hi', 'sag "hi'), ('"x"', "y")]),
        ("NA\tnull\nnan\tNone\n007\t1.0\n", "tsv", [("NA", "null"), ("nan", "None"), ("007", "1.0")]),
        ("<s>\t</s>\n{{x}}\t$$x$$\n=1+1\t@x\n", "tsv", [("<s>", "</s>"), ("{{x}}", "$$x$$"), ("=1+1", "@x")]),
        ("a\u2028b\tc\x0bd", "tsv", [("a b", "c d")]),
        ("e\u0301\t\u200bx\u00ad", "tsv", [("é", "x")]),
        ("👩\u200d🔬\tscientist", "tsv", [("👩\u200d🔬", "scientist")]),
        ('a,b\n"c, d",e\n', "csv", [("a", "b"), ("c, d", "e")]),
        ('"one\n\ntwo",x\nc,d', "csv", [("one two", "x"), ("c", "d")]),
        ("a, b;c\nd;e, f\n", "csv", [("a, b", "c"), ("d", "e, f")]),
        ('"hello", "hallo"', "csv", [("hello", "hallo")]),
    ],
)
def test_one_file(content, kind, expected):
    pairs = read(content)
    assert (pairs.kind, two(pairs)) == (kind, expected)
    accounted(pairs)


def test_two_files_line_by_line():
    pairs = read("a\n\nc\n\ne\nf", "A\n\nC\nD\n\nF\n")
    assert pairs.kind == "two_files"
    assert pairs.pairs == (("a", "A", 1), ("c", "C", 3), ("f", "F", 6))
    assert pairs.dropped == {"blank": (2,), "empty_source": (4,), "empty_target": (5,)}
    assert pairs.names == ("file1", "file2")
    accounted(pairs)


def test_swap():
    pairs = read("a\tb\n\tc\nd\t\n", swap=True)
    assert two(pairs) == [("b", "a")]
    assert pairs.dropped == {"empty_source": (3,), "empty_target": (2,)}
    assert two(read("a\nb", "c\nd", swap=True)) == [("c", "a"), ("d", "b")]


def test_every_reason_with_its_lines():
    lines = [
        "source,target", "a,b", "", " , ", ",only target", "only source,", "one column", "Hello, you,Hallo, du", "x" * 10_001 + ",y",
        '"multi', 'line",c', '"open,d', "e,f", '"broken" quote,g',
    ]  # fmt: skip
    pairs = read("\n".join(lines))
    assert pairs.pairs == (("a", "b", 2), ("multi line", "c", 10), ("e", "f", 13))
    assert pairs.dropped == {
        "header": (1,), "blank": (3, 4), "empty_source": (5,), "empty_target": (6,), "one_column": (7,), "extra_columns": (8,),
        "long": (9,), "quote": (12, 14),
    }  # fmt: skip
    assert set(pairs.dropped) == set(REASONS)
    accounted(pairs)


def test_a_stray_tab_shifts_nothing():
    pairs = read("a\tb\nHello\tyou\tHallo\nc\td\n")
    assert two(pairs) == [("a", "b"), ("c", "d")]
    assert pairs.dropped == {"extra_columns": (2,)}


@pytest.mark.parametrize("header", ["source\ttarget", "English\tGerman", "src\ttgt", "\ufeffen\tde"])
def test_a_header_is_dropped_and_said(header):
    assert read(f"{header}\na\tb").dropped == {"header": (1,)}


@pytest.mark.parametrize("first", ["hello\thallo", "english\tis spoken here", "a\ttarget", "de\tDE"])
def test_what_is_no_header_stays(first):
    assert not read(f"{first}\nsource\ttarget").dropped


def test_longer_than_asked_for():
    pairs = read("a\tb\nabc\td\ne\tfgh", max_characters=2)
    assert pairs.dropped == {"long": (2, 3)}


def test_more_columns_and_their_note():
    pairs = read("1\ta\tx\n2\tb\ty\n3\tc\n")
    assert two(pairs) == [("1", "a"), ("2", "b"), ("3", "c")]
    assert pairs.notes == (("data.note_columns", {"width": 3}),)


def test_the_credit_column():
    pairs = read(CREDITED)
    assert pairs.credit == "CC-BY 2.0 (France) Attribution: tatoeba.org"
    assert two(pairs) == [("嗨。", "Hi."), ("你好。", "Hello.")]
    assert not pairs.notes


def test_notes_name_what_is_worth_knowing():
    pairs = read('a,b\nsame,same\n"x\ny",z\nalso,also')
    assert pairs.notes == (("data.note_tall", {"count": 1, "line": 3}), ("data.note_same", {"count": 2, "line": 2}))


# --- refusals ---


@pytest.mark.parametrize(
    ("contents", "key", "values"),
    [
        ([], "data.how_many_files", {"count": 0}),
        (["a\tb"] * 3, "data.how_many_files", {"count": 3}),
        (["a\nb\nc", "d\ne"], "data.unequal", {"one": "file1", "lines_one": 3, "two": "file2", "lines_two": 2}),
        (["a\nb\n\n", "d\ne\n"], "data.unequal", {"one": "file1", "lines_one": 3, "two": "file2", "lines_two": 2}),
        (["a\tb\nc\td", "e\tf\ng\th"], "data.two_tables", {"one": "file1", "two": "file2"}),
        ([""], "data.nothing_inside", {"name": "file1"}),
        (["\ufeff"], "data.nothing_inside", {"name": "file1"}),
        ([" \n\t\n\u200b\n"], "data.nothing_inside", {"name": "file1"}),
        (["a\nb", "\n\n"], "data.nothing_inside", {"name": "file2"}),
        (["one column\nonly"], "data.one_column", {"name": "file1", "line": 1}),
        (["a,b\nno\nnone\nnothing"], "data.one_column", {"name": "file1", "line": 2}),
        (["<html>\n<body>\n</html>"], "data.one_column", {"name": "file1", "line": 1}),
        (['"a,b\n"c,d\n"e,f'], "data.open_quotes", {"name": "file1", "count": 3, "line": 1}),
        ([",".join("x" * 5000)], "data.too_many_columns", {"name": "file1", "limit": 64}),
        (["source\ttarget\n"], "data.none_kept_header", {"name": "file1", "lines": 1, "line": 1}),
        (["a\t\nb\t\n"], "data.none_kept_empty_target", {"name": "file1", "lines": 2, "line": 1}),
        (["\ta\n\tb\n"], "data.none_kept_empty_source", {"name": "file1", "lines": 2, "line": 1}),
        (["\ta\nb\t\n"], "data.none_kept_several", {"name": "file1", "lines": 2, "line": 1}),
        (["x" * 10_001 + "\ty"], "data.none_kept_long", {"name": "file1", "lines": 1, "line": 1}),
        (["a\n\n", "\nb\n\n"], "data.unequal", {"one": "file1", "lines_one": 2, "two": "file2", "lines_two": 3}),
        (["a\n\n", "\nb\n"], "data.none_kept_several", {"name": "file1 + file2", "lines": 2, "line": 1}),
        (["a\tb\n" + "x" * 100_001], "data.endless_line", {"name": "file1", "line": 2, "limit": 100_000}),
        (["a\n" * 400_001], "data.too_many_lines", {"name": "file1", "limit": 400_000}),
        (["\r\n" * 400_001], "data.too_many_lines", {"name": "file1", "limit": 400_000}),
        ([b"\n" * 9_000_000], "data.too_many_lines", {"name": "file1", "limit": 400_000}),
        ([b"\x80\x04\x95pickle"], "data.not_utf8", {"name": "file1", "line": 1}),
    ],
)
def test_refusals(contents, key, values):
    with pytest.raises(Refusal) as refused:
        read(*contents)
    assert (refused.value.key, refused.value.values) == (key, values)
    for language in LANGUAGES:
        sentence = refused.value.say(language)
        assert all(
            str(value) in sentence for name, value in values.items() if name in ("name", "line", "one", "two", "lines_one", "lines_two")
        )


def test_limits(monkeypatch):
    with pytest.raises(Refusal) as refused:
        read(b"x" * (20 * 1024 * 1024 + 1))
    assert refused.value.key == "data.too_large"
    monkeypatch.setattr(uploads, "PAIR_LIMIT", 3)
    assert len(read("a\tb\n" * 3).pairs) == 3
    assert len(read("a\tb\n" * 3 + "\n").pairs) == 3
    with pytest.raises(Refusal) as refused:
        read("a\tb\n" * 4)
    assert refused.value.key == "data.too_many_pairs"


# --- words ---


def test_the_report_by_hand():
    pairs = read("a\tb\n" + "\n" * 10 + "c\t\nd\td\n")
    assert report(pairs, "en") == [
        "13 lines read, 2 pairs kept, 11 dropped.",
        "10 dropped because there is nothing on the line (lines 2, 3, 4, 5, 6, 7, 8, 9, …).",
        "1 dropped because the target is empty (line 12).",
        "Pairs whose source and target are the same: 1 (the first is on line 13). They were kept.",
    ]
    assert len(report(pairs, "zh")) == 4


def test_json_by_hand():
    assert as_json(read("a\tb\n\nc\td\n")) == {
        "kind": "tsv", "names": ["file1"], "lines": 3, "pairs": 2, "first": ["a", "b"], "dropped": {"blank": [2]},
        "credit": "", "warnings": [],
    }  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_has_its_words(language):
    assert all(known(language, f"data.why_{reason}") for reason in REASONS)


def test_both_languages_say_the_same_things():
    assert {key for key in entries("en") if key.startswith("data.")} == {key for key in entries("zh") if key.startswith("data.")}
