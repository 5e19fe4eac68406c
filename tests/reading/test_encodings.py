"""Truths about encodings: what a teacher's file says is read as it was written, or refused with the line that can't be."""

import codecs
import random
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.charsets import ENCODINGS, canonical
from playground.reading.encoding_guess import oddness
from playground.reading.encodings import decode, is_damaged
from playground.words import LANGUAGES, known
from tests.thoroughness import every_case, examples_at_night

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
    "pt": "Bom dia, João.|Não sei, e você?|Gosto de ler à noite.|Ele levanta-se às seis.|De quem é este livro?|Até amanhã!",
    "ru": "Доброе утро.|Как дела?|Я люблю читать книги.|Он встаёт в шесть часов.|Чья это книга?|До завтра!",
    "uk": "Доброго ранку.|Як справи?|Я люблю читати книжки.|Він встає о шостій.|Чия це книжка?|До завтра, друже її!",
    "pl": "Dzień dobry.|Jak się masz?|Lubię czytać książki.|On wstaje o szóstej.|Czyja to książka?|Do jutra, żegnaj!",
    "cs": "Dobré ráno.|Jak se máš?|Rád čtu knížky, příteli.|Vstává v šest hodin.|Čí je to kniha?|Nashledanou zítra!",
    "hu": "Jó reggelt.|Hogy vagy, hölgyem?|Szeretek könyveket olvasni.|Ő hatkor kel fel.|Kié ez a könyv?|Holnap találkozunk, őrült!",
    "el": "Καλημέρα.|Τι κάνεις;|Μου αρέσει να διαβάζω.|Ξυπνάει στις έξι.|Τίνος είναι το βιβλίο;|Τα λέμε αύριο!",
    "tr": "Günaydın.|Nasılsın?|Kitap okumayı severim.|Saat altıda kalkıyor.|Bu kimin kitabı, İsmail?|Yarın görüşürüz!",
    "he": "בוקר טוב.|מה שלומך?|אני אוהב לקרוא ספרים.|הוא קם בשש.|של מי הספר הזה?|נתראה מחר!",
    "ar": "صباح الخير.|كيف حالك؟|أحب قراءة الكتب.|يستيقظ في السادسة.|لمن هذا الكتاب؟|أراك غدا!",
    "lt": "Labas rytas.|Kaip sekasi?|Mėgstu skaityti knygas.|Jis keliasi šeštą valandą.|Kieno ši knyga, drauge?|Iki rytojaus, ačiū!",
    "th": "สวัสดีตอนเช้า|สบายดีไหม|ฉันชอบอ่านหนังสือ|เขาตื่นนอนหกโมง|นี่หนังสือของใคร|เจอกันพรุ่งนี้",
    "vi": "Chào buổi sáng.|Bạn có khỏe không?|Tôi thích đọc sách.|Anh ấy dậy lúc sáu giờ.|Đây là sách của ai?|Hẹn gặp lại!",
}  # fmt: skip
LEGACY = [
    ("zh", "gb2312", "gb18030"), ("zh", "gbk", "gb18030"), ("zh", "gb18030", "gb18030"), ("zh-Hant", "big5", "big5"),
    ("zh-Hant", "cp950", "big5"),
    ("ja", "shift_jis", "shift_jis"), ("ja", "cp932", "shift_jis"), ("ja", "euc_jp", "euc-jp"), ("ja", "iso2022_jp", "iso-2022-jp"),
    ("ko", "euc_kr", "euc-kr"), ("ko", "cp949", "euc-kr"), ("de", "cp1252", "windows-1252"), ("de", "latin-1", "windows-1252"),
    ("fr", "cp1252", "windows-1252"), ("es", "latin-1", "windows-1252"), ("pt", "cp1252", "windows-1252"), ("ru", "cp1251", "windows-1251"),
    ("ru", "koi8-r", "koi8-r"), ("ru", "cp866", "cp866"), ("ru", "iso8859-5", "iso-8859-5"), ("uk", "cp1251", "windows-1251"),
    ("pl", "cp1250", "windows-1250"), ("pl", "iso8859-2", "iso-8859-2"), ("cs", "cp1250", "windows-1250"), ("hu", "cp1250", "windows-1250"),
    ("el", "cp1253", "windows-1253"), ("tr", "cp1254", "windows-1254"), ("tr", "iso8859-9", "windows-1254"),
    ("he", "cp1255", "windows-1255"),
    ("ar", "cp1256", "windows-1256"), ("lt", "cp1257", "windows-1257"), ("th", "tis-620", "windows-874"), ("vi", "cp1258", "windows-1258"),
    ("de", "mac-roman", "mac-roman"),
]  # fmt: skip
UNICODE = [
    ("utf-8", "utf-8", False), ("utf-8-sig", "utf-8", False), ("utf-16", "utf-16", False), ("utf-32", "utf-32", False),
    ("utf-16-le", "utf-16-le", True), ("utf-16-be", "utf-16-be", True),
]  # fmt: skip


