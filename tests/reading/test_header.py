"""Truths about headings: names of columns are no pair of sentences, and a first pair is no header."""

import pytest

from playground.reading.formats.table import Row, Table
from playground.reading.header import find_header
from playground.reading.uploads import Choices, read_files
from tests.reading.test_uploads import accounted, read, two
from tests.thoroughness import every_case

SENTENCES = [
    ("Hello", "Hallo"), ("Good morning", "Guten Morgen"), ("I am tired", "Ich bin müde"), ("Where is the station", "Wo ist der Bahnhof"),
]  # fmt: skip
WORDS = [("dog", "Hund"), ("cat", "Katze"), ("house", "Haus"), ("tree", "Baum")]


def table(*rows, separator: str = "\t") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def headed(content: str, **choices) -> bool:
    pairs = read(content, **choices)
    accounted(pairs)
    return pairs.header


_TWO = """
English,Hausa English,Kannada English,हिन्दी Deutsch,Italienisch Português,Inglês Polski,Angielski Nederlands,Engels Türkçe,İngilizce
العربية,الإنجليزية Русский,Английский Українська,Англійська Čeština,Angličtina Magyar,Angol Suomi,Englanti Svenska,Engelska Ελληνικά,Αγγλικά
ไทย,อังกฤษ ภาษาไทย,ภาษาอังกฤษ עברית,אנגלית فارسی,انگلیسی বাংলা,ইংরেজি Kiswahili,Kiingereza Yoruba,English espanol,ingles
中文,英文 日本語,英語 한국어,영어 中文句子,英文翻译 原文,译文 单词,释义 問題,答え
en,de EN,DE En,De eng,deu Eng,Ger en-US,de-DE en-US,en-GB eng_Latn,deu_Latn text_en,text_de en_text,de_text eng_sent,deu_sent
source,target Source,Target src,trg sourceText,targetText src_txt,tgt_txt source_lang,target_lang text,summary
question,answer Question?,Answer Q,A L1,L2 Lang1,Lang2 text1,text2 text_1,text_2 sentence1,sentence2 Column1,Column2
Wort,Übersetzung Vokabel,Bedeutung Palabra,Significado Parola,Traduzione Mot,Traduction Слово,Перевод Kata,Arti Front,Back Eingabe,Ausgabe
English,Translation Meaning,Deutsch Engl.,Dt. English:,German: *English*,*German*
"""
SEVERAL_WORDS = [
    "English,Chinese (Simplified)", "Simplified Chinese,English", "English (US),German (DE)", "English (UK),English (US)",
    "Deutscher Satz,Englischer Satz", "Phrase française,Phrase anglaise", "Mot en français,Mot en anglais", "Tiếng Việt,Tiếng Anh",
    "Sentence A,Sentence B", "Sentence 1,Sentence 2", "Language 1,Language 2", "Column A,Column B", "Word (English),Word (German)",
    "Source text (EN),Target text (DE)", "Source language,Target language", "Русский язык,Английский язык", "영어 문장,한국어 번역",
    "Old English,Modern English", "Norwegian Bokmål,English",
]  # fmt: skip


@pytest.mark.parametrize("names", _TWO.split() + SEVERAL_WORDS)
def test_two_names(names):
    pairs = read(table(names.split(","), *SENTENCES))
    assert pairs.dropped == {"header": (1,)}
    assert [column.name for column in pairs.columns] == names.split(",")


@every_case(
    "first",
    [
        # the same in two languages
        "German\tDeutsch", "German language\tdeutsche Sprache", "Deutsch\tGerman", "word\tWort", "the word\tdas Wort", "text\tText",
        "question\tFrage", "answer\tAntwort", "translation\tÜbersetzung", "source\tQuelle", "note\tnota", "number\tNummer", "time\tZeit",
        "phrase\tphrase", "first question\terste Frage", "a text\tla frase", "sens\tmeaning", "page\tpágina",
        # words that are codes, or the names of columns
        "in\tin", "in\ten", "to\tzu", "no\tja", "no\tis", "he\ter", "as\tals", "ja\tda", "May\tMai", "x\ty", "a\ttarget", "from\tvon",
        "formal\tinformal", "old\tnew", "active\taktiv", "in\tout",
        # sentences
        "No.\tNein.", "Hi.\tHallo.", "Word.\tTranslation.", "- Hello\t- Hallo", "- English\t- German", "• text\t• translation",
        "Polish\tpolieren", "English\tis spoken here",
    ],
)  # fmt: skip
def test_a_first_pair_of_a_list_of_words(first):
    assert not headed(table(first.split("\t"), *WORDS))


