"""Truths about choosing: which columns hold the sentences, by their names and by what is in them, and how wide a row may be."""

import io
import json

import openpyxl
import pytest

from tests.reading.test_uploads import accounted, read, two
from tests.thoroughness import every_case

PAIRS = [("Hello.", "Hallo."), ("Good morning.", "Guten Morgen."), ("I am tired.", "Ich bin müde.")]


def chosen(content: str) -> tuple[int, int]:
    pairs = read(content)
    accounted(pairs)
    return pairs.chosen


# --- cells at the end that few rows fill ---

SPARSE = [("Hi", "Hallo"), ("Bye", "Tschüss"), ("Cat", "Katze"), ("Dog", "Hund")]


@pytest.mark.parametrize(
    "content",
    [
        "English,German,Note\nHi,Hallo,\nBye,Tschüss,\nCat,Katze,\nDog,Hund,animal\n",
        "English\tGerman\tNote\nHi\tHallo\t\nBye\tTschüss\t\nCat\tKatze\t\nDog\tHund\tanimal\n",
        "English,German,Note\nHi,Hallo\nBye,Tschüss\nCat,Katze\nDog,Hund,animal\n",  # without separators at the end
        "Hi\tHallo\t\nBye\tTschüss\t\nCat\tKatze\t\nDog\tHund\tanimal\n",  # without a header
        "id,source,target,comment\n1,Hi,Hallo\n2,Bye,Tschüss\n3,Cat,Katze,animal\n4,Dog,Hund\n",
        "#separator:tab\nHi\tHallo\t\nBye\tTschüss\t\nCat\tKatze\t\nDog\tHund\tanimal\n",
        "id;en;de;note;tags\n1;Hi;Hallo;;\n2;Bye;Tschüss;x;\n3;Cat;Katze;x;y\n4;Dog;Hund;;y\n",
    ],
)
def test_a_remark_in_the_last_column_loses_no_row(content):
    pairs = read(content)
    assert two(pairs) == SPARSE
    assert set(pairs.dropped) <= {"header"}
    accounted(pairs)


def test_a_remark_in_a_sheet_loses_no_row():
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in [("English", "German"), *SPARSE[:3], (*SPARSE[3], "animal")]:
        book.active.append(row)
    book.save(file)
    assert two(read(file.getvalue())) == SPARSE


@pytest.mark.parametrize(
    ("content", "kept", "dropped"),
    [
        ('en,de,note\n"Hello,\nTom","Hallo,\nTom",formal\nBye,Tschüss,\nCat,Katze,\n', 3, {"header": (1,)}),
        ('"Hello,\nTom","Hallo,\nTom",formal\nBye,Tschüss,\nCat,Katze,\n', 3, {}),
        ('#separator:tab\n#tags column:3\nHi\tHallo\t\n"Dog\nbig"\tHund\tanimal\nBye\tTschüss\t\n', 3, {"header": (1, 2)}),
        ('id,source,target,comment\n1,Hi,Hallo\n2,"a\nb",c\n3,"d\ne",f,note\n4,g,h\n', 4, {"header": (1,)}),
        ('"a\nb","c\nd","e"\n\n"f\ng","h\ni","j"\n', 2, {"blank": (4,)}),  # a blank line is no narrow row
    ],
)
def test_a_cell_of_several_lines_beside_a_column_that_few_rows_fill(content, kept, dropped):
    pairs = read(content)
    assert (len(pairs.pairs), pairs.dropped) == (kept, dropped)


@pytest.mark.parametrize(
    ("content", "stray"),
    [
        ("English,German,Note\nHi,Hallo,\nWell, hi,Hallo,\nBye,Tschüss,\nDog,Hund,animal\n", (3,)),
        ("Hi;Hallo;\nBye;Tschüss;\nWell; hi;Hallo;\n", (3,)),
        ("Hi\tHallo\nWell\thi\tHallo\nBye\tTschüss\n", (2,)),
        ("Hi;Hallo;;;\nBye;Tschüss;;;\nWell; hi;Hallo;\n", (3,)),
        ("Hi;Hallo\nBye;Tschüss;;\nDog;Hund;\nCat;Katze\n", None),  # separators at the end of some rows are no harm
    ],
)
def test_a_stray_separator_is_caught(content, stray):
    pairs = read(content)
    assert pairs.dropped.get("extra_columns") == stray
    accounted(pairs)


# --- names ---


@every_case(
    ("names", "expected"),
    [
        ("Expression,Reading,Meaning", (0, 2)),
        ("Hanzi,Pinyin,Meaning", (0, 2)),
        ("汉字,拼音,翻译", (0, 2)),
        ("Wort,Wortart,Übersetzung", (0, 2)),
        ("Meaning,Hanzi,Pinyin", (1, 0)),
        ("Übersetzung,Aussprache,irgendwas", (2, 0)),
        ("Hanzi,Pinyin,English", (0, 2)),
        ("English,Wort,Notiz", (0, 1)),  # a word is on the side where it stands
        ("Pinyin,Question,foo", (1, 2)),
        ("lp,src,mt,ref", (1, 3)),
        ("src,mt,score", (0, 1)),
        ("Hanzi,Pinyin,Notes", (0, 1)),  # where there is no other text
        ("German,Gender,Plural,English", (0, 3)),
        ("Simplified,Traditional,Pinyin,English", (0, 3)),
        ("premise,hypothesis,label", (0, 1)),
        ("comment,text_en,note,text_de", (1, 3)),
        ("text_en,url,text_id", (0, 2)),  # Indonesian
        ("doc_id,en,de", (1, 2)),
        ("Source language,Target language,Notes", (0, 1)),
        ("target_de,source_en,note", (1, 0)),
        ("English,German,translation", (0, 1)),  # two languages say more
    ],
)
def test_columns_by_their_names(names, expected):
    rows = [[f"{word} {name}" for name in names.split(",")] for word in ("das", "ist", "nun", "ein", "Satz")]
    assert chosen("".join(",".join(row) + "\n" for row in [names.split(","), *rows])) == expected