def sentences(language: str) -> list[str]:
    return SENTENCES[language].split("|")


def lesson(language: str) -> str:
    return "".join(f"{one}\t{two}\n" for one, two in zip(sentences("en"), sentences(language), strict=True))


def encoded(text: str, codec: str) -> bytes:
    """As an editor writes it; Vietnamese has its tones as marks of their own in cp1258."""
    if codec != "cp1258":
        return text.encode(codec)
    tones = dict.fromkeys(map(ord, "\u0300\u0301\u0303\u0309\u0323"))
    out = b""
    for letter in unicodedata.normalize("NFC", text):
        apart = unicodedata.normalize("NFD", letter)
        try:
            out += letter.encode(codec)
        except UnicodeEncodeError:
            base = unicodedata.normalize("NFC", apart.translate(tones))
            out += (base + "".join(mark for mark in apart if ord(mark) in tones)).encode(codec)
    return out


def lines_of(data: bytes, encoding: str = "", name: str = "f") -> list[str]:
    return decode(name, data, encoding).lines


# --- lines ---


@every_case("end", ["\n", "\r\n", "\r"])
@every_case("last", [True, False])
@every_case("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_line_ends_of_every_system(end, last, codec):
    content = end.join(["one", "", "three", ""][: 4 if last else 3])
    assert lines_of(content.encode(codec)) == ["one", "", "three"]


def test_only_line_ends_end_lines():
    odd = "a\u2028b\x0bc\x0cd\x85e\x1cf\u2029g"
    assert odd.splitlines() != [odd]
    for codec in ("utf-8", "utf-16", "gb18030"):
        assert lines_of(odd.encode(codec), "gb18030" if codec == "gb18030" else "") == [odd]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
@examples_at_night(300)
def test_utf8_reads_as_it_was_written(text):
    assume(not text.lstrip().startswith("<"))  # a memory is XML, which is no list of lines
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = decode("f", codecs.BOM_UTF8 + text.encode())
    assert found.encoding.name == "utf-8"
    assert found.lines == (expected if expected[-1] else expected[:-1])


# --- encodings ---


@every_case(("codec", "name", "guessed"), UNICODE)
@every_case("language", SENTENCES)
def test_unicode(language, codec, name, guessed):
    found = decode("f", lesson(language).encode(codec))
    assert found.lines == lesson(language).splitlines()
    assert (found.encoding.name, found.encoding.guessed) == (name, guessed)


@pytest.mark.parametrize(("language", "codec", "name"), LEGACY)
def test_legacy_encodings_are_guessed(language, codec, name):
    text = lesson(language)
    found = decode("f", encoded(text, codec))
    assert [unicodedata.normalize("NFC", line) for line in found.lines] == text.splitlines()
    assert found.encoding.guessed
    assert name in (found.encoding.name, *found.encoding.alternatives)  # another may show the same
    assert found.encoding.samples


@pytest.mark.sample(8)
@pytest.mark.parametrize(("language", "codec", "name"), LEGACY)
def test_legacy_encodings_of_one_side_alone_and_of_many_lines(language, codec, name):
    for text in ("\n".join(sentences(language)), lesson(language) * 500):
        found = decode("f", encoded(text, codec))
        assert [unicodedata.normalize("NFC", line) for line in found.lines] == text.splitlines()


@pytest.mark.parametrize(("language", "codec", "name"), LEGACY)
def test_a_chosen_encoding_is_taken(language, codec, name):
    found = decode("f", encoded(lesson(language), codec), codec)
    assert [unicodedata.normalize("NFC", line) for line in found.lines] == lesson(language).splitlines()
    assert (found.encoding.name, found.encoding.guessed) == (name, False)


@every_case(
    "text",
    [
        "I don’t know.\tJe ne sais pas.", "“Hello” he said – really.\tx", "It costs 5 £ or 7 €.\tja", "naïve café\tx",
        "10 °C\tzehn Grad", "½ cup\tx", "für\tfor", "où\twhere", "cœur\theart", "niño\tchild", "não\tno", "Straße\tstreet",
        "Nº 5\tx", "perché\twhy\ncosì\tso",
    ],
)  # fmt: skip
def test_one_character_is_enough_for_the_most_usual_encoding(text):
    assert lines_of(text.encode("cp1252")) == text.splitlines()


def test_a_guess_can_be_judged_and_changed():
    data = "café\tcoffee\n\nthé\ttea\n".encode("latin-1")
    found = decode("f", data)
    assert found.encoding.samples == ("café coffee", "thé tea")
    assert "windows-1252" in (found.encoding.name, *found.encoding.alternatives)
    assert decode("f", data, "latin-1").lines[0] == "café\tcoffee"
    assert decode("f", data, "koi8-r").encoding.samples[0] == "cafИ coffee"


def test_the_wide_forms_are_taken():
    assert lines_of("①髙﨑\n日本語です。\nこれは本です。\n".encode("cp932"))[0] == "①髙﨑"  # not in Shift-JIS proper
    assert lines_of("똠방각하\n한국어 문장입니다.\n".encode("cp949"))[0] == "똠방각하"  # not in EUC-KR proper
    assert lines_of("€ 5 – „so“\nschöne Grüße\n".encode("cp1252"))[0] == "€ 5 – „so“"  # control characters in Latin-1
    assert lines_of("朱镕基说话。\n我们都知道。\n".encode("gbk"))[0] == "朱镕基说话。"  # not in GB2312
    assert lines_of("佢哋喺呢度。\n我們知道。\n".encode("big5hkscs"), "big5")[0] == "佢哋喺呢度。"


@every_case(
    ("said", "name"),
    [
        ("GBK", "gb18030"), ("GB2312", "gb18030"), ("latin1", "windows-1252"), ("ISO-8859-1", "windows-1252"), ("cp1252", "windows-1252"),
        ("SJIS", "shift_jis"), ("Shift-JIS", "shift_jis"), ("euc_kr", "euc-kr"), ("UTF8", "utf-8"),
        ("utf-8-sig", "utf-8"), ("Big5-HKSCS", "big5"),
        ("Windows-1251", "windows-1251"), ("KOI8-R", "koi8-r"), ("UTF-16LE", "utf-16-le"), ("tis-620", "windows-874"),
        ("macroman", "mac-roman"),
    ],
)  # fmt: skip
def test_names_people_use(said, name):
    assert canonical(said) == name


@every_case("said", ["klingon", "", " ", "punycode", "unicode_escape", "rot13", "base64", "idna", "x" * 999, "a\0b", "../x"])
def test_unknown_encodings(said):
    with pytest.raises(Refusal) as refused:
        canonical(said)
    assert refused.value.key == "data.unknown_encoding"


def test_every_choice_decodes_and_has_a_name():
    for name, tried in ENCODINGS.items():
        assert all(known(language, f"data.encoding_{name}") for language in LANGUAGES)
        assert lines_of("a\tb\nc\td\n".encode(tried[0]), name) == ["a\tb", "c\td"]
        assert canonical(name) == name


# --- XML and PO say their own ---


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "gbk", "big5"])
def test_xml_becomes_utf8(codec):
    said = {"utf-8-sig": "utf-8"}.get(codec, codec)
    text = f'<?xml version="1.0" encoding="{said}"?>\n<tmx><seg>你好</seg></tmx>\n'
    found = decode("f.tmx", text.encode(codec))
    assert found.lines == []
    assert found.data.decode() == text.replace(f'"{said}"', '"utf-8"')
    assert not found.encoding.guessed


