"""Encodings and columns: a file is read as it was written or refused by line; the head row and the sentences' columns are recognised."""

import codecs
import random
from itertools import product

import pytest
from hypothesis import given, strategies as st

from playground.reading import encoding_guess
from playground.reading.column_mapping import BY_SOURCE
from playground.reading.encodings import ENCODINGS, decode, find_encoding, is_damaged
from playground.words import LANGUAGES, known
from tests.reading.outcomes import outcome, read, refusal_of, two

GREETINGS = [
    ("Hello", "Hallo"), ("Good morning", "Guten Morgen"), ("I am tired", "Ich bin müde"), ("Where is the station", "Wo ist der Bahnhof"),
]  # fmt: skip
WORDS = [("dog", "Hund"), ("cat", "Katze"), ("house", "Haus"), ("tree", "Baum")]
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
DULL = """
en-de en-de en-de|eng eng eng|English English German|EN EN EN|de>en de>en de>en|train train test|U1 U2 U2|A1 B2 C1|same same same|
noun verb adj.|m f n|Nomen Verb Nomen|名词 动词 名词|9.1e-05 1.05 1e-3|-0.5 +2 50%|2024-01-02 2024-01-03 2024-02-02|
https://a.b/1 https://a.b/2 https://a.b/2
""".replace("\n", "").split("|")
SPACED = [["Lesson 1", "Lesson 1", "Lesson 2"], [f"2024/01/0{day} 3:04:05 PM GMT+1" for day in (2, 2, 3)], ["-0.5", "+2", "50 %"]]
CHOOSE = "id,English,Deutsch,Français\n7,cat,Katze,chat\n9,dog,Hund,\n"
ALL = "id, English, Deutsch, Français"
FEATURES = {"V;IND;PRS;3;SG": "t", "V;IND;PST;3;SG": "te", "V.PTCP;PRS": "nd", "V;NFIN": "n"}
# Sentences of textbooks: with "Hi." and "Good morning." in them, and short.
SENTENCES = {
    "en": "Good morning.|How are you?|I like to read books.|He gets up at six o'clock.|Whose book is this?|See you tomorrow!",
    "zh": "早上好。|你好吗？|我喜欢看书。|他六点起床。|这是谁的书？|明天见！",
    "zh-Hant": "早安。|你好嗎？|我喜歡看書。|他六點起床。|這是誰的書？|明天見！",
    "ja": "おはようございます。|お元気ですか。|私は本を読むのが好きです。|彼は六時に起きます。|これは誰の本ですか？|また明日！",
    "ko": "안녕하세요.|어떻게 지내세요?|저는 책 읽는 것을 좋아합니다.|그는 여섯 시에 일어납니다.|이것은 누구의 책입니까?|내일 봐요!",
    "de": "Guten Morgen, Fräulein.|Wie geht's?|Ich lese gerne Bücher.|Er steht früh um sechs auf.|"
    "Wessen Buch ist das? Weiß ich nicht.|Tschüß!",
    "fr": "Bonjour, ça va ?|Où étais-tu ?|J'aime lire des œuvres.|Il se lève à six heures.|À qui est ce livre ?|À demain, peut-être !",
    "es": "¡Buenos días!|¿Cómo estás?|Me gusta leer a la mañana.|Él se levanta a las seis.|¿De quién es este libro?|¡Hasta mañana!",
    "ru": "Доброе утро.|Как дела?|Я люблю читать книги.|Он встаёт в шесть часов.|Чья это книга?|До завтра!",
    "pl": "Dzień dobry.|Jak się masz?|Lubię czytać książki.|On wstaje o szóstej.|Czyja to książka?|Do jutra, żegnaj!",
    "cs": "Dobré ráno.|Jak se máš?|Rád čtu knížky, příteli.|Vstává v šest hodin.|Čí je to kniha?|Nashledanou zítra!",
    "el": "Καλημέρα.|Τι κάνεις;|Μου αρέσει να διαβάζω.|Ξυπνάει στις έξι.|Τίνος είναι το βιβλίο;|Τα λέμε αύριο!",
    "tr": "Günaydın.|Nasılsın?|Kitap okumayı severim.|Saat altıda kalkıyor.|Bu kimin kitabı, İsmail?|Yarın görüşürüz!",
    "he": "בוקר טוב.|מה שלומך?|אני אוהב לקרוא ספרים.|הוא קם בשש.|של מי הספר הזה?|נתראה מחר!",
    "ar": "صباح الخير.|كيف حالك؟|أحب قراءة الكتب.|يستيقظ في السادسة.|لمن هذا الكتاب؟|أراك غدا!",
    "lt": "Labas rytas.|Kaip sekasi?|Mėgstu skaityti knygas.|Jis keliasi šeštą valandą.|Kieno ši knyga, drauge?|Iki rytojaus, ačiū!",
    "th": "สวัสดีตอนเช้า|สบายดีไหม|ฉันชอบอ่านหนังสือ|เขาตื่นนอนหกโมง|นี่หนังสือของใคร|เจอกันพรุ่งนี้",
}  # fmt: skip
LEGACY = """gb18030: zh gb2312, zh gbk, zh gb18030 | big5: zh-Hant big5, zh-Hant cp950 | shift_jis: ja shift_jis, ja cp932
euc-jp: ja euc_jp | iso-2022-jp: ja iso2022_jp | euc-kr: ko euc_kr, ko cp949
windows-1252: de cp1252, de latin-1, fr cp1252, es latin-1 | windows-1251: ru cp1251 | koi8-r: ru koi8-r
cp866: ru cp866 | iso-8859-5: ru iso8859-5 | iso-8859-2: pl iso8859-2 | windows-1250: pl cp1250, cs cp1250
windows-1253: el cp1253 | windows-1254: tr cp1254, tr iso8859-9 | windows-1255: he cp1255 | windows-1256: ar cp1256
windows-1257: lt cp1257 | windows-874: th tis-620 | mac-roman: de mac-roman"""
ROWS = (row.split(": ") for row in LEGACY.replace("\n", " | ").split(" | "))
LEGACY_CASES = [(*case.split(), name) for name, cases in ROWS for case in cases.split(", ")]
UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"]
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=60)
FEW = """I don’t know.\tJe ne sais pas.|“Hello” he said – really.\tx|It costs 5 £ or 7 €.\tja|10 °C\tzehn Grad|½ cup\tx|für\tfor|où\twhere|
cœur\theart|niño\tchild|não\tno|Straße\tstreet|Nº 5\tx|perché\twhy\ncosì\tso|€ 5 – „so“\nschöne Grüße""".replace("|\n", "|").split("|")
MIXED = "これは本です\tthis is a book\n犬がいる\tthere is a dog"
WIDE = [(MIXED, "cp932"), (MIXED, "euc_jp"), ("①髙﨑\n日本語です。\nこれは本です。", "cp932")]
WIDE += [("똠방각하\n한국어 문장입니다.", "cp949"), ("朱镕基说话。\n我们都知道。", "gbk")]


