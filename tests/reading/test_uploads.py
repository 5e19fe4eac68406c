"""Truths about uploads: it is read, or a sentence says why not, and every line is accounted for."""

import gzip
import io
import zipfile

import pytest

from playground.config import Refusal
from playground.reading import filtering
from playground.reading.uploads import REASONS, Choices, Pairs, PreviewRow, as_json, read_files, report
from playground.words import LANGUAGES, entries, known
from tests.thoroughness import every_case

CREDITED = (
    "嗨。\tHi.\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (A)\n你好\u200b。\tHello.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2\n"
)


def read(*contents: str | bytes, max_characters: int = 10_000, **choices) -> Pairs:
    files = [(f"file{n}", c if isinstance(c, bytes) else c.encode()) for n, c in enumerate(contents, 1)]
    return read_files(files, Choices(**choices), max_characters)


def two(pairs: Pairs) -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt, _ in pairs.pairs]


def accounted(pairs: Pairs) -> None:
    """Every row is kept or dropped, once."""
    lines = [pair.line for pair in pairs.pairs] + [line for lines in pairs.dropped.values() for line in lines]
    assert len(lines) == len(set(lines)) == pairs.lines


# --- formats ---


@every_case(
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
        '"multi', 'line",c', '"open,d', "e,f", '"broken" quote,g', *["schöne Grüße,kind regards"] * 9,
    ]  # fmt: skip
    pairs = read("\n".join(lines).encode() + b"\nbroken \xff byte,h\n")
    assert pairs.pairs[:3] == (("a", "b", 2), ("multi line", "c", 10), ("e", "f", 13))
    assert pairs.dropped == {
        "header": (1,), "blank": (3, 4), "empty_source": (5,), "empty_target": (6,), "one_column": (7,), "extra_columns": (8,),
        "long": (9,), "quote": (12, 14), "damaged": (24,),
    }  # fmt: skip
    assert set(pairs.dropped) < set(REASONS)
    accounted(pairs)


def test_dropped_rows_can_be_looked_at():
    pairs = read("source,target\na,b\n" + ",only target\n" * 60 + '"open,d\ne,' + "x" * 999 + ",y\n")
    assert pairs.dropped_rows["header"] == (PreviewRow(1, ("source", "target"), "header"),)
    assert pairs.dropped_rows["empty_source"] == tuple(PreviewRow(line, ("", "only target"), "empty_source") for line in range(3, 53))
    assert pairs.dropped_rows["quote"] == (PreviewRow(63, ('"open,d',), "quote"),)
    assert pairs.dropped_rows["extra_columns"] == (PreviewRow(64, ("e", "x" * 200, "y"), "extra_columns"),)
    assert len(pairs.dropped["empty_source"]) == 60


def test_the_first_rows_as_understood():
    pairs = read("a\tb\n\nc\t\n" + "d\te\n" * 9)
    assert pairs.preview[:3] == (PreviewRow(1, ("a", "b")), PreviewRow(2, ("",), "blank"), PreviewRow(3, ("c", ""), "empty_target"))
    assert len(pairs.preview) == 8


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
    pairs = read("a\tx\tone\nb\ty\ttwo\nc\tz\n")
    assert two(pairs) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert pairs.notes == (("data.note_columns", {"width": 3, "source": "1", "target": "2"}),)
    assert report(pairs, "en")[-1] == "The file has 3 columns. Used: 1 and 2."


def test_the_credit_column():
    pairs = read(CREDITED)
    assert pairs.credit == "CC-BY 2.0 (France) Attribution: tatoeba.org"
    assert two(pairs) == [("嗨。", "Hi."), ("你好。", "Hello.")]
    assert not pairs.notes


def test_notes_name_what_is_worth_knowing():
    pairs = read('a,b\nsame,same\n"x\ny",z\nalso,also')
    assert pairs.notes == (("data.note_tall", {"count": 1, "line": 3}), ("data.note_same", {"count": 2, "line": 2}))


# --- columns and choices ---