def test_xml_that_says_something_else_than_it_is():
    text = '<?xml version="1.0" encoding="iso-8859-1"?><tmx><seg>你好</seg></tmx>'
    assert "你好" in decode("f", text.encode()).data.decode()


def test_a_po_file_names_its_encoding():
    text = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=ISO-8859-2\\n"\n\nmsgid "t"\nmsgstr "ž"\n'
    found = decode("f.po", text.encode("iso8859-2"))
    assert found.lines == text.splitlines()
    assert (found.encoding.name, found.encoding.guessed) == ("iso-8859-2", False)
    assert lines_of(text.replace("ISO-8859-2", "CHARSET").encode()) == text.replace("ISO-8859-2", "CHARSET").splitlines()


# --- damage and refusals ---


@pytest.mark.parametrize("codec", ["utf-8", "gbk", "cp932", "cp949"])
def test_a_broken_byte_costs_its_line_only(codec):
    language = {"utf-8": "de", "gbk": "zh", "cp932": "ja", "cp949": "ko"}[codec]
    lines = [line.encode(codec) for line in (lesson(language) * 40).splitlines()]
    lines[100] = lines[100][:-1] + b"\xff"
    found = decode("f", b"\n".join(lines))
    assert [number for number, line in enumerate(found.lines) if is_damaged(line)] == [100]
    assert [line for number, line in enumerate(found.lines) if number != 100] == [
        line for number, line in enumerate((lesson(language) * 40).splitlines()) if number != 100
    ]
    assert found.encoding.guessed