def table(*rows, separator: str = "\t") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def numbered(rows, start: int = 1) -> list:
    return [(str(number), *row) for number, row in enumerate(rows, start)]


def test_names_above_sentences_are_a_header_and_a_first_pair_of_words_is_none():
    for names in (*TWO_NAMES.split(), *SEVERAL_WORDS, *WORDS_TOO):
        pairs = read(table(names.split(","), *GREETINGS))
        assert pairs.dropped == {"header": (1,)}, names
        assert [column.name for column in pairs.columns] == names.split(",")
    for above, dropped in TITLES:
        pairs = read(above + "English,German\n" + table(*GREETINGS, separator=","))
        assert (pairs.dropped, [column.filled for column in pairs.columns]) == ({**dropped, "header": (above.count("\n") + 1,)}, [4, 4])
    assert [read("title\t\n" * count + table(("English", "German"), *GREETINGS)).header for count in (10, 11)] == [True, False]
    for names in NUMBERED:
        pairs = read(table(names.split(","), *numbered(GREETINGS)))
        assert (two(pairs), pairs.dropped) == (GREETINGS, {"header": (1,)}), names
    for names, separator in product([("en", "de"), ("foo", "bar")], "\t,"):  # as R writes it: the numbers have no name
        rows = [[f'"{cell}"' for cell in row] for row in (names, *numbered(GREETINGS))]
        pairs = read(table(*rows, separator=separator))
        assert (two(pairs), pairs.dropped, [column.name for column in pairs.columns]) == (GREETINGS, {"header": (1,)}, ["", *names])
    for first in (*FIRST_PAIRS, *WORDS_TOO):
        cells = first.split(",")
        assert not read(table(cells, *[(*pair, "noun")[: len(cells)] for pair in WORDS])).header, first
    assert not read(table(("1", "German", "Deutsch"), *numbered(WORDS, 2))).header
    assert not any(read(table(names.split(",")) + "a\tb\n").header for names in WORDS_TOO), "too little to tell"


