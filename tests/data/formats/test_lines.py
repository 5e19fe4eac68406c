"""Truths about lines that belong together: two files, talks, segments, labels, and lines that take turns."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import Refusal
from playground.data.formats import interleaved, lines, names, segments
from playground.data.formats.limits import MOST_LINES
from playground.data.formats.table import Source

IN_ORDER = (
    segments.read_segments, lines.read_tagged, lines.read_two, lines.read_scan, interleaved.read_labelled, interleaved.read_interleaved,
)  # fmt: skip
ENGLISH = [
    "I have a new house.", "Where is the station?", "She reads a book every evening.", "We want to eat something.",
    "The weather is nice today.", "They do not know the way.", "My brother works in the city.", "Can you help me?", "It was a long day.",
    "The children are playing in the garden.", "He has never been there.", "What time is it now?", "You should go to bed.",
    "This is the best of all.", "I will write to you soon.",
]  # fmt: skip
GERMAN = [
    "Ich habe ein neues Haus.", "Wo ist der Bahnhof?", "Sie liest jeden Abend ein Buch.", "Wir wollen etwas essen.",
    "Das Wetter ist heute schön.", "Sie kennen den Weg nicht.", "Mein Bruder arbeitet in der Stadt.", "Können Sie mir helfen?",
    "Es war ein langer Tag.", "Die Kinder spielen im Garten.", "Er ist noch nie dort gewesen.", "Wie spät ist es jetzt?",
    "Du solltest ins Bett gehen.", "Das ist das Beste von allem.", "Ich werde dir bald schreiben.",
]  # fmt: skip
CHINESE = ["我有新房子。", "车站在哪里？", "她每晚看书。", "我们想吃东西。", "今天天气很好。"]


def source(content: str, name: str = "file.txt") -> Source:
    found = content.split("\n")
    return Source(name, content.encode("utf-8", "replace"), found if found[-1] else found[:-1])


def table_of(*contents: str, named=("file1", "file2")):
    sources = [source(content, name) for content, name in zip(contents, named, strict=False)]
    return next((table for table in (read(sources) for read in IN_ORDER) if table), None)


def understood(*contents: str, named=("file1", "file2")):
    """(kind, [(line, cells or fault)])"""
    table = table_of(*contents, named=named)
    return (table.kind, [(row.line, row.fault or row.cells) for row in table.rows]) if table else (None, [])


def refused(*contents: str, named=("file1", "file2")):
    with pytest.raises(Refusal) as raised:
        table_of(*contents, named=named)
    return raised.value.key, raised.value.values


# --- two files ---


@pytest.mark.parametrize(
    ("one", "two", "rows"),
    [
        ("a\nb\n", "c\nd", [(1, ["a", "c"]), (2, ["b", "d"])]),
        ("a\n\nc\n", "\nB\n\n", [(1, ["a", ""]), (2, ["", "B"]), (3, ["c", ""])]),
        ("a\nb\n\n\n", "c\nd\n", [(1, ["a", "c"]), (2, ["b", "d"]), (3, ["", ""]), (4, ["", ""])]),  # blank lines at one end
        ("a\nb", "c\nd\n \n", [(1, ["a", "c"]), (2, ["b", "d"]), (3, ["", " "])]),
        ("a,b\nc", "d\ne;f", [(1, ["a,b", "d"]), (2, ["c", "e;f"])]),
        ("a\tb\nc\td", "e\nf", [(1, ["a\tb", "e"]), (2, ["c\td", "f"])]),
        ("猫\nпёс", "قط\nσκύλος", [(1, ["猫", "قط"]), (2, ["пёс", "σκύλος"])]),
        ("x\n" + "y" * 10_001, "a\nb", [(1, ["x", "a"]), (2, "long")]),
        ("<title>a</title>\nb", "<title>c</title>\nd", [(1, ["<title>a</title>", "<title>c</title>"]), (2, ["b", "d"])]),  # text
    ],
)
def test_two_files(one, two, rows):
    assert understood(one, two) == ("two_files", rows)


@pytest.mark.parametrize(
    ("named", "columns", "pair"),
    [
        (("train.de-en.de", "train.de-en.en"), ("de", "en"), None),
        (("tatoeba.en.txt", "tatoeba.zh.txt"), ("en", "zh"), None),
        (("de", "en"), ("de", "en"), None),
        (("train.zh_CN.txt", "train.en.txt"), ("zh_CN", "en"), None),
        (("English.txt", "German.txt"), ("English", "German"), None),
        (("中文.txt", "英文.txt"), ("中文", "英文"), None),
        (("a.en", "b.fr"), ("en", "fr"), None),
        (("src-train.txt", "tgt-train.txt"), ("src", "tgt"), (0, 1)),
        (("test.trg", "test.src"), ("trg", "src"), (1, 0)),
        (("target.txt", "source.txt"), ("target", "source"), (1, 0)),
        (("newstest-src.de", "newstest-ref.en"), ("de", "en"), (0, 1)),
        (("newstest-ref.en", "newstest-src.de"), ("en", "de"), (1, 0)),
        (("test.hyp", "test.ref"), ("test.hyp", "test.ref"), (0, 1)),
        (("questions.txt", "answers.txt"), ("questions", "answers"), (0, 1)),
        (("q.txt", "a.txt"), ("q", "a"), (0, 1)),
        (("a.txt", "b.txt"), ("a.txt", "b.txt"), None),  # "a" is no answer
        (("one.txt", "two.txt"), ("one.txt", "two.txt"), None),
        (("same.txt", "same.txt"), (), None),
        (("", "?"), ("", "?"), None),
    ],
)
def test_what_names_say(named, columns, pair):
    table = table_of("a\nb", "c\nd", named=named)
    assert (table.columns, table.pair) == (columns, pair)


@given(st.text(max_size=12), st.text(max_size=12))
@settings(max_examples=200, deadline=None)
def test_any_names(one, two):
    columns = names.columns_of(one, two)
    assert len(columns) == 2
    assert names.direction_of(one, two) in (None, (0, 1), (1, 0))
    back = names.direction_of(two, one)
    assert names.direction_of(one, two) == (back and (back[1], back[0]))


def test_what_two_files_are_refused_for():
    assert refused("a\nb\nc", "d\ne") == ("data.unequal", {"one": "file1", "lines_one": 3, "two": "file2", "lines_two": 2})
    assert refused("a\tb\nc\td", "e\tf\ng\th") == ("data.two_tables", {"one": "file1", "two": "file2"})
    assert understood('{"a": 1}\n{"a": 2}', '{"a": 3}\n{"a": 4}') == (None, [])  # not for lines to judge


@pytest.mark.parametrize("lost", [0, 13, 60, 119])
@pytest.mark.parametrize("side", [0, 1])
def test_where_lines_begin_to_drift(lost, side):
    numbers = random.Random(lost).choices(range(1, 40), k=120)
    files = [["word " * number for number in numbers], ["Wörter " * number for number in numbers]]
    del files[side][lost]
    key, values = refused(*map("\n".join, files))
    if lost == 119:  # the last one: nothing after it drifts
        assert key == "data.unequal"
    else:
        assert key == "data.unequal_from"
        assert 0 <= lost + 1 - values["line"] <= 1
        assert values["lines_one"] - values["lines_two"] == (-1 if side == 0 else 1)


def test_lines_of_equal_length_say_nothing_about_a_drift():
    assert refused("same\n" * 50, "gleich\n" * 49)[0] == "data.unequal"
    assert refused("a\n" * 50, "b\n" * 10)[0] == "data.unequal"


# --- talks and segments ---

TALK_DE = """<url>http://www.ted.com/talks/1</url>
<keywords>talks, climate</keywords>
<speaker>Al Gore</speaker>
<title>Die Krise</title>
<description>Ein Vortrag.</description>
Vielen Dank.
Wirklich <em>sehr</em>.

