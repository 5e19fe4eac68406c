"""Columns: the row that names them, and those that hold the sentences, by their names and by their cells."""

from itertools import product

from playground.reading.column_mapping import BY_SOURCE
from tests.reading.outcomes import outcome, read, two

SENTENCES = [
    ("Hello", "Hallo"), ("Good morning", "Guten Morgen"), ("I am tired", "Ich bin müde"), ("Where is the station", "Wo ist der Bahnhof"),
]  # fmt: skip
WORDS = [("dog", "Hund"), ("cat", "Katze"), ("house", "Haus"), ("tree", "Baum")]


def table(*rows, separator: str = "\t") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def numbered(rows, start: int = 1) -> list:
    return [(str(number), *row) for number, row in enumerate(rows, start)]


TWO_NAMES = """
English,Hausa English,Kannada English,हिन्दी Deutsch,Italienisch Português,Inglês Türkçe,İngilizce Magyar,Angol Ελληνικά,Αγγλικά
العربية,الإنجليزية Русский,Английский ภาษาไทย,ภาษาอังกฤษ עברית,אנגלית 中文,英文 日本語,英語 한국어,영어 原文,译文 問題,答え
en,de EN,DE En,De eng,deu Eng,Ger en-US,de-DE en-US,en-GB eng_Latn,deu_Latn text_en,text_de en_text,de_text eng_sent,deu_sent
source,target src,trg sourceText,targetText src_txt,tgt_txt source_lang,target_lang text,summary question,answer Question?,Answer Q,A
L1,L2 Lang1,Lang2 text1,text2 text_1,text_2 sentence1,sentence2 Column1,Column2 Wort,Übersetzung Слово,Перевод Front,Back
English,Translation Meaning,Deutsch Engl.,Dt. English:,German: *English*,*German*
"""
SEVERAL_WORDS = [
    "English,Chinese (Simplified)", "English (US),German (DE)", "English (UK),English (US)", "Mot en français,Mot en anglais",
    "Tiếng Việt,Tiếng Anh", "Sentence 1,Sentence 2", "Source text (EN),Target text (DE)", "Source language,Target language",
]  # fmt: skip
FIRST_PAIRS = """
German,Deutsch|German language,deutsche Sprache|word,Wort|the word,das Wort|text,Text|translation,Übersetzung|note,nota|number,Nummer|
first question,erste Frage|a text,la frase|sens,meaning|in,in|in,en|no,ja|no,is|as,als|May,Mai|x,y|a,target|formal,informal|old,new|in,out|
No.,Nein.|Word.,Translation.|- English,- German|• text,• translation|English,is spoken here|question,Frage,noun|text,Text,noun|
train,Hello,Hallo|Lesson 1,dog,Hund
""".replace("\n", "").split("|")  # the same in two languages, words that are codes or names of columns, sentences
NUMBERED = ["Nr.,Deutsch,Englisch", "No.,A,B", "S.No.,English,Hindi", "Lfd. Nr.,Deutsch,E", "№,foo,bar", "#,English,German"]
WORDS_TOO = ["formal,informal", "human,iso", "x,y", "question,query"]
TITLES = [
    ("Vocabulary Unit 3\n", {"one_column": (1,)}), ("Vocabulary Unit 3,\n,\n", {"empty_target": (1,), "blank": (2,)}),
    ("downloaded\n\nfrom here\n", {"one_column": (1, 3), "blank": (2,)}), ("\n" * 20, {"blank": tuple(range(1, 21))}),
]  # fmt: skip