@every_case(
    ("content", "expected"),
    [
        (",source,target\n0,a,b\n1,c,d\n2,e,f\n", [("a", "b"), ("c", "d"), ("e", "f")]),  # pandas writes its index
        ("0\ta\tb\n1\tc\td\n2\te\tf\n", [("a", "b"), ("c", "d"), ("e", "f")]),
        ("1276\tHi.\t904\tSalut!\n1277\tNo.\t33\tNon.\n3100\tYes.\t12\tOui.\n", [("Hi.", "Salut!"), ("No.", "Non."), ("Yes.", "Oui.")]),
        ("0.91\tHi.\tSalut!\n0.8\tNo.\tNon.\n1\tYes.\tOui.\n", [("Hi.", "Salut!"), ("No.", "Non."), ("Yes.", "Oui.")]),
        ("https://a.b/c\tHi.\tSalut!\nhttps://a.b/d\tNo.\tNon.\n", [("Hi.", "Salut!"), ("No.", "Non.")]),
        ("".join(f"eng\tHi {n}.\tfra\tSalut {n}!\n" for n in range(8)), [(f"Hi {n}.", f"Salut {n}!") for n in range(8)]),
        ("target,source\na,b\nc,d\n", [("b", "a"), ("d", "c")]),
        ("answer,note,question\na,x,b\nc,,d\n", [("b", "a"), ("d", "c")]),
        ("id;English;German;who\n7;a;b;me\n9;c;d;you\n", [("a", "b"), ("c", "d")]),
        ("1\t2\n3\t4\n5\t6\n", [("1", "2"), ("3", "4"), ("5", "6")]),  # numbers are sentences where there is nothing else
        ("1\t12+5\t17\n2\t3+4\t7\n3\t1+1\t2\n", [("12+5", "17"), ("3+4", "7"), ("1+1", "2")]),
        ("nr\tWort\tdas andere\n1\ta\tb\n2\tc\td\n3\te\tf\n", [("a", "b"), ("c", "d"), ("e", "f")]),  # words stand on numbers
        ("Hi.\tSalut !\tCC-BY 2.0 (France) #1\nNo.\tNon.\tCC-BY 2.0 (France) #2\n", [("Hi.", "Salut !"), ("No.", "Non.")]),
    ],
)  # fmt: skip
def test_the_columns_of_sentences_are_found(content, expected):
    pairs = read(content)
    assert two(pairs) == expected
    accounted(pairs)


@pytest.mark.parametrize(
    "header",
    ["源语言\t目标语言", "English sentence\tGerman sentence", "text_en\ttext_de", "Front\tBack",
     "en-US\tzh-CN", "Wort\tÜbersetzung", "eng\tdeu", "中文\t英文"],
)  # fmt: skip
def test_more_headers(header):
    pairs = read(f"{header}\na\tb\nc\td\n")
    assert pairs.dropped == {"header": (1,)}
    assert pairs.header
    assert [column.name for column in pairs.columns] == header.split("\t")


@pytest.mark.parametrize(
    "first", ["hi\tno", "is it so\tist es so", "Good morning\tGuten Morgen", "no\tis", "1\t2", "Hi.\tSalut!\tCC-BY", "to be\tsein"]
)
def test_more_that_is_no_header(first):
    assert not read(f"{first}\na\tb\nc\td\n").header


def test_a_header_can_be_claimed_and_denied():
    assert two(read("Haus\tBaum\na\tb", header=True)) == [("a", "b")]
    assert two(read("source\ttarget\na\tb", header=False)) == [("source", "target"), ("a", "b")]
    assert read("Haus\tBaum\na\tb", header=True).columns[1].name == "Baum"
    assert two(read("\n\nHaus\tBaum\na\tb", header=True)) == [("a", "b")]  # the first row that holds something


TABLE = "id,English,Deutsch,Français\n7,cat,Katze,chat\n9,dog,Hund,\n"


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, [("cat", "Katze"), ("dog", "Hund")]),
        ({"swap": True}, [("Katze", "cat"), ("Hund", "dog")]),
        ({"target": 3}, [("cat", "chat")]),
        ({"target": "français"}, [("cat", "chat")]),
        ({"source": "Deutsch"}, [("Katze", "cat"), ("Hund", "dog")]),
        ({"source": "Deutsch", "target": "English"}, [("Katze", "cat"), ("Hund", "dog")]),
        ({"source": 0, "target": 1}, [("7", "cat"), ("9", "dog")]),
        ({"target": "English"}, [("Katze", "cat"), ("Hund", "dog")]),
        ({"source": "Français", "swap": True}, [("Katze", "chat")]),
    ],
)
def test_columns_are_chosen(choices, expected):
    pairs = read(TABLE, **choices)
    assert two(pairs) == expected
    accounted(pairs)
    assert [(column.name, column.filled) for column in pairs.columns] == [("id", 2), ("English", 2), ("Deutsch", 2), ("Français", 1)]
    assert pairs.columns[1].samples == ("cat", "dog")