def test_columns_of_languages_by_what_is_in_them():
    assert chosen("source_lang,target_lang,text,translation\nen,de,dog,Hund\nen,de,cat,Katze\n") == (2, 3)
    assert chosen("id,no,en\n1,hund,dog\n2,katt,cat\n") == (1, 2)  # Norwegian
    assert chosen("no,en,de\n1,dog,Hund\n2,cat,Katze\n") == (1, 2)
    rows = [{"lang1": "en", "text1": src, "lang2": "de", "text2": tgt} for src, tgt in PAIRS]
    assert two(read("\n".join(map(json.dumps, rows)))) == PAIRS


def test_a_source_that_is_the_same_everywhere_is_none():
    assert two(read('{"source": "x", "question": "a", "answer": "b"}\n{"source": "x", "question": "c", "answer": "d"}\n')) == [
        ("a", "b"), ("c", "d"),
    ]  # fmt: skip


def test_a_column_called_a_language_may_say_the_same_everywhere():
    assert two(read("English,German,Note\nHi,Hallo,x\nHi,Servus,y\n")) == [("Hi", "Hallo"), ("Hi", "Servus")]
    assert two(read("Word,Meaning,Example\nrun,rennen,I run.\nrun,laufen,You run.\n")) == [("run", "rennen"), ("run", "laufen")]


# --- what is no sentence ---


@every_case(
    "before",
    [
        ["en-de"] * 3, ["eng"] * 3, ["English", "English", "German"], ["EN"] * 3, ["de>en"] * 3,  # languages
        ["train", "train", "test"], ["Lesson 1", "Lesson 1", "Lesson 2"], ["U1", "U2", "U2"], ["A1", "B2", "C1"], ["same"] * 3,  # labels
        ["noun", "verb", "adj."], ["m", "f", "n"], ["Nomen", "Verb", "Nomen"], ["名词", "动词", "名词"],
        ["9.1e-05", "1.05", "1e-3"], ["-0.5", "+2", "50 %"], ["2024-01-02", "2024-01-03", "2024-02-02"],  # numbers
        ["2024/01/02 3:04:05 PM GMT+1", "2024/01/02 3:05:05 PM GMT+1", "2024/01/03 3:05:05 PM GMT+1"],
        ["https://a.b/1", "https://a.b/2", "https://a.b/2"],
    ],
)  # fmt: skip
@every_case("place", [0, 1, 2])
def test_what_is_no_sentence_is_passed_over(before, place):
    rows = [[*pair[:place], cell, *pair[place:]] for cell, pair in zip(before, PAIRS, strict=True)]
    assert two(read("".join("\t".join(row) + "\n" for row in rows))) == PAIRS


@every_case(
    ("content", "expected"),
    [
        ("en-de\tHello.\tHallo.\n", (1, 2)),
        ("1\teng\tHi.\t5\tdeu\tHallo.\n", (2, 5)),
        ("1\teng\tHi.\t5\tdeu\tHallo.\n7\teng\tBye.\t9\tdeu\tTschüss.\n", (2, 5)),  # as Tatoeba exports pairs
        ("English,German,Hello,Hallo\nEnglish,German,Bye,Tschüss\n", (2, 3)),
        ("Hi\tHallo\tx y\nHi\tServus\tu v\n", (1, 2)),  # what comes again in all rows, where there are others
        ("to\tzu\tmit Verben\nin\tin\tmit Dativ\nis\tist\tvon sein\n", (0, 1)),  # words that are codes too
        ("de\tof\tx1 y\nla\tthe\tx2 y\nes\tis\tx3 y\nen\tin\tx4 y\n", (0, 1)),
        ("German\tDeutsch\tSprache a\nFrench\tFranzösisch\tSprache b\n", (0, 1)),
        ("run\trennen\tder Lauf\nrun\tlaufen\tder Weg\ngo\tgehen\tzu Fuß\n", (0, 1)),
        ("-\t-\tx\n-\t- a\ty\n-\tb -\tz\n", (1, 2)),  # a dash is no number
    ],
)
def test_columns_by_what_is_in_them(content, expected):
    assert chosen(content) == expected


def test_a_number_too_long_to_be_one():
    assert chosen("9" * 5000 + "\ta b\tc d\n" + "9" * 5000 + "\te f\tg h\n") == (1, 2)
    assert two(read('"en"\t"de"\n' + f'"{"9" * 5000}"\t"a"\t"b"\n' * 3)) == [("a", "b")] * 3


# --- from languages to choose from ---


def test_two_tables_side_by_side_are_no_more_languages():
    pairs = read("English,German,English,German\nHi,Hallo,Dog,Hund\nBye,Ciao,Cat,Katze\n")
    assert (pairs.chosen, [note for note, _ in pairs.notes]) == ((0, 1), ["data.note_columns"])