<reviewer href="http://x">Jemand</reviewer>
<url>http://www.ted.com/talks/2</url>
Noch etwas.
"""
TALK_EN = TALK_DE.replace("Vielen Dank.", "Thank you.").replace("Wirklich <em>sehr</em>.", "Really, <em>so</em> much.")
TALK_EN = TALK_EN.replace("Noch etwas.", "One more thing.").replace('<reviewer href="http://x">Jemand</reviewer>\n', "")


def test_talks():
    table = table_of(TALK_DE, TALK_EN, named=("train.tags.de-en.de", "train.tags.de-en.en"))
    assert (table.kind, table.columns, table.pair) == ("tagged", ("de", "en"), None)
    assert [(row.line, row.fault or row.cells) for row in table.rows] == [
        *[(line, "header") for line in range(1, 6)],
        (6, ["Vielen Dank.", "Thank you."]),
        (7, ["Wirklich <em>sehr</em>.", "Really, <em>so</em> much."]),
        (8, ["", ""]),
        (9, "header"),
        (10, "header"),
        (11, ["Noch etwas.", "One more thing."]),
    ]
    assert refused(TALK_DE, TALK_EN + "Zu viel.\n")[0] == "data.unequal_tagged"
    assert [row.cells for row in table_of(TALK_DE, TALK_EN + "\n").rows][-1] == ["", ""]


def campaign(kind: str, language: str, *texts: str, doc: str = "7") -> str:
    said = "".join(f'<seg id="{number}"> {text} </seg>\n' for number, text in enumerate(texts, 1))
    attribute = {"srcset": "srclang", "refset": "trglang"}.get(kind, "lang")
    body = f'<doc docid="{doc}">\n<url>u</url>\n{said}</doc>'
    return f'<?xml version="1.0"?>\n<mteval>\n<{kind} setid="x" {attribute}="{language}">\n{body}\n</{kind}>\n</mteval>\n'


def test_segments_of_two_files():
    one, two = campaign("srcset", "de", "Vielen Dank.", "A &amp; B", "nur hier"), campaign("refset", "en", "Thanks.", "A & B")
    table = table_of(one, two)
    assert (table.kind, table.columns, table.pair, table.unit) == ("segments", ("de", "en"), (0, 1), "item")
    assert list(table.rows) == [
        (1, [" Vielen Dank. ", " Thanks. "], "", 1),
        (2, [" A & B ", " A & B "], "", 1),
        (3, [" nur hier ", ""], "", 1),
    ]
    assert table_of(two, one).pair == (1, 0)
    assert [row.cells for row in table_of(campaign("doc_", "", "a", "b"), campaign("doc_", "", "c", "d", doc="other")).rows] == [
        [" a ", " c "],
        [" b ", " d "],
    ]  # documents of other names are joined by their order


def test_segments_of_several_documents_in_another_order():
    one = '<doc docid="a"><seg id="1">a1</seg><seg id="2">a2</seg></doc><doc docid="b"><seg id="1">b1\nb1</seg></doc>'
    two = '<DOC docid="b"><SEG id="1">B1</SEG></DOC>\n<DOC docid="a"><hl><seg id="2">A2</seg></hl><seg id=1>A1</DOC>'
    table = table_of(one, two, named=("x.de.sgm", "x.en.sgm"))
    assert (table.columns, table.pair) == (("de", "en"), None)
    assert [row.cells for row in table.rows] == [["a1", "A1"], ["a2", "A2"], ["b1\nb1", "B1"]]


def test_segments_of_one_file():
    content = """<?xml version='1.0' encoding='utf-8'?><dataset id="newstest"><doc id="d1" origlang="en">