def test_columns_are_chosen_by_their_names_or_by_hand():
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


def test_what_is_no_sentence_or_mostly_empty_is_passed_over():
    pairs = [("Hello.", "Hallo."), ("Good morning.", "Guten Morgen."), ("I am tired.", "Ich bin müde.")]
    for place, column in product((0, 1, 2), (*map(str.split, DULL), *SPACED, ["9" * 5000] * 3)):
        rows = [(*pair[:place], cell, *pair[place:]) for cell, pair in zip(column, pairs, strict=True)]
        assert two(read(table(*rows))) == pairs, column
    rows = [(f"ein Satz {n}", f"die Notiz {n}" if n % 5 < 2 else "", f"a sentence {n}") for n in range(20)]
    assert read(table(("a", "b", "c"), *rows)).chosen == (0, 2)


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


def sentences(language: str) -> list[str]:
    return SENTENCES[language].split("|")


def lesson(language: str) -> str:
    return "".join(f"{english}\t{other}\n" for english, other in zip(sentences("en"), sentences(language), strict=True))


def lines_of(data: bytes, encoding: str = "") -> list[str]:
    return decode("f", data, encoding).lines


@given(texts.filter(lambda text: not text.lstrip().startswith("<")), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_text_with_a_mark_reads_as_it_was_written(text, codec):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    decoded = decode("f", text.encode(codec))
    assert (decoded.encoding.name, decoded.lines) == (codec.removesuffix("-sig"), (lines if lines[-1] else lines[:-1]))


@pytest.mark.parametrize(("language", "codec", "name"), LEGACY_CASES)
def test_legacy_encodings_are_guessed_and_can_be_chosen(language, codec, name):
    text = lesson(language)
    decoded, chosen = (decode("f", text.encode(codec), choice) for choice in ("", codec))
    assert (decoded.lines, decoded.encoding.guessed, bool(decoded.encoding.samples)) == (text.splitlines(), True, True)
    assert name in (decoded.encoding.name, *decoded.encoding.alternatives)  # another may show the same
    assert lines_of("\n".join(sentences(language)).encode(codec)) == sentences(language)  # one side alone
    assert (chosen.lines, chosen.encoding.name, chosen.encoding.guessed) == (text.splitlines(), name, False)


def test_few_characters_are_enough_and_the_less_odd_text_is_likelier(monkeypatch):
    for text, codec in [*((text, "cp1252") for text in FEW), *WIDE]:  # the most usual encoding, and the wide forms of others
        assert lines_of(text.encode(codec)) == text.splitlines()
    data = "café\tcoffee\n\nthé\ttea\n".encode("latin-1")
    decoded = decode("f", data)
    assert decoded.encoding.samples == ("café coffee", "thé tea")
    assert "windows-1252" in (decoded.encoding.name, *decoded.encoding.alternatives)
    assert decode("f", data, "koi8-r").encoding.samples[0] == "cafИ coffee"
    assert lines_of("佢哋喺呢度。\n我們知道。\n".encode("big5hkscs"), "big5")[0] == "佢哋喺呢度。"
    monkeypatch.setattr(encoding_guess, "_measure_likelihoods", lambda pieces, codecs: dict.fromkeys(codecs, 0.0))
    ranked = encoding_guess.rank_encodings("Grüße aus Köln".encode(), {"KOI8-R": ("koi8_r",), "UTF-8": ("utf-8",)})
    assert [name for name, _ in ranked] == ["UTF-8", "KOI8-R"]


def test_names_of_encodings_line_ends_of_every_system_and_files_that_name_their_encoding():
    for name, tried in ENCODINGS.items():
        assert all(known(language, f"data.encoding_{name}") for language in LANGUAGES)
        assert (lines_of("a\tb\nc\td\n".encode(tried[0]), name), find_encoding(name)) == (["a\tb", "c\td"], name)
    for unknown in ("klingon", "", " ", "punycode", "unicode_escape", "rot13", "base64", "idna", "x" * 999, "a\0b", "../x"):
        assert refusal_of(find_encoding, unknown).key == "data.unknown_encoding"
    for codec, end, last in product(UNICODE, ["\n", "\r\n", "\r"], [False, True]):
        assert lines_of(end.join(["one", "", "three", ""][: 4 if last else 3]).encode(codec)) == ["one", "", "three"]
    odd = "a\u2028b\x0bc\x0cd\x85e\x1cf\u2029g"
    for codec in ("utf-8", "utf-16", "gb18030"):
        assert lines_of(odd.encode(codec), "gb18030" if codec == "gb18030" else "") == [odd]
    for codec in ("utf-8", "utf-8-sig", "utf-16", "gbk", "big5"):
        declared = codec.removesuffix("-sig")
        text = f'<?xml version="1.0" encoding="{declared}"?>\n<tmx><seg>你好</seg></tmx>\n'
        decoded = decode("f.tmx", text.encode(codec))
        assert (decoded.lines, decoded.data.decode(), decoded.encoding.guessed) == ([], text.replace(f'"{declared}"', '"utf-8"'), False)
        assert "你好" in decode("f", text.replace(declared, "iso-8859-1").encode()).data.decode(), "it need not be true"
    text = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=ISO-8859-2\\n"\n\nmsgid "t"\nmsgstr "ž"\n'
    decoded = decode("f.po", text.encode("iso8859-2"))
    assert (decoded.lines, decoded.encoding.name, decoded.encoding.guessed) == (text.splitlines(), "iso-8859-2", False)
    assert lines_of(text.replace("ISO-8859-2", "CHARSET").encode()) == text.replace("ISO-8859-2", "CHARSET").splitlines()


def test_a_broken_byte_costs_its_line_only_and_lines_and_files_that_are_no_text_are_named():
    for codec, language in (("utf-8", "de"), ("gbk", "zh"), ("cp932", "ja"), ("cp949", "ko")):
        good = (lesson(language) * 40).splitlines()
        lines = [line.encode(codec) for line in good]
        lines[100] = lines[100][:-1] + b"\xff"
        decoded = decode("f", b"\n".join(lines))
        assert [number for number, line in enumerate(decoded.lines) if is_damaged(line)] == [100]
        assert decoded.lines[:100] + decoded.lines[101:] == good[:100] + good[101:]
        assert decoded.encoding.guessed
    decoded = decode("f", codecs.BOM_UTF8 + "süß\n".encode() + b"s\xfc\xdf\n")  # a mark hides nothing
    assert (decoded.encoding.name, decoded.encoding.guessed, list(map(is_damaged, decoded.lines))) == ("utf-8", True, [False, True])
    for data, encoding, key, line in (
        ("a\tb\nc\té\n".encode("latin-1"), "utf-8", "wrong_encoding", 2),
        ("ok\n你好\n".encode() + b"\xff\n", "gb18030", "wrong_encoding", 3), (b"a\r\nb\r\n\x85\xff", "shift_jis", "wrong_encoding", 3),
        (b"a\tb\nc\x81d\n", "windows-1252", "wrong_encoding", 2), (b"abc", "utf-16-le", "wrong_encoding", 1),
        (b"a\tb\nc\0\td\n", "", "binary", 2), (b"\xef\xbb\xbfok\n\n\0", "", "binary", 3),
        (b"one\ntwo\nthree\0four\0five\n", "", "binary", 3), (b"\0" * 999, "", "binary", 1),
        ("a\tb\n".encode("utf-16") + "c\0\n".encode("utf-16-le"), "", "binary", 2), (bytes(range(256)), "", "binary", 1),
    ):  # fmt: skip
        refused = refusal_of(decode, "f", data, encoding)
        assert (refused.key, refused.values["line"]) == (f"data.{key}", line), data[:20]
    for data, kind in (
        (b"%PDF-1.7", "PDF"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Word/Excel 97"), (b"\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94.", "pickle"),
        (b"\x80\x02]q\0.", "pickle"), (b"\x80\x03}q\0.", "pickle"), (b"\xde\x12\x04\x95\0\0\0\0", "MO"),
    ):  # fmt: skip
        assert outcome(data) == f"!packed what={kind}"
    assert [decode("f", data)[:2] for data in (b"PK\x03\x04...", b"PAR1...")] == [([], b"PK\x03\x04..."), ([], b"PAR1...")]
    noise = bytes(random.Random(0).choices([*range(1, 9), *range(14, 256)], k=4000))
    assert refusal_of(decode, "f", noise, "").key == "data.not_utf8"