@pytest.mark.parametrize(
    "first", ["question\tFrage\tnoun", "text\tText\tnoun", "1\tGerman\tDeutsch", "train\tHello\tHallo", "Lesson 1\tdog\tHund"]
)
def test_a_first_row_of_three_cells(first):
    first = first.split("\t")
    below = {"1": [(str(n), *pair) for n, pair in enumerate(WORDS, 2)]}.get(first[0], [(*pair, "noun") for pair in WORDS])
    assert not headed(table(first, *below))


@pytest.mark.parametrize("names", ["formal,informal", "human,iso", "x,y", "complex,simple", "old,modern", "question,query", "date,iso"])
def test_names_that_are_words_too_stand_above_sentences_only(names):
    assert headed(table(names.split(","), *SENTENCES))
    assert not headed(table(names.split(","), *WORDS))
    assert not headed(table(names.split(",")) + "a\tb\n")  # too little to tell


@pytest.mark.parametrize(
    "names", ["Nr.,Deutsch,Englisch", "No.,A,B", "S.No.,English,Hindi", "Lfd. Nr.,Deutsch,E", "№,foo,bar", "#,English,German"]
)
def test_a_stop_may_end_the_name_of_a_column_of_numbers(names):
    content = table(names.split(","), *[(str(n), *pair) for n, pair in enumerate(SENTENCES, 1)])
    pairs = read(content)
    assert (two(pairs), pairs.dropped) == (SENTENCES, {"header": (1,)})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x,y\n12,21\n13,31\n45,54\n", True),
        ("foo,bar\n12,21\n13,31\n45,54\n", True),
        ("foo,bar\n12,21\n13,31\n", False),  # too little to tell from chance
        ("1,2\n12,21\n13,31\n45,54\n", False),
        ("foo,bar\n" + "".join(f"It is {n}.,{n}\n" for n in range(9)), True),
        ("half,½\n" + "".join(f"It is {n}.,{n}\n" for n in range(9)), False),
        (",0,1\n0,Hi,Hallo\n1,Bye,Tschüss\n", True),  # pandas numbers columns without names
        ("0,1\nHi,Hallo\nBye,Tschüss\n", True),
        ("0,1\n1,2\n2,3\n", False),
    ],
)
def test_words_above_numbers_and_numbers_above_words(content, expected):
    assert headed(content) == expected


# --- titles, and tables beside each other ---


@pytest.mark.parametrize(
    ("above", "dropped"),
    [
        ("Vocabulary Unit 3\n", {"one_column": (1,)}),
        ("Vocabulary Unit 3,\n,\n", {"empty_target": (1,), "blank": (2,)}),
        ("downloaded\n\nfrom here\n", {"one_column": (1, 3), "blank": (2,)}),
        ("\n" * 20, {"blank": tuple(range(1, 21))}),
    ],
)
def test_a_title_stands_above_the_names(above, dropped):
    line = above.count("\n") + 1
    pairs = read(above + "English,German\n" + table(*SENTENCES, separator=","))
    assert pairs.dropped == {**dropped, "header": (line,)}
    assert [column.filled for column in pairs.columns] == [4, 4]
    accounted(pairs)


def test_below_many_lines_no_header_is_looked_for():
    rows = [Row(line, ["a", ""]) for line in range(1, 12)]
    assert find_header([*rows, Row(12, ["English", "German"])], Table("tsv", ())) is None
    assert find_header([*rows[1:], Row(12, ["English", "German"])], Table("tsv", ())).line == 12


def test_a_claimed_header_is_the_first_row_of_the_table():
    assert two(read("Title\nHaus\tBaum\na\tb\n", header=True)) == [("a", "b")]
    assert two(read("Title\nEnglish\tGerman\na\tb\n", header=False)) == [("English", "German"), ("a", "b")]


@pytest.mark.parametrize("names", ["English,German,English", "English,German,,English,German", "en,de,fr,en,de,fr"])
def test_names_may_come_again(names):
    rows = [[f"{word}{n}" if name else "" for name in names.split(",")] for n, word in enumerate(["Hi", "Bye", "Yes"])]
    pairs = read(table(names.split(","), *rows, separator=","))
    assert (pairs.dropped, pairs.chosen) == ({"header": (1,)}, (0, 1))


def test_a_header_may_come_again_where_files_were_joined():
    pairs = read("en,de\nHi,Hallo\nen,de\nDog,Hund\n")
    assert (pairs.header, two(pairs)) == (True, [("Hi", "Hallo"), ("en", "de"), ("Dog", "Hund")])