@pytest.mark.parametrize(
    ("choices", "key"),
    [
        ({"source": 4}, "data.no_column"), ({"source": -1}, "data.no_column"), ({"target": "Klingon"}, "data.no_column"),
        ({"target": ""}, "data.no_column"), ({"source": 1, "target": "English"}, "data.same_column"),
        ({"encoding": "nix"}, "data.unknown_encoding"),
    ],
)  # fmt: skip
def test_choices_that_cannot_be(choices, key):
    with pytest.raises(Refusal) as refused:
        read(TABLE, **choices)
    assert refused.value.key == key
    assert all(refused.value.say(language) for language in LANGUAGES)


def test_languages_that_stand_together_most():
    rows = ["en\tde\tfr\tmemo", "cat\t\tchat\tx", "dog\tHund\tchien\ty", "cow\t\tvache\tz"]
    pairs = read("\n".join(rows))
    assert two(pairs) == [("cat", "chat"), ("dog", "chien"), ("cow", "vache")]
    assert report(pairs, "en")[-1] == (
        "Languages found together, with the number of pairs: en–fr (3), en–de (1), de–fr (1). Used: en and fr."
    )


# --- encodings and archives, all the way ---


def test_an_encoding_is_guessed_said_and_changed():
    data = "café\tcoffee\nthé vert\tgreen tea\noù ?\twhere?\n".encode("latin-1")
    pairs = read(data)
    assert pairs.pairs[0] == ("café", "coffee", 1)
    assert pairs.notes == (("data.note_encoding", {"name": "file1", "encoding": "windows-1252"}),)
    assert pairs.encodings[0].guessed
    assert pairs.encodings[0].samples[0] == "café coffee"
    chosen = read(data, encoding="koi8-r")
    assert (chosen.pairs[0].src, chosen.encodings[0].guessed, chosen.notes) == ("cafИ", False, ())


def test_each_file_has_an_encoding_of_its_own():
    one, two_ = "早上好。\n明天见！\n我喜欢看书。\n", "Guten Morgen.\nTschüß!\nIch lese gerne Bücher.\n"
    for choice in ("", "gbk,latin-1", "gbk,", ",latin-1"):
        pairs = read(one.encode("gbk"), two_.encode("latin-1"), encoding=choice)
        assert two(pairs) == list(zip(one.split(), two_.splitlines(), strict=True))
    assert [encoding.name for encoding in pairs.encodings] == ["gb18030", "windows-1252"]


def test_packed_files_are_the_same_as_unpacked_ones():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cmn.txt", CREDITED)
        archive.writestr("_about.txt", "Licence: CC-BY 2.0")
    plain = read(CREDITED)
    for data in (packed.getvalue(), gzip.compress(CREDITED.encode())):
        pairs = read(data)
        assert (pairs.pairs, pairs.kind, pairs.credit) == (plain.pairs, plain.kind, plain.credit)


def test_a_licence_beside_the_file_is_its_credit():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in (("X.de-en.en", "a\nb\n"), ("X.de-en.de", "c\nd\n"), ("LICENSE", "CC-BY 4.0\n")):
            archive.writestr(name, text)
    pairs = read(packed.getvalue())
    assert (two(pairs), pairs.names, pairs.credit) == ([("c", "a"), ("d", "b")], ("X.de-en.de", "X.de-en.en"), "CC-BY 4.0")


def test_what_tools_left_is_offered_to_be_undone():
    content = "don &apos;t go\tgeh ni@@ cht\nR &amp; B\tein Bier\n"
    pairs = read(content)
    assert two(pairs)[0] == ("don &apos;t go", "geh ni@@ cht")
    assert pairs.notes == (("data.note_bpe", {"count": 1}), ("data.note_moses", {"count": 2}))
    assert (pairs.traces, pairs.undone) == (("bpe", "moses"), False)
    undone = read(content, undo=True)
    assert two(undone) == [("don 't go", "geh nicht"), ("R & B", "ein Bier")]
    assert (undone.notes, undone.undone) == ((("data.note_undone", {"count": 3}),), True)
    assert read(content, undo=False).notes == ()


# --- refusals ---