def test_names_above_sentences_are_a_header_and_ten_titles_may_stand_above_them():
    for names in (*TWO_NAMES.split(), *SEVERAL_WORDS, *WORDS_TOO):
        pairs = read(table(names.split(","), *SENTENCES))
        assert pairs.dropped == {"header": (1,)}, names
        assert [column.name for column in pairs.columns] == names.split(",")
    for above, dropped in TITLES:
        pairs = read(above + "English,German\n" + table(*SENTENCES, separator=","))
        assert pairs.dropped == {**dropped, "header": (above.count("\n") + 1,)}
        assert [column.filled for column in pairs.columns] == [4, 4]
    assert [read("title\t\n" * count + table(("English", "German"), *SENTENCES)).header for count in (10, 11)] == [True, False]
    for names in NUMBERED:
        pairs = read(table(names.split(","), *numbered(SENTENCES)))
        assert (two(pairs), pairs.dropped) == (SENTENCES, {"header": (1,)}), names
    for names, separator in product([("en", "de"), ("foo", "bar")], "\t,"):  # as R writes it: the numbers have no name
        rows = [[f'"{cell}"' for cell in row] for row in (names, *numbered(SENTENCES))]
        pairs = read(table(*rows, separator=separator))
        assert (two(pairs), pairs.dropped, [column.name for column in pairs.columns]) == (SENTENCES, {"header": (1,)}, ["", *names])


def test_a_first_pair_of_a_list_of_words_is_no_header():
    for first in (*FIRST_PAIRS, *WORDS_TOO):
        cells = first.split(",")
        assert not read(table(cells, *[(*pair, "noun")[: len(cells)] for pair in WORDS])).header, first
    assert not read(table(("1", "German", "Deutsch"), *numbered(WORDS, 2))).header
    assert not any(read(table(names.split(",")) + "a\tb\n").header for names in WORDS_TOO), "too little to tell"


def test_a_column_that_is_mostly_empty_is_passed_over():
    rows = [(f"ein Satz {n}", f"die Notiz {n}" if n % 5 < 2 else "", f"a sentence {n}") for n in range(20)]
    assert read(table(("a", "b", "c"), *rows)).chosen == (0, 2)


def test_columns_by_their_names():
    for names, expected in (
        ("Expression,Reading,Meaning", (0, 2)), ("汉字,拼音,翻译", (0, 2)), ("Wort,Wortart,Übersetzung", (0, 2)),
        ("Meaning,Hanzi,Pinyin", (1, 0)), ("Übersetzung,Aussprache,irgendwas", (2, 0)), ("Hanzi,Pinyin,English", (0, 2)),
        ("English,Wort,Notiz", (0, 1)),  # a word is on the side where it stands
        ("Pinyin,Question,foo", (1, 2)), ("lp,src,mt,ref", (1, 3)), ("src,mt,score", (0, 1)),
        ("Hanzi,Pinyin,Notes", (0, 1)),  # where there is no other text
        ("German,Gender,Plural,English", (0, 3)), ("Simplified,Traditional,Pinyin,English", (0, 3)), ("premise,hypothesis,label", (0, 1)),
        ("comment,text_en,note,text_de", (1, 3)), ("text_en,url,text_id", (0, 2)), ("doc_id,en,de", (1, 2)),
        ("Source language,Target language,Notes", (0, 1)), ("target_de,source_en,note", (1, 0)),
        ("English,German,translation", (0, 1)),  # two languages say more
    ):  # fmt: skip
        rows = [[f"{word} {name}" for name in names.split(",")] for word in ("das", "ist", "nun", "ein", "Satz")]
        assert read(table(names.split(","), *rows, separator=",")).chosen == expected, names


DULL = """
en-de en-de en-de|eng eng eng|English English German|EN EN EN|de>en de>en de>en|train train test|U1 U2 U2|A1 B2 C1|same same same|
noun verb adj.|m f n|Nomen Verb Nomen|名词 动词 名词|9.1e-05 1.05 1e-3|-0.5 +2 50%|2024-01-02 2024-01-03 2024-02-02|
https://a.b/1 https://a.b/2 https://a.b/2
""".replace("\n", "").split("|")
SPACED = [["Lesson 1", "Lesson 1", "Lesson 2"], [f"2024/01/0{day} 3:04:05 PM GMT+1" for day in (2, 2, 3)], ["-0.5", "+2", "50 %"]]