def test_a_mark_does_not_hide_a_broken_byte():
    found = decode("f", codecs.BOM_UTF8 + "süß\n".encode() + b"s\xfc\xdf\n")
    assert (found.encoding.name, found.encoding.guessed) == ("utf-8", True)
    assert list(map(is_damaged, found.lines)) == [False, True]


@pytest.mark.parametrize(
    ("data", "encoding", "line"),
    [
        ("a\tb\nc\té\n".encode("latin-1"), "utf-8", 2),
        ("ok\n你好\n".encode() + b"\xff\n", "gb18030", 3),
        (b"a\r\nb\r\n\x85\xff", "shift_jis", 3),
        (b"a\tb\nc\x81d\n", "windows-1252", 2),
        (b"abc", "utf-16-le", 1),
    ],
)
def test_a_choice_that_does_not_fit_names_the_line(data, encoding, line):
    with pytest.raises(Refusal) as refused:
        decode("f", data, encoding)
    assert (refused.value.key, refused.value.values["line"]) == ("data.wrong_encoding", line)
    assert all(str(line) in refused.value.say(language) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a\tb\nc\0\td\n", 2),
        (b"\xef\xbb\xbfok\n\n\0", 3),
        (b"one\ntwo\nthree\0four\0five\n", 3),
        ("a\tb\n".encode("utf-16") + "c\0\n".encode("utf-16-le"), 2),
        (bytes(range(256)), 1),
        (b"\0" * 999, 1),
    ],
)
def test_binary_files_are_refused_with_their_line(data, line):
    with pytest.raises(Refusal) as refused:
        decode("f", data)
    assert (refused.value.key, refused.value.values["line"]) == ("data.binary", line)


@every_case(
    ("data", "what"),
    [
        (b"%PDF-1.7", "PDF"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Word/Excel 97"), (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"SQLite format 3\0", "SQLite"), (b"{\\rtf1\\ansi", "RTF"), (b"\x93NUMPY\x01\0", "NumPy"), (b"ARROW1\0\0", "Arrow"),
        (b"\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94.", "pickle"), (b"\x80\x02]q\0.", "pickle"), (b"\x80\x03}q\0.", "pickle"),
        (b"\xde\x12\x04\x95\0\0\0\0", "MO"),
    ],
)  # fmt: skip
def test_known_other_files_are_named(data, what):
    with pytest.raises(Refusal) as refused:
        decode("f", data)
    assert (refused.value.key, refused.value.values["what"]) == ("data.packed", what)


def test_what_looks_like_no_text_in_any_encoding():
    noise = bytes(random.Random(0).choices([*range(1, 9), *range(14, 256)], k=4000))
    with pytest.raises(Refusal) as refused:
        decode("f", noise)
    assert refused.value.key == "data.not_utf8"


def test_workbooks_and_parquet_go_through_as_they_are():
    for data in (b"PK\x03\x04...", b"PAR1..."):
        assert decode("f", data) == ([], data, decode("f", data).encoding)


def test_too_many_lines():
    with pytest.raises(Refusal) as refused:
        decode("f", b"\n" * 3_000_000)
    assert refused.value.key == "data.too_many_lines"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("schöne Grüße", 0), ("你好。Hello!", 0), ("¿Qué?", 0), ("C’est l’été", 0), ("M‰dchen", 1), ("ﾃ", 1), ("caf\udce9", 1),
        ("ab\x01", 1),
        ("hÀus", 1),
    ],
)  # fmt: skip
def test_oddness_by_hand(text, expected):
    assert oddness(text) == expected


@given(st.binary(max_size=300), st.sampled_from(["", *ENCODINGS]))
@examples_at_night(300)
def test_random_bytes_are_decoded_or_refused(data, encoding):
    try:
        found = decode("f", data, encoding)
    except Refusal as refusal:
        assert all(refusal.say(language) for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
    else:
        assert not any("\n" in line or "\r" in line or "\0" in line for line in found.lines)