@every_case(
    ("contents", "key", "values"),
    [
        ([], "data.how_many_files", {"count": 0}),
        (["a\tb"] * 3, "data.how_many_files", {"count": 3}),
        (["a\nb\nc", "d\ne"], "data.unequal", {"one": "file1", "lines_one": 3, "two": "file2", "lines_two": 2}),
        (["a\tb\nc\td", "e\tf\ng\th"], "data.two_tables", {"one": "file1", "two": "file2"}),
        ([""], "data.nothing_inside", {"name": "file1"}),
        (["\ufeff"], "data.nothing_inside", {"name": "file1"}),
        ([" \n\t\n\u200b\n"], "data.nothing_inside", {"name": "file1"}),
        (["a\nb", "\n\n"], "data.nothing_inside", {"name": "file2"}),
        (["one column\nonly"], "data.one_column", {"name": "file1", "line": 1}),
        (["a,b\nno\nnone\nnothing"], "data.one_column", {"name": "file1", "line": 2}),
        (["<html>\n<body>\n</html>"], "data.web_page", {"name": "file1"}),
        (['"a,b\n"c,d\n"e,f'], "data.open_quotes", {"name": "file1", "count": 3, "line": 1}),
        ([",".join("x" * 5000)], "data.too_many_columns", {"name": "file1", "limit": 64}),
        (["source\ttarget\n"], "data.none_kept_header", {"name": "file1", "lines": 1, "line": 1}),
        (["a\t\nb\t\n"], "data.none_kept_empty_target", {"name": "file1", "lines": 2, "line": 1}),
        (["\ta\n\tb\n"], "data.none_kept_empty_source", {"name": "file1", "lines": 2, "line": 1}),
        (["\ta\nb\t\n"], "data.none_kept_several", {"name": "file1", "lines": 2, "line": 1}),
        (['msgid "a"\nmsgstr ""\n\nmsgid "b"\nmsgstr ""'], "data.none_kept_untranslated", {"name": "file1", "count": 2}),
        (["x" * 10_001 + "\ty"], "data.none_kept_long", {"name": "file1", "lines": 1, "line": 1}),
        (["a\n\n", "\nb\n"], "data.none_kept_several", {"name": "file1 + file2", "lines": 2, "line": 1}),
        (["a\tb\n" + "x" * 100_001], "data.endless_line", {"name": "file1", "line": 2, "limit": 100_000}),
        (["a\n" * 400_001], "data.too_many_lines", {"name": "file1", "limit": 400_000}),
        (["a\r\n" * 400_001], "data.too_many_lines", {"name": "file1", "limit": 400_000}),
        (["\r\n" * 400_001], "data.nothing_inside", {"name": "file1"}),
        ([b"\n" * 9_000_000], "data.too_many_lines", {"name": "file1", "limit": 400_000}),
        ([b"\x80\x02]q\0."], "data.packed", {"name": "file1", "what": "pickle"}),
        (["a\tb", b"\x89PNG"], "data.packed", {"name": "file2", "what": "PNG"}),
        ([b"a\tb\n\0"], "data.binary", {"name": "file1", "line": 2}),
        (['{"a": '], "data.json_broken", {"name": "file1", "line": 1, "column": 7}),
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
    monkeypatch.setattr(filtering, "PAIR_LIMIT", 3)
    assert len(read("a\tb\n" * 3).pairs) == 3
    assert len(read("a\tb\n" * 3 + "\n").pairs) == 3
    with pytest.raises(Refusal) as refused:
        read("a\tb\n" * 4)
    assert refused.value.key == "data.too_many_pairs"


# --- words ---


def test_the_report_by_hand():
    pairs = read("a\tb\n" + "\n" * 10 + "c\t\nd\td\n")
    assert report(pairs, "en") == [
        "Lines read: 13; pairs kept: 2; dropped: 11.",
        "10 dropped because there is nothing on the line (lines 2, 3, 4, 5, 6, 7, 8, 9, …).",
        "1 dropped because the target is empty (line 12).",
        "Pairs whose source and target are the same: 1 (the first is on line 13). They were kept.",
    ]
    assert len(report(pairs, "zh")) == 4


def test_json_by_hand():
    assert as_json(read("a\tb\n\nc\td\n")) == {
        "kind": "tsv", "names": ["file1"], "unit": "line", "lines": 3, "pairs": 2, "first": ["a", "b"], "dropped": {"blank": [2]},
        "credit": "", "encodings": [{"file": "file1", "name": "utf-8", "guessed": False}],
        "columns": [{"name": "", "filled": 2, "samples": ["a", "c"]}, {"name": "", "filled": 2, "samples": ["b", "d"]}],
        "chosen": [0, 1], "header": False, "warnings": [],
    }  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_has_its_words(language):
    assert all(known(language, f"data.why_{reason}") for reason in REASONS)


def test_both_languages_say_the_same_things():
    assert {key for key in entries("en") if key.startswith("data.")} == {key for key in entries("zh") if key.startswith("data.")}