def test_what_is_no_sentence_is_passed_over():
    pairs = [("Hello.", "Hallo."), ("Good morning.", "Guten Morgen."), ("I am tired.", "Ich bin müde.")]
    for place, column in product((0, 1, 2), (*map(str.split, DULL), *SPACED, ["9" * 5000] * 3)):
        rows = [(*pair[:place], cell, *pair[place:]) for cell, pair in zip(column, pairs, strict=True)]
        assert two(read(table(*rows))) == pairs, column


CHOOSE = "id,English,Deutsch,Français\n7,cat,Katze,chat\n9,dog,Hund,\n"
ALL = "id, English, Deutsch, Français"


def test_columns_are_chosen():
    for choices, expected in (
        ({}, "English→Deutsch 1→2: (header) · cat→Katze · dog→Hund"),
        ({"swap": True}, "Deutsch→English 2→1: (header) · Katze→cat · Hund→dog"),
        ({"target": 3}, "English→Français 1→3: (header) · cat→chat · (empty_target)"),
        ({"target": "français"}, "English→Français 1→3: (header) · cat→chat · (empty_target)"),
        ({"source": "Deutsch"}, "Deutsch→English 2→1: (header) · Katze→cat · Hund→dog"),
        ({"source": "Deutsch", "target": "English"}, "Deutsch→English 2→1: (header) · Katze→cat · Hund→dog"),
        ({"source": 0, "target": 1}, "id→English: (header) · 7→cat · 9→dog"),
        ({"target": "English"}, "Deutsch→English 2→1: (header) · Katze→cat · Hund→dog"),
        ({"source": "Français", "swap": True}, "Deutsch→Français 2→3: (header) · Katze→chat · (empty_target)"),
        ({"source": 4}, f"!no_column column=5 columns={ALL}"), ({"source": -1}, f"!no_column column=0 columns={ALL}"),
        ({"target": "Klingon"}, f"!no_column column=Klingon columns={ALL}"), ({"target": ""}, f"!no_column column= columns={ALL}"),
        ({"source": 1, "target": "English"}, "!same_column column=English"), ({"encoding": "nix"}, "!unknown_encoding encoding=nix"),
    ):  # fmt: skip
        assert outcome(CHOOSE, **choices) == (expected if expected[0] == "!" else f"csv {expected} +languages")


FEATURES = {"V;IND;PRS;3;SG": "t", "V;IND;PST;3;SG": "te", "V.PTCP;PRS": "nd", "V;NFIN": "n"}


def forms(order: tuple[int, int, int] = (0, 1, 2)) -> str:
    stems = sorted(f"{onset}{coda}e" for onset in ("ba", "do", "fi", "gu", "ke") for coda in ("l", "m", "n", "p", "r", "s", "k", "g"))
    rows = [(f"{stem}n", stem + end, features) for stem in stems for features, end in FEATURES.items()]
    return table(*[[row[place] for place in order] for row in rows])


def test_features_belong_to_the_lemma_and_pairs_may_be_split_by_source_and_other_columns_joined():
    for order in ((0, 1, 2), (0, 2, 1)):
        pairs = read(forms(order))
        lemmas = [pair.src.split() for pair in pairs.pairs]
        assert [pair.tgt for pair in pairs.pairs] == [lemma[:-1] + FEATURES[features] for lemma, features in lemmas]
        assert (pairs.joined, pairs.group) == ((order.index(2),), 0)
    by_source = read(forms(), group=BY_SOURCE)
    assert (by_source.joined, by_source.group, by_source.groups) == ((2,), None, ())
    alone = read(forms(), source=0, target=1, joined=())
    assert (alone.pairs[0].src.split(), alone.group) == ([alone.pairs[0].src], None)
    other = read(forms(), source=2, target=1, joined=(0, 1, 9), group=0)
    assert other.pairs[0].src.split()[0] in FEATURES  # in the order that was chosen; the target itself can't be joined
    assert (other.joined, other.group) == ((0,), 0)
    codes = read("".join(f"this is sentence number {n}\tdas ist wohl der Satz {n}\tA;B{n % 2}\n" for n in range(20)))
    assert (codes.joined, codes.group, codes.chosen) == ((), None, (0, 1))  # beside sentences they are no features