<src lang="en"><p><seg id="1">Hello.</seg><seg id="2">Bye.</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">Hallo.</seg><seg id="2">Tschüss.</seg></p></ref></doc>
<doc id="d2"><src lang="en"><seg id="1">Yes</seg></src><ref lang="de" translator="A"><seg id="1">Ja</seg></ref></doc></dataset>"""
    table = table_of(content)
    assert (table.columns, table.pair) == (("en", "de"), (0, 1))
    assert [row.cells for row in table.rows] == [["Hello.", "Hallo."], ["Bye.", "Tschüss."], ["Yes", "Ja"]]


def test_what_segments_are_refused_for():
    assert refused(campaign("srcset", "de", "a"))[0] == "data.one_side"
    other = campaign("refset", "en", "b").replace('seg id="1"', 'seg id="9"')
    assert refused(campaign("srcset", "de", "a"), other)[0] == "data.no_common_segments"
    assert refused("<seg id=1>\n" * (MOST_LINES + 1))[0] == "data.too_many_lines"
    assert understood("<tmx><tu><tuv><seg>a</seg></tuv></tu></tmx>") == (None, [])


# --- labels ---


@pytest.mark.parametrize(
    ("content", "columns", "pair", "rows"),
    [
        (
            "IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk OUT: I_WALK\n\nnothing",
            ("IN", "OUT"),
            (0, 1),
            [(1, [" jump twice", " I_JUMP I_JUMP"]), (2, [" walk", " I_WALK"]), (3, [""]), (4, ["nothing"])],
        ),
        ("Q: 1+1? A: 2\nQ: 2+2? A: 4", ("Q", "A"), (0, 1), [(1, [" 1+1?", " 2"]), (2, [" 2+2?", " 4"])]),
        ("EN: hello, you DE: hallo\nEN: bye DE: tschüss", ("EN", "DE"), None, [(1, [" hello, you", " hallo"]), (2, [" bye", " tschüss"])]),
        ("IN: a OUT:\nIN:\tb\tOUT: c", ("IN", "OUT"), (0, 1), [(1, [" a", ""]), (2, ["\tb", " c"])]),
    ],
)
def test_two_labels_on_a_line(content, columns, pair, rows):
    table = table_of(content)
    assert (table.kind, table.columns, table.pair) == ("scan", columns, pair)
    assert [(row.line, row.cells) for row in table.rows] == rows


@pytest.mark.parametrize(
    ("content", "columns", "pair", "rows"),
    [
        ("EN: Hello\nDE: Hallo\nEN: Bye\nDE: Tschüss", ("EN", "DE"), None, [(1, [" Hello", " Hallo"]), (3, [" Bye", " Tschüss"])]),
        ("Q: a, b?\nA: c, d.\n\nQ: e?\nA: f.\n", ("Q", "A"), (0, 1), [(1, [" a, b?", " c, d."]), (4, [" e?", " f."])]),
        ("[zh] 早\n[en] Hi\n---\n[zh] 好\n[en] OK", ("zh", "en"), None, [(1, [" 早", " Hi"]), (4, [" 好", " OK"])]),
        ("source: a\ntarget: b\nsource: c\ntarget: d", ("source", "target"), (0, 1), [(1, [" a", " b"]), (3, [" c", " d"])]),
        ("T: a\nS: b\nT: c\nS: d", ("T", "S"), (1, 0), [(1, [" a", " b"]), (3, [" c", " d"])]),
        (
            "en: a\nde: b\nen: alone\nen: c\nde: d\nde: late\nen: e\nde: f\nen: last" + "\nen: x\nde: y" * 4,
            ("en", "de"),
            None,
            [(1, [" a", " b"]), (3, "unpaired"), (4, [" c", " d"]), (6, "unpaired"), (7, [" e", " f"]), (9, "unpaired")]
            + [(line, [" x", " y"]) for line in (10, 12, 14, 16)],
        ),
        ("en: a\nde: b\nfr: c\nen: d\nfr: e", ("en", "fr", "de"), None, None),
        ("en: a\nde: b\nfr: c\nen: d\nde:\nfr: e", ("en", "de", "fr"), None, [(1, [" a", " b", " c"]), (4, [" d", "", " e"])]),
    ],
)
def test_a_label_on_each_line(content, columns, pair, rows):
    table = table_of(content)
    if rows is None:
        assert table is None  # a label that came once is none
        return
    assert (table.kind, table.columns, table.pair) == ("labelled", columns, pair)
    assert [(row.line, row.fault or row.cells) for row in table.rows] == rows


# --- lines that take turns ---


def taking_turns(one, two) -> list[str]:
    return [line for pair in zip(one, two, strict=True) for line in pair]


def pairs_of(*parts: list[str]) -> list[tuple[str, str]]:
    return [tuple(row.cells) for row in table_of("\n".join(line for part in parts for line in part)).rows if not row.fault]


def test_blank_lines_between_pairs():
    assert understood("a\nb\n\nc\nd\n\n\ne\nf\n") == ("interleaved", [(1, ["a", "b"]), (4, ["c", "d"]), (8, ["e", "f"])])
    content = "\n\n".join(["a\nb"] * 10 + ["alone"] + ["c\nd"] * 10)
    kind, rows = understood(content)
    assert (kind, len(rows), rows[10]) == ("interleaved", 21, (31, "unpaired"))
    assert [row for row in rows if row[1] == ["c", "d"]] == [(33 + 3 * n, ["c", "d"]) for n in range(10)]


def test_two_writings():
    content = taking_turns(ENGLISH[:5], CHINESE)
    assert understood("\n".join(content)) == ("interleaved", [(1 + 2 * n, [ENGLISH[n], CHINESE[n]]) for n in range(5)])
    assert pairs_of(taking_turns(CHINESE, ENGLISH[:5])) == list(zip(CHINESE, ENGLISH[:5], strict=True))
    assert pairs_of([line for pair in content for line in (pair, "")]) == list(zip(ENGLISH[:5], CHINESE, strict=True))  # a blank after each
    names_only = taking_turns([*ENGLISH, "OK."], [*CHINESE * 3, "OK."])
    assert pairs_of(names_only)[-1] == ("OK.", "OK.")


@pytest.mark.parametrize("lost", [1, 7, 12, 17, 26])
def test_a_line_that_is_missing_shifts_nothing(lost):
    content = taking_turns(ENGLISH, CHINESE * 3)
    del content[lost]
    table = table_of("\n".join(content))
    orphans = [(row.line, row.cells) for row in table.rows if row.fault]
    assert [tuple(row.cells) for row in table.rows if not row.fault] == [
        pair for n, pair in enumerate(zip(ENGLISH, CHINESE * 3, strict=True)) if n != lost // 2
    ]
    assert orphans == [(lost // 2 * 2 + 1, [content[lost // 2 * 2]])]


def test_two_languages_in_one_writing():
    assert pairs_of(taking_turns(ENGLISH * 3, GERMAN * 3)) == list(zip(ENGLISH * 3, GERMAN * 3, strict=True))


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(ENGLISH * 4),  # one language
        "\n".join(random.Random(0).sample(ENGLISH + GERMAN, 30)),  # two, but not in turn
        "\n".join(ENGLISH + GERMAN),
        "\n".join(ENGLISH[:4] + GERMAN[:4]),
        "a\nb\nc\nd",
        "",
        "one\n\ntwo\n\nthree",
        "a poem has\nlines\nin its verses\n\nmore\nthan two\nof them",
        "1\n2\n3\n4\n" * 10,
    ],
)
def test_without_evidence_nothing_takes_turns(content):
    assert understood(content) == (None, [])


@given(st.text(st.sampled_from("ab:QA\n\n 你好[]<>"), max_size=60), st.text(st.sampled_from("ab\n<>seg id=1/doc"), max_size=60))
@settings(max_examples=300, deadline=None)
def test_anything_is_a_table_or_not(one, two):
    for contents in ([one], [two], [one, two], [f"<seg id=1>{two}", f"<doc id=1><seg id=1>{one}"]):
        try:
            table = table_of(*contents)
        except Refusal:
            continue
        rows = [row.line for row in table.rows] if table else []
        assert rows == sorted(set(rows))


@pytest.mark.parametrize(
    "content",
    [
        "<seg id=" * 12_000 + "\n" + "<seg id=1>x",
        '<seg id="1">' + "\n<doc " * 50_000,
        "IN:" * 30_000 + "\nIN: a OUT: b",
        "Q: " * 30_000 + "\n" + "A: " * 30_000,
        "[a" * 50_000,
        "你\nx\n" * 50_000,
        "a b c\nd e f\n" * 50_000,
        "\n" * 300_000 + "a",
    ],
    ids=range(8),
)
def test_hostile_text_takes_time_by_its_length(content):
    start = time.process_time()
    try:
        understood(content)
        understood(content, content)
    except Refusal:
        pass
    assert time.process_time() - start < 8
