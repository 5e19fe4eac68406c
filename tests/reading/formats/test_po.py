"""Truths about gettext PO: every text with its translation, whatever forms it has, and nothing that was not translated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.formats import po
from playground.reading.formats.po import read_po
from playground.reading.formats.table import Source
from playground.words import LANGUAGES
from tests.thoroughness import every_case, examples_at_night

HEADER = '# Somebody, 2024\nmsgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'  # six lines


def read(text: str):
    return read_po([Source("file.po", text.encode(), text.split("\n"))])


def rows(text: str) -> list:
    return [(row.line, row.cells, row.fault) for row in read(text).rows]


def refusal(text: str) -> Refusal:
    with pytest.raises(Refusal) as refused:
        read(text)
    assert all(refused.value.say(language) for language in LANGUAGES)
    return refused.value


def test_texts_and_their_translation():
    table = read(HEADER + 'msgid "a"\nmsgstr "b"\n\n#: x.c:12\n#. note\nmsgctxt "menu"\nmsgid "c"\nmsgstr "d"\n')
    assert (table.kind, table.unit, table.columns, table.pair) == ("po", "line", ("msgid", "de"), (0, 1))
    assert [(row.line, row.cells, row.fault) for row in table.rows] == [(7, ["a", "b"], ""), (10, ["c", "d"], "")]


@every_case(
    ("entry", "expected"),
    [
        ('msgid "a"\nmsgstr "b"', [(1, ["a", "b"], "")]),
        ('\n\nmsgid "a"\nmsgstr "b"', [(3, ["a", "b"], "")]),
        ('msgid ""\n"two "\n"lines\\n"\nmsgstr ""\n"zwei "\n"Zeilen\\n"\nmsgid "c"\nmsgstr "d"',
         [(1, ["two lines\n", "zwei Zeilen\n"], ""), (7, ["c", "d"], "")]),
        ('msgid "say \\"hi\\"\\t\\\\n"\nmsgstr "%s"', [(1, ['say "hi"\t\\n', "%s"], "")]),
        ('msgid "a"\nmsgstr ""', [(1, ["a", ""], "untranslated")]),
        ('#, fuzzy, c-format\nmsgid "a"\nmsgstr "b"', [(1, ["a", "b"], "untranslated")]),
        ('#, c-format\nmsgid "a"\nmsgstr "b"', [(1, ["a", "b"], "")]),
        ('#| msgid "old"\nmsgid "a"\nmsgstr "b"', [(1, ["a", "b"], "")]),
        ('#~ msgid "a"\n#~ msgstr "b"', [(1, ["a", "b"], "untranslated")]),
        ('msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Datei"\nmsgstr[1] "%d Dateien"',
         [(1, ["%d file", "%d Datei"], ""), (1, ["%d files", "%d Dateien"], "")]),
        ('msgid "s"\nmsgid_plural "p"\nmsgstr[0] "0"\nmsgstr[1] "1"\nmsgstr[2] ""',
         [(1, ["s", "0"], ""), (1, ["p", "1"], ""), (1, ["p", ""], "untranslated")]),
        ('msgid "s"\nmsgid_plural "p"\nmsgstr[0] "0"', [(1, ["s", "0"], ""), (1, ["p", "0"], "")]),
        ('msgid "a\u2028b\x0cc"\nmsgstr "d\x85e"', [(1, ["a\u2028b\x0cc", "d\x85e"], "")]),
        ('msgid "null"\nmsgstr "NA"', [(1, ["null", "NA"], "")]),
    ],
)  # fmt: skip
def test_entries(entry, expected):
    assert rows(entry) == expected
    assert rows(entry + "\n\n# the end\n") == expected


def two(one: str, other: str):
    return read_po([Source(name, text.encode(), text.split("\n")) for name, text in (("en.po", one), ("de.po", other))])


def test_two_files_are_joined_by_their_texts():
    plural = 'msgid "n"\nmsgid_plural "ns"\nmsgstr[0] "{}"\nmsgstr[1] "{}"\n\n'
    one = HEADER + 'msgid "a"\nmsgstr "Hi"\n\nmsgid "b"\nmsgstr "Bye"\n\n' + plural.format("file", "files")
    other = HEADER + plural.format("Datei", "Dateien") + 'msgid "a"\nmsgstr "Hallo"\n\n#, fuzzy\nmsgid "b"\nmsgstr "Ade"\n'
    table = two(one, other)
    assert (table.columns, table.unit) == (("en", "de"), "item")
    assert [(row.line, row.fault or row.cells) for row in table.rows] == [
        (1, ["Hi", "Hallo"]), (2, "untranslated"), (3, ["file", "Datei"]), (3, ["files", "Dateien"]),
    ]  # fmt: skip


def test_two_files_with_other_texts_are_refused():
    with pytest.raises(Refusal) as refused:
        two('msgid "a"\nmsgstr "b"', 'msgid "c"\nmsgstr "d"')
    assert (refused.value.key, refused.value.values["count"]) == ("data.no_common_keys", 0)


def test_two_contexts_are_two_right_answers():
    text = 'msgctxt "1"\nmsgid "open"\nmsgstr "offen"\n\nmsgctxt "2"\nmsgid "open"\nmsgstr "öffnen"\n'
    assert rows(text) == [(1, ["open", "offen"], ""), (5, ["open", "öffnen"], "")]


def test_a_credit_in_the_header_is_kept():
    assert read('msgid ""\nmsgstr "X-Credit: CC BY (A)\\n"\n\nmsgid "a"\nmsgstr "b"').credit == "CC BY (A)"


@pytest.mark.parametrize(
    "text", ["", "a\tb", "msgid\tmsgstr\na\tb", 'msgid "a"\n', 'the msgid "a" and\nthe msgstr "b"', "/etc/passwd", "msgid = 1\nmsgstr = 2"]
)
def test_other_texts_are_left_to_others(text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('msgid "a\nmsgstr "b"', "data.po_broken", 1),
        ('msgid "a"\nmsgstr "b" x', "data.po_broken", 2),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"', "data.po_broken", 3),
        ('msgid "a"\nmsgstr "b"\n\nnonsense', "data.po_broken", 4),
        ('msgid "a "quoted" word"\nmsgstr "b"', "data.po_broken", 1),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[0] "x"\nmsgstr[x] "c"', "data.po_broken", 4),
        (HEADER + 'msgid "a"\n' + '"xxxxxxxxxx"\n' * 20_000 + 'msgstr "b"', "data.endless_text", 7),
        (HEADER + "# x\n" * 50_000 + 'msgid "a"\nmsgstr "b"', "data.endless_text", 6),
        (HEADER, "data.no_units", None),
    ],
)  # fmt: skip
def test_refusals(text, key, line):
    refused = refusal(text)
    assert (refused.key, refused.values.get("line")) == (key, line)


def test_too_many_entries(monkeypatch):
    monkeypatch.setattr(po, "MAX_LINES", 2)
    entry = 'msgid "{}"\nmsgstr "b"\n\n'
    assert len(rows(entry.format("a") + entry.format("c"))) == 2
    assert refusal(entry.format("a") + entry.format("c") + entry.format("d")).key == "data.too_many_items"


def test_a_path_is_text(tmp_path):
    """polib opens what looks like a path; a text is never one here."""
    path = tmp_path / "x.po"
    path.write_text('msgid "secret"\nmsgstr "secret"\n')
    assert read(str(path)) is None
    text = 'msgid "a"\nmsgstr "b"'
    assert str(po._Lines(text.split("\n"))) == ""


@given(st.data())
@examples_at_night(400)
def test_damaged_files_are_read_or_refused(data):
    plural = 'msgid ""\n"c"\nmsgid_plural "d"\nmsgstr[0] "e"\nmsgstr[1] "f"\n\n'
    text = HEADER + '#, fuzzy\nmsgid "a"\nmsgstr "b"\n\n' + plural + '#~ msgid "g"\n#~ msgstr "h"\n'
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from(['"', "\\", "#", "~", "|", ",", ":", "[", "]", "msgid ", "msgstr ", '"x"', "\n", " ", "\x85", "٣", "\0", ""])
        )
        text = text[:place] + piece + text[place + data.draw(st.integers(0, 6)) :]
    try:
        table = read(text)
    except Refusal as refused:
        assert all(refused.say(language) for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
        return
    for row in table.rows if table else ():
        assert 1 <= row.line <= text.count("\n") + 1
        assert len(row.cells) == 2
