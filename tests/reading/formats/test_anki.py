"""Truths about Anki's "Notes in plain text" and about what a person sees of HTML."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.reading.formats.anki import read_anki
from playground.reading.formats.markup import plain
from playground.reading.formats.table import Source
from tests.thoroughness import every_case, examples_at_night


def read(content: str):
    lines = content.split("\n")
    return read_anki([Source("notes.txt", content.encode("utf-8", "replace"), lines if lines[-1] else lines[:-1])])


def rows_of(content: str) -> list:
    return [(row.line, row.fault or row.cells) for row in read(content).rows]


@every_case(
    ("content", "columns", "rows"),
    [
        ("#separator:tab\n#html:false\na<b>\t&amp;\n", (), [(1, "header"), (2, "header"), (3, ["a<b>", "&amp;"])]),
        (
            "#separator:tab\n#html:true\n#tags column:3\n猫<br>猫\t<div>cat</div>[sound:cat.mp3]\tanimals pets\n"
            '"say ""hi"""\t"two<br>\nlines"\t\n',
            (),
            [(1, "header"), (2, "header"), (3, "header"), (4, ["猫 猫", " cat  "]), (5, ['say "hi"', "two \nlines"])],
        ),
        (
            "#separator:Semicolon\n#html:false\n#guid column:1\n#notetype column:2\n#deck column:3\n"
            "#columns:G;N;D;Front;Back\nq%;Basic;X;a;b",
            ("Front", "Back"),
            [*[(line, "header") for line in range(1, 7)], (7, ["a", "b"])],
        ),
        ("#separator:,\n#tags:new words\n#a remark\n\"a, b\",c\n#another,remark\n\"#d\",e", (), [
            (1, "header"), (2, "header"), (3, "header"), (4, ["a, b", "c"]), (5, "header"), (6, ["#d", "e"]),
        ]),
        ('#separator:tab\n#tags column:3\na\tb\t\n"c\nd"\te\ttag\n', (), [
            (1, "header"), (2, "header"), (3, ["a", "b"]), (4, ["c\nd", "e"]),
        ]),
        ("#separator:Pipe\na|b", (), [(1, "header"), (2, ["a", "b"])]),
        ("#html:true\n<b>a</b>,b", (), [(1, "header"), (2, ["a", "b"])]),  # the separator is not told
        ('#separator:tab\na\t"open\nb\tc', (), [(1, "header"), (2, "quote"), (3, ["b", "c"])]),
        ("#separator:tab\n", (), [(1, "header")]),
        ("#separator:tab\n#deck column:99999\n#tags column:x\na\tb", (), [(1, "header"), (2, "header"), (3, "header"), (4, ["a", "b"])]),
    ],
)  # fmt: skip
def test_notes(content, columns, rows):
    table = read(content)
    assert (table.kind, table.columns) == ("anki", columns)
    assert rows_of(content) == rows


@pytest.mark.parametrize("content", ["", "a\tb\n#separator:tab", "# a remark\na\tb", "#1\tfirst", "#html:maybe\na\tb", "<br>a\tb"])
def test_what_is_no_export_of_anki(content):
    assert read(content) is None


@every_case(
    ("html", "seen"),
    [
        ("plain", "plain"),
        ("a < b > c", "a < b > c"),
        ("a&nbsp;b &lt;i&gt; &auml; &#39; &#x4e2d;", "a\u00a0b <i> ä ' 中"),
        ("<b>Hal</b>lo", "Hallo"),
        ("one<br>two<br/>three<BR />", "one two three "),
        ("<div>one</div><div>two</div>", " one  two "),
        ('<span style="color: red">red</span>', "red"),
        ('<img src="x.jpg">cat[sound:x.mp3]', "cat "),
        ("<ruby>漢字<rt>かんじ</rt></ruby>", "漢字"),
        ("<style>.card { color: red }</style>text", "text"),
        ("<!-- remark -->text", "text"),
        ("{{c1::word}} [not a sound]", "{{c1::word}} [not a sound]"),
        ("<3 and <![ and <", "<3 and <![ and <"),
        ("<a href=unclosed", "<a href=unclosed"),
    ],
)
def test_html_as_it_is_seen(html, seen):
    assert plain(html) == seen


@given(st.text(st.sampled_from('ab<>/&;#!-[]" brdivscript\n'), max_size=60))
@examples_at_night(300)
def test_anything_is_text(text):
    assert isinstance(plain(text), str)
    assert len(rows_of(f"#separator:tab\n#html:true\n{text}")) <= 2 + len(text.split("\n"))


@every_case("unit", ["<", "<a ", "<!--", "<script>", "<rt><", "[sound:", "&#1", "&lt", "<br", "</", "a='>"])
def test_time_grows_with_the_length(unit):
    start = time.process_time()
    plain(unit * (200_000 // len(unit)))
    assert time.process_time() - start < 2


def test_thirty_thousand_notes():
    content = "#separator:tab\n#html:true\n" + "<b>Hello</b>&nbsp;<br>there\t<div>Hallo</div>\n" * 30_000
    start = time.process_time()
    assert len(rows_of(content)) == 30_002
    assert time.process_time() - start < 8
