"""Truths about marked text: pairs on one line, with a sign between the two or a change of writing."""

import pytest

from playground.reading.formats import delimited, marked
from playground.reading.formats.table import Source
from tests.thoroughness import every_case

IN_ORDER = (delimited.read_tsv, marked.read_marked, delimited.read_csv, marked.read_loose)


def understood(content: str):
    """(kind, [(line, cells or fault)])"""
    lines = content.split("\n")
    sources = [Source("file.txt", content.encode(), lines if lines[-1] else lines[:-1])]
    table = next((table for table in (read(sources) for read in IN_ORDER) if table), None)
    return (table.kind, [(row.line, row.fault or row.cells) for row in table.rows]) if table else (None, [])


def plain(*rows) -> list:
    return list(enumerate(map(list, rows), 1))


@every_case(
    ("content", "kind", "rows"),
    [
        ("a b ||| c d\nx|||y\n\n", "bars", [(1, ["a b ", " c d"]), (2, ["x", "y"]), (3, [""])]),
        ("a ||| b ||| 0-0\nc ||| d ||| 0-0", "bars", plain(("a ", " b ", " 0-0"), ("c ", " d ", " 0-0"))),
        ("a, b ||| c, d\ne, f ||| g, h", "bars", plain(("a, b ", " c, d"), ("e, f ", " g, h"))),
        ("a ||| b\nno bars\nc ||| d", "bars", plain(("a ", " b"), ("no bars",), ("c ", " d"))),
        ("dog => Hund\ncat => Katze", "marked", plain(("dog ", " Hund"), ("cat ", " Katze"))),
        ("1,2,3 -> 3,2,1\n4,5,6 -> 6,5,4", "marked", plain(("1,2,3 ", " 3,2,1"), ("4,5,6 ", " 6,5,4"))),
        ("狗 → dog\n猫 → cat", "marked", plain(("狗 ", " dog"), ("猫 ", " cat"))),
        ("dog = Hund\ncat = Katze", "marked", plain(("dog", "Hund"), ("cat", "Katze"))),
        ("halb = 0,5\nviertel = 0,25", "marked", plain(("halb", "0,5"), ("viertel", "0,25"))),
        ("1,2 -> 2,1\n3,4 -> 4,3", "marked", plain(("1,2 ", " 2,1"), ("3,4 ", " 4,3"))),
        ("12+34=46\n1+1=2", "marked", plain(("12+34", "46"), ("1+1", "2"))),
        (
            "Haus {n} | Heim {n} :: house | home\nHund {m} :: dog",
            "marked",
            plain(("Haus {n} | Heim {n} ", " house | home"), ("Hund {m} ", " dog")),
        ),
        ("pear - Birne, Birnen\nplum – Pflaume, Pflaumen", "marked", plain(("pear", "Birne, Birnen"), ("plum", "Pflaume, Pflaumen"))),
        ("dog: Hund\ncat: Katze", "marked", plain(("dog", "Hund"), ("cat", "Katze"))),
        (
            "dog\t\t\tHund\nelephant\tElefant\n\tleer\nleer\t",
            "marked",
            plain(("dog", "Hund"), ("elephant", "Elefant"), ("", "leer"), ("leer", "")),
        ),
        ("苹果，apple\n香蕉，banana", "marked", plain(("苹果", "apple"), ("香蕉", "banana"))),
        ("苹果：apple\n香蕉：banana", "marked", plain(("苹果", "apple"), ("香蕉", "banana"))),
        ("dog 狗\nbig cat 大 猫\nkana かな", "marked", plain(("dog ", "狗"), ("big cat ", "大 猫"), ("kana ", "かな"))),
        ("你好。 Hello!\n我有 3 只猫。 I have 3 cats.", "marked", plain(("你好。 ", "Hello!"), ("我有 3 只猫。 ", "I have 3 cats."))),
        ("dog   Hund\ncat       Katze", "marked", plain(("dog", "Hund"), ("cat", "Katze"))),
    ],
)
def test_signs(content, kind, rows):
    assert understood(content) == (kind, rows)


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize(
    ("head", "cell"),
    [(["question", "answer"], "{} + 4 = ?"), (["rule", "result"], "A{} -> B"), ([], "{} + 4 = ?"), (["en", "de"], "**x{}** => y")],
)
def test_a_sign_within_a_cell_of_a_table_separates_nothing(delimiter, head, cell):
    table = [*([head] if head else []), *([cell.format(n), str(n + 4)] for n in range(30))]
    assert understood("\n".join(map(delimiter.join, table))) == ("csv", plain(*table))


def test_a_sign_within_a_middle_cell_is_known_by_the_names_of_the_columns():
    table = [["id", "rule", "result"], *([str(n), f"A{n} -> B", f"C{n}"] for n in range(30))]
    assert understood("\n".join(map(",".join, table))) == ("csv", plain(*table))


def test_a_sign_must_be_in_nine_of_ten_lines_and_the_others_are_passed_on():
    good = [f"word {n} - Wort {n}" for n in range(18)]
    assert understood("\n".join([*good, "a - b - c", "nothing"])) == (
        "marked",
        plain(*(line.split(" - ") for line in good), ("a", "b", "c"), ("nothing",)),
    )
    assert understood("\n".join([*good, "a - b - c", "nothing", "nothing again"]))[0] is None


def test_a_change_of_writing_the_other_way_round_swaps_nothing():
    lines = [f"wort слово{n}" for n in range(30)]
    assert understood("\n".join([*lines, "слово wort"])) == ("marked", plain(*(["wort ", f"слово{n}"] for n in range(30)), ["слово wort"]))


@every_case(
    "content",
    [
        "just one column\nof text",
        "time 10:30\nat 11:45",  # where csv.Sniffer would see a colon
        "",
        '""',
        ",,,",
        "\n \n",
        "Well, I am here.\nHello, world.\nNo, thanks.",  # sentences, each with a comma
        "Tom: Hi!\nMary: Hello.\nTom: How are you?\nMary: Fine.\nTom: Bye.",  # who speaks is no sentence
        "我来了，你好。\n他走了，再见。",
        "我喜欢 Tom 和猫\n他是 Bob 吗\nTom 你好",
        "1: one\n2: two\n3: three",  # nor are the numbers of lines
        "<html>\n<body>\n</html>",
        "a - b\nc",
    ],
)
def test_what_is_no_table(content):
    assert understood(content) == (None, [])
