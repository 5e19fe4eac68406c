"""Truths about interleaved text: lines with labels, and lines that take turns."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from tests.reading.formats.aligned import table_of, understood
from tests.thoroughness import every_case, examples_at_night

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


@every_case(
    ("content", "columns", "pair", "rows"),
    [
        ("EN: Hello\nDE: Hallo\nEN: Bye\nDE: Tschüss", ("EN", "DE"), None, [(1, [" Hello", " Hallo"]), (3, [" Bye", " Tschüss"])]),
        ("Q: a, b?\nA: c, d.\n\nQ: e?\nA: f.\n", ("Q", "A"), (0, 1), [(1, [" a, b?", " c, d."]), (4, [" e?", " f."])]),
        ("[zh] 早\n[en] Hi\n---\n[zh] 好\n[en] OK", ("zh", "en"), None, [(1, [" 早", " Hi"]), (4, [" 好", " OK"])]),
        ("source: a\ntarget: b\nsource: c\ntarget: d", ("source", "target"), (0, 1), [(1, [" a", " b"]), (3, [" c", " d"])]),
        ("en\tHello\nde\tHallo\nen\tBye\nde\tTschüss", ("en", "de"), None, [(1, ["Hello", "Hallo"]), (3, ["Bye", "Tschüss"])]),
        (
            """- en: "a: b"\n  de: "c"\n- en: "d \\"e\\""\n  de: 'f'""", ("en", "de"), None,
            [(1, ["a: b", "c"]), (3, ['d "e"', "f"])],
        ),
        ('A: "Hi."\nB: Hallo.\nA: "Bye."\nB: Ade.', ("A", "B"), None, [(1, [' "Hi."', " Hallo."]), (3, [' "Bye."', " Ade."])]),
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


@every_case("delimiter", ["\t", " ||| ", ",", ";", ", "])
@every_case("label", ["{}: ", "<{}> "])
def test_labels_in_the_cells_of_a_table_are_no_labels_of_lines(delimiter, label):
    a, b = label.format("A"), label.format("B")
    assert table_of(f"{a}Hello{delimiter}{a}Hallo\n{b}You?{delimiter}{b}Du?\n{a}Fine.{delimiter}{a}Gut.\n{b}Bye{delimiter}{b}Ade") is None


@pytest.mark.parametrize(
    "content", ["<en> Hello\tHallo\n<fr> Salut\tHallo\n<en> Bye\tAde\n<fr> Bon\tAde", "en\tHi\tde\tHallo\nfr\tOui\tde\tJa\n" * 2]
)
def test_a_tab_behind_the_label_makes_cells(content):
    assert table_of(content) is None


def test_commas_alone_do_not_make_cells_of_labelled_lines():
    table = table_of("Q: 3,1,2\nA: 1,2,3\nQ: 2,1\nA: 1,2\nQ: x, A: y\nA: 3")
    assert [row.cells for row in table.rows] == [[" 3,1,2", " 1,2,3"], [" 2,1", " 1,2"], [" x, A: y", " 3"]]


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


@every_case("lost", [1, 7, 12, 17, 26])
@every_case("targets", [CHINESE * 3, GERMAN])
def test_a_line_that_is_missing_shifts_nothing(lost, targets):
    content = taking_turns(ENGLISH, targets)
    del content[lost]
    table = table_of("\n".join(content))
    orphans = [(row.line, row.cells) for row in table.rows if row.fault]
    assert [tuple(row.cells) for row in table.rows if not row.fault] == [
        pair for n, pair in enumerate(zip(ENGLISH, targets, strict=True)) if n != lost // 2
    ]
    assert orphans == [(lost // 2 * 2 + 1, [content[lost // 2 * 2]])]


def test_two_languages_in_one_writing():
    few = list(zip(ENGLISH[:4], GERMAN[:4], strict=True))
    assert pairs_of(taking_turns(ENGLISH[:4], GERMAN[:4])) == few
    assert pairs_of(taking_turns(ENGLISH * 3, GERMAN * 3)) == list(zip(ENGLISH * 3, GERMAN * 3, strict=True))


@every_case(
    "content",
    [
        "\n".join(ENGLISH * 4),  # one language
        "\n".join(random.Random(0).sample(ENGLISH + GERMAN, 30)),  # two, but not in turn
        "\n".join(ENGLISH + GERMAN),
        "\n".join(ENGLISH[:4] + GERMAN[:4]),
        "\n".join(["2024", *taking_turns(ENGLISH[:5], CHINESE)]),  # which language begins?
        "a\nb\nc\nd",
        "yes\tone\nno\ttwo\nyes\tthree\nno\tfour",  # cells
        "",
        "one\n\ntwo\n\nthree",
        "a poem has\nlines\nin its verses\n\nmore\nthan two\nof them",
        "1\n2\n3\n4\n" * 10,
    ],
)
def test_without_evidence_nothing_takes_turns(content):
    assert understood(content) == (None, [])


@given(st.text(st.sampled_from("ab:QA\n\n 你好[]<>"), max_size=60), st.text(st.sampled_from("ab\n<>seg id=1/doc"), max_size=60))
@examples_at_night(300)
def test_anything_is_a_table_or_not(one, two):
    for contents in ([one], [two], [one, two], [f"<seg id=1>{two}", f"<doc id=1><seg id=1>{one}"]):
        try:
            table = table_of(*contents)
        except Refusal:
            continue
        rows = [row.line for row in table.rows] if table else []
        assert rows == sorted(set(rows))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "content",
    [
        "<seg id=" * 12_000 + "\n" + "<seg id=1>x",
        '<seg id="1">' + "\n<doc " * 50_000,
        "IN:" * 30_000 + "\nIN: a OUT: b",
        "Q: " * 30_000 + "\n" + "A: " * 30_000,
        "[a" * 50_000,
        "你\nx\n" * 20_000,
        "a b c\nd e f\n" * 20_000,
        "\n" * 100_000 + "a",
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