# --- a row that is like those below ---


@every_case(
    ("content", "expected"),
    [
        ("English,German,Hello,Hallo\nEnglish,German,Bye,Tschüss\n", False),  # as Google Translate exports a phrasebook
        ("English,German,Hello,Hallo\nGerman,English,Hund,dog\nFrench,English,chat,cat\n", False),
        ("eng,Hello,deu,Hallo\neng,Bye,deu,Tschüss\neng,Yes,deu,Ja\n", False),
        ("English,German,Hello,Hallo\n", False),
        ("Satz Nummer 1,Sentence number 1\nSatz Nummer 2,Sentence number 2\nSatz Nummer 3,Sentence number 3\n", False),
        ("question 1,answer 1\nquestion 2,answer 2\n", False),
        ("question 1,answer 1\n", False),
        ("source 1,target 1\nsource 2,target 2\nsource 3,target 3\n", False),
        ("text 1,text 2\nI am here,Je suis ici\n", True),
        ("Text 1,Texte 1\nI am here,Je suis ici\nYou are here,Tu es ici\n", False),
        ("German,Deutsch\nFrench,Französisch\nSpanish,Spanisch\n", False),
        ("English,German\nEnglish,Englisch\nhello,hallo\nbye,tschüss\n", True),  # one such word below proves nothing
        ("id,English,German\n1,English,Englisch\n2,hello,hallo\n", True),
        ("source,target\nsource,target\nsource,Quelle\nsource,Herkunft\n", True),
        ("English,German,Note\nHi,Hallo,x\nHi,Servus,y\n", True),  # "hi" is no column of Hindi
    ],
)
def test_what_comes_again_in_its_column_is_no_name(content, expected):
    assert headed(content) == expected


# --- R ---


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("names", [("en", "de"), ("foo", "bar")])
def test_a_header_without_a_name_for_the_numbers_of_rows(separator, names):
    rows = [[f'"{cell}"' for cell in row] for row in [names, *[(str(n), *pair) for n, pair in enumerate(SENTENCES, 1)]]]
    pairs = read(table(*rows, separator=separator))
    assert (two(pairs), pairs.dropped) == (SENTENCES, {"header": (1,)})
    assert [column.name for column in pairs.columns] == ["", *names]


def test_a_short_first_row_is_no_header_where_nothing_is_numbered():
    assert not headed(table(("foo", "bar"), *[(*pair, "noun") for pair in WORDS]))
    assert not headed(table(("2", "bar"), *[(str(n), *pair) for n, pair in enumerate(WORDS, 3)]))


# --- two files ---


@pytest.mark.parametrize(
    ("one", "two_", "expected"),
    [
        ("English", "German", True), ("source", "target", True), ("en", "de", True), ("text", "text", True), ("Satz", "Sentence", False),
        ("Hello", "Hallo", False), ("x", "y", False), ("English", "", False),
    ],
)  # fmt: skip
def test_the_first_lines_of_two_files_may_be_names(one, two_, expected):
    pairs = read(f"{one}\nHello\nBye\n", f"{two_}\nHallo\nTschüss\n")
    accounted(pairs)
    assert pairs.dropped.get("header", ()) == ((1,) if expected else ())
    assert two(pairs)[-2:] == [("Hello", "Hallo"), ("Bye", "Tschüss")]


def test_whether_two_files_have_names_in_their_first_lines_can_be_chosen():
    files = "source\nHello\n", "target\nHallo\n"
    assert two(read(*files, header=False)) == [("source", "target"), ("Hello", "Hallo")]
    assert two(read("Haus\nHello\n", "house\nHallo\n", header=True)) == [("Hello", "Hallo")]
    assert not read(*files).named


def test_the_names_of_files_say_more_than_the_same_word_twice():
    assert [column.name for column in read("text\nHello\n", "text\nHallo\n").columns] == ["file1", "file2"]
    assert [column.name for column in read("source\nHello\n", "target\nHallo\n").columns] == ["source", "target"]


def test_the_names_at_the_head_of_two_files_can_be_wanted():
    files = [("a.txt", b"English\nHello.\nBye."), ("b.txt", b"German\nHallo.\nAde.")]
    found = read_files(files)
    assert (two(found), found.dropped, found.header) == ([("Hello.", "Hallo."), ("Bye.", "Ade.")], {"header": (1,)}, True)
    assert two(read_files(files, Choices(header=False)))[0] == ("English", "German")
